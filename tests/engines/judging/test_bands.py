"""Contests in bands of sizes: who attends to whom is the truth, whatever the sizes."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float import bands
from hardmax._float.argmax import score_all
from hardmax._float.bounds import SlackFactors, float_metric, norms_above

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


def exact_scores(points: np.ndarray, places: np.ndarray, metric) -> list[list[Fraction]]:
    """<A x, z> for all of these, in fractions."""
    rows = [[Fraction(x) for x in row] for row in places.tolist()]
    looks = [oracle.apply(metric, [Fraction(x) for x in row]) for row in points.tolist()]
    return [[oracle.dot(look, row) for row in rows] for look in looks]


@settings(max_examples=examples(800))
@given(st.integers(0, 2**32 - 1))
def test_whoever_may_be_the_furthest_is_found_in_whichever_bands_they_are(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 4))
    places = rng.integers(-4, 5, (n, d)) * 2.0 ** rng.integers(-9, 10, (n, 1)).astype(float)
    matrix = np.diag(np.arange(1, d + 1)) if rng.random() < 0.5 else None
    metric = float_metric(hm.Dynamics(1, matrix))
    errors = np.full(n, 0.0 if rng.random() < 0.5 else 2.0**-30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "_WIDTH", 2.0 ** int(rng.integers(1, 8)))
        own = places[::2], errors[::2]
        factors = SlackFactors.of(d, metric)
        contest = bands.search_in_bands(score_all, own, places, errors, metric, factors)
    exact_metric = None if metric.matrix is None else [[Fraction(x) for x in row] for row in metric.matrix.tolist()]
    scores = exact_scores(own[0], places, exact_metric)
    sizes = norms_above(places)
    for row, (some, score) in enumerate(zip(contest.choices(), scores, strict=True)):
        best, found = max(score), set(some.tolist())
        assert {j for j, value in enumerate(score) if value == best} <= found
        if not own[0][row].any():
            assert found == set(range(n))
            continue
        # Nobody is a contender who trails by more than all that can be wrong with either.
        doubt = 8 * factors.slack(sizes[::2][row : row + 1], errors[:1], float(sizes.max()), errors[0])[0]
        assert all(best - score[j] <= Fraction(float(doubt)) for j in found)
        assert (row in contest.contested) == (len(found) > 1)
        assert contest.winners[row] in found
    assert contest.by[0] == "bands"
