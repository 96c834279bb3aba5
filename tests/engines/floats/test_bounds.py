"""Every term of the bounds, twice: against the derivation, in fractions, and against clouds on
which floats err by so much that without the term a choice would be wrong."""

from fractions import Fraction

import numpy as np
import pytest
from agreement import forced
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float.active_set import mean_positions
from hardmax._float.bounds import (
    Frame,
    SlackFactors,
    float_metric,
    kernel_factors,
    mean_error,
    norms_above,
    step_error,
)
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge

U = Fraction(1, 2**53)
DECIMAL = [["0.1", "0.03"], ["0.03", "0.7"]]


def squares(table, exact) -> list[Fraction]:
    """The squared distances of rows of floats from rows of fractions."""
    rows = zip(np.asarray(table).tolist(), exact, strict=True)
    return [
        sum(((Fraction(x) - y) ** 2 for x, y in zip(*row, strict=True)), Fraction(0))
        for row in rows
    ]


@pytest.mark.parametrize(
    "given_metric", [None, [[2, 1], [1, 1]], DECIMAL], ids=["identity", "whole", "decimal"]
)
@pytest.mark.parametrize("own", [0.0, 1e-13, 3.0])
@pytest.mark.parametrize("error", [0.0, 1e-12, 5.0])
def test_the_slack_is_the_derived_one_and_hardly_more(given_metric, own, error):
    metric = float_metric(hm.Dynamics(1, given_metric))
    if given_metric is DECIMAL:
        exact = [[Fraction(text) * metric.scale for text in row] for row in DECIMAL]
        assert 0 < sum(squares(metric.matrix, exact)) <= Fraction(metric.error) ** 2
    factors = SlackFactors.of(2, metric)
    (slack,) = factors.slack(np.array([0.75]), np.array([own]), 3.0, error)
    gamma = 2 * U / (1 - 2 * U)
    off = Fraction(metric.error)
    norm = Fraction(metric.norm)
    rounding = gamma if metric.matrix is None else (2 * gamma + gamma**2) * norm
    rho_i, rho, r_i, r = Fraction(3, 4), Fraction(3), Fraction(own), Fraction(error)
    derived = 2 * (
        (rounding + off) * rho_i * rho + (norm + off) * (rho_i * r + rho * r_i + r_i * r)
    )
    assert (
        derived <= Fraction(float(slack)) <= derived * (1 + Fraction(1, 256)) + Fraction(1, 2**890)
    )
    assert kernel_factors(2, metric)[:2] == [factors.rounding, factors.spread]
    assert kernel_factors(2, metric)[2:] == [2.0**-900, step_error(1.0), 2.0**-100, 2.0**100]


def fractions(table: np.ndarray) -> np.ndarray:
    return np.array(list(map(Fraction, table.ravel().tolist())), dtype=object).reshape(table.shape)


def many_small_terms(d: int) -> np.ndarray:
    """Scores 1 + (d - 1) u, each of whose d - 1 sums is rounded: up along the first token, for the
    second, and down for the third, which is the furthest in truth. Floats are wrong by nearly 2 d
    u."""
    share, u = 2.0**-20, 2.0**-53
    looks, up, down = (
        np.full(d, small)
        for small in (share, u * (1 + 2.0**-10) / share, u * (1 - 2.0**-10) / share)
    )
    looks[0], up[0], down[0] = 1.0, 1.0, 1 + 2 * u
    return np.stack([looks / 2, up, down])


@pytest.mark.parametrize("d", [6, 8, 16])
def test_scores_that_floats_add_up_wrongly_are_not_believed_nor_by_the_kernel_for_batches(d):
    cloud = many_small_terms(d)
    for search in ("dense", "shells", "rounded"):
        with forced(search):
            run = hm.simulate(cloud, hm.Dynamics(1), layers=0)
        assert run.attended(0)[0].tolist() == [2]
        assert "integers" in run.decided_by[0]
    exact = hm.simulate(cloud, hm.Dynamics(1), layers=1, arithmetic="exact")
    runs = hm.simulate([cloud] * 2, hm.Dynamics(1), layers=1)
    assert runs.leaders[0].tolist() == exact.leaders.tolist()
    assert np.abs(runs.at(1)[0] - exact.at(1)).max() <= runs.error[0]


def test_no_step_is_off_by_more_than_its_bound_and_some_by_more_than_half():
    rng, worst = np.random.default_rng(0), Fraction(0)
    # Just above a power of two numbers are the coarsest; these alphas make steps g that are badly
    # rounded.
    for keep in (Fraction(1017, 1018), Fraction(1001, 1002), Fraction(1000, 1003)):
        x, w = 1 + rng.uniform(0, 0.02, 3000), -1 - rng.uniform(0, 0.02, 3000)
        for here, there, after in zip(
            x.tolist(), w.tolist(), (w + float(keep) * (x - w)).tolist(), strict=True
        ):
            off = abs(Fraction(after) - Fraction(there) - keep * (Fraction(here) - Fraction(there)))
            worst = max(worst, off / Fraction(step_error(max(here, -there))))
    assert Fraction(1, 2) < worst <= 1


def off_mean(points: list[float], counts: list[int]) -> Fraction:
    """By how much the mean of some points, counted with multiplicity, is off in floats."""
    choices = AttendedIndices.of_sets(
        [list(range(len(points)))] + [[j] for j in range(1, len(points))]
    )
    mean = mean_positions(np.array(points)[:, None], choices, np.array(counts))[0, 0]
    true = sum((m * Fraction(x) for m, x in zip(counts, points, strict=True)), Fraction(0)) / sum(
        counts
    )
    return abs(Fraction(float(mean)) - true)


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(1, 1000)), min_size=2, max_size=40))
def test_a_mean_is_off_by_no_more_than_a_rounding_for_each_point_and_one_more(several):
    points, counts = [x for x, _ in several], [m for _, m in several]
    assert off_mean(points, counts) <= Fraction(mean_error(max(map(abs, points)), len(points)))


@pytest.mark.parametrize("scale", ["0.1", "1e-7", "1e-300"])
@pytest.mark.parametrize("error", [0.0, 1e-9])
def test_positions_in_the_units_of_the_tokens_are_off_by_no_more_than_is_said(scale, error):
    # The rounding of the last product was once left out.
    row = [Fraction(scale) * k for k in (7, 11, -3)]
    frame = Frame.of(merge(Cloud(np.array([row], dtype=object))))
    numbers = np.random.default_rng(0).uniform(-9, 9, (200, 3))
    largest = float(norms_above(numbers).max())
    off = max(
        squares(
            frame.in_units(numbers),
            [[Fraction(x) * frame.unit for x in each] for each in numbers.tolist()],
        )
    )
    assert (
        0
        < off
        <= (Fraction(frame.error_in_units(error, largest)) - Fraction(error) * frame.unit) ** 2
    )
    for size in np.linspace(0.5, 1, 60).tolist():
        derived = (Fraction(error) + 4 * U * Fraction(size * largest)) * frame.unit
        found = Fraction(frame.error_in_units(error, size * largest))
        assert derived <= found <= derived * (1 + Fraction(1, 2**30)) + Fraction(2) ** -1050


@pytest.mark.parametrize(
    "size",
    [
        1.0,
        2.0**-100,
        2.0**100,
        2.0**-101,
        2.0**101,
        2.0**-400,
        2.0**900,
        2.0**-1070,
        1.5 * 2.0**1023,
    ],
)
def test_floats_of_any_size_come_to_one_at_which_scores_neither_overflow_nor_vanish(size):
    floats = np.array([[0.5, -0.75], [0.25, 0.0]]) * size
    frame = Frame.of(merge(Cloud(floats)))
    assert 2.0**-100 <= np.abs(frame.numbers).max() <= 2.0**100
    assert (frame.unit == 1) == (2.0**-100 <= 0.75 * size <= 2.0**100)
    assert frame.error == 0
    assert frame.in_units(frame.numbers).tolist() == floats.tolist()
    assert frame.error_in_units(0.0, 1.0) == 0.0 or frame.unit != 1
    assert np.isnan(frame.error_in_units(np.nan, 3.0))


@pytest.mark.parametrize(
    "tokens",
    [
        [[2.0**900, 0.0], [2.0**-300, 2.0**-1070]],
        [["0.12345678901234567891", "0.1"], ["-0.7", "0.98765432109876543219"]],
    ],
)
def test_what_floats_do_not_hold_is_within_the_error(tokens):
    exact = np.array([[Fraction(x) for x in row] for row in tokens], dtype=object)
    frame = Frame.of(merge(Cloud(exact if isinstance(tokens[0][0], str) else np.array(tokens))))
    assert (
        0 < max(squares(frame.numbers, (exact / frame.unit).tolist())) <= Fraction(frame.error) ** 2
    )
    assert frame.error <= 2.0**-52
