"""From clouds to runs: one by one, or many small clouds together in one kernel."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, shorten
from hardmax._exact.general import GeneralPhase
from hardmax._exact.positions import ExactPhase
from hardmax._exact.vectors import MOST_DIGITS, TooLong
from hardmax._float.batch import WALKED, BatchOutcome, Then
from hardmax._float.search import CPU
from hardmax._float.solver import FloatPhase, Undecided
from hardmax._runs.trajectory import Known, Tables, Trajectories, Trajectory
from hardmax._tokens.batches import Cloud, Form, Packed, as_array, restore_table
from hardmax._tokens.points import Points
from hardmax._tokens.tensors import TensorKind, concatenate, is_tensor
from hardmax.dynamics import Dynamics
from hardmax.engines import Engine, Solver, interpreted_if_small, walk, walk_many
from hardmax.stops import NO_LIMIT, Record, Stop, check_memory

DEEPEST_KERNEL = 100_000  # layers that one kernel walks a batch through
# Products of digits of exact positions, some 5 ns each, after which a cloud that has not settled is
# given up.
_MOST_WORK = 10**9
_MOST_DECISIONS, _FEWER_DECISIONS = (
    10_000,
    500,
)  # after which a cloud is given up; other layers may never settle
_MOST_LEADS = 10_000  # of tokens over others: their closed forms take seconds
_AT_HAND = 2**20  # coordinates of the clouds of a batch whose runs are kept once they are made


AnyPhase: TypeAlias = FloatPhase | ExactPhase | GeneralPhase


@dataclass(frozen=True)
class Plan:
    """How to run a cloud. Of the solvers the first that decides everything counts; the last one
    always does."""

    dynamics: Dynamics
    solvers: tuple[Solver, ...]
    stop: Stop
    record: Record


def run_cloud(
    cloud: Cloud, plan: Plan, machine: Engine, kind: TensorKind | None = None
) -> Trajectory:
    """The run of one cloud, whose tokens are given back as tensors of a kind; repeated tokens are
    one point."""
    if is_tensor(cloud.tokens):
        from hardmax._runs.tensors import run_there

        return run_there(cloud, plan, kind)
    with machine.limited(), interpreted_if_small(*cloud.tokens.shape):
        return replace(run_points(plan.dynamics.points(cloud), plan), tensor_kind=kind)


def run_points(points: Points, plan: Plan) -> Trajectory:
    """The run of one cloud whose repeated tokens are merged."""
    for solver in plan.solvers:
        since = np.full(points.count, -1)

        def mark(phase: AnyPhase, since: np.ndarray = since) -> AnyPhase:
            since[~phase.is_leader] = -1  # with a value matrix leaders may be lost again
            since[(since < 0) & phase.is_leader] = phase.layer
            return phase

        phases = map(mark, walk(solver, points, plan.dynamics))
        try:
            endless = plan.stop.last_layer == NO_LIMIT
            kept = keep(
                phases if solver is plan.solvers[-1] else _until_slow(phases, endless), points, plan
            )
        except Undecided:
            continue
        return Trajectory(
            points=points, dynamics=plan.dynamics, solver=solver, leader_since=since, **kept
        )
    raise AssertionError("the last solver decides everything")


def _until_slow(phases: Iterable[AnyPhase], endless: bool) -> Iterator[AnyPhase]:
    """The phases, as long as it pays to walk layer by layer; else another solver has to jump over
    layers: where integers decide again and again that nothing has changed, and where a run without
    a last layer does not settle."""
    before, unchanged = None, 0
    try:
        for decided, phase in enumerate(phases):
            choices = phase.choices
            same = before is not None and np.array_equal(choices.indices, before.indices)
            unchanged = unchanged + 1 if same and "integers" in phase.decided_by else 0
            leads = len(choices) * int(
                (~choices.follows_leader).sum()
            )  # that the other solver has to look at
            # Of these a layer costs at least as much as two.
            if unchanged > 32 + leads // 2 or (
                endless and decided == _MOST_DECISIONS - 1 and leads < _MOST_LEADS
            ):
                raise Undecided
            before = choices
            yield phase
    except TooLong:
        raise Undecided from None


def keep(phases: Iterable[Any], points: Points, plan: Plan) -> dict[str, Any]:
    """Follow phases to the stop; of them, those with a recorded layer and the last, and other
    fields of the run."""
    kept, stop, record = [], plan.stop, plan.record
    margins, decided_by = [], {}
    last, changed_at, settled_at = stop.last_layer, 0, None
    work, why, phase = 0, "", None
    most_decisions = _MOST_DECISIONS if plan.dynamics.is_plain else _FEWER_DECISIONS
    try:
        for phase in phases:
            margins.append(phase.margin)
            decided_by[phase.layer] = phase.decided_by
            changed_at = changed_at if phase.unchanged else phase.layer
            if phase.until is None:
                settled_at = changed_at
                last = min(last, phase.layer) if stop.when_settled else last
            ends = phase.until is None or phase.until > last
            if ends or record.layers(phase.layer, phase.until or last):
                check_memory(kept, points.count, points.dimension)
                kept.append(phase)
            if ends:
                break
            if stop.when_settled and (moving := _proved_to_move(phase, len(margins))):
                last, why = (
                    phase.layer,
                    f"{moving} move for ever within bounds, the others stand still",
                )
                break
            if last == NO_LIMIT and len(margins) > most_decisions:
                last = phase.layer
                break
            work += 0 if phase.exactly is None else phase.exactly.work
            if stop.when_settled and work > _MOST_WORK:
                bits = phase.layer * math.log2(phase.contraction.denominator)
                bits = phase.bits if isinstance(phase, GeneralPhase) else bits
                digits = int(bits * math.log10(2))
                raise TooLong(
                    f"exact positions have {digits:,} digits by now, and more with every layer"
                )
    except TooLong as error:
        if phase is None or not stop.when_settled:
            raise
        assert phase.until is not None, "a phase that lasts for ever ends the run"
        last = phase.until - 1  # up to there everything is known
        kept += [] if kept and kept[-1] is phase else [phase]
        too_long = f"exact positions would have more than {MOST_DIGITS:,} digits"
        why = f"gave up at layer {last:,}: {error if work > _MOST_WORK else too_long}{_ties(phase, points)}"
    check_memory(recorded := record.layers(0, last), points.count, points.dimension)
    return {
        "phases": tuple(kept),
        "recorded": (*recorded, last),
        "margins": np.array(margins),
        "decided_by": decided_by,
        "settled_at": settled_at,
        "stopped": why or why_stopped(stop, last, settled_at),
    }


def _proved_to_move(phase: Any, decisions: int) -> str:
    """How many points never settle, if that is proved. It is looked for seldom."""
    if not isinstance(phase, GeneralPhase) or decisions < 16 or decisions & (decisions - 1):
        return ""
    return pluralize(len(phase.moving), "point") if len(phase.moving) else ""


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


class Together(Trajectories):
    """Runs that one kernel computed together. Clouds that floats could not decide have `exact`
    runs; the phases of any other cloud are computed when more is asked for than the kernel knows.
    Tensors stay on their device; what concerns one cloud is fetched."""

    def __init__(
        self,
        clouds: Packed,
        form: Form,
        plan: Plan,
        machine: Engine,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        super().__init__((), form, clouds.multiplicities)
        self.clouds, self.plan, self.machine, self._made = clouds, plan, machine, {}
        self._at_hand = 1 + _AT_HAND * len(clouds) // math.prod(clouds.tokens.shape)
        then = Then.STAY if plan.stop.when_settled else Then.GO_ON
        layers = (
            min(plan.stop.last_layer, _MOST_DECISIONS)
            if plan.stop.when_settled
            else plan.stop.last_layer
        )
        self.outcome = self.walk(layers, then, leave_long=True, progress=progress)
        left = self.outcome.undecided
        if layers < plan.stop.last_layer:
            left = np.union1d(left, np.flatnonzero(self.outcome.settled == WALKED))
        # What floats could not prove is decided at once: it is part of the answer.
        self.exact = {cloud: self.make(cloud) for cloud in left.tolist()}
        for cloud, run in self.exact.items():  # where the kernel gave up, its arrays mean nothing
            here, since = self._tokens_of(cloud), np.full(run.n, -1)
            since[run.leaders] = run.leader_layers
            _put(self.outcome.tokens, here, run.floats_at(run.layers))
            _put(self.outcome.leader_since, here, since)
            self.outcome.settled[cloud] = WALKED if run.settled_at is None else run.settled_at
            self.outcome.errors[cloud] = run.error

    def walk(self, layer: int, then: Then, **watched: Any) -> BatchOutcome:
        """All clouds at a layer, or where they settled before it; `watched` as `walk_many` takes
        it."""
        clouds, dynamics = self.clouds, self.plan.dynamics
        return walk_many(
            self.machine, clouds.tokens, clouds.offsets, dynamics, layer, then, **watched
        )

    def make(self, cloud: int) -> Trajectory:
        """The run of one cloud, with its phases."""
        one = self.clouds[cloud]
        one = replace(one, tokens=as_array(one.tokens, "`tokens`"))
        return run_cloud(one, self.plan, self.machine, self.form.tensors)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_made": {}}

    def __len__(self) -> int:
        return len(self.clouds)

    def _tokens_of(self, cloud: int) -> slice:
        return slice(*self.clouds.offsets[cloud : cloud + 2].tolist())

    def _run(self, cloud: int) -> Trajectory:
        if cloud in self.exact:
            return self.exact[cloud]
        if cloud not in self._made:
            if len(self._made) >= self._at_hand:
                self._made.pop(next(iter(self._made)))
            self._made[cloud] = self._known(cloud)
        return self._made[cloud]

    def _known(self, cloud: int) -> Trajectory:
        """What the kernel knows of a run, and how to find out more."""
        stop, outcome, here = self.plan.stop, self.outcome, self._tokens_of(cloud)
        settled = None if outcome.settled[cloud] == WALKED else int(outcome.settled[cloud])
        last = stop.last_layer if settled is None or not stop.when_settled else settled
        return Trajectory._of_known(
            Known(
                lambda: self.make(cloud),
                as_array(outcome.tokens[here], "`tokens`"),
                ends=lambda: as_array(self.arrived.tokens[here], "`tokens`"),
                leader_of=lambda: self.leader_of[here],
            ),
            as_array(outcome.leader_since[here], "`leader_since`"),
            dynamics=self.plan.dynamics,
            solver=self.plan.solvers[0],
            recorded=(*self.plan.record.layers(0, last), last),
            settled_at=settled,
            stopped=why_stopped(stop, last, settled),
            tensor_kind=self.form.tensors,
            error=float(outcome.errors[cloud]),
        )

    @property
    def _latest(self) -> int:
        """The last layer at which a cloud settled in the kernel."""
        return max(0, *np.delete(self.outcome.settled, list(self.exact)).tolist(), 0)

    @cached_property
    def arrived(self) -> BatchOutcome:
        """All clouds at their limits, or at the last layer if they have not settled."""
        arrived = self.walk(self._latest, Then.ARRIVE)
        for cloud in np.flatnonzero(self.outcome.settled == WALKED).tolist():
            here = self._tokens_of(cloud)
            arrived.tokens[here] = self.outcome.tokens[here]
        for cloud, run in self.exact.items():
            if run.settled_at is not None:
                _put(arrived.tokens, self._tokens_of(cloud), run.float_ends())
        return arrived

    @cached_property
    def leader_of(self) -> np.ndarray:
        """The leader that each token follows for ever, as its first token counted in its cloud; -1:
        none."""
        found, clouds = self.outcome.leader_of, self.clouds
        if found is None:  # a GPU does not find them
            walked = walk_many(
                CPU, clouds.tokens, clouds.offsets, self.plan.dynamics, self._latest, Then.STAY
            )
            found = walked.leader_of
        assert found is not None, "the CPU finds them"
        for cloud, run in self.exact.items():
            found[self._tokens_of(cloud)] = run.leader_of()
        return found

    def at(self, layer: int) -> Tables:
        layer, stop = check_int(layer, "`layer`", at_least=0), self.plan.stop
        if layer > stop.last_layer and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(
                f"`layer` {shorten(layer)} lies beyond this run, in which cloud {cloud} has not settled."
            )
        is_last = layer == stop.last_layer and not stop.when_settled
        table = (
            concatenate([self.outcome.tokens]) if is_last else self.walk(layer, Then.GO_ON).tokens
        )
        for cloud, run in self.exact.items():
            _put(table, self._tokens_of(cloud), run.floats_at(layer))
        return restore_table(self.form, table, self.clouds.offsets, self.multiplicities)

    def ends(self) -> Tables:
        if None in self.settled_at:
            raise InputError(
                f"Cloud {self.settled_at.index(None)} has not settled: where its tokens end is not known."
            )
        table = concatenate([self.arrived.tokens])  # a copy, for whoever asks
        return restore_table(self.form, table, self.clouds.offsets, self.multiplicities)

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
