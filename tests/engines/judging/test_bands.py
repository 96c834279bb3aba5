"""Contests in bands of sizes: who attends to whom is the truth, whatever the sizes."""

import numpy as np
import pytest

import hardmax as hm
from hardmax.engines.judging import bands

HALF = hm.Dynamics("1/2")


def attended(cloud: np.ndarray, metric=None) -> list[list[int]]:
    return hm.simulate(cloud, hm.Dynamics("1/2", metric), layers=0, arithmetic="exact").attended(0).tolist()


def spread(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-140, 140, (n, 1))


def one_far_out(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    cloud = rng.standard_normal((n, d))
    cloud[rng.integers(n)] *= 10.0 ** rng.uniform(6, 14)
    return cloud


@pytest.mark.parametrize("make", [spread, one_far_out])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_points_of_all_sizes_attend_truly_and_floats_prove_it(make, d):
    for seed in range(4):
        cloud = make(seed, 120, d)
        run = hm.simulate(cloud, HALF, layers=0)
        assert "bands" in run.decided_by[0]
        assert "integers" not in run.decided_by[0]
        assert run.attended(0).tolist() == attended(cloud)


def test_small_points_on_one_side_of_large_ones_are_looked_at():
    rng = np.random.default_rng(0)
    large = np.abs(rng.standard_normal((100, 2))) * 1e12 + 1e11
    small = rng.standard_normal((100, 2))
    cloud = np.concatenate([large, small])
    run = hm.simulate(cloud, HALF, layers=0)
    assert run.attended(0).tolist() == attended(cloud)
    assert any(several.min() >= 100 for several in run.attended(0))


def test_with_a_metric_and_a_token_that_looks_nowhere():
    cloud = np.concatenate([one_far_out(3, 100, 2), np.zeros((1, 2))])
    metric = [[2, 1], [1, 3]]
    run = hm.simulate(cloud, hm.Dynamics("1/2", metric), layers=0)
    assert run.attended(0).tolist() == attended(cloud, metric)
    assert len(run.attended(0)[100]) == 101


def test_who_comes_close_in_an_earlier_band_stays_a_contender(monkeypatch):
    # Two tokens tie in a small band, and one of a larger band ties with them: all three attend.
    monkeypatch.setattr(bands, "_WIDTH", 2.0)
    monkeypatch.setattr(bands, "_FEW", -1)
    cloud = np.array([[0.25, 0.0], [1.0, 8.0], [1.0, 0.5], [1.0, -0.5], [-4.0, 0.0]])
    run = hm.simulate(cloud, HALF, layers=0)
    assert run.attended(0)[0].tolist() == attended(cloud)[0] == [1, 2, 3]


def test_bands_are_for_clouds_of_which_many_points_are_short():
    assert not bands.are_spread(np.ones(1000))
    assert not bands.are_spread(np.append(np.ones(1000), 1e-9))
    assert bands.are_spread(np.append(np.ones(1000), 1e9))


METRICS = {
    "that shrinks": [["0.3", 0, 0], [0, "0.7", 0], [0, 0, "1.9"]],
    "that turns": [[2, 1, 0], [1, 3, "0.1"], [0, "0.1", 1]],
    "that makes next to nothing of an axis": [[1, 0, 0], [0, "1e-310", 0], [0, 0, 1]],
}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_directions_of_tokens_next_to_nothing_are_not_lost_to_underflow(metric):
    rng = np.random.default_rng(7)
    large = rng.standard_normal((60, 3))
    tiny = rng.integers(-3, 4, (90, 3)) * 5e-324
    along = np.outer(rng.standard_normal(40), [0.0, 1.0, 0.0]) * 1e-200
    cloud = np.concatenate([large, tiny, along])
    dynamics = hm.Dynamics("1/2", metric)
    run, truth = (hm.simulate(cloud, dynamics, layers=2, arithmetic=each) for each in ("certified", "exact"))
    assert "bands" in run.decided_by[0]
    for layer in range(3):
        assert run.attended(layer).tolist() == truth.attended(layer).tolist()
