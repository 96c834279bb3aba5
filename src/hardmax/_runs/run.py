"""From clouds to runs: one by one, or many small clouds together in one kernel."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, Progress, check_int, shorten
from hardmax._exact.general import GeneralPhase
from hardmax._exact.vectors import MOST_DIGITS, TooLong
from hardmax._float.batch import WALKED, BatchOutcome, Then
from hardmax._float.search import CPU
from hardmax._float.solver import Undecided, interpreted_if_small
from hardmax._layer.rules import check_dimension, merge_points
from hardmax._runs.details import Decisions, KernelResult, Layer, RunDetails, is_limit
from hardmax._runs.trajectory import (
    LazyTrajectory,
    Tables,
    Trajectories,
    Trajectory,
    collected,
)
from hardmax._tokens.batches import (
    Cloud,
    Container,
    PackedClouds,
    as_array,
    read_batch,
    restore_table,
)
from hardmax._tokens.points import Points
from hardmax._tokens.tensors import TensorKind, concatenate, is_tensor
from hardmax.dynamics import Dynamics
from hardmax.engines import (
    AnyPhase,
    Cpu,
    Engine,
    Gpu,
    Solver,
    run_batch,
    solvers_for,
    takes_batch,
)
from hardmax.stops import (
    NO_LIMIT,
    Record,
    Stop,
    check_memory,
)

DEEPEST_KERNEL = 100_000  # layers that one kernel walks a batch through
# Products of digits of exact positions, some 20 ns each, after which a cloud that has not
# settled is given up.
_MOST_WORK = 5 * 10**7
# Decisions after which a cloud is given up; layers other than the paper's may never settle.
_MOST_DECISIONS, _FEWER_DECISIONS = 10_000, 500
_MOST_LEADS = 10_000  # of tokens over others: their closed forms take seconds
_AT_HAND = 2**20  # coordinates of the clouds of a batch whose runs are kept once they are made


@dataclass(frozen=True)
class Plan:
    """How to run a cloud. Of the solvers the first that decides everything counts; the last one
    always does."""

    dynamics: Dynamics
    solvers: tuple[Solver, ...]
    stop: Stop
    record: Record
    engine: Engine = CPU


def run_clouds(
    tokens: Any, plan: Plan, progress: Progress | None = None
) -> Trajectory | Trajectories:
    """The run of a cloud, or the runs of a batch."""
    clouds, container = _read_clouds(tokens, plan.engine)
    dimension = clouds[0].tokens.shape[1]
    check_dimension(plan.dynamics, dimension)
    if isinstance(plan.engine, Cpu):
        plan.engine._check(dimension)
    if not plan.stop.when_settled:
        tables = [clouds] if isinstance(clouds, PackedClouds) else clouds
        total = sum(len(table.tokens) for table in tables)
        check_memory(plan.record.layers(0, plan.stop.last_layer), total, dimension)
    if isinstance(clouds, PackedClouds) and _fit_one_kernel(clouds, plan):
        return BatchTrajectories(clouds, container, plan, progress)
    runs = []
    for cloud in clouds:
        runs.append(run_cloud(cloud, plan, container.tensors))
        if progress is not None:
            progress(len(runs), len(clouds))
    return collected(runs, container, clouds)


def _read_clouds(tokens: Any, engine: Engine) -> tuple[Sequence[Cloud], Container]:
    """The clouds in `tokens`, and the form they came in; a GPU reads tensors where they are."""
    if isinstance(engine, Gpu):
        from hardmax._runs.tensors import read_on_device

        on_device = read_on_device(tokens, engine.device)
        if on_device is not None:
            return on_device
    return read_batch(tokens)


def _fit_one_kernel(clouds: PackedClouds, plan: Plan) -> bool:
    """Whether one kernel can run all these clouds together."""
    return (
        clouds.tokens.dtype != object
        and plan.solvers == solvers_for("certified", plan.engine, plain=plan.dynamics.is_plain)
        and (plan.stop.when_settled or plan.stop.last_layer <= DEEPEST_KERNEL)
        and takes_batch(clouds, plan.dynamics)
    )


def run_cloud(cloud: Cloud, plan: Plan, kind: TensorKind | None = None) -> Trajectory:
    """The run of one cloud, whose tokens are given back as tensors of a kind; repeated tokens are
    one point."""
    if is_tensor(cloud.tokens):
        from hardmax._runs.tensors import run_on_device

        return run_on_device(cloud, plan, kind)
    with plan.engine.limited(), interpreted_if_small(*cloud.tokens.shape):
        return Trajectory(run_points(merge_points(plan.dynamics, cloud), plan), kind)


def run_points(points: Points, plan: Plan) -> RunDetails:
    """The run of one cloud whose repeated tokens are merged."""
    for solver in plan.solvers:
        leader_since = np.full(points.count, -1)
        phases = _mark_leaders(solver.phases(points, plan.dynamics), leader_since)
        if solver is not plan.solvers[-1]:
            phases = _until_slow(phases, endless=plan.stop.last_layer == NO_LIMIT)
        try:
            fields = PhaseCollector(points, plan).collect(phases, solver)
        except Undecided:
            continue
        return RunDetails(
            points=points, dynamics=plan.dynamics, leader_since=leader_since, **fields
        )
    raise AssertionError("the last solver decides everything")


def _mark_leaders(phases: Iterable[AnyPhase], leader_since: np.ndarray) -> Iterator[AnyPhase]:
    """The phases; on the way, note for each point the layer since which it leads."""
    for phase in phases:
        leader_since[~phase.is_leader] = -1  # with a value matrix leaders may be lost again
        leader_since[(leader_since < 0) & phase.is_leader] = phase.layer
        yield phase


def _until_slow(phases: Iterable[AnyPhase], endless: bool) -> Iterator[AnyPhase]:
    """The phases, as long as it pays to go layer by layer; else another solver has to jump over
    layers: where integers decide again and again that nothing has changed, and where a run without
    a last layer does not settle."""
    before, unchanged = None, 0
    try:
        for decided, phase in enumerate(phases):
            choices = phase.choices
            same = before is not None and np.array_equal(choices.indices, before.indices)
            unchanged = unchanged + 1 if same and "integers" in phase.decided_by else 0
            leads = len(choices) * int((~choices.follows_leader).sum())
            too_many = endless and decided == _MOST_DECISIONS - 1 and leads < _MOST_LEADS
            if too_many or unchanged > 8 + len(choices) // 256:
                raise Undecided
            before = choices
            yield phase
    except TooLong:
        raise Undecided from None


class PhaseCollector:
    """Follows phases to the stop of a run, and keeps the last one and those with a recorded
    layer."""

    def __init__(self, points: Points, plan: Plan) -> None:
        self.points, self.plan, self.last = points, plan, plan.stop.last_layer
        self.kept: list[Any] = []
        self.decided: list[tuple[int, str, float]] = []
        self.changed_at, self.settled_at, self.work = 0, None, 0
        self.latest: Any = None

    def collect(self, phases: Iterable[Any], solver: Solver) -> dict[str, Any]:
        """Take phases until the run ends; the fields of a `RunDetails` that follow from them."""
        reason = None
        try:
            for phase in phases:
                reason = self.add(phase)
                if reason is not None:
                    break
        except TooLong:
            if self.latest is None or not self.plan.stop.when_settled:
                raise
            digits = f"exact positions would have more than {MOST_DIGITS:,} digits"
            reason = self._end_before_next(digits)
        assert reason is not None, "phases go on until the run ends"
        if not self.kept or self.kept[-1] is not self.latest:
            self.kept.append(self.latest)
        recorded = self.plan.record.layers(0, self.last)
        check_memory(recorded, *self.points.coordinates.shape)
        layers, searches, margins = zip(*self.decided, strict=True)
        by_integers = any("integers" in search for search in searches)
        arithmetic = "exact" if by_integers else solver.arithmetic
        return {
            "solver": solver,
            "phases": tuple(self.kept),
            "recorded": (*recorded, self.last),
            "decisions": Decisions(layers, searches, np.array(margins), arithmetic),
            "settled_at": self.settled_at,
            "stop_reason": reason,
        }

    def add(self, phase: Any) -> str | None:
        """Take the next phase; why the run ends with it, or None if it goes on."""
        self.latest = phase
        self.decided.append((phase.layer, phase.decided_by, phase.margin))
        if not phase.unchanged:
            self.changed_at = phase.layer
        if phase.until is None:
            self.settled_at = self.changed_at
            if self.plan.stop.when_settled:
                self.last = min(self.last, phase.layer)
        ends = phase.until is None or phase.until > self.last
        if phase.until is None or ends or self.plan.record.layers(phase.layer, phase.until):
            check_memory(self.kept, *self.points.coordinates.shape)
            self.kept.append(phase)
        return self._usual_reason() if ends else self._give_up(phase)

    def _give_up(self, phase: Any) -> str | None:
        """Why a run that has not reached its end had better stop here, if so."""
        decisions, until_settled = len(self.decided), self.plan.stop.when_settled
        most = _MOST_DECISIONS if self.plan.dynamics.is_plain else _FEWER_DECISIONS
        if self.last == NO_LIMIT and decisions > most:
            self.last = phase.layer
            return self._usual_reason()
        self.work += 0 if phase.exactly is None else phase.exactly.work
        if not until_settled or self.work <= _MOST_WORK:
            return None
        if isinstance(phase, GeneralPhase):
            bits = phase.bits
        else:
            bits = phase.layer * math.log2(self.plan.dynamics.contraction.denominator)
        digits = int(bits * math.log10(2))
        return self._end_before_next(
            f"exact positions have {digits:,} digits by now, and more with every layer"
        )

    def _usual_reason(self) -> str:
        return why_stopped(self.plan.stop, self.last, self.settled_at)

    def _end_before_next(self, reason: str) -> str:
        """End the run where the latest phase does: up to there everything is known."""
        until = self.latest.until
        assert until is not None, "a phase that lasts for ever ends the run"
        self.last = until - 1
        return f"gave up at layer {self.last:,}: {reason}{_ties(self.latest, self.points)}"


def _ties(phase: Any, points: Points) -> str:
    """Which token attends to several points that are no leaders, and so may still move."""
    choices = phase.choices
    for point in np.flatnonzero(choices.sizes > 1).tolist():
        if not choices.is_leader[choices[point]].all():
            return f"; token {points.members[point][0]} ties tokens that still move"
    return ""


def why_stopped(stop: Stop, last: int, settled_at: int | None) -> str:
    """Why a run that ends at layer `last` does so, in words."""
    if not stop.when_settled:
        settled = "not settled yet" if settled_at is None else f"settled at layer {settled_at}"
        return f"all {last:,} layers asked for are done; {settled}"
    if settled_at is not None and settled_at <= last:
        return f"settled at layer {settled_at}: no attended set ever changes again"
    return f"gave up at layer {last:,}: not settled yet"


class BatchTrajectories(Trajectories):
    """Runs that one kernel computed together. Clouds that floats could not decide have `exact`
    runs; the phases of any other cloud are computed when more is asked for than the kernel knows.
    Tensors stay on their device; what concerns one cloud is fetched."""

    def __init__(
        self,
        clouds: PackedClouds,
        container: Container,
        plan: Plan,
        progress: Progress | None = None,
    ) -> None:
        super().__init__((), container, clouds.multiplicities)
        self.clouds, self.plan, self._made = clouds, plan, {}
        self._at_hand = 1 + _AT_HAND * len(clouds) // math.prod(clouds.tokens.shape)
        stop, layers = plan.stop, plan.stop.last_layer
        if stop.when_settled:
            layers = min(layers, _MOST_DECISIONS)
        then = Then.STAY if stop.when_settled else Then.GO_ON
        self.outcome = self._run_all(layers, then, leave_long=True, progress=progress)
        left = self.outcome.undecided
        if layers < stop.last_layer:
            left = np.flatnonzero(self.outcome.settled < 0)
        # What floats could not prove is decided at once: it is part of the answer.
        self.exact = {cloud: self.make(cloud) for cloud in left.tolist()}
        for cloud, run in self.exact.items():  # where the kernel gave up, its arrays mean nothing
            rows, since = self._rows_of(cloud), np.full(run.n, -1)
            since[run.leaders] = run.leader_layers
            _put(self.outcome.tokens, rows, run._floats_at(run.layers))
            _put(self.outcome.leader_since, rows, since)
            self.outcome.settled[cloud] = WALKED if run.settled_at is None else run.settled_at
            self.outcome.errors[cloud] = run.error

    def _run_all(self, layer: int, then: Then, **watched: Any) -> BatchOutcome:
        """All clouds at a layer, or where they settled before it; `watched` as `run_batch` takes
        it."""
        plan = self.plan
        return run_batch(plan.engine, self.clouds, plan.dynamics, layer, then, **watched)

    def make(self, cloud: int) -> Trajectory:
        """The run of one cloud, with its phases."""
        given = self.clouds[cloud]
        fetched = replace(given, tokens=as_array(given.tokens, "`tokens`"))
        return run_cloud(fetched, self.plan, self._container.tensors)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_made": {}}

    def __len__(self) -> int:
        return len(self.clouds)

    def _rows_of(self, cloud: int) -> slice:
        return slice(*self.clouds.offsets[cloud : cloud + 2].tolist())

    def _run(self, cloud: int) -> Trajectory:
        if cloud in self.exact:
            return self.exact[cloud]
        if cloud not in self._made:
            if len(self._made) >= self._at_hand:
                self._made.pop(next(iter(self._made)))
            self._made[cloud] = self._lazy_run(cloud)
        return self._made[cloud]

    def _lazy_run(self, cloud: int) -> LazyTrajectory:
        """What the kernel knows of a run, and how to find out more."""
        stop, outcome, rows = self.plan.stop, self.outcome, self._rows_of(cloud)
        settled = None if outcome.settled[cloud] == WALKED else int(outcome.settled[cloud])
        last = stop.last_layer if settled is None or not stop.when_settled else settled
        known = KernelResult(
            dynamics=self.plan.dynamics,
            recorded=(*self.plan.record.layers(0, last), last),
            last=as_array(outcome.tokens[rows], "`tokens`"),
            leader_since=as_array(outcome.leader_since[rows], "`leader_since`"),
            settled_at=settled,
            stop_reason=why_stopped(stop, last, settled),
            error=float(outcome.errors[cloud]),
            float_limits=lambda: as_array(self.arrived.tokens[rows], "`tokens`"),
            leader_of=lambda: self.leader_of[rows],
        )
        return LazyTrajectory(known, lambda: self.make(cloud).details, self._container.tensors)

    @property
    def _latest(self) -> int:
        """The last layer at which a cloud settled in the kernel."""
        return max(0, *np.delete(self.outcome.settled, list(self.exact)).tolist(), 0)

    @cached_property
    def arrived(self) -> BatchOutcome:
        """All clouds at their limits, or at the last layer if they have not settled."""
        arrived = self._run_all(self._latest, Then.ARRIVE)
        for cloud in np.flatnonzero(self.outcome.settled < 0).tolist():
            rows = self._rows_of(cloud)
            arrived.tokens[rows] = self.outcome.tokens[rows]
        for cloud, run in self.exact.items():
            if run.settled_at is not None:
                _put(arrived.tokens, self._rows_of(cloud), run._floats_at("limit"))
        return arrived

    @cached_property
    def leader_of(self) -> np.ndarray:
        """The leader that each token follows for ever, as its first token counted in its cloud; -1:
        none."""
        leader_of = self.outcome.leader_of
        assert leader_of is not None, "the kernel finds them"
        for cloud, run in self.exact.items():
            leader_of[self._rows_of(cloud)] = run._leader_of()
        return leader_of

    def at(self, layer: Layer) -> Tables:
        table = self._limit_table() if is_limit(layer) else self._table_at(layer)
        return restore_table(self._container, table, self.clouds.offsets, self._multiplicities)

    def _table_at(self, layer: Any) -> Any:
        layer, stop = check_int(layer, "`layer`", at_least=0), self.plan.stop
        if layer > stop.last_layer and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(
                f"`layer` {shorten(layer)} lies beyond this run, in which cloud {cloud} has not "
                "settled."
            )
        if layer == stop.last_layer and not stop.when_settled:
            table = concatenate([self.outcome.tokens])  # a copy
        else:
            table = self._run_all(layer, Then.GO_ON).tokens
        for cloud, run in self.exact.items():
            _put(table, self._rows_of(cloud), run._floats_at(layer))
        return table

    def _limit_table(self) -> Any:
        if None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(f"Cloud {cloud} has not settled: where its tokens end is not known.")
        return concatenate([self.arrived.tokens])  # a copy, for whoever asks

    @property
    def leaders(self) -> list[np.ndarray]:
        since = as_array(self.outcome.leader_since, "`leader_since`")
        return [np.flatnonzero(part >= 0) for part in np.split(since, self.clouds.offsets[1:-1])]

    @property
    def settled_at(self) -> list[int | None]:
        return [None if layer == WALKED else layer for layer in self.outcome.settled.tolist()]


def _put(table: Any, rows: slice, values: np.ndarray) -> None:
    """Write into an array, or into a tensor wherever it is."""
    table[rows] = table.new_tensor(values) if is_tensor(table) else values
