"""For how long attended sets stay as they are where some of them are ties: `events`, asked only where it matters.

Whoever follows a leader does so for ever, and its target stands still. So only the others are looked at, the `pending`
ones: floats tell most of them apart, exact positions (`truth`) the rest. What must hold is derived in `events`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.events import layers_negative
from hardmax._exact.positions import ExactPositions
from hardmax._exact.vectors import Vector, Whole, dot
from hardmax._float.active_set import ActiveSet
from hardmax._float.bounds import SAFETY, UNDERFLOW, UNIT, FloatMetric, SlackFactors, mean_error, norms_above
from hardmax._float.phase import mean_positions
from hardmax.dynamics import Dynamics


@dataclass(frozen=True, eq=False)
class Scene:
    """A layer of a walk in floats: where points are and whom they attend to, which is proved and noted in `truth`."""

    arena: ActiveSet
    choices: Choices
    dynamics: Dynamics
    metric: FloatMetric
    truth: ExactPositions
    exponents: np.ndarray | None = None  # of the units of the arena's axes

    def layers_unchanged(self, pending: np.ndarray) -> int | None:
        """How many layers the closed form holds before attended sets may differ (at least 1); None: for ever."""
        if self._some_target_moves(pending):
            return 1
        ties = pending[self.choices.sizes[pending] > 1]
        moving = [i for i in ties.tolist() if self._moves(i)]
        doubtful = [i for i in moving if not self._lasts(i)]
        soonest: int | None = None
        for i in doubtful:
            change = self._first_change(i)
            if change == 1:
                return 1
            soonest = change if soonest is None else min(soonest, change or soonest)
        return soonest

    @cached_property
    def _places(self) -> np.ndarray:
        return self.arena.everybody()

    @cached_property
    def _targets(self) -> np.ndarray:
        return mean_positions(self._places, self.choices, self.arena.multiplicities)

    def _some_target_moves(self, pending: np.ndarray) -> bool:
        """Whether the ways of those that a pending point attends to do not cancel."""
        ways = self._places - self._targets
        of_pending = self.choices.of_rows(pending)
        weights = self.arena.multiplicities[of_pending.indices].astype(np.float64)[:, None]
        sums = np.add.reduceat(weights * ways[of_pending.indices], of_pending.offsets[:-1], axis=0)
        totals = np.add.reduceat(weights[:, 0], of_pending.offsets[:-1])
        # A way is off by the errors of both its ends; a sum of k of them by k roundings more.
        off = 2 * self._error_of_ends + (of_pending.sizes + 8) * 2 * UNIT * self._reach
        if (norms_above(sums) > SAFETY * totals * off + UNDERFLOW).any():
            return True
        seen: set[bytes] = set()
        for several in (of_pending[row] for row in np.argsort(of_pending.sizes, kind="stable")):
            if several.tobytes() not in seen:
                seen.add(several.tobytes())
                if any(self.truth.way_left(several, self.truth.last)):
                    return True
        return False

    def _moves(self, point: int) -> bool:
        (here,) = self.truth.positions([point], self.truth.last)
        return here != self.truth.target(point, self.truth.last)

    def _lasts(self, point: int) -> bool:
        """Whether nobody lies further along the metric times the target of a point than those it attends to."""
        tied = self.choices[point]
        key = tied.tobytes()
        if key not in self._known_to_last:
            target, record = self.truth.target(point, self.truth.last), self.truth.last
            rivals = self._rivals([target], [self._places], tied)
            furthest, _ = self.truth.furthest(self.truth.along(Whole.of(target)), np.union1d(tied, rivals), record)
            self._known_to_last[key] = set(tied.tolist()) <= set(furthest.tolist())
        return self._known_to_last[key]

    @cached_property
    def _known_to_last(self) -> dict[bytes, bool]:
        """By attended set: whoever has the same one has the same target."""
        return {}

    def _first_change(self, point: int) -> int | None:
        """The first layer at which the attended set of a point is another, if everybody goes straight."""
        truth, record = self.truth, self.truth.last
        (here,), target = truth.positions([point], record), truth.target(point, record)
        way = _minus(here, target)
        directions = truth.direction_of(target), truth.direction_of(way)
        tied = self.choices[point]

        def curve(j: int) -> tuple[Fraction, Fraction, Fraction]:
            (place,), end = truth.positions([j], record), truth.target(j, record)
            left = _minus(place, end)
            return dot(directions[0], end), dot(directions[1], end) + dot(directions[0], left), dot(directions[1], left)

        first = curve(int(tied[0]))
        if any(curve(int(c)) != first for c in tied[1:]):
            return 1
        rivals = np.setdiff1d(self._rivals([target, here], [self._places, self._targets], tied), tied)
        changes = (self._overtakes(curve(int(j)), first) for j in rivals)
        return min((change for change in changes if change is not None), default=None)

    def _overtakes(self, curve: Vector, tied: Vector) -> int | None:
        lead = [a - b for a, b in zip(curve, tied, strict=True)]
        common = math.lcm(*(value.denominator for value in lead))
        a0, a1, a2 = (int(value * common) for value in lead)
        return layers_negative(a0, a1, a2, self.dynamics.contraction)

    def _rivals(self, places_asked: list[Vector], ends: list[np.ndarray], tied: np.ndarray) -> np.ndarray:
        """All who may be as far as the tied points along A times one of some places, at one of the ends of their ways.

        On the way the lead of j over c is a mix of its values at the four corners: where the one who attends is and
        where it goes, where j and c are and where they go. So j matters only if one of them may not be negative.
        """
        vectors = _scaled(places_asked, self.exponents)
        directions, norms = self.metric.directions(vectors), norms_above(vectors)
        factors = SlackFactors.of(vectors.shape[1], self.metric)
        slack = factors.slack(norms, UNIT * norms, self._reach, self._error_of_ends)
        matter = np.zeros(len(self._places), dtype=bool)
        for places in ends:
            scores = places @ directions.T
            matter |= (scores >= scores[tied].min(axis=0) - slack).any(axis=1)
        return np.flatnonzero(matter)

    @cached_property
    def _reach(self) -> float:
        return float(norms_above(self._places).max())

    @property
    def _error_of_ends(self) -> float:
        return self.arena.worst + mean_error(self._reach, int(self.choices.sizes.max()))


def _minus(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _scaled(vectors: list[Vector], exponents: np.ndarray | None) -> np.ndarray:
    """Vectors as floats, in units of 2 to these exponents, each up to a positive factor."""
    rows = []
    units = [Fraction(2) ** int(exponent) for exponent in exponents] if exponents is not None else None
    for vector in vectors:
        if units is not None:
            vector = [value / unit for value, unit in zip(vector, units, strict=True)]
        largest = max(abs(value) for value in vector) or Fraction(1)
        rows.append([float(value / largest) for value in vector])
    return np.array(rows)
