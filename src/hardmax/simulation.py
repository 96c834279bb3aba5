"""Finitely many layers: `simulate`, and `step` for a single one."""

from typing import Any, TypedDict, Unpack, overload

from hardmax import dynamics as definition
from hardmax._common.validation import (
    InputError,
    Progress,
    check_instance,
    check_progress,
    require_extra,
)
from hardmax._float.policies import TieSlack
from hardmax._float.search import CPU
from hardmax._layer.attention import Softmax
from hardmax._runs.run import DEEPEST_KERNEL, Plan, Together, run_cloud
from hardmax._runs.softmax import Enclosures, enclose
from hardmax._runs.trajectory import Tables, Trajectories, Trajectory
from hardmax._streams.chunks import is_stream
from hardmax._streams.observers import gather
from hardmax._streams.streamed import StreamedRun, open_stream
from hardmax._tokens.batches import ManyClouds, OneCloud, Packed, read_batch
from hardmax._tokens.tensors import is_tensor
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import Cpu, Engine, Gpu, machine_for, solvers_for, takes_batch
from hardmax.stops import A_STOP, AfterLayers, Every, LastOnly, Record, Stop, check_memory

EVERY_LAYER = Every(1)


class Options(TypedDict, total=False):
    """Options of `simulate`."""

    layers: int | None
    stop: Stop | None
    arithmetic: str | TieSlack
    record: Record
    progress: Progress | None
    engine: Engine | str | None


@overload
def simulate(tokens: OneCloud, dynamics: Dynamics, **options: Unpack[Options]) -> Trajectory: ...
@overload
def simulate(
    tokens: ManyClouds, dynamics: Dynamics, **options: Unpack[Options]
) -> Trajectories: ...
@overload
def simulate(tokens: Any, dynamics: Dynamics, **options: Unpack[Options]) -> Any: ...
def simulate(
    tokens: Any,
    dynamics: Dynamics,
    *,
    layers: int | None = None,
    stop: Stop | None = None,
    arithmetic: str | TieSlack = "certified",
    record: Record = EVERY_LAYER,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Trajectory | Trajectories | StreamedRun | Enclosures | list[Enclosures]:
    """Run tokens through layers of hardmax attention.

    Parameters
    ----------
    tokens : array_like of shape (n, d), a batch of clouds, or a source of chunks
        Starting points. Torch tensors are returned as such, of their dtype and on their device.
        Sources of chunks are those of `limit`; they need ``record=LastOnly()``.
    dynamics : Dynamics
        Step size and metric.
    layers : int, optional
        Number of layers; either this or `stop` must be given.
    stop : Stop, optional
        When to stop, such as `Settled()`.
    arithmetic : {"certified", "exact", "float"} or TieSlack, default "certified"
        Floats with every choice proved or decided by integers; integers alone; or floats that prove
        nothing.
    record : Record, default Every(1)
        Which layers to keep, such as `Every(10)` or `LastOnly()`.
    progress : callable, optional
        Called with (clouds done, clouds).
    engine : Cpu, Gpu, "cpu" or "gpu", optional
        By default tensors on a GPU stay there, and the CPU does the rest.

    Returns
    -------
    Trajectory, Trajectories, StreamedRun or Enclosures
        The run of the cloud; `Trajectories` for a batch, `StreamedRun` for a source of chunks,
        `Enclosures` for softmax (a list of them for a batch).

    Examples
    --------
    >>> square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    >>> run = simulate(square, Dynamics("1/2"), layers=10_000)
    >>> run.at(10_000)[4].tolist(), run.arithmetic, run.settled_at
    ([1.0, 0.0], 'exact', 0)
    """
    if (layers is None) == (stop is None):
        raise InputError(
            "Give either `layers` (such as layers=30) or `stop` (such as stop=Settled()), and not both."
        )
    if isinstance(check_dynamics(dynamics).attention, Softmax):
        if (
            layers is None
            or arithmetic != "certified"
            or record is not EVERY_LAYER
            or engine is not None
        ):
            raise InputError(
                "Softmax takes `layers`, and neither `stop`, `arithmetic`, `record` nor `engine`."
            )
        clouds, form = read_batch(tokens)
        dynamics.check_dimension(clouds[0].tokens.shape[1])
        enclosed = [enclose(cloud, dynamics, layers) for cloud in clouds]
        return enclosed[0] if form.is_single else enclosed
    machine, plain = machine_for(tokens, engine), dynamics.is_plain
    machine = machine if plain else CPU
    plan = Plan(
        dynamics,
        solvers_for(arithmetic, machine, plain=plain),
        check_instance(stop, Stop, "`stop`", A_STOP) if layers is None else AfterLayers(layers),
        check_instance(record, Record, "`record`", "Every(10), LastOnly() or another Record"),
    )
    check_progress(progress)
    if is_stream(tokens):
        chunks = open_stream(tokens, dynamics, progress, arithmetic, engine)
        if not isinstance(plan.record, LastOnly) or plan.stop.when_settled:
            wish = "keeps the last layer only: pass layers=… and record=LastOnly()"
            raise InputError(
                f"`record`: a cloud that is read chunk by chunk {wish}.", argument="record"
            )
        return StreamedRun(chunks, gather(chunks, dynamics, plan.stop))
    there = None
    if isinstance(machine, Gpu):  # tensors are read there
        from hardmax._runs.tensors import read_there

        there = read_there(tokens, machine.device)
    clouds, form = there or read_batch(tokens)
    dimension = clouds[0].tokens.shape[1]
    plan.dynamics.check_dimension(dimension)
    if isinstance(machine, Cpu):
        machine._check(dimension)
    if not plan.stop.when_settled:
        packed = isinstance(clouds, Packed)
        total = len(clouds.tokens) if packed else sum(len(cloud.tokens) for cloud in clouds)
        check_memory(plan.record.layers(0, plan.stop.last_layer), total, dimension)
    if (
        isinstance(clouds, Packed)
        and clouds.tokens.dtype != object
        and plan.solvers == solvers_for("certified", machine)
        and (plan.stop.when_settled or plan.stop.last_layer <= DEEPEST_KERNEL)
        and takes_batch(machine, clouds.offsets, dimension)
    ):
        return Together(clouds, form, plan, machine, progress=progress)
    runs = []
    for cloud in clouds:
        runs.append(run_cloud(cloud, plan, machine, form.tensors))
        if progress is not None:
            progress(len(runs), len(clouds))
    if form.is_single:
        return runs[0]
    return Trajectories(runs, form, clouds.multiplicities if isinstance(clouds, Packed) else None)


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
    dynamics = check_dynamics(dynamics).check_rational("`step`")
    if dynamics.is_plain and is_tensor(tokens) and tokens.is_cuda:
        require_extra("The GPU engine", "gpu", "torch", "triton")
        from hardmax._runs.tensors import step_table

        moved = step_table(tokens, dynamics)
        if moved is not None:
            return moved
    if dynamics.is_plain and isinstance(machine_for(tokens, None), Gpu):
        return simulate(tokens, dynamics, layers=1, record=LastOnly()).at(1)
    return definition.step(tokens, dynamics, layer=layer)
