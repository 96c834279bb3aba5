"""Finitely many layers: simulate and step.

`simulate`: run the dynamics through its layers.

`step`: the tokens one layer later, where they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

from hardmax import dynamics as definition
from hardmax._batch_runs import Batch, OneByOne, walk_together
from hardmax._float.policies import TieSlack
from hardmax._gpu.clouds import DeviceClouds, read_there
from hardmax._run import DEEPEST_KERNEL, Plan, run_cloud
from hardmax._tokens.batches import Cloud, ManyClouds, OneCloud, Packed, kind_of, read_batch
from hardmax._tokens.tensors import is_tensor
from hardmax._validation import InputError, check_callable, require_extra
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import Engine, Gpu, machine_for, solvers_for, takes_batch
from hardmax.stops import AfterLayers, Every, LastOnly, Record, Stop, check_recording, read_record, read_stop
from hardmax.trajectory import Trajectories, Trajectory

Progress = Callable[[int, int], None]
EVERY_LAYER = Every(1)


class Options(TypedDict, total=False):
    """What `simulate` can be told besides tokens and dynamics."""

    layers: int | None
    stop: Stop | str | None
    arithmetic: str | TieSlack
    record: Record | str
    progress: Progress | None
    engine: Engine | str | None


@overload
def simulate(tokens: OneCloud, dynamics: Dynamics, **options: Unpack[Options]) -> Trajectory: ...
@overload
def simulate(tokens: ManyClouds, dynamics: Dynamics, **options: Unpack[Options]) -> Trajectories: ...
@overload
def simulate(tokens: Any, dynamics: Dynamics, **options: Unpack[Options]) -> Any: ...
def simulate(
    tokens: Any,
    dynamics: Dynamics,
    *,
    layers: int | None = None,
    stop: Stop | str | None = None,
    arithmetic: str | TieSlack = "certified",
    record: Record | str = EVERY_LAYER,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Any:
    """Where the tokens go: a `Trajectory`, or `Trajectories` if `tokens` is a batch of clouds.

    Tokens that came as torch tensors are given back as such, of their dtype and on their device.

    Give either the number of `layers` or a `stop` (`Settled()`, or "settled"). `arithmetic` is "certified" (floats,
    every choice proved or decided by integers), "exact" (integers alone) or "float" (nothing proved; `TieSlack` sets
    the slack). `record` says which layers to keep (`Every(10)`, `LastOnly()`, "every" or "last") and how much memory
    they may take (`Every(1, memory_limit=10**10)`). `progress` is called with (clouds done, clouds). `engine` is
    `Cpu(search=…, threads=…)`, `Gpu()`, "cpu" or "gpu"; if it is not given, tensors on a GPU stay there, and all else
    is done by the processor.

    >>> square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    >>> run = simulate(square, Dynamics("1/2"), layers=10_000)
    >>> run.at(10_000)[4].tolist(), run.arithmetic, run.settled_at
    ([1.0, 0.0], 'exact', 0)
    """
    machine = machine_for(tokens, engine)
    plan = Plan(
        check_dynamics(dynamics),
        solvers_for(arithmetic, machine),
        _one_stop(layers, stop),
        read_record(record),
    )
    progress = check_callable(progress, "`progress`", "done", "total")
    there = clouds_there(tokens, machine)
    if there is not None:
        from hardmax._gpu.simulation import simulate_there

        return simulate_there(there, plan, progress)
    return _simulate_here(tokens, plan, machine, progress)


def _simulate_here(tokens: Any, plan: Plan, machine: Engine, progress: Progress | None) -> Trajectory | Trajectories:
    clouds, form = read_batch(tokens)
    _check_plan(clouds, plan, machine)
    if isinstance(clouds, Packed) and _suits_kernel(clouds, plan, machine):
        return Trajectories(walk_together(Batch(clouds, plan, machine), form, progress))
    runs = []
    for cloud in clouds:
        run = run_cloud(cloud, plan, machine)
        runs.append(run if form.tensors is None else replace(run, tensor_kind=form.tensors))
        if progress is not None:
            progress(len(runs), len(clouds))
    if form.is_single:
        return Trajectory.of(runs[0])
    return Trajectories(OneByOne(runs, form, clouds.multiplicities if isinstance(clouds, Packed) else None))


def _check_plan(clouds: Sequence[Cloud], plan: Plan, machine: Engine) -> None:
    """Whether these clouds can be walked so, and what is to be kept fits into memory."""
    dimension = clouds[0].tokens.shape[1]
    plan.dynamics.check_dimension(dimension)
    machine.check(dimension)
    if not plan.stop.when_settled:
        packed = isinstance(clouds, Packed)
        total = len(clouds.tokens) if packed else sum(len(cloud.tokens) for cloud in clouds)
        check_recording(plan.record, plan.stop.last_layer, total, dimension)


def clouds_there(tokens: Any, machine: Engine) -> DeviceClouds | None:
    """Tokens that came as tensors, on the GPU that is to work; None if they did not, or the processor has to look."""
    if not isinstance(machine, Gpu) or kind_of(tokens) is None:
        return None
    machine.check_present()
    return read_there(tokens, machine.device)


def _suits_kernel(clouds: Packed, plan: Plan, machine: Engine) -> bool:
    """Whether one kernel can walk the clouds: floats that prove, in clouds small enough for one thread each, not too
    deep."""
    if plan.solvers != solvers_for("certified", machine):
        return False
    floats = plan.stop.last_layer <= DEEPEST_KERNEL and clouds.tokens.dtype != object
    return floats and takes_batch(machine, clouds.offsets, clouds.tokens.shape[1])


def _one_stop(layers: int | None, stop: Stop | str | None) -> Stop:
    if (layers is None) == (stop is None):
        raise InputError("Give either `layers` (such as layers=30) or `stop` (such as stop=Settled()), and not both.")
    return AfterLayers(layers) if layers is not None else read_stop(stop)


def step(tokens: Any, dynamics: Dynamics) -> Any:
    """The tokens one layer later, in the form and kind of numbers in which they came.

    They are those of the definition, `hardmax.dynamics.step`, rounded once. Tensors on a GPU stay there: they move in
    float64, and are off by no more than ten roundings of the longest token.

    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics = check_dynamics(dynamics)
    if is_tensor(tokens) and tokens.is_cuda:
        require_extra("The GPU engine", "gpu", "torch", "triton")
        from hardmax._gpu.simulation import step_table

        moved = step_table(tokens, dynamics)
        if moved is not None:
            return moved
    machine = machine_for(tokens, None)
    there = clouds_there(tokens, machine)
    if there is None:
        return definition.step(tokens, dynamics)
    from hardmax._gpu.simulation import step_there

    return step_there(there, Plan(dynamics, solvers_for("certified", machine), AfterLayers(1), LastOnly()))
