"""What a contest in floats is worth: `TieSlack` takes close scores for ties, `Proof` proves every choice."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.positions import ExactPositions, ExactView
from hardmax._exact.vectors import Whole
from hardmax._float.active_set import ActiveSet
from hardmax._float.argmax import ArgmaxResult, exact_argmax, exact_products, first_or_second, nearest, nearest_rows
from hardmax._float.bands import are_spread, hold_in_bands
from hardmax._float.bounds import LARGEST, SMALLEST, FloatMetric, SlackFactors, float_metric
from hardmax._float.events import Scene
from hardmax._float.frame import Frame
from hardmax._float.search import Cpu
from hardmax._tokens.points import Points
from hardmax._validation import InputError, check_real
from hardmax.dynamics import Dynamics

# So few candidates are compared as integers at once; as many scores are made at a time.
_FEW, _BLOCK = 4, 2**20
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked at a layer: to whom do the points attend that are still pending?"""

    arena: ActiveSet
    pending: np.ndarray
    guesses: np.ndarray  # for each pending point one that it may attend to
    cpu: Cpu

    @property
    def rows(self) -> slice | np.ndarray:
        """The rows of the pending points in the arena."""
        return slice(None) if len(self.pending) == len(self.arena) else self.arena.rows_of(self.pending)

    def hold(self, directions: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
        """The contest, among those in the arena if nobody else can come within the slack, else among all."""
        arena = self.arena if self.arena.suffices(directions, slack) else self.arena.reopened()
        return arena.hold(self.cpu, directions, slack, self.guesses)


class TieResolver(Protocol):
    """A judge at work on one walk."""

    def decide(self, question: Question) -> ArgmaxResult:
        """The contest of a layer, in which all who are still candidates attend."""
        ...

    def note(self, arena: ActiveSet, choices: Choices, pending: np.ndarray) -> None:
        """Take note of what was decided for the points that were pending."""
        ...

    def lasting(self, arena: ActiveSet, choices: Choices, pending: np.ndarray) -> int | None:
        """For how many layers these choices last where some points are still pending; None: for ever."""
        ...

    def is_leader(self, choices: Choices) -> np.ndarray:
        """Which points attend to their own place alone."""
        ...

    def exactly(self) -> ExactView | None:
        """Exact positions in the phase that was noted last, where every choice is proved."""
        ...


class TiePolicy(Protocol):
    """Says what counts as a tie."""

    def frame(self, points: Points, dynamics: Dynamics) -> Frame:
        """The scale in which floats walk."""
        ...

    def first_error(self, frame: Frame) -> float:
        """How far the numbers of a frame are from the truth; nan if nothing is promised."""
        ...

    def open(self, points: Points, frame: Frame, dynamics: Dynamics) -> TieResolver: ...


@dataclass(frozen=True)
class TieSlack:
    """Ties are scores within a fixed fraction of |A z_i| |z_j|. Nothing is proved.

    With `relative=0` scores are compared with `==`, which rounding makes wrong as soon as there are ties.
    """

    relative: float = 1e-12

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative", check_real(self.relative, "`relative`", at_least=0))

    def frame(self, points: Points, dynamics: Dynamics) -> Frame:
        return Frame.of(points)

    def first_error(self, frame: Frame) -> float:
        return np.nan

    def open(self, points: Points, frame: Frame, dynamics: Dynamics) -> "_CloseEnough":
        reach = float(np.abs(points.floats).max())
        if reach and not SMALLEST**4 <= reach <= LARGEST**4:
            raise InputError(
                f"`tokens` reach {reach:.1e}, where float scores overflow or vanish. "
                "Use arithmetic='certified', or scale the cloud.",
                argument="tokens",
                also=("arithmetic='certified'",),
            )
        return _CloseEnough(self.relative, float_metric(dynamics))


@dataclass(frozen=True)
class _CloseEnough:
    """`TieSlack` at work."""

    relative: float
    metric: FloatMetric

    def decide(self, question: Question) -> ArgmaxResult:
        slack = self.relative * self.metric.norm * question.arena.norms[question.rows] * question.arena.longest
        return question.hold(self.metric.directions(question.arena.places[question.rows]), slack)

    def note(self, arena: ActiveSet, choices: Choices, pending: np.ndarray) -> None:
        pass

    def lasting(self, arena: ActiveSet, choices: Choices, pending: np.ndarray) -> int | None:
        return 1

    def is_leader(self, choices: Choices) -> np.ndarray:
        return choices.is_leader

    def exactly(self) -> ExactView | None:
        return None


@dataclass(frozen=True)
class Proof:
    """Every choice must lead by more than floats can be wrong (`bounds`); where one does not, the truth decides."""

    def frame(self, points: Points, dynamics: Dynamics) -> Frame:
        return Frame.of(points).balanced(float_metric(dynamics))

    def first_error(self, frame: Frame) -> float:
        return frame.error

    def open(self, points: Points, frame: Frame, dynamics: Dynamics) -> "_Proving":
        return _Proving(points, frame, dynamics)


class _Proving:
    """`Proof` at work: it keeps the truth, chain by chain."""

    def __init__(self, points: Points, frame: Frame, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._metric = frame.metric(float_metric(dynamics))
        self._factors = SlackFactors.of(points.dimension, self._metric)
        self._frame = frame
        self._truth = ExactPositions(points, dynamics)
        self._can_meet = not dynamics.is_definite

    def decide(self, question: Question) -> ArgmaxResult:
        self._truth.begin(question.arena.layer)
        contest = self._hold(question)
        if not len(contest.contested):
            return contest
        exact = self._exact_looks if question.arena.layer == 0 else None
        candidates, lead = (
            self._by_positions(contest, question.pending)
            if exact is None
            else exact_argmax(exact[contest.contested], self._frame.numbers, contest.candidates)
        )
        return replace(contest, candidates=candidates, gap=min(contest.gap, lead), by=(*contest.by, "integers"))

    @cached_property
    def _lead_unit(self) -> Fraction:
        """Exact leads are measured by tokens as they came and the metric's integers, those of floats by the frame's."""
        return self._metric.scale / (self._frame.unit**2 * self._dynamics.metric_denominator)

    @property
    def _exact_looks(self) -> np.ndarray | None:
        """The directions of all tokens, if floats have them without rounding."""
        return exact_products(self._frame.numbers, self._metric) if self._frame.error == 0.0 else None

    def _by_positions(self, contest: ArgmaxResult, pending: np.ndarray) -> tuple[Choices, float]:
        """Who is furthest among the candidates, by exact positions, and their smallest lead over the others."""
        now = self._truth.last
        asked = [self._truth.along(self._truth.place(i, now)) for i in pending[contest.contested].tolist()]
        sets: list[np.ndarray] = [_NOBODY] * len(asked)
        leads = [np.inf]
        for rows, candidates in _with_similar_contenders(contest.candidates):
            few = self._worth_asking([asked[row] for row in rows], candidates)
            for row, some in zip(rows.tolist(), few, strict=True):
                sets[row], lead = self._truth.furthest(asked[row], some, now)
                if lead is None and len(some) < len(candidates):  # they tie: who comes next is not among them
                    _, lead = self._truth.furthest(asked[row], candidates, now)
                leads.append(np.inf if lead is None else float(lead * self._lead_unit))
        return Choices.of_sets(sets), min(leads)

    def _worth_asking(self, directions: list[Whole], points: np.ndarray) -> Iterator[np.ndarray]:
        """For each direction those of the points that can be furthest along it, or next to that.

        From one point to another is not far where neighbours contend. So exact differences, rounded once, tell most of
        them apart, where positions in floats do not.
        """
        if len(points) <= _FEW:
            yield from [points] * len(directions)
            return
        offsets, block = nearest(self._truth.offsets(points, self._truth.last)), max(1, _BLOCK // len(points))
        for start in range(0, len(directions), block):
            some = nearest_rows([direction.numerators for direction in directions[start : start + block]])
            for close in first_or_second(some, offsets):
                yield points[close]

    def _hold(self, question: Question) -> ArgmaxResult:
        arena, rows = question.arena, question.rows
        norms = arena.norms
        if are_spread(norms):
            everybody = arena.reopened()
            own = everybody.places[question.pending], everybody.errors[question.pending]
            places, errors = everybody.places, everybody.errors
            return hold_in_bands(question.cpu.hold, own, places, errors, self._metric, self._factors)
        directions = self._metric.directions(arena.places[rows])
        slack = self._factors.slack(norms[rows], arena.errors[rows], arena.longest, float(arena.errors.max()))
        return question.hold(directions, slack)

    def note(self, arena: ActiveSet, choices: Choices, pending: np.ndarray) -> None:
        if len(pending) == len(choices):
            self._truth.note(pending, choices, choices.follows_leader)
        else:
            self._truth.note(pending, choices.of_rows(pending), choices.follows_leader[pending])

    def lasting(self, arena: ActiveSet, choices: Choices, pending: np.ndarray) -> int | None:
        if choices.all_single and not self._can_meet:
            # Somebody attends to a point that is no leader, and so moves towards another one: the target moves.
            return 1
        scene = Scene(arena, choices, self._dynamics, self._metric, self._truth, self._frame.exponents)
        return scene.layers_unchanged(pending)

    def is_leader(self, choices: Choices) -> np.ndarray:
        if not self._can_meet or choices.all_single:
            return choices.is_leader
        # With a metric that is not positive definite distinct points can meet; those that have met are one.
        leading = choices.is_leader.copy()
        for point in np.flatnonzero(choices.sizes > 1).tolist():
            # One by one: the first that is elsewhere decides, and a point without a direction attends to everybody.
            (here,) = self._truth.positions([point], self._truth.last)
            leading[point] = all(self._truth.positions([j], self._truth.last) == [here] for j in choices[point])
        return leading

    def exactly(self) -> ExactView | None:
        return self._truth.now()


def _with_similar_contenders(candidates: Choices) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows in groups, and the candidates of each group: all of them, where that is not many more than each row has.

    More of them than a row has do no harm to it.
    """
    firsts, sizes = candidates.firsts(np.arange(len(candidates))), np.frexp(candidates.sizes)[1]
    order = np.lexsort((sizes, firsts))
    changes = (np.diff(firsts[order]) != 0) | (np.diff(sizes[order]) != 0)
    everybody = np.zeros(candidates.indices.max() + 1, dtype=bool)
    for rows in np.split(order, np.flatnonzero(changes) + 1):
        everybody[:] = False
        everybody[candidates.of_rows(rows).indices] = True
        together = np.flatnonzero(everybody)
        if len(together) <= 4 * candidates.sizes[rows].mean():
            yield rows, together
        else:
            yield from ((row, candidates[int(row[0])]) for row in np.split(rows, len(rows)))
