"""Points marked as inside a polygon are inside it, exactly, however thin it is."""

from fractions import Fraction

import numpy as np
import pytest

from hardmax._float.plane import mark_inside, polygon


def corners_of(points: np.ndarray) -> np.ndarray:
    order = np.lexsort((points[:, 1], points[:, 0]))
    return points[polygon(points, order)]


def is_inside(corners: list[list[Fraction]], place: list[Fraction]) -> bool:
    """Whether a place is to the left of every edge, or on it."""
    for k, (bx, by) in enumerate(corners):
        ax, ay = corners[k - 1]
        if (bx - ax) * (place[1] - ay) - (by - ay) * (place[0] - ax) < 0:
            return False
    return True


def cloud(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A sample, whose polygon it is about, and points to be marked."""
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, 2 * np.pi)
    along, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    width = {"round": 1.0, "thin": 1e-10, "line": 0.0}[kind]
    shift = rng.standard_normal(2) * rng.choice([0.0, 1.0, 100.0])

    def some(n: int) -> np.ndarray:
        return rng.uniform(-1, 1, (n, 1)) * along + width * rng.uniform(-1, 1, (n, 1)) * across + shift

    sample = some(60)
    beside = sample[rng.integers(0, 60, 100)] + rng.standard_normal((100, 2)) * 10.0 ** rng.uniform(-17, 0, (100, 1))
    return sample, np.concatenate([some(200), beside, 2 * some(20), sample])


@pytest.mark.parametrize("kind", ["round", "thin", "line"])
def test_nobody_is_marked_who_is_not_inside(kind):
    marked = 0
    for seed in range(60):
        sample, points = cloud(kind, seed)
        corners = corners_of(sample)
        if len(corners) < 3:
            continue
        outside = np.ones(len(points), dtype=bool)
        mark_inside(points, np.ascontiguousarray(corners), outside)
        exact = [[Fraction(x) for x in corner] for corner in corners.tolist()]
        for place in points[~outside].tolist():
            assert is_inside(exact, [Fraction(x) for x in place]), (seed, place)
        marked += np.count_nonzero(~outside)
    assert (marked > 5000) == (kind == "round") or kind == "thin"


def test_points_near_a_corner_are_marked_by_the_triangle_they_lie_in():
    # A corner so sharp that its two edges differ by little: looked up by angle, the wrong one says inside.
    for seed in range(300):
        rng = np.random.default_rng(seed)
        sharp = 10.0 ** rng.uniform(-9, -3)
        corners = np.array([[1.0, 0.0], [-1.0, sharp], [-1.0, -sharp]])
        turn = rng.uniform(0, 2 * np.pi)
        turned = corners @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        turned = corners_of(turned)
        points = turned[rng.integers(0, 3, 400)] * (
            1 + 10.0 ** rng.uniform(-17, -4, (400, 1)) * rng.choice([-1, 1], (400, 1))
        )
        outside = np.ones(len(points), dtype=bool)
        mark_inside(points, np.ascontiguousarray(turned), outside)
        exact = [[Fraction(x) for x in corner] for corner in turned.tolist()]
        for place in points[~outside].tolist():
            assert is_inside(exact, [Fraction(x) for x in place]), (seed, place)
