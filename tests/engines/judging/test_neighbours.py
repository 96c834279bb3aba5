"""Neighbours, a few units in the last place apart: floats cannot tell them apart by their places."""

from fractions import Fraction

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._exact.positions import ExactPositions
from hardmax._float.argmax import first_or_second, nearest, nearest_rows


def near_a_few_places(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    d, places = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    near = rng.standard_normal((places, d)).round(int(rng.integers(0, 17)))[rng.integers(places, size=n)]
    return near + np.spacing(near) * rng.integers(-3, 4, (n, d))


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([None, "skew"]))
def test_attended_sets_of_neighbours_are_the_true_ones_at_every_layer(seed, metric):
    points = near_a_few_places(seed, 40)
    d = points.shape[1]
    dynamics = hm.Dynamics("1/2", None if metric is None else 0.1 * np.eye(d) + 0.3 * np.ones((d, d)))
    ours, truth = (hm.simulate(points, dynamics, layers=4, arithmetic=name) for name in ("certified", "exact"))
    assert [ours.attended(k).tolist() for k in range(5)] == [truth.attended(k).tolist() for k in range(5)]
    assert ours.margins == pytest.approx(truth.margins, rel=1e-6, abs=1e-30)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_two_furthest_are_never_ruled_out(seed):
    rng = np.random.default_rng(seed)
    n, m, d = (int(rng.integers(*span)) for span in ((2, 60), (1, 8), (1, 5)))
    scale = 10 ** int(rng.integers(0, 60))

    def integers(rows: int) -> np.ndarray:
        return rng.integers(-9, 10, (rows, d)).astype(object) * scale + rng.integers(-2, 3, (rows, d)).astype(object)

    offsets, directions = integers(n), integers(m)
    close = first_or_second(nearest_rows([[int(x) for x in row] for row in directions]), nearest(offsets))
    for row, direction in enumerate(directions):
        scores = [Fraction(int(sum(x * y for x, y in zip(direction, offset, strict=True)))) for offset in offsets]
        second = sorted(scores)[-2]
        assert all(close[row, j] for j, score in enumerate(scores) if score >= second)


def test_of_many_neighbours_integers_compare_few(monkeypatch):
    asked, furthest = [], ExactPositions.furthest

    def count(self, along, points):
        asked.append(len(points))
        return furthest(self, along, points)

    monkeypatch.setattr(ExactPositions, "furthest", count)
    rng = np.random.default_rng(0)
    near = rng.standard_normal((3, 3))[rng.integers(3, size=300)]
    metric = np.diag([1.0, 0.3, 0.7])
    hm.simulate(near + np.spacing(near) * rng.integers(-3, 4, (300, 3)), hm.Dynamics("1/2", metric), layers=1)
    assert len(asked) > 100
    assert np.mean(asked) < 10
