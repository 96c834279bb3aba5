"""For how many layers attended sets stay as they are where some of them are ties: `_exact.events`, where it matters.

Whoever follows a leader does so for ever, and its target stands still. So only the others matter, the `pending` ones:
floats tell most of them apart, exact positions the rest. What must hold is derived in `_exact.events`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.events import first_change, soonest
from hardmax._exact.positions import ExactPositions
from hardmax._exact.vectors import IntegerVector, common_rows
from hardmax._float.active_set import ActiveSet, mean_positions
from hardmax._float.bounds import SAFETY, UNDERFLOW, UNIT, FloatMetric, SlackFactors, mean_error, norms_above
from hardmax.dynamics import Dynamics


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer in floats: where points are and whom they attend to, which is proved and noted in `exact`."""

    active: ActiveSet
    choices: Choices
    dynamics: Dynamics
    metric: FloatMetric
    exact: ExactPositions

    def layers_unchanged(self, pending: np.ndarray) -> int | None:
        """How many layers the closed form holds before attended sets may differ (at least 1); None: for ever."""
        if self._some_target_moves(pending):
            return 1
        events: list[int | None] = []
        lasts: dict[bytes, bool] = {}  # by attended set: who has the same one has the same target
        for i in pending[self.choices.sizes[pending] > 1].tolist():
            if self.exact.place(i) == (target := self.exact.target(i)):
                continue
            tied = self.choices[i]
            if tied.tobytes() not in lasts:
                rivals = np.union1d(tied, self._rivals([target], [self._positions], tied))
                furthest, _ = self.exact.furthest(self.exact.along(target), rivals)
                lasts[tied.tobytes()] = set(tied.tolist()) <= set(furthest.tolist())
            if not lasts[tied.tobytes()]:
                events.append(self._first_change(i, tied))
                if events[-1] == 1:
                    return 1
        return soonest(events)

    @cached_property
    def _positions(self) -> np.ndarray:
        return self.active.all_positions()

    @cached_property
    def _targets(self) -> np.ndarray:
        return mean_positions(self._positions, self.choices, self.active.multiplicities)

    @cached_property
    def _reach(self) -> float:
        return float(norms_above(self._positions).max())

    @property
    def _error_of_ends(self) -> float:
        return self.active.worst + mean_error(self._reach, int(self.choices.sizes.max()))

    def _some_target_moves(self, pending: np.ndarray) -> bool:
        """Whether the ways of those that a pending point attends to do not cancel."""
        ways, attended = self._positions - self._targets, self.choices.of_rows(pending)
        weights = self.active.multiplicities[attended.indices].astype(np.float64)[:, None]
        sums = np.add.reduceat(weights * ways[attended.indices], attended.offsets[:-1], axis=0)
        totals = np.add.reduceat(weights[:, 0], attended.offsets[:-1])
        # A way is off by the errors of both its ends; a sum of k of them by k roundings more.
        off = 2 * self._error_of_ends + (attended.sizes + 8) * 2 * UNIT * self._reach
        if (norms_above(sums) > SAFETY * totals * off + UNDERFLOW).any():
            return True
        distinct = {several.tobytes(): several for several in attended}
        return any(self.exact.targets_move(several) for several in sorted(distinct.values(), key=len))

    def _first_change(self, point: int, tied: np.ndarray) -> int | None:
        """The first layer at which the attended set of a point is another, if everybody goes straight."""
        ends = [self.exact.target(point), self.exact.place(point)]
        rivals = self._rivals(ends, [self._positions, self._targets], tied)
        points = np.union1d(np.append(tied, point), rivals)
        places, targets = ([at(j) for j in points.tolist()] for at in (self.exact.place, self.exact.target))
        rows, _ = common_rows([*places, *targets])
        z, w = rows[: len(points)], rows[len(points) :]
        u = [[a - b for a, b in zip(*ends, strict=True)] for ends in zip(z, w, strict=True)]
        row = {j: row for row, j in enumerate(points.tolist())}
        return first_change(row[point], w, u, [row[c] for c in tied.tolist()], self.dynamics)

    def _rivals(self, places: Sequence[IntegerVector], ends: list[np.ndarray], tied: np.ndarray) -> np.ndarray:
        """All who may be as far as the tied points along A times one of some places, at one of the ends of their ways.

        On the way the lead of j over c is a mix of its values at the four corners: where the one who attends is and
        where it goes, where j and c are and where they go. So j matters only if one of them may not be negative.
        """
        vectors = np.array([_scaled(place, self.active.frame.exponents) for place in places])
        directions, norms = self.metric.directions(vectors), norms_above(vectors)
        factors = SlackFactors.of(vectors.shape[1], self.metric)
        slack = factors.slack(norms, UNIT * norms, self._reach, self._error_of_ends)
        matter = np.zeros(len(self._positions), dtype=bool)
        for positions in ends:
            scores = positions @ directions.T
            matter |= (scores >= scores[tied].min(axis=0) - slack).any(axis=1)
        return np.flatnonzero(matter)


def _scaled(vector: IntegerVector, exponents: np.ndarray | None) -> list[float]:
    """A vector as floats, in units of 2 to these exponents, up to a positive factor."""
    values = [Fraction(value) for value in vector.numerators]
    if exponents is not None:
        values = [value / Fraction(2) ** int(exponent) for value, exponent in zip(values, exponents, strict=True)]
    largest = max(map(abs, values)) or 1
    return [float(value / largest) for value in values]
