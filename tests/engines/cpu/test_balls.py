"""Points among balls: whatever is passed over, the contest is that of everybody."""

import numpy as np
import pytest
from agreement import assert_same
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmax.engines.cpu.kernels.outward import WIDTH
from hardmax.engines.cpu.searches import outward as module
from hardmax.engines.cpu.searches.balls import Balls
from hardmax.engines.cpu.searches.outward import outward
from hardmax.engines.floats.contest import score_all


def on_a_sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).standard_normal((n, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("n", [1, WIDTH, WIDTH + 1, 3000])
@pytest.mark.parametrize("relative", [0.0, 1e-15, 1e-3])
def test_balls_find_what_scoring_everybody_finds(d, n, relative):
    points = np.unique(on_a_sphere(n, d), axis=0) + np.arange(d)
    slack = relative * np.linalg.norm(points, axis=1) * np.linalg.norm(points, axis=1).max() + 1e-15
    assert_same(Balls.around(points).hold(points, slack), score_all(points, points, slack))


@settings(max_examples=examples(200))
@given(st.integers(0, 2**32 - 1))
def test_among_balls_ties_are_ties(seed):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(1, 700), rng.integers(1, 40), rng.integers(1, 6)
    points = np.unique(rng.integers(-4, 5, (n, d)).astype(float), axis=0)
    directions = rng.integers(-4, 5, (m, d)).astype(float)
    slack = np.full(m, 10.0 ** -float(rng.integers(1, 14)))
    assert_same(Balls.around(points).hold(directions, slack), score_all(directions, points, slack))


def test_every_point_stands_in_one_block():
    points = np.random.default_rng(1).integers(0, 9, (1000, 3)).astype(float)
    assert np.array_equal(np.sort(Balls.around(points).order), np.arange(1000))


def test_points_that_stand_together_are_near_one_another():
    balls = Balls.around(on_a_sphere(20_000, 3))
    assert np.median(balls.places.narrow.radii) < 0.15
    assert np.median(balls.places.wide.radii) < 0.6


@pytest.mark.parametrize("points", [on_a_sphere(2000, 3), np.random.default_rng(2).standard_normal((2000, 4))])
def test_the_outermost_points_and_balls_together_find_the_same(points, monkeypatch):
    monkeypatch.setattr(module, "_FIRST_SORTED", 64)
    slack = np.full(len(points), 1e-14)
    assert_same(outward(points, points, slack), score_all(points, points, slack))
