"""The attracting set S of a limit: the points of the leaders' polytope K that a token can tend to.

    S = { s in K, s != 0 : <A s, s> >= <A s, y> for all y in K }

A token at such a point attends to a face on which it lies itself, and so stays. Each is the projection of the origin,
in the norm of A, onto the face that lies furthest out its way: the vertices of K, and at most one point of every other
face.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardmax.geometry.projection import project_exact
from hardmax.limits import Limit

Vector = tuple[Fraction, ...]

# Five leaders, of which no two edges are alike; token 5 ties leaders 0 and 1, and ends between them.
PENTAGON = [
    ("2", "1"), ("2", "-1"), ("-1/2", "9/4"), ("-9/4", "1/2"), ("-1", "-2"),
    ("1", "0"), ("3/4", "5/4"), ("5/4", "-3/4"), ("-1/2", "1"), ("-1", "3/4"), ("-1/4", "-1"), ("-3/2", "-1/2"),
    ("1/2", "1/4"), ("1/4", "3/4"),
]  # fmt: skip


@dataclass(frozen=True)
class Attractor:
    """A point of S and the leaders whose hull it is the nearest point of: one, if it is a vertex."""

    point: Vector
    leaders: tuple[int, ...]


def attracting_set(lim: Limit) -> list[Attractor]:
    """S, exactly: vertices first, in the order of the leaders."""
    leaders, metric = lim.distinct_leaders, lim.run.dynamics.metric
    places = lim.exact_points[leaders]
    found: dict[Vector, Attractor] = {}
    for dimension in range(lim.polytope.dimension + 1):  # K is a face of itself, where it lies flat
        for face in sorted(tuple(sorted(face)) for face in lim.polytope.faces(dimension)):
            nearest, weights = project_exact(places[list(face)], metric)
            direction = nearest if metric is None else [_dot(row, nearest) for row in metric]
            if any(nearest) and _dot(direction, nearest) == max(_dot(direction, place) for place in places):
                spanned = tuple(int(leaders[v]) for v, weight in zip(face, weights, strict=True) if weight > 0)
                found.setdefault(nearest, Attractor(nearest, spanned))
    return list(found.values())


def distances_to(attractors: list[Attractor], places: np.ndarray) -> np.ndarray:
    """How far each place (n, d) is from the nearest point of S."""
    points = np.array([attractor.point for attractor in attractors], dtype=np.float64)
    return np.linalg.norm(places[:, None] - points, axis=2).min(axis=1)


def _dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
