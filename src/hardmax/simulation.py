"""Layers: `simulate` for many, `step` for a single one."""

from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from hardmax import dynamics as definition
from hardmax._common.validation import (
    InputError,
    check_choice,
    check_int,
    check_real,
    require_extra,
)
from hardmax._float.search import CPU
from hardmax._layer.rules import check_dimension, check_rational
from hardmax._runs.batch import Kernel, takes
from hardmax._runs.enclosures import ERROR, enclose, run_in_floats
from hardmax._runs.run import Run, Runs, Tables, points_of
from hardmax._runs.walk import Plan, read_clouds, run_points
from hardmax._tokens.batches import BatchArray, BatchList, CloudArray, CloudList
from hardmax._tokens.columns import ColumnChoice, read_frame
from hardmax._tokens.tensors import is_tensor
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import ARITHMETICS, Engine, Gpu, engine_for, solvers_for
from hardmax.io import read_cloud


class Options(TypedDict, total=False):
    """Options of `simulate`."""

    max_layers: int | None
    arithmetic: str
    error: float
    columns: ColumnChoice
    engine: Engine | str | None


Layers = int | None


@overload
def simulate(
    tokens: str | Path, dynamics: Dynamics, layers: Layers = None, **how: Unpack[Options]
) -> Any: ...
@overload
def simulate(
    tokens: CloudList | CloudArray,
    dynamics: Dynamics,
    layers: Layers = None,
    **how: Unpack[Options],
) -> Run: ...
@overload
def simulate(
    tokens: BatchList | BatchArray,
    dynamics: Dynamics,
    layers: Layers = None,
    **how: Unpack[Options],
) -> Runs: ...
@overload
def simulate(
    tokens: Any, dynamics: Dynamics, layers: Layers = None, **how: Unpack[Options]
) -> Any: ...
def simulate(
    tokens: Any,
    dynamics: Dynamics,
    layers: int | None = None,
    *,
    max_layers: int | None = None,
    arithmetic: str = "certified",
    error: float = ERROR,
    columns: ColumnChoice = None,
    engine: Engine | str | None = None,
) -> Run | Runs:
    """Run tokens through layers of hardmax attention.

    Parameters
    ----------
    tokens : array_like of shape (n, d), a batch of clouds, or a file
        Starting points. Torch tensors are returned as such, of their dtype and on their device. A
        file is read by `hardmax.io.read_cloud`.
    dynamics : Dynamics
        What a layer does.
    layers : int, optional
        Number of layers; by default as many as it takes until no attended set ever changes again.
    max_layers : int, optional
        Without `layers`, give up (`settled_at` is None) where attended sets may still change after
        this layer. By default, after computing them at 10,000 layers (a range in which nothing
        changes counts once), or at 500 if tokens may never settle: if the metric is not symmetric
        positive definite, or the layer is not the paper's.
    arithmetic : {"certified", "exact", "float"}, default "certified"
        Floats with every choice proved or decided by integers; integers alone; or floats that prove
        nothing. "certified" encloses softmax and normalisation in balls.
    error : float, default 1e-12
        For softmax and normalisation: the largest error of a coordinate; precision is raised until
        it is proved.
    columns : sequence of str or str, optional
        As in `limit`.
    engine : Cpu, Gpu, "cpu" or "gpu", optional
        By default tensors on a GPU stay there, and the CPU does the rest.

    Returns
    -------
    Run or Runs
        The run of the cloud; `Runs` for a batch.

    Examples
    --------
    >>> square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    >>> run = simulate(square, Dynamics("1/2"), 10_000)
    >>> run.at(10_000)[4].tolist(), run.arithmetic, simulate(square, Dynamics("1/2")).layers
    ([1.0, 0.0], 'exact', 0)
    """
    dynamics = check_dynamics(dynamics)
    check_choice(arithmetic, ARITHMETICS, "`arithmetic`")
    if layers is not None:
        layers = check_int(layers, "`layers`", at_least=0)
    if max_layers is not None:
        if layers is not None:
            raise InputError("`max_layers` is for runs without `layers`: leave one of them out.")
        max_layers = check_int(max_layers, "`max_layers`", at_least=0)
    tokens = read_tokens(tokens, columns)
    plan, kernel, read_by = None, None, CPU
    if arithmetic == "float" or not dynamics.traits.rational:
        walk = _layer_by_layer(dynamics, layers, arithmetic, error, engine)
    else:
        asked = engine_for(tokens, engine)
        solvers = solvers_for(arithmetic, asked, plain=dynamics.traits.plain)
        read_by = asked if dynamics.traits.plain else CPU
        plan = Plan(dynamics, solvers, layers, max_layers, read_by)
        walk = partial(run_points, plan=plan)
    clouds, container = read_clouds(tokens, read_by)
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    walk = partial(walk, kind=container.tensors)
    if container.is_single:
        return walk(points_of(clouds[0], dynamics))
    if plan is None:
        return Runs(clouds, container, dynamics, walk)
    if len(plan.solvers) > 1 and takes(clouds, dynamics, layers):
        most = plan.usual if max_layers is None else min(max_layers, plan.usual)
        kernel = Kernel(clouds, dynamics, layers, most, read_by)
    return Runs(clouds, container, dynamics, walk, kernel)


def read_tokens(tokens: Any, columns: ColumnChoice = None) -> Any:
    """What a file holds, or the chosen columns of a data frame; all else as it came."""
    read = read_cloud if isinstance(tokens, str | Path) else read_frame
    return read(tokens, columns=columns)


def _layer_by_layer(
    dynamics: Dynamics,
    layers: int | None,
    arithmetic: str,
    error: float,
    engine: Engine | str | None,
) -> "partial[Run]":
    """What runs a cloud of which no closed form is asked for, or known."""
    if layers is None or engine is not None:
        who = "`arithmetic` 'float' needs" if dynamics.traits.rational else "This layer needs"
        raise InputError(f"{who} `layers`, and takes no `engine`.")
    how: Any = {"dynamics": dynamics, "layers": layers}
    if arithmetic == "float":
        return partial(run_in_floats, **how)
    if arithmetic == "exact":
        irrational = "softmax and normalisation are irrational: use 'certified' or 'float'"
        raise InputError(f"`arithmetic` 'exact': {irrational}.")
    how["error"] = check_real(error, "`error`", above=0)
    return partial(enclose, **how)


def step(tokens: Any, dynamics: Dynamics, *, layer: int = 0) -> Tables:
    """Tokens one layer later.

    Parameters
    ----------
    tokens : array_like of shape (n, d), or a batch of clouds
        Starting points.
    dynamics : Dynamics
        What a layer does.
    layer : int, default 0
        The layer, if steps differ from layer to layer.

    Returns
    -------
    array, tensor, list of them or Clouds
        As the tokens were given. They are those of the definition, rounded once; on a GPU they are
        computed in float64 and are off by no more than ten roundings of the longest token.

    Examples
    --------
    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics = check_rational(check_dynamics(dynamics), "`step`")
    is_on_device = is_tensor(tokens) and tokens.is_cuda
    if is_on_device and (dynamics.traits.plain or dynamics.traits.causal):
        require_extra("The GPU engine", "gpu", "torch", "triton")
        from hardmax._runs.tensors import step_table

        moved = step_table(tokens, dynamics)
        if moved is not None:
            return moved
    if dynamics.traits.plain and isinstance(engine_for(tokens, None), Gpu):
        return simulate(tokens, dynamics, 1).at(1)
    return definition.step(tokens, dynamics, layer=layer)
