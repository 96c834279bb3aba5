"""Every term of the bounds, held twice: against the derivation, in fractions, and against clouds on which floats err by
so much that without the term a choice would be wrong."""

from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm
from hardmax._attended import Choices
from hardmax._float import bounds
from hardmax._float.bounds import (
    SlackFactors,
    float_metric,
    kernel_factors,
    mean_error,
    norms_above,
    rounding_error,
    step_error,
)
from hardmax._float.frame import Frame
from hardmax._float.phase import mean_positions
from hardmax._float.search import Cpu
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge

U = Fraction(1, 2**53)
METRICS = [None, [[2, 1], [1, 1]], [["0.1", 0], [0, "0.7"]]]


def derived_slack(d: int, metric, norm: Fraction, own: Fraction, largest: Fraction, error: Fraction) -> Fraction:
    """2 E_i as derived in `bounds`, with nothing rounded."""
    gamma = d * U / (1 - d * U)
    rounding = gamma if metric.matrix is None else (2 * gamma + gamma**2) * Fraction(metric.norm)
    off = Fraction(metric.error)
    spread = Fraction(metric.norm) + off
    return 2 * ((rounding + off) * norm * largest + spread * (norm * error + largest * own + own * error))


@pytest.mark.parametrize("metric", METRICS, ids=["identity", "whole", "decimal"])
@pytest.mark.parametrize("own", [0.0, 1e-13, 3.0])
@pytest.mark.parametrize("error", [0.0, 1e-12, 5.0])
def test_the_slack_is_the_derived_one_and_hardly_more(metric, own, error):
    floats = float_metric(hm.Dynamics(1, metric))
    assert (floats.error > 0) == (metric is not None and isinstance(metric[0][0], str))
    (slack,) = SlackFactors.of(2, floats).slack(np.array([0.75]), np.array([own]), 3.0, error)
    derived = derived_slack(2, floats, Fraction(3, 4), Fraction(own), Fraction(3), Fraction(error))
    assert derived <= Fraction(float(slack)) <= derived * (1 + Fraction(1, 256)) + Fraction(1, 2**890)


def test_kernels_count_with_the_same_numbers():
    metric = float_metric(hm.Dynamics(1, [[2, 1], [1, 1]]))
    factors = SlackFactors.of(2, metric)
    expected = [factors.rounding, factors.spread, bounds.UNDERFLOW, step_error(1.0), 2.0**-100, 2.0**100]
    assert kernel_factors(2, metric) == expected


def test_a_metric_that_is_rounded_is_off_by_no_more_than_it_says():
    metric = float_metric(hm.Dynamics(1, [["0.1", "0.03"], ["0.03", "0.7"]]))
    exact = [[Fraction(text) * metric.scale for text in row] for row in (("0.1", "0.03"), ("0.03", "0.7"))]
    assert metric.matrix is not None
    square = sum(
        (Fraction(x) - y) ** 2
        for row, wish in zip(metric.matrix.tolist(), exact, strict=True)
        for x, y in zip(row, wish, strict=True)
    )
    assert 0 < square <= Fraction(metric.error) ** 2


def many_small_terms(d: int) -> np.ndarray:
    """Scores 1 + (d - 1) u, each of whose d - 1 sums is rounded: up along the first token, for the second, and down for
    the third, which is the furthest in truth. Floats are wrong by nearly 2 d u."""
    share, u = 2.0**-20, 2.0**-53
    looks, up, down = (np.full(d, small) for small in (share, u * (1 + 2.0**-10) / share, u * (1 - 2.0**-10) / share))
    looks[0], up[0], down[0] = 1.0, 1.0, 1 + 2 * u
    return np.stack([looks / 2, up, down])


@pytest.mark.parametrize("search", ["all", "outward", "rounded"])
@pytest.mark.parametrize("d", [6, 8, 16])
def test_scores_that_floats_add_up_wrongly_are_not_believed(search, d):
    run = hm.simulate(many_small_terms(d), hm.Dynamics(1), layers=0, engine=Cpu(search))
    assert run.attended(0)[0].tolist() == [2]
    assert "integers" in run.decided_by[0]


@pytest.mark.parametrize("d", [6, 8, 16])
def test_nor_by_the_kernel_for_batches(d):
    runs = hm.simulate([many_small_terms(d)] * 2, hm.Dynamics(1), layers=1)
    exact = hm.simulate(many_small_terms(d), hm.Dynamics(1), layers=1, arithmetic="exact")
    assert runs.leaders[0].tolist() == exact.leaders.tolist()
    assert np.abs(runs.at(1)[0] - exact.at(1)).max() <= runs.error


def turned_mirror(seed: int) -> np.ndarray:
    """Pairs of tokens on either side of an axis and some on it, turned by the angle of the 3-4-5 triangle: those on the
    axis tie for ever, but in floats they drift away from it."""
    rng = np.random.default_rng(seed)
    pairs, scale = 5 * rng.integers(-9, 10, (rng.integers(1, 4), 2)), 5 * rng.integers(-9, 10, rng.integers(1, 4))
    axis = np.stack([scale, np.zeros_like(scale)], axis=1)
    tokens = np.concatenate([pairs, pairs * [1, -1], axis]) @ np.array([[3, 4], [-4, 3]]) // 5
    return np.unique(tokens, axis=0) * (rng.uniform(0.5, 1) if seed % 2 else 1.0)


@pytest.mark.parametrize("alpha", ["1/1000", "1/7"])
def test_where_floats_drift_apart_ties_stay_ties(alpha):
    for seed in range(120):
        cloud, dynamics = turned_mirror(seed), hm.Dynamics(alpha)
        run, exact = (hm.simulate(cloud, dynamics, layers=3, arithmetic=how) for how in ("certified", "exact"))
        for layer in range(4):
            assert run.attended(layer).tolist() == exact.attended(layer).tolist(), seed


def distance(tokens: np.ndarray, exact: np.ndarray) -> Fraction:
    rows = zip(tokens.tolist(), exact.tolist(), strict=True)
    return max(Fraction(sum((Fraction(x) - y) ** 2 for x, y in zip(*row, strict=True))) for row in rows)


def test_no_step_is_off_by_more_than_its_bound_and_some_by_more_than_half():
    rng = np.random.default_rng(0)
    worst = Fraction(0)
    # Just above a power of two numbers are the coarsest; these alphas make steps g that are badly rounded.
    for alpha in (Fraction(1, 1017), Fraction(1, 1001), Fraction(3, 1000)):
        keep = 1 / (1 + alpha)
        x, w = 1 + rng.uniform(0, 0.02, 3000), -1 - rng.uniform(0, 0.02, 3000)
        moved = w + float(keep) * (x - w)
        for here, there, after in zip(x.tolist(), w.tolist(), moved.tolist(), strict=True):
            off = abs(Fraction(after) - Fraction(there) - keep * (Fraction(here) - Fraction(there)))
            worst = max(worst, off / Fraction(step_error(max(here, -there))))
    assert Fraction(1, 2) < worst <= 1


def test_a_mean_is_off_by_no_more_than_its_bound_and_long_ones_hardly_at_all():
    rng = np.random.default_rng(1)
    for count in (2, 3, 32, 33, 5000):
        points = rng.uniform(0.5, 1, (count, 1)) * np.where(np.arange(count) % 2, 1, 2.0**-30)[:, None]
        counts = rng.integers(1, 9, count)
        (mean,) = mean_positions(
            points, Choices.of_sets([list(range(count))] + [[j] for j in range(1, count)]), counts
        )[:1]
        true = sum(int(m) * Fraction(x) for m, x in zip(counts, points[:, 0].tolist(), strict=True)) / int(counts.sum())
        allowed = mean_error(1.0, count) if count <= bounds.SUMMED else 4 * 2.0**-53
        assert abs(Fraction(float(mean[0])) - true) <= Fraction(allowed)


def test_a_mean_of_many_is_not_off_by_what_every_addition_loses():
    # From 8 to 16 every addition loses nearly half of the last place, always to the same side: that is how far numpy
    # adds up what it then adds in pairs.
    points = np.full((8192, 1), 1 + 0.49 * 2.0**-49)
    choices = Choices.of_sets([list(range(8192))] + [[j] for j in range(1, 8192)])
    mean = mean_positions(points, choices, np.ones(8192, dtype=np.int64))[0, 0]
    assert abs(mean - points[0, 0]) <= 2.0**-52


def test_decimals_too_long_for_floats_are_off_by_no_more_than_they_say():
    tokens = [["0.12345678901234567891", "0.1"], ["-0.7", "0.98765432109876543219"]]
    points = merge(Cloud(np.array([[Fraction(text) for text in row] for row in tokens], dtype=object)))
    frame = Frame.of(points)
    assert 0 < distance(frame.numbers, points.coordinates / frame.unit) <= Fraction(frame.error) ** 2
    assert frame.error <= rounding_error(float(norms_above(frame.numbers).max()))


def test_norms_are_never_too_small_even_where_squares_vanish():
    for size in (1.0, 2.0**-400, 2.0**-540, 2.0**-1060):
        assert norms_above(np.array([[3.0, 4.0]]) * size)[0] >= 5 * size


def test_a_point_far_smaller_than_its_error_has_an_infinite_slack_and_warns_nobody():
    factors = SlackFactors(rounding=2.0**-50, spread=4.0)
    assert factors.slack(np.ones(1), np.array([1.7e308]), 1.0, 0.0).tolist() == [np.inf]
