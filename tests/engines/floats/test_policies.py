"""Ties proved by exact positions: several at once, on their way, and among neighbours a few units
in the last place apart."""

from fractions import Fraction
from itertools import product

import numpy as np
import oracle
import pytest
from agreement import assert_same_sets
from hypothesis import given
from hypothesis import strategies as st
from known import rational

import hardmax as hm
from hardmax._exact.positions import ExactPositions
from hardmax._float import policies


def overtaken(place: str) -> oracle.Cloud:
    """Token 2 ties tokens 0 and 1 on its way to their middle (1, 0, 0); token 3, further along
    that, catches up.

    It is at (place, 0, -1), and level at the t with place (1 - t/2) - 3 t/10 = 1 - t/2.
    """
    return rational(f"1 1 0, 1 -1 0, 1/2 0 3/10, {place} 0 -1")


def certified_and_exact(cloud, dynamics, layers):
    run = hm.simulate(cloud, dynamics, layers=layers)
    return run, hm.simulate(cloud, dynamics, layers=layers, arithmetic="exact")


PLACES = [("11/10", "6/5"), ("6/5", "11/10"), ("9/10", "6/5"), ("6/5", "1")]


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize("places", PLACES)
def test_of_two_ties_that_end_the_earlier_ends_first(places, arithmetic):
    # Two clouds in spaces at right angles: neither sees the other, since its own scores are
    # positive. The event that was found last once counted, not the soonest.
    nothing, alpha = [Fraction(0)] * 3, Fraction(1, 10)
    first, second = map(overtaken, places)
    cloud = [row + nothing for row in first] + [nothing + row for row in second]
    run = hm.simulate(cloud, hm.Dynamics(alpha), layers=20, arithmetic=arithmetic)
    history = list(oracle.walk(cloud, alpha, None, 20))
    assert_same_sets(run, history)
    last, _ = history[20]
    truth = np.array(last, dtype=np.float64)
    assert np.abs(run.at(20) - truth).max() <= 1e-12


tenths = st.integers(1, 14).map(lambda k: Fraction(k, 10))
beside = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(-1, 5)])
rivals = st.tuples(tenths, beside, tenths.map(lambda x: -x))
on_their_way = st.lists(st.tuples(tenths, tenths), min_size=1, max_size=2)
steps = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1)])
WIDE, TILTED = [[2, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 1], [0, 1, 0], [1, 0, 2]]
metrics = st.sampled_from([None, WIDE, TILTED])


@given(on_their_way, st.lists(rivals, min_size=1, max_size=3), steps, metrics)
def test_ties_on_their_way_and_rivals_beside_it_are_those_of_fractions(
    moving, beside_them, alpha, metric
):
    # All who move look at the middle of an edge; rivals may join them, overtake them, or stay
    # behind.
    cloud = [[1, 1, 0], [1, -1, 0]]
    cloud += [[x / 2, 0, z / 2] for x, z in moving]
    cloud += map(list, beside_them)
    exact = [[Fraction(x) for x in token] for token in cloud]
    dynamics = hm.Dynamics(alpha, metric)
    history = list(oracle.walk(exact, alpha, metric, 12))
    run, truth = certified_and_exact(exact, dynamics, 12)
    assert run.settled_at == truth.settled_at
    for each in (run, truth):
        assert_same_sets(each, history)
        for layer, (tokens, _) in enumerate(history):
            off = np.abs(each.at(layer) - np.array(tokens, dtype=np.float64))
            assert off.max() <= max(each.error, 1e-15)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_attended_sets_of_neighbours_are_the_true_ones_at_every_layer(seed, skew):
    rng = np.random.default_rng(seed)
    d, places = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    digits = int(rng.integers(0, 17))
    centres = rng.standard_normal((places, d)).round(digits)
    near = centres[rng.integers(places, size=30)]
    points = near + np.spacing(near) * rng.integers(-3, 4, (30, d))
    metric = 0.1 * np.eye(d) + 0.3 * np.ones((d, d)) if skew else None
    ours, truth = certified_and_exact(points, hm.Dynamics("1/2", metric), 3)
    for layer in range(4):
        assert ours.attended(layer).tolist() == truth.attended(layer).tolist()
    # On a line a slack is a single rounding, so that floats may prove a lead, and be off by as much
    # as the lead itself.
    slack = 1e-30 if d > 1 else 2.0**-52
    assert ours.margins[0] == pytest.approx(truth.margins[0], rel=1e-6, abs=slack)


seeds, sizes = st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-16, 1e-12, 1e-6])


@given(seeds, st.integers(1, 4), sizes)
def test_clouds_that_are_almost_a_point_or_a_line_are_chosen_for_as_by_all_products(seed, d, size):
    rng = np.random.default_rng(seed)
    way = rng.integers(-1, 2, d) if rng.random() < 0.5 else rng.standard_normal(d)
    steps = rng.random((40, 1))
    if rng.random() < 0.5:
        steps = rng.integers(0, 40, (40, 1))
    points = np.where(rng.random(d) < 0.8, 1.0, -2.0) + size * (steps * way)
    points += np.spacing(points) * rng.integers(0, 2, (40, d))
    metric = np.diag([3, 1, 2, 1][:d]) if rng.random() < 0.5 else None
    ours, truth = certified_and_exact(points, hm.Dynamics("1/2", metric), 2)
    for layer in range(3):
        assert ours.attended(layer).tolist() == truth.attended(layer).tolist()
    assert ours.margins == pytest.approx(truth.margins, rel=1e-6, abs=2.0**-48)


def test_of_means_short_ones_are_looked_at_first(monkeypatch):
    # The origin attends to all 400 points, and the first tie that is looked at shows a move.
    sizes = []
    rest = ExactPositions.means_rest
    monkeypatch.setattr(
        ExactPositions,
        "means_rest",
        lambda self, sets, phase: sizes.append(int(sets.sizes.max())) or rest(self, sets, phase),
    )
    grid = np.array(list(product(range(20), range(20))), dtype=float)
    hm.simulate(grid, hm.Dynamics("1/2"), layers=0)
    assert sizes == [20]


def test_few_scores_of_neighbours_are_made_exactly(monkeypatch):
    made = []

    def counted(directions, points):
        for kept, scores in first_two(directions, points):
            made.append(len(kept))
            yield kept, scores

    first_two = policies._first_two
    monkeypatch.setattr(policies, "_first_two", counted)
    n = 300
    points = np.c_[np.ones(n), np.random.default_rng(0).random(n) * 1e-12]
    assert hm.limit(points, hm.Dynamics("1/2")).certified
    assert n <= sum(made) <= 8 * n  # all products would be n**2 at every layer


far = st.sampled_from([0, 10**9, 10**30])


@given(st.data(), st.integers(1, 3), far)
def test_the_first_two_are_those_of_all_products(data, d, away):
    def table(rows, least, most):
        row = st.lists(st.integers(least, most), min_size=d, max_size=d)
        numbers = data.draw(st.lists(row, min_size=rows, max_size=9))
        return np.array(numbers, dtype=object)

    directions, points = away + table(1, -3, 3), away + table(2, -2, 2)
    found = policies._first_two(directions, points)
    for direction, (kept, scores) in zip(directions, found, strict=True):
        truth = points @ direction
        assert scores.tolist() == truth[kept].tolist()
        assert {*np.flatnonzero(truth == truth.max())} <= {*kept}
        assert sorted({*scores})[-2:] == sorted({*truth})[-2:]
