"""Finitely many layers: `simulate`, and `step` for a single one."""

from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from hardmax import dynamics as definition
from hardmax._common.validation import (
    InputError,
    Progress,
    check_choice,
    check_instance,
    check_progress,
    check_real,
    require_extra,
)
from hardmax._float.search import CPU
from hardmax._layer.rules import check_rational, is_causal
from hardmax._layer.rules import is_rational as dynamics_are_rational
from hardmax._runs.enclosures import ERROR, enclose_clouds, float_clouds
from hardmax._runs.run import Plan, run_clouds
from hardmax._runs.trajectory import Tables, Trajectories, Trajectory
from hardmax._streams.chunks import is_stream
from hardmax._streams.passes import gather
from hardmax._streams.streamed import StreamedRun, open_stream
from hardmax._tokens.batches import BatchArray, BatchList, CloudArray, CloudList
from hardmax._tokens.columns import ColumnChoice, read_frame
from hardmax._tokens.tensors import is_tensor
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import ARITHMETICS, Engine, Gpu, engine_for, solvers_for
from hardmax.io import read_cloud
from hardmax.stops import A_STOP, AfterLayers, Every, LastOnly, Record, Stop

EVERY_LAYER = Every(1)


class Options(TypedDict, total=False):
    """Options of `simulate`."""

    layers: int | None
    stop: Stop | None
    arithmetic: str
    error: float
    record: Record
    columns: ColumnChoice
    progress: Progress | None
    engine: Engine | str | None


@overload
def simulate(tokens: str | Path, dynamics: Dynamics, **how: Unpack[Options]) -> Any: ...
@overload
def simulate(tokens: np.memmap, dynamics: Dynamics, **how: Unpack[Options]) -> StreamedRun: ...
@overload
def simulate(tokens: CloudList, dynamics: Dynamics, **how: Unpack[Options]) -> Trajectory: ...
@overload
def simulate(tokens: BatchList, dynamics: Dynamics, **how: Unpack[Options]) -> Trajectories: ...
@overload
def simulate(tokens: CloudArray, dynamics: Dynamics, **how: Unpack[Options]) -> Trajectory: ...
@overload
def simulate(tokens: BatchArray, dynamics: Dynamics, **how: Unpack[Options]) -> Trajectories: ...
@overload
def simulate(tokens: Any, dynamics: Dynamics, **how: Unpack[Options]) -> Any: ...
def simulate(
    tokens: Any,
    dynamics: Dynamics,
    *,
    layers: int | None = None,
    stop: Stop | None = None,
    arithmetic: str = "certified",
    error: float = ERROR,
    record: Record = EVERY_LAYER,
    columns: ColumnChoice = None,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Trajectory | Trajectories | StreamedRun:
    """Run tokens through layers of hardmax attention.

    Parameters
    ----------
    tokens : array_like of shape (n, d), a batch of clouds, a file, or a source of chunks
        Starting points. Torch tensors are returned as such, of their dtype and on their device.
        Files and sources of chunks are those of `limit`; the latter need ``record=LastOnly()``.
    dynamics : Dynamics
        Step size and metric.
    layers : int, optional
        Number of layers; either this or `stop` must be given.
    stop : Stop, optional
        When to stop, such as `Settled()`.
    arithmetic : {"certified", "exact", "float"}, default "certified"
        Floats with every choice proved or decided by integers; integers alone; or floats that prove
        nothing. "certified" encloses softmax and normalisation in balls.
    error : float, default 1e-12
        Of softmax and normalisation: no coordinate may be off by more; precision is raised until
        that is proved.
    record : Record, default Every(1)
        Which layers to keep, such as `Every(10)` or `LastOnly()`.
    columns : sequence of str or str, optional
        As in `limit`.
    progress : callable, optional
        Called with (clouds done, clouds), of softmax and normalisation with (layers done, layers).
    engine : Cpu, Gpu, "cpu" or "gpu", optional
        By default tensors on a GPU stay there, and the CPU does the rest.

    Returns
    -------
    Trajectory, Trajectories or StreamedRun
        The run of the cloud, for softmax and normalisation `Enclosures`; `Trajectories` for a
        batch, `StreamedRun` for a source of chunks.

    Examples
    --------
    >>> square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    >>> run = simulate(square, Dynamics("1/2"), layers=10_000)
    >>> run.at(10_000)[4].tolist(), run.details.decisions.arithmetic, run.settled_at
    ([1.0, 0.0], 'exact', 0)
    """
    if (layers is None) == (stop is None):
        raise InputError(
            "Give either `layers` (such as layers=30) or `stop` (such as stop=Settled()), "
            "and not both."
        )
    if not is_stream(tokens):
        is_file = isinstance(tokens, str | Path)
        read = read_cloud if is_file else read_frame
        tokens = read(tokens, columns=columns)
    check_progress(progress)
    check_choice(arithmetic, ARITHMETICS, "`arithmetic`")
    is_rational = dynamics_are_rational(check_dynamics(dynamics))
    if arithmetic == "float" or not is_rational:
        usual = record == EVERY_LAYER and engine is None and not is_stream(tokens)
        if layers is None or not usual:
            who = "`arithmetic` 'float'" if is_rational else "Softmax and normalisation"
            others = "`stop`, `record`, `engine` nor a source of chunks"
            raise InputError(f"{who}: give `layers`, and neither {others}.")
        given = tokens, dynamics, layers
        if arithmetic == "float":
            return float_clouds(*given)
        if arithmetic == "exact":
            irrational = "softmax and normalisation are irrational: use 'certified' or 'float'"
            raise InputError(f"`arithmetic` 'exact': {irrational}.")
        return enclose_clouds(*given, progress, error=check_real(error, "`error`", above=0))
    asked = engine_for(tokens, engine)
    if layers is not None:
        stop = AfterLayers(layers)
    plan = Plan(
        dynamics,
        solvers_for(arithmetic, asked, plain=dynamics.is_plain),
        check_instance(stop, Stop, "`stop`", A_STOP),
        check_instance(record, Record, "`record`", "Every(10), LastOnly() or another Record"),
        asked if dynamics.is_plain else CPU,
    )
    if is_stream(tokens):
        chunks = open_stream(tokens, dynamics, progress, arithmetic, engine, columns)
        return _run_stream(chunks, plan)
    return run_clouds(tokens, plan, progress)


def _run_stream(chunks: Any, plan: Plan) -> StreamedRun:
    if not isinstance(plan.record, LastOnly) or plan.stop.when_settled:
        raise InputError(
            "`record`: a cloud that is read chunk by chunk keeps the last layer only: "
            "pass layers=… and record=LastOnly().",
        )
    return StreamedRun(chunks, gather(chunks, plan.dynamics, plan.stop))


def step(tokens: Any, dynamics: Dynamics, *, layer: int = 0) -> Tables:
    """Tokens one layer later.

    Parameters
    ----------
    tokens : array_like of shape (n, d), or a batch of clouds
        Starting points.
    dynamics : Dynamics
        Step size and metric.
    layer : int, default 0
        The layer, if steps differ from layer to layer.

    Returns
    -------
    array, tensor, list of them or Ragged
        As the tokens were given. They are those of the definition, rounded once; on a GPU they are
        computed in float64 and are off by no more than ten roundings of the longest token.

    Examples
    --------
    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics = check_rational(check_dynamics(dynamics), "`step`")
    is_on_device = is_tensor(tokens) and tokens.is_cuda
    if is_on_device and (dynamics.is_plain or is_causal(dynamics)):
        require_extra("The GPU engine", "gpu", "torch", "triton")
        from hardmax._runs.tensors import step_table

        moved = step_table(tokens, dynamics)
        if moved is not None:
            return moved
    if dynamics.is_plain and isinstance(engine_for(tokens, None), Gpu):
        return simulate(tokens, dynamics, layers=1, record=LastOnly()).at(1)
    return definition.step(tokens, dynamics, layer=layer)
