"""Directions in cones: whatever is dropped for many at once, the contest is that of everybody."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from agreement import assert_same
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmax._float import shells as module
from hardmax._float.argmax import score_all
from hardmax._float.cones import cones, sort_into_cones
from hardmax._float.kernels import WIDTH
from hardmax._float.shells import outward


def on_a_sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).standard_normal((n, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("n", [1, WIDTH, WIDTH + 1, 3000])
@pytest.mark.parametrize("relative", [0.0, 1e-15, 1e-3])
def test_cones_find_what_scoring_everybody_finds(d, n, relative):
    points = np.unique(on_a_sphere(n, d), axis=0) + np.arange(d)
    slack = relative * np.linalg.norm(points, axis=1) * np.linalg.norm(points, axis=1).max() + 1e-15
    assert_same(cones(points, points, slack), score_all(points, points, slack))


@settings(max_examples=examples(200))
@given(st.integers(0, 2**32 - 1))
def test_in_cones_ties_are_ties_and_no_direction_is_a_tie_of_all(seed):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(1, 700), rng.integers(1, 300), rng.integers(1, 6)
    points = np.unique(rng.integers(-4, 5, (n, d)).astype(float), axis=0)
    directions = rng.integers(-4, 5, (m, d)) * 2.0 ** rng.integers(-30, 30, (m, 1))
    slack = np.abs(directions).max(axis=1) * 10.0 ** -float(rng.integers(1, 14)) + 1e-30
    assert_same(cones(directions, points, slack), score_all(directions, points, slack))


@settings(max_examples=examples(30))
@given(st.integers(0, 2**32 - 1))
def test_of_neighbours_far_from_the_origin_the_furthest_is_not_dropped(seed):
    rng = np.random.default_rng(seed)
    centre = 10.0 ** rng.uniform(-3, 12) * on_a_sphere(1, 3, seed)
    points = np.unique(centre + 2.0**-52 * np.abs(centre).max() * rng.integers(-3, 4, (200, 3)), axis=0)
    norms = np.linalg.norm(points, axis=1)
    choices = cones(points, points, 8 * 2.0**-53 * norms * norms.max()).choices()
    exactly = points.astype(object) + Fraction(0)
    for row, scores in enumerate(exactly[:50] @ exactly.T):
        assert set(np.flatnonzero(scores == max(scores))) <= set(choices[row])


def test_each_direction_is_in_one_cone_and_cones_are_narrow():
    units, order = np.column_stack([on_a_sphere(20_000, 3), np.ones((20_000, 2))]), np.arange(20_000)
    before = units.copy()
    starts = sort_into_cones(units, order, 500)
    assert np.array_equal(np.sort(order), np.arange(20_000))
    assert np.array_equal(units, before[order])
    assert np.diff(starts).max() <= 500
    assert np.diff(starts).min() > 0
    assert np.median([np.ptp(units[a:b, :3], axis=0).max() for a, b in pairwise(starts)]) < 0.6


@pytest.mark.parametrize("points", [on_a_sphere(2000, 3), np.random.default_rng(2).standard_normal((2000, 4))])
def test_the_outermost_points_and_cones_together_find_the_same(points, monkeypatch):
    monkeypatch.setattr(module, "_FIRST_SORTED", 64)
    slack = np.full(len(points), 1e-14)
    assert_same(outward(points, points, slack), score_all(points, points, slack))
