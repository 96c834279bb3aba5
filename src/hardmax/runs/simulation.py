"""`simulate`: run the dynamics through its layers."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardmax.checking import caller, whole_number
from hardmax.compiling import is_asleep, letting_numba_sleep
from hardmax.dynamics import Dynamics, read_dynamics
from hardmax.engines.arithmetics import engines_for
from hardmax.engines.engine import Engine
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.engines.judging.judges import TieSlack
from hardmax.engines.judging.walking import Undecided
from hardmax.engines.machines import Gpu, Machine, machine_for, takes_batch
from hardmax.errors import InputError
from hardmax.runs.records import DEFAULT_MEMORY_LIMIT, Every, Record, check_memory, check_recording, read_record
from hardmax.runs.stops import AfterLayers, Stop, read_stop
from hardmax.runs.trajectories import Batch, ListedTrajectories, walk_together
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.batches import Packed, kind_of, read_batch
from hardmax.tokens.device_clouds import DeviceClouds, read_there
from hardmax.tokens.points import Points, merge

Progress = Callable[[int, int], None]
EVERY_LAYER = Every(1)
DEEPEST_KERNEL = 100_000  # layers
_SMALL = 2**14  # products of coordinates


def simulate(
    tokens: Any,
    dynamics: Dynamics,
    *,
    layers: int | None = None,
    stop: Stop | str | None = None,
    arithmetic: str | TieSlack = "certified",
    record: Record | str = EVERY_LAYER,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Progress | None = None,
    engine: Machine | str | None = None,
) -> Any:
    """Where the tokens go: a `Trajectory`, or `Trajectories` if `tokens` is a batch of clouds.

    Tokens that came as torch tensors are given back as such, of their dtype and on their device.

    Give either the number of `layers` or a `stop` (`Settled()`, or "settled"). `arithmetic` is "certified" (floats,
    every choice proved or decided by integers), "exact" (integers alone) or "float" (nothing proved; `TieSlack` sets
    the slack). `record` says which layers to keep (`Every(10)`, `LastOnly()`, "every" or "last"). `progress` is called
    with (clouds done, clouds). `engine` is `Cpu(search=…, threads=…)`, `Gpu()`, "cpu" or "gpu"; if it is not given,
    tensors on a GPU stay there, and all else is done by the processor.

    >>> square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    >>> run = simulate(square, Dynamics("1/2"), layers=10_000)
    >>> run.at(10_000)[4].tolist(), run.arithmetic, run.settled_at
    ([1.0, 0.0], 'exact', 0)
    """
    dynamics, stop, record = read_dynamics(dynamics), _one_stop(layers, stop), read_record(record)
    memory_limit = whole_number(memory_limit, "`memory_limit`", at_least=1)
    progress = caller(progress, "`progress`", "done", "total")
    machine = machine_for(tokens, engine)
    there = clouds_there(tokens, machine)
    if there is not None:
        from hardmax.runs.on_device.simulation import Plan, simulate_there

        engines = engines_for(arithmetic, machine)
        return simulate_there(there, Plan(dynamics, engines, stop, record, memory_limit), progress)
    clouds, form = read_batch(tokens)
    dimension = clouds[0].tokens.shape[1]
    dynamics.check_dimension(dimension)
    machine.check(dimension)
    engines = engines_for(arithmetic, machine)
    together = clouds if isinstance(clouds, Packed) else None
    if not stop.when_settled:
        total = sum(len(cloud.tokens) for cloud in clouds) if together is None else len(together.tokens)
        check_recording(record, stop.last_layer, total, dimension, memory_limit)

    def run_cloud(number: int) -> Trajectory:
        with machine.limited(), _for_size(len(clouds[number].tokens), dimension):
            run = run_points(merge(clouds[number]), dynamics, engines, stop, record, memory_limit)
        return run if form.tensors is None else replace(run, tensor_kind=form.tensors)

    if arithmetic == "certified" and together is not None and _suits_kernel(together, stop, machine):
        counts = together.multiplicities
        batch = Batch(together.tokens, together.offsets, counts, dynamics, stop, record, machine)
        return walk_together(batch, form, run_cloud, progress)
    runs = []
    for number in range(len(clouds)):
        runs.append(run_cloud(number))
        if progress is not None:
            progress(len(runs), len(clouds))
    if form.is_single:
        return runs[0]
    return ListedTrajectories(runs, form, None if together is None else together.multiplicities)


def _for_size(tokens: int, dimension: int) -> AbstractContextManager[None]:
    """A small cloud is walked sooner than numba is imported."""
    return letting_numba_sleep() if is_asleep() and tokens**2 * dimension <= _SMALL else nullcontext()


def clouds_there(tokens: Any, machine: Machine) -> DeviceClouds | None:
    """Tokens that came as tensors, on the GPU that is to work; None if they did not, or the processor has to look."""
    if not isinstance(machine, Gpu) or kind_of(tokens) is None:
        return None
    machine.check_present()
    return read_there(tokens, machine.device)


def _suits_kernel(clouds: Packed, stop: Stop, machine: Machine) -> bool:
    """Whether one kernel can walk the clouds: floats, in clouds small enough for one thread each, not too deep."""
    floats = stop.last_layer <= DEEPEST_KERNEL and clouds.tokens.dtype != object
    return floats and takes_batch(machine, clouds.offsets, clouds.tokens.shape[1])


def _one_stop(layers: int | None, stop: Stop | str | None) -> Stop:
    if (layers is None) == (stop is None):
        raise InputError("Give either `layers` (such as layers=30) or `stop` (such as stop=Settled()), and not both.")
    return AfterLayers(layers) if layers is not None else read_stop(stop)


def run_points(
    points: Points, dynamics: Dynamics, engines: tuple[Engine, ...], stop: Stop, record: Record, memory_limit: int
) -> Trajectory:
    """The run of one cloud by the first of the engines that can decide everything."""
    for engine in engines:
        try:
            return _walk(points, dynamics, engine, stop, record, memory_limit)
        except Undecided:
            continue
    raise AssertionError("the last engine of an arithmetic decides everything")


def _walk(
    points: Points, dynamics: Dynamics, engine: Engine, stop: Stop, record: Record, memory_limit: int
) -> Trajectory:
    since = np.full(points.count, -1)

    def marked() -> Iterable[FloatStretch | ExactStretch]:
        for stretch in engine.walk(points, dynamics):
            since[(since < 0) & stretch.alone] = stretch.layer
            yield stretch

    kept = keep(marked(), points, stop, record, memory_limit)
    return Trajectory(points=points, dynamics=dynamics, engine=engine, leader_since=since, **vars(kept))


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a walk: fields of a `Trajectory`."""

    stretches: tuple[Any, ...]
    recorded: tuple[int, ...]
    margin_at: dict[int, float]
    decided_by: dict[int, str]
    settled_at: int | None
    stopped: str


def keep(walk: Iterable[Any], points: Points, stop: Stop, record: Record, memory_limit: int) -> Kept:
    """Follow the stretches of a walk to its stop, and keep those that the record asks for and the last."""
    kept = []
    margins: dict[int, float] = {}
    decided_by: dict[int, str] = {}
    last, settled_at = stop.last_layer, None
    for stretch in walk:
        margins[stretch.layer], decided_by[stretch.layer] = stretch.margin, stretch.decided_by
        if stretch.until is None:
            settled_at = stretch.layer
            last = min(last, settled_at) if stop.when_settled else last
        ends = stretch.until is None or stretch.until > last
        if ends or record.keeps(stretch.layer, stretch.until or last):
            kept.append(stretch)
            check_memory(len(kept), points.count, points.dimension, memory_limit)
        if ends:
            break
    why = _why(stop, last, settled_at)
    return Kept(tuple(kept), tuple(record.layers(last)), margins, decided_by, settled_at, why)


def _why(stop: Stop, last: int, settled_at: int | None) -> str:
    if not stop.when_settled:
        settled = "not settled yet" if settled_at is None else f"settled at layer {settled_at}"
        return f"all {last:,} layers asked for are done; {settled}"
    if settled_at == last:
        return f"settled at layer {last}: no attended set ever changes again"
    return f"gave up at layer {last:,}: not settled yet"
