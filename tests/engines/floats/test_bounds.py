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
    found = []
    for row, truth in zip(np.asarray(table).tolist(), exact, strict=True):
        ways = [Fraction(x) - y for x, y in zip(row, truth, strict=True)]
        found.append(sum((way**2 for way in ways), Fraction(0)))
    return found


@pytest.mark.parametrize("given_metric", [None, [[2, 1], [1, 1]], DECIMAL], ids=str)
@pytest.mark.parametrize("own", [0.0, 1e-13, 3.0])
@pytest.mark.parametrize("error", [0.0, 1e-12, 5.0])
def test_the_slack_is_the_derived_one_and_hardly_more(given_metric, own, error):
    metric = float_metric(hm.Dynamics(1, given_metric))
    if given_metric is DECIMAL:
        exact = [[Fraction(text) * metric.scale for text in row] for row in DECIMAL]
        assert 0 < sum(squares(metric.matrix, exact)) <= Fraction(metric.error) ** 2
    factors = SlackFactors.of(2, metric)
    (found,) = factors.slack(np.array([0.75]), np.array([own]), 3.0, error)
    slack = Fraction(float(found))
    gamma = 2 * U / (1 - 2 * U)
    off, norm = Fraction(metric.error), Fraction(metric.norm)
    rounding = gamma if metric.matrix is None else (2 * gamma + gamma**2) * norm
    rho_i, rho, r_i, r = Fraction(3, 4), Fraction(3), Fraction(own), Fraction(error)
    moved = rho_i * r + rho * r_i + r_i * r
    derived = 2 * ((rounding + off) * rho_i * rho + (norm + off) * moved)
    assert derived <= slack
    assert slack <= derived * (1 + Fraction(1, 256)) + Fraction(1, 2**890)
    rounding, spread, *rest = kernel_factors(2, metric)
    assert [rounding, spread] == [factors.rounding, factors.spread]
    assert rest == [2.0**-900, step_error(1.0), 2.0**-100, 2.0**100]


def to_fractions(table) -> np.ndarray:
    """Rows of numbers or texts as an array of fractions."""
    return np.array([[Fraction(x) for x in row] for row in table], dtype=object)


def many_small_terms(d: int) -> np.ndarray:
    """Scores 1 + (d - 1) u, each of whose d - 1 sums is rounded: up along the first token, for the
    second, and down for the third, which is the furthest in truth. Floats are wrong by nearly 2 d
    u."""
    share, u = 2.0**-20, 2.0**-53
    looks = np.full(d, share)
    up = np.full(d, u * (1 + 2.0**-10) / share)
    down = np.full(d, u * (1 - 2.0**-10) / share)
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
    off = np.abs(runs.at(1)[0] - exact.at(1)).max()
    assert off <= runs.error[0]


def test_no_step_is_off_by_more_than_its_bound_and_some_by_more_than_half():
    rng, worst = np.random.default_rng(0), Fraction(0)
    # Just above a power of two numbers are the coarsest; these alphas make steps g that are badly
    # rounded.
    for keep in (Fraction(1017, 1018), Fraction(1001, 1002), Fraction(1000, 1003)):
        x = 1 + rng.uniform(0, 0.02, 3000)
        w = -1 - rng.uniform(0, 0.02, 3000)
        rows = np.stack([x, w, w + float(keep) * (x - w)], axis=1)
        for here, there, after in to_fractions(rows.tolist()):
            off = abs(after - there - keep * (here - there))
            bound = step_error(float(max(here, -there)))
            worst = max(worst, off / Fraction(bound))
    assert Fraction(1, 2) < worst <= 1


def off_mean(points: list[float], counts: list[int]) -> Fraction:
    """By how much the mean of some points, counted with multiplicity, is off in floats."""
    sets = [list(range(len(points))), *([j] for j in range(1, len(points)))]
    choices = AttendedIndices.of_sets(sets)
    mean = mean_positions(np.array(points)[:, None], choices, np.array(counts))[0, 0]
    terms = [m * Fraction(x) for m, x in zip(counts, points, strict=True)]
    return abs(Fraction(float(mean)) - sum(terms, Fraction(0)) / sum(counts))


weighted = st.tuples(st.floats(-1, 1), st.integers(1, 1000))


@given(st.lists(weighted, min_size=2, max_size=40))
def test_a_mean_is_off_by_no_more_than_a_rounding_for_each_point_and_one_more(several):
    points, counts = (list(column) for column in zip(*several, strict=True))
    bound = mean_error(max(map(abs, points)), len(points))
    assert off_mean(points, counts) <= Fraction(bound)


@pytest.mark.parametrize("scale", ["0.1", "1e-7", "1e-300"])
@pytest.mark.parametrize("error", [0.0, 1e-9])
def test_positions_in_the_units_of_the_tokens_are_off_by_no_more_than_is_said(scale, error):
    # The rounding of the last product was once left out.
    row = [Fraction(scale) * k for k in (7, 11, -3)]
    frame = Frame.of(merge(Cloud(np.array([row], dtype=object))))
    numbers = np.random.default_rng(0).uniform(-9, 9, (200, 3))
    largest = float(norms_above(numbers).max())
    exact = to_fractions(numbers.tolist()) * frame.unit
    off = max(squares(frame.in_units(numbers), exact.tolist()))
    more = Fraction(frame.error_in_units(error, largest)) - Fraction(error) * frame.unit
    assert 0 < off <= more**2
    for size in np.linspace(0.5, 1, 60).tolist():
        norm = Fraction(size * largest)
        derived = (Fraction(error) + 4 * U * norm) * frame.unit
        found = Fraction(frame.error_in_units(error, size * largest))
        assert derived <= found
        assert found <= derived * (1 + Fraction(1, 2**30)) + Fraction(2) ** -1050


EXPONENTS = [0, -100, 100, -101, 101, -400, 900, -1070, 1023]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_floats_of_any_size_come_to_one_at_which_scores_neither_overflow_nor_vanish(exponent):
    size = 2.0**exponent
    floats = np.array([[0.5, -0.75], [0.25, 0.0]]) * size
    frame = Frame.of(merge(Cloud(floats)))
    largest = np.abs(frame.numbers).max()
    assert 2.0**-100 <= largest <= 2.0**100
    assert (frame.unit == 1) == (2.0**-100 <= 0.75 * size <= 2.0**100)
    assert frame.error == 0
    assert frame.in_units(frame.numbers).tolist() == floats.tolist()
    assert frame.error_in_units(0.0, 1.0) == 0.0 or frame.unit != 1
    assert np.isnan(frame.error_in_units(np.nan, 3.0))


FAR_APART = [[2.0**900, 0.0], [2.0**-300, 2.0**-1070]]
LONG = [["0.12345678901234567891", "0.1"], ["-0.7", "0.98765432109876543219"]]


@pytest.mark.parametrize("tokens", [np.array(FAR_APART), to_fractions(LONG)])
def test_what_floats_do_not_hold_is_within_the_error(tokens):
    frame = Frame.of(merge(Cloud(tokens)))
    exact = to_fractions(tokens.tolist()) / frame.unit
    off = max(squares(frame.numbers, exact.tolist()))
    assert 0 < off <= Fraction(frame.error) ** 2
    assert frame.error <= 2.0**-52
