"""Nearest points of a convex hull, in floats and exactly.

The nearest points of a polytope to many targets at once: Wolfe's algorithm, one corral for each target.

A corral is a set of affinely independent vertices with positive weights. Each round adds the vertex that lies furthest
towards the target, then moves to the nearest point of the flat through the corral; where that leaves the corral's
simplex, it stops at the boundary and drops the vertex that lost its weight. Distances fall strictly, so it ends.

The point of a convex hull that is nearest to the origin, or to a target, in the norm |x|_A = sqrt(<A x, x>).

    minimise |sum_j w_j v_j - target|_A   over weights w_j >= 0 that add to 1

The point x is the nearest one iff <A (x - target), v_j - x> >= 0 for every vertex v_j, with equality where w_j > 0.
Theorem 1.1 says that limits which are no vertices are such projections of the origin on a face.

Distances from a convex hull: bracketed in floats, and exact where the bracket leaves a doubt.

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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from hardmax._tokens.rationals import IntegerCloud, root, to_fractions
from hardmax.geometry._affine import (
    affine_frame,
    read_exact_metric,
    read_exact_points,
    read_metric,
    read_point,
    read_points,
    unit_scaled,
)

# Rounding of one scalar product, with room: progress smaller than this is none.
FINE = 4e-15
CHUNK = 2**21


class Nearest(NamedTuple):
    """For each target: the `ways` (b, r) from it to the nearest point, and the vertices that give this point.

    Those are `corrals` (b, k) with `weights` (b, k); unused places of a corral hold -1 and have weight 0.
    """

    ways: np.ndarray
    corrals: np.ndarray
    weights: np.ndarray

    @property
    def distances(self) -> np.ndarray:
        return np.linalg.norm(self.ways, axis=1)


def nearest(vertices: np.ndarray, targets: np.ndarray) -> Nearest:
    """The points of the convex hull of `vertices` (m, r) that are nearest to the `targets` (b, r).

    Nothing is checked here. Both are best given in units in which they are about 1.

    >>> square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> nearest(square, np.array([[3.0, 0.5], [2.0, 4.0]])).ways.tolist()
    [[-2.0, 0.0], [-1.0, -3.0]]
    """
    m, r = vertices.shape
    size = max(1, CHUNK // max(m, (r + 1) ** 2))
    parts = [_nearest(vertices, targets[start : start + size]) for start in range(0, len(targets), size)]
    return Nearest(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _nearest(vertices: np.ndarray, targets: np.ndarray) -> Nearest:
    extent = np.linalg.norm(vertices, axis=1).max()
    first = np.argmin((vertices**2).sum(axis=1) - 2 * targets @ vertices.T, axis=1)
    corrals = np.full((len(targets), vertices.shape[1] + 1), -1)
    corrals[:, 0] = first
    found = Nearest(vertices[first] - targets, corrals, (corrals >= 0).astype(np.float64))
    reached = FINE * (extent + np.linalg.norm(targets, axis=1))

    rows = np.arange(len(targets))
    best, idle = found.distances, np.zeros(len(targets), dtype=int)
    while rows.size:
        ways, corrals, weights = (array[rows] for array in found)
        lengths = np.linalg.norm(ways, axis=1)
        scores = ways @ vertices.T  # (rows, m)
        each = np.arange(len(rows))
        newcomers = np.argmin(scores, axis=1)
        # All of a corral score alike, up to rounding; a vertex with a lower score is a way to come nearer.
        gaps = scores[each, corrals[:, 0]] - scores[each, newcomers]
        # A corral with r + 1 vertices spans the space: its nearest point is the target itself.
        going = (gaps > FINE * extent * lengths) & (lengths > reached[rows]) & (corrals[:, -1] < 0)
        moved = _with_newcomers(vertices, targets[rows[going]], corrals[going], weights[going], newcomers[going])
        # In thin or far hulls a distance falls by less than rounding until the corral is complete. That takes at most
        # r + 1 rounds: a distance that has not fallen in as many, or rises, is the best that floats can do. So is a
        # corral that the newcomer has to leave at once.
        rows, reach = rows[going], moved.distances
        changed = (moved.corrals != corrals[going]).any(axis=1)
        idle[rows] = np.where(reach < best[rows] * (1 - FINE), 0, idle[rows] + 1)
        kept = changed & (reach <= best[rows] * (1 + FINE)) & (idle[rows] <= vertices.shape[1] + 1)
        rows = rows[kept]
        best[rows] = np.minimum(best[rows], reach[kept])
        for array, after in zip(found, moved, strict=True):
            array[rows] = after[kept]
    return found


def _with_newcomers(
    vertices: np.ndarray, targets: np.ndarray, corrals: np.ndarray, weights: np.ndarray, newcomers: np.ndarray
) -> Nearest:
    """The nearest points of the simplices that come out when a vertex joins each corral."""
    corrals[np.arange(len(corrals)), (corrals >= 0).sum(axis=1)] = newcomers
    ways = np.zeros_like(targets)
    rows = np.arange(len(corrals))
    while rows.size:
        used = corrals[rows] >= 0
        width = int(used.sum(axis=1).max())
        goals = np.zeros(used.shape)
        corners = vertices[corrals[rows, :width]]
        goals[:, :width], ways[rows] = _to_flat(corners, used[:, :width], targets[rows])
        have = weights[rows]
        falling = used & (goals <= 0)
        room = np.where(falling, have / np.maximum(have - goals, np.finfo(np.float64).tiny), np.inf)
        share = np.minimum(room.min(axis=1, keepdims=True), 1.0)
        leaving = falling & (room <= share)
        have = np.where(used & ~leaving, have + share * (goals - have), 0.0)
        places = np.where(leaving, -1, corrals[rows])
        # Used places come first: a gap between them would take a direction away in the factorisation.
        order = np.argsort(places < 0, axis=1, kind="stable")
        corrals[rows] = np.take_along_axis(places, order, axis=1)
        weights[rows] = np.take_along_axis(have / have.sum(axis=1, keepdims=True), order, axis=1)
        rows = rows[falling.any(axis=1)]
    return Nearest(ways, corrals, weights)


def _to_flat(corners: np.ndarray, used: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of the flats through the used corners (b, k, r): weights (b, k) and the ways (b, r) there."""
    base = corners[:, 0]
    ways = base - targets
    if corners.shape[1] == 1:
        return np.ones((len(corners), 1)), ways
    spans = (corners[:, 1:] - base[:, None]) * used[:, 1:, None]
    # Least squares by QR and not by the Gram matrix, which would square the condition number of thin simplices.
    axes, triangles = np.linalg.qr(np.swapaxes(spans, 1, 2))
    diagonal = np.einsum("bii->bi", triangles)
    # A column that adds no direction is no axis either.
    axes *= (diagonal != 0)[:, None]
    diagonal[diagonal == 0] = 1.0
    along = np.einsum("brk,br->bk", axes, ways)
    shares = -np.linalg.solve(triangles, along[:, :, None])[:, :, 0]
    # Twice, so that a way much shorter than the coordinates is still orthogonal to the flat.
    for _ in range(2):
        ways = ways - np.einsum("brk,bk->br", axes, np.einsum("brk,br->bk", axes, ways))
    return np.concatenate([1 - shares.sum(axis=1, keepdims=True), shares], axis=1), ways


class Projection(NamedTuple):
    """The nearest point (d,) and the weight of each given point (m,): `weights @ points` is `point`."""

    point: np.ndarray
    weights: np.ndarray


class ExactProjection(NamedTuple):
    """The nearest point and the weight of each given vertex, in Fractions."""

    point: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]


def project(points: Any, metric: Any = None, target: Any = None) -> Projection:
    """The point of conv(points) nearest to `target` (the origin, if None) in the norm of `metric`, in floats.

    Points may repeat or lie flat. The weights are positive on affinely independent points only.

    >>> project([[1, 1], [1, -1], [3, 0]])
    Projection(point=array([1., 0.]), weights=array([0.5, 0.5, 0. ]))
    """
    table = read_points(points, "`points`")
    d = table.shape[1]
    root = read_metric(metric, d)
    aim = np.zeros(d) if target is None else read_point(target, "`target`", d)
    # One of the points becomes the origin: far-away points then lose no digits in scalar products.
    scaled, _ = unit_scaled(np.vstack([table, aim]))
    mapped = unit_scaled(scaled - scaled[0])[0] @ unit_scaled(root)[0]
    found = nearest(mapped[:-1], mapped[-1:])
    used = found.corrals[0] >= 0
    weights = np.zeros(len(table))
    weights[found.corrals[0][used]] = found.weights[0][used]
    return Projection(weights @ table, weights)


def project_exact(vertices: Any, metric: Any = None, target: Any = None) -> ExactProjection:
    """The point of conv(vertices) nearest to `target` (the origin, if None) in the norm of `metric`, exactly.

    Wolfe's algorithm in integers: the distance falls strictly from corral to corral, and there are finitely many.
    Vertices may repeat or depend on each other; the weights are positive on affinely independent ones only.

    >>> point, weights = project_exact([[1, 1], [1, -1]], metric=[[2, 1], [1, 1]])
    >>> [str(x) for x in point], [str(w) for w in weights]
    (['1', '-1'], ['0', '1'])
    """
    rows = read_exact_points(vertices, "`vertices`")
    d = len(rows[0])
    aim = [Fraction(0)] * d if target is None else read_exact_points([target], "`target`", d)[0]
    shifted = [[x - t for x, t in zip(row, aim, strict=True)] for row in rows]
    # Positive factors change neither the weights nor who is nearest, so integers will do.
    corners = _integers(shifted)
    matrix = None if metric is None else _integers(read_exact_metric(metric, d))
    shares = _wolfe(corners, matrix)
    weights = tuple(shares.get(j, Fraction(0)) for j in range(len(rows)))
    point = tuple(sum((w * rows[j][c] for j, w in shares.items()), Fraction(0)) for c in range(d))
    return ExactProjection(point, weights)


def _wolfe(corners: list[list[int]], matrix: list[list[int]] | None) -> dict[int, Fraction]:
    """The weights of the point of least A-norm, by vertex."""
    directions = [_apply(matrix, corner) for corner in corners]  # A v_j
    lengths = [_dot(direction, corner) for direction, corner in zip(directions, corners, strict=True)]
    shares = {min(range(len(corners)), key=lengths.__getitem__): Fraction(1)}
    while True:
        # The way A x up to a positive factor, and the score <A x, x> on the same scale: all of the corral has it.
        common = math.lcm(*(share.denominator for share in shares.values()))
        way = [
            sum(int(share * common) * directions[j][c] for j, share in shares.items()) for c in range(len(corners[0]))
        ]
        scores = [_dot(way, corner) for corner in corners]
        newcomer = min(range(len(corners)), key=scores.__getitem__)
        if scores[newcomer] >= scores[next(iter(shares))]:
            return shares
        shares[newcomer] = Fraction(0)
        shares = _settled(shares, corners, directions)


def _settled(shares: dict[int, Fraction], corners: list[list[int]], directions: list[list[int]]) -> dict[int, Fraction]:
    """The corral after a newcomer: to the nearest point of its flat, leaving behind vertices whose weight runs out."""
    while True:
        members = list(shares)
        gram = [[_dot(directions[i], corners[j]) for j in members] for i in members]
        goals = dict(zip(members, _flat_weights(gram), strict=True))
        falling = [j for j in members if goals[j] <= 0]
        share = min((shares[j] / (shares[j] - goals[j]) for j in falling), default=Fraction(1))
        shares = {j: shares[j] + share * (goals[j] - shares[j]) for j in members}
        shares = {j: weight for j, weight in shares.items() if weight}
        if not falling:
            return shares


def _flat_weights(gram: list[list[int]]) -> list[Fraction]:
    """Weights, adding to 1, of the shortest vector of the flat through independent points with this Gram matrix G.

    G w is the same in every entry; so w is u / sum(u), where (G + 1 1^T) u = 1 has a positive definite matrix.
    Elimination without fractions (Bareiss, Gauss-Jordan): every division by the pivot before leaves no remainder.
    """
    rows = [[*(value + 1 for value in row), 1] for row in gram]
    before = 1
    for k, lead in enumerate(rows):
        pivot = lead[k]
        for i, row in enumerate(rows):
            if i != k:
                head = row[k]
                rows[i] = [(pivot * a - head * b) // before for a, b in zip(row, lead, strict=True)]
        before = pivot
    total = sum(row[-1] for row in rows)
    return [Fraction(row[-1], total) for row in rows]


def _integers(rows: list[list[Fraction]]) -> list[list[int]]:
    return IntegerCloud.of_fractions(np.array(rows, dtype=object)).numerators


def _apply(matrix: list[list[int]] | None, vector: list[int]) -> list[int]:
    return vector if matrix is None else [_dot(row, vector) for row in matrix]


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(map(mul, a, b))


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
            scaled, phase = unit_scaled(self.root)
            corners, aims = corners @ scaled, aims @ scaled
            sizes, exponent = sizes * np.linalg.norm(scaled), exponent + phase
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
