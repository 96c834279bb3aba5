"""The dynamics in integers over a common denominator, without any floats, so that it can check the
others.

With alpha = p/q the layer is z' = (q z + p w) / (p + q). All points share one denominator, so
scores of one row are compared as integers. For how many layers do the attended sets stay as they
are?

Write u_i = z_i - w_i for the way a point has still to go. A target w_i stands still over a layer if
the ways of those it averages cancel: the sum of m_c u_c over C_i is 0. (One attended point must not
move; several may, if they balance.) If some target moves, the sets are computed again after one
layer. Otherwise all points go straight, at z_i(t) = w_i + t u_i with t = g^m, as long as the
attended sets stay. Do they? For c in C_i, <A z_i, u_c> is not negative, since w_c is a mean of
points none of which lies further along A z_i than z_c; and these numbers cancel, so each is 0.
Hence:

* *A still point (u_i = 0)* keeps its attended set: for j outside it, <A z_i, z_j(t) - z_c(t)> mixes
  the value at z_j, which is negative, with the one at w_j, which is not positive.
* *A point with a single attended point c* keeps it. c stands still, so it is among those that it
  attends to itself. Then <A z_i(t), z_j(t) - c> mixes, with weights t^2, t(1-t), (1-t)t, (1-t)^2,
  its values at (z_i, z_j), negative, and at (z_i, w_j), (c, z_j), (c, w_j), none of them positive.
* *A moving point with a tie* keeps it for ever if along A w_i, too, nobody lies further out than
  the tied points: the reasoning above then holds for w_i in place of z_i, and the same four corners
  do the rest.
* *Otherwise* the tie breaks in the next layer, or the first j joins or overtakes at the first m >=
  1 at which a0 + a1 t + a2 t^2 is not negative, where with c in C_i

      a0 = <A w_i, w_j - w_c>,   a1 = <A u_i, w_j - w_c> + <A w_i, u_j - u_c>,   a2 = <A u_i, u_j -
      u_c>.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import add, sub
from typing import Any

import numpy as np

from hardmax._exact.argmax import Attended, Rows, by_all_scores, directions_of, products
from hardmax._exact.leads import STRAIGHT, Scores, soonest
from hardmax._exact.positions import ExactPhase
from hardmax._exact.walker import Sets, Walker
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud, dot
from hardmax.dynamics import Dynamics


@dataclass(frozen=True)
class ExactSolver:
    """Integers decide."""

    engine: Any = None
    arithmetic: str = "exact"

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[ExactPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        return IntegerWalker(points, dynamics).walk(points.count)


class IntegerWalker(Walker[ExactPhase]):
    """The paper's layer: points and targets are integers over one denominator."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self.dynamics, self.counts = dynamics, points.multiplicities.tolist()
        self.positions = self.targets = points.integers

    def attended(self, pending: list[int]) -> Attended:
        return by_all_scores(self.positions.rows(pending), self.positions, self.dynamics)

    def closed_form(self, sets: Sets, pending: list[int]) -> Rows | None:
        """The ways to the targets, if these stand still."""
        self._find_targets(sets)
        pairs = zip(self.positions.numerators, self.targets.numerators, strict=True)
        ways = [[*map(sub, z, w)] for z, w in pairs]
        moving = [any(way) for way in ways]
        for several in sets:
            left = [[self.counts[j] * x for x in ways[j]] for j in several if moving[j]]
            if any(map(sum, zip(*left, strict=True))):
                return None
        return ways

    def _find_targets(self, sets: Sets) -> None:
        """The means of the attended sets; these and the points get one common denominator."""
        weights = [[self.counts[j] for j in several] for several in sets]
        common = math.lcm(*(sum(counts) for counts in weights if len(counts) > 1))
        rows = self.positions.numerators
        if common > 1:
            rows = [[common * x for x in row] for row in rows]
        targets = []
        for several, counts in zip(sets, weights, strict=True):
            if len(several) == 1:
                targets.append(rows[several[0]])
                continue
            columns, total = zip(*(rows[j] for j in several), strict=True), sum(counts)
            targets.append([dot(counts, column) // total for column in columns])
        denominator = common * self.positions.denominator
        self.positions = IntegerCloud(rows, denominator)
        self.targets = IntegerCloud(targets, denominator)

    def first_change(self, form: Rows, sets: Sets, pending: list[int]) -> int | None:
        ties = [i for i, several in enumerate(sets) if len(several) > 1 and any(form[i])]
        if not ties:
            return None
        along_targets = by_all_scores(self.targets.rows(ties), self.positions, self.dynamics).sets
        changes = []
        for i, furthest in zip(ties, along_targets, strict=True):
            if not {*sets[i]} <= {*furthest}:
                w = self.targets.numerators
                changes.append(first_change(i, w, form, sets[i], self.dynamics))
        return soonest(changes)

    def phase(self, sets: Sets, **known: Any) -> ExactPhase:
        # With a metric that is not positive definite distinct points can meet; those that have met
        # are one.
        rows = self.positions.numerators
        leading = [all(rows[j] == rows[i] for j in several) for i, several in enumerate(sets)]
        return ExactPhase(
            **known,
            is_leader=np.array(leading),
            contraction=self.dynamics.contraction,
            positions=self.positions,
            targets=self.targets,
        )

    def advance(self, phase: ExactPhase, layers: int) -> None:
        self.positions = phase.integers_at(self.layer + layers)


def first_change(i: int, w: Rows, u: Rows, tied: Sequence[int], dynamics: Dynamics) -> int | None:
    """The first layer at which the attended set of row i is another, if all rows go straight; None:
    there is none.

    Rows are targets w and ways u of points over one denominator; `tied` are the rows that row i
    attends to."""
    directions = directions_of([w[i], u[i]], dynamics)
    (ww, uw), (wu, uu) = products(directions, w), products(directions, u)
    columns = dict(zip(STRAIGHT, [ww, [*map(add, uw, wu)], uu], strict=True))
    return Scores(columns, dynamics.contraction).first_change(tied, range(len(w)))
