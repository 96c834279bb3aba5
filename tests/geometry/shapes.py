"""Shapes with known faces, and extreme points by their definition: slow, obvious, independent of
the package."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
from oracle import Cloud, Token


def extreme_points(cloud: Cloud) -> list[int]:
    """Indices of the points that are in no simplex of other points; of equal points the first."""
    places: dict[tuple[Fraction, ...], int] = {}
    for i, point in enumerate(cloud):
        places.setdefault(tuple(point), i)
    return [
        i
        for place, i in places.items()
        if not in_hull(list(place), [list(p) for p in places if p != place])
    ]


def in_hull(point: Token, others: Cloud) -> bool:
    """Caratheodory: a point of the hull is in a simplex of at most d + 1 of the others."""
    sizes = range(1, min(len(point) + 1, len(others)) + 1)
    return any(
        in_simplex(point, corners) for size in sizes for corners in combinations(others, size)
    )


def in_simplex(point: Token, corners: tuple[Token, ...]) -> bool:
    """Whether the point has barycentric coordinates >= 0; dependent corners are left to smaller
    sets."""
    rows = [[corner[c] for corner in corners] + [point[c]] for c in range(len(point))]
    rows.append([Fraction(1)] * (len(corners) + 1))
    for column in range(len(corners)):
        pivot = next((row for row in rows[column:] if row[column]), None)
        if pivot is None:
            return False
        rows.remove(pivot)
        pivot = [value / pivot[column] for value in pivot]
        rows = [
            [a - row[column] * b for a, b in zip(row, pivot, strict=True)] if row[column] else row
            for row in rows
        ]
        rows.insert(column, pivot)
    solved, spare = rows[: len(corners)], rows[len(corners) :]
    return all(row[-1] == 0 for row in spare) and all(row[-1] >= 0 for row in solved)


def rank(cloud: Cloud) -> int:
    """The dimension that points with short fractions span."""
    return int(np.linalg.matrix_rank(floats(cloud) - floats(cloud)[0], tol=1e-9))


def cube(d: int) -> np.ndarray:
    return np.array(list(product((-1.0, 1.0), repeat=d)))


def cross_polytope(d: int) -> np.ndarray:
    return np.vstack([np.eye(d), -np.eye(d)])


def simplex(d: int) -> np.ndarray:
    return np.vstack([np.zeros(d), np.eye(d)])


def turn(d: int, seed: int = 0) -> np.ndarray:
    """An orthogonal matrix, so that nothing is aligned with the axes."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


def floats(cloud: Cloud) -> np.ndarray:
    return np.array(cloud, dtype=np.float64)


def float_metric(metric: Cloud | None, d: int) -> np.ndarray:
    return np.eye(d) if metric is None else floats(metric)
