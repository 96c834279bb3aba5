"""Distances from a convex hull: bracketed in floats, and exact where the bracket leaves a doubt.

Floats find a point x = sum_j w_j v_j of the hull near the target p, and a way y there. Whatever they found,

    min_j <y, v_j - p> / |y|  <=  the distance of p  <=  |x - p|,

since x is in the hull, and the hull lies beyond the plane through its lowest point with normal y. Where x is the
nearest point and y = x - p, both sides are equal. So a wrong answer shows: the bracket is wide, and integers decide.

**Rounding.** Points are seen from one of them, mapped by R^T, with |x|_A = |R^T x|; the root R is taken as it is. Write
s for |R| times the longest of them (|R| is the Frobenius norm, 1 for the identity), u = 2^-53. A mapped point is off by
(d + 1) u s, and the mean of up to d + 1 of them, seen from p, by 2 (d + 3) u s more, and by 2 (d + 2) u s since weights
add to 1 up to rounding: less than a third of SLACK (d + 4) u s. A scalar product with y and the division by |y| are off
by 2 (d + 2) u s, which with the mapped points is less than a quarter of it. Points are left out that stick out of the
hull of the others by a quarter of it, up to a third: all together less than the whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardmax.geometry.affine import affine_frame, unit_scaled
from hardmax.geometry.nearest import CHUNK, Nearest, nearest
from hardmax.geometry.projection import project_exact
from hardmax.tokens.lengths import root
from hardmax.tokens.rationals import to_fractions

SLACK = 16
_UNIT = 2.0**-53
# Thinner than this, as a share of the extent, corners are measured in the flat that they span.
_FLAT = 2.0**-48
# Targets are measured together if their sizes differ by less than this many powers of two: squares must not vanish.
_OCTAVES = 64


@dataclass(frozen=True, eq=False)
class Bracket:
    """Targets, some rows of a table: the distance of each is between low - slack and high + slack, times 2^exponent.

    `corrals` (b, k) are the points whose hull has one at the distance `high`; -1 where they are fewer.
    """

    rows: np.ndarray
    low: np.ndarray
    high: np.ndarray
    slack: np.ndarray
    corrals: np.ndarray
    exponent: int

    def compared(self, distance: Fraction) -> np.ndarray:
        """Whether each target is no further away than this: 1 for yes, 0 for no, -1 where that is left open."""
        # In its units nothing is as far away as 2^100.
        exact = min(distance / Fraction(2) ** self.exponent, Fraction(2**100))
        # Rounded to the side on which nothing is claimed that is not so.
        less, more = (float(exact * (1 + side * Fraction(1, 2**50))) for side in (-1, 1))
        return np.where(self.high + self.slack <= less, 1, np.where(self.low - self.slack > more, 0, -1))


@dataclass(frozen=True, eq=False)
class Ruler:
    """Measures how far targets are from the hull of points (m, d), in the norm |root^T x|; the identity, if None.

    `vertices` are the indices of the points that are thought to be its vertices. Where thinness or rounding made some
    be missed, points that stick out are measured as well.
    """

    points: np.ndarray
    vertices: np.ndarray
    root: np.ndarray | None

    def distances(self, targets: np.ndarray) -> np.ndarray:
        """The distance of each target (b, d), to within rounding; 0 if it is no more than that."""
        found = np.empty(len(targets))
        for seen in self._brackets(targets):
            with np.errstate(over="ignore", under="ignore"):
                found[seen.rows] = np.ldexp(np.where(seen.high <= seen.slack, 0.0, seen.high), seen.exponent)
            # A target within rounding of the hull needs no sharper answer than that.
            for row in seen.rows[(seen.high - seen.low > seen.slack) & (seen.high > seen.slack)]:
                found[row] = root(self._exact_square(targets[row]))
        return found

    def within(self, targets: np.ndarray, distance: Fraction) -> np.ndarray:
        """Whether each target (b, d) is no further away than that, exactly."""
        found = np.empty(len(targets), dtype=bool)
        for seen in self._brackets(targets):
            known = seen.compared(distance)
            found[seen.rows] = known == 1
            for k in np.flatnonzero(known < 0):
                target, some = targets[seen.rows[k]], seen.corrals[k][seen.corrals[k] >= 0]
                # The few points that floats found may already be near enough; only if they are not, all are asked.
                found[seen.rows[k]] = any(self._exact_square(target, few) <= distance**2 for few in (some, None))
        return found

    def _exact_square(self, target: np.ndarray, chosen: np.ndarray | None = None) -> Fraction:
        """The square of the distance of a target (d,) from the hull of all points, or of some."""
        rows = self._fractions if chosen is None else self._fractions[chosen]
        (aim,) = to_fractions(target[None], "`points`")
        point, _ = project_exact(rows, self._gram, aim)
        way = np.array(point, dtype=object) - aim
        return way @ way if self._gram is None else way @ self._gram @ way

    @cached_property
    def _fractions(self) -> np.ndarray:
        return to_fractions(self.points, "`points`")

    @cached_property
    def _gram(self) -> np.ndarray | None:
        """The metric whose root was given, as exactly as it was."""
        if self.root is None:
            return None
        exact = to_fractions(self.root, "`metric`")
        return exact @ exact.T

    @cached_property
    def _corners(self) -> np.ndarray:
        """The vertices, and the points that stick out of their hull by more than rounding."""
        others = np.setdiff1d(np.arange(len(self.points)), self.vertices)
        if not len(others):
            return self.vertices
        (seen,) = self._brackets(self.points[others], self.vertices)
        return np.sort(np.concatenate([self.vertices, others[seen.high > seen.slack / 4]]))

    def _brackets(self, targets: np.ndarray, chosen: np.ndarray | None = None) -> Iterator[Bracket]:
        """What floats know of the distances of the targets from some of the points: those of like size together."""
        chosen = self._corners if chosen is None else chosen
        _, own = unit_scaled(self.points)
        largest = np.abs(targets).max(axis=1)
        # The origin has no size, and frexp would call it 1.
        sizes = np.where(largest > 0, np.maximum(np.frexp(largest)[1], own), own)
        groups = (sizes - own + _OCTAVES - 1) // _OCTAVES
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            yield self._bracket(chosen, targets, rows, int(sizes[rows].max()))

    def _bracket(self, chosen: np.ndarray, targets: np.ndarray, rows: np.ndarray, exponent: int) -> Bracket:
        tables = [np.ldexp(table, -exponent) for table in (self.points[chosen], targets[rows])]
        corners, aims = (table - tables[0][0] for table in tables)
        sizes = np.maximum(np.linalg.norm(aims, axis=1), np.linalg.norm(corners, axis=1).max())
        if self.root is not None:
            scaled, stretch = unit_scaled(self.root)
            corners, aims = corners @ scaled, aims @ scaled
            sizes, exponent = sizes * np.linalg.norm(scaled), exponent + stretch
        frame = affine_frame(corners, within=_FLAT)
        found = nearest(frame.coordinates(corners), frame.coordinates(aims))
        off = frame.embed(frame.coordinates(aims)) - aims
        low, high = _lowest(off + found.ways @ frame.axes, corners, aims), _reached(found, corners, aims)
        corrals = np.where(found.corrals >= 0, chosen[found.corrals], -1)
        return Bracket(rows, low, high, SLACK * (corners.shape[1] + 4) * _UNIT * sizes, corrals, exponent)


def _reached(found: Nearest, corners: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """How far each target is from the mean of its corral."""
    ways = np.zeros(targets.shape)
    for weights, corral in zip(found.weights.T, found.corrals.T, strict=True):
        # Where a corral is shorter the weight is 0.
        ways += weights[:, None] * (corners[corral] - targets)
    return np.linalg.norm(ways, axis=1)


def _lowest(directions: np.ndarray, corners: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The least <y, v - p> / |y| over the corners v, for each direction y and its target p; 0 for one of no length."""
    size = max(1, CHUNK // len(corners))
    parts = [(directions[k : k + size] @ corners.T).min(axis=1) for k in range(0, len(directions), size)]
    lengths = np.linalg.norm(directions, axis=1)
    return (np.concatenate(parts) - np.einsum("bd,bd->b", directions, targets)) / np.where(lengths > 0, lengths, 1.0)
