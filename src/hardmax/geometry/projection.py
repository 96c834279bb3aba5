"""The point of a convex hull that is nearest to the origin, or to a target, in the norm |x|_A = sqrt(<A x, x>).

    minimise |sum_j w_j v_j - target|_A   over weights w_j >= 0 that add to 1

The point x is the nearest one iff <A (x - target), v_j - x> >= 0 for every vertex v_j, with equality where w_j > 0.
Theorem 1.1 says that limits which are no vertices are such projections of the origin on a face.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from hardmax.geometry.affine import unit_scaled
from hardmax.geometry.inputs import read_exact_metric, read_exact_points, read_metric, read_point, read_points
from hardmax.geometry.nearest import nearest
from hardmax.tokens.rationals import IntegerCloud


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
