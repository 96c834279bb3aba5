"""How far floats can be from the truth: errors measured in fractions, against what is promised and hardly more."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._attended import Choices
from hardmax._float.bounds import SUMMED, mean_error, norms_above
from hardmax._float.frame import Frame
from hardmax._float.phase import mean_positions
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge

U = Fraction(1, 2**53)


def off(points: list[float], counts: list[int]) -> Fraction:
    """By how much the mean of some points, counted with multiplicity, is off in floats."""
    choices = Choices.of_sets([list(range(len(points)))] + [[j] for j in range(1, len(points))])
    mean = mean_positions(np.array(points)[:, None], choices, np.array(counts))[0, 0]
    true = sum((m * Fraction(x) for m, x in zip(counts, points, strict=True)), Fraction(0)) / sum(counts)
    return abs(Fraction(float(mean)) - true)


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(1, 1000)), min_size=2, max_size=40))
def test_a_mean_is_off_by_no_more_than_a_rounding_for_each_point_and_one_more(several):
    points, counts = [x for x, _ in several], [m for _, m in several]
    assert off(points, counts) <= Fraction(mean_error(max(map(abs, points)), len(points)))


@pytest.mark.parametrize("count", [2, 3, 8, 32])
def test_means_of_points_just_above_a_power_of_two_are_off_by_several_roundings(count):
    rng = np.random.default_rng(count)
    tried = [(rng.uniform(1, 1.05, count).tolist(), rng.integers(1, 9, count).tolist()) for _ in range(300)]
    worst = max(off(points, counts) / Fraction(max(points)) for points, counts in tried)
    assert max(Fraction(mean_error(1.0, count)) / 12, U * 3 / 2) < worst <= Fraction(mean_error(1.0, count))


@pytest.mark.parametrize("several", [1, 2, 3, 4, 20, SUMMED - 1, SUMMED, SUMMED + 1, 5000])
def test_the_bound_of_a_mean_is_the_derived_one_and_hardly_more(several):
    # A product with a multiplicity, k - 1 sums and a division; from SUMMED on sums are exact.
    derived = (min(max(several, 3), 32) + 1) * U * 5
    assert derived <= Fraction(mean_error(5.0, several)) <= derived * (1 + Fraction(1, 256))


def of_decimals(rows: list[list[str]]) -> Frame:
    return Frame.of(merge(Cloud(np.array([[Fraction(text) for text in row] for row in rows], dtype=object))))


@pytest.mark.parametrize("scale", ["0.1", "1e-7", "1e-300"])
@pytest.mark.parametrize("error", [0.0, 1e-9])
def test_places_in_the_units_of_the_tokens_are_off_by_no_more_than_is_said(scale, error):
    rng = np.random.default_rng(0)
    frame = of_decimals([[str(Fraction(scale) * k) for k in (7, 11, -3)]])
    numbers = rng.uniform(-9, 9, (200, 3))
    largest = float(norms_above(numbers).max())
    square = max(
        sum((Fraction(x) - Fraction(y) * frame.unit) ** 2 for x, y in zip(row, wish, strict=True))
        for row, wish in zip(frame.in_units(numbers).tolist(), numbers.tolist(), strict=True)
    )
    promised = Fraction(frame.error_in_units(error, largest))
    assert 0 < square <= (promised - Fraction(error) * frame.unit) ** 2
    for size in np.linspace(0.5, 1, 60).tolist():
        derived = (Fraction(error) + 4 * U * Fraction(size * largest)) * frame.unit
        found = Fraction(frame.error_in_units(error, size * largest))
        assert derived <= found <= derived * (1 + Fraction(1, 2**30)) + Fraction(2) ** -1050


def test_in_units_that_are_powers_of_two_nothing_is_rounded_and_errors_are_scaled():
    frame = Frame(np.ones((1, 2)), Fraction(1, 2**130), 0.0)
    numbers = np.random.default_rng(1).standard_normal((50, 2))
    assert (frame.in_units(numbers) * 2.0**130 == numbers).all()
    assert Frame(numbers, Fraction(2**130), 0.0).in_units(numbers)[3, 1] == numbers[3, 1] * 2.0**130
    plain = Frame(numbers, Fraction(1), 0.0)
    assert plain.in_units(numbers) is numbers
    assert plain.error_in_units(0.25, 3.0) == 0.25
    assert np.isnan(frame.error_in_units(np.nan, 3.0))


@pytest.mark.parametrize("size", [1.0, 2.0**-100, 2.0**100, 2.0**-101, 2.0**101, 2.0**-400, 2.0**900, 2.0**-1070])
def test_floats_of_any_size_come_to_one_at_which_scores_neither_overflow_nor_vanish(size):
    floats = np.array([[0.5, -0.75], [0.25, 0.0]]) * size
    frame = Frame.of(merge(Cloud(floats)))
    largest = np.abs(frame.numbers).max()
    assert 2.0**-100 <= largest <= 2.0**100
    assert (frame.unit == 1) == (2.0**-100 <= 0.75 * size <= 2.0**100)
    exact = [[Fraction(x) * frame.unit for x in row] for row in frame.numbers.tolist()]
    assert exact == [[Fraction(x) for x in row] for row in floats.tolist()]
    assert frame.error == 0


def test_what_is_lost_next_to_a_number_far_larger_is_within_the_error():
    floats = np.array([[2.0**900, 0.0], [2.0**-300, 2.0**-1070]])
    frame = Frame.of(merge(Cloud(floats)))
    places = np.array(frame.numbers.tolist(), dtype=object)
    lost = max(abs(Fraction(x) * frame.unit - Fraction(y)) for x, y in zip(places.flat, floats.flat, strict=True))
    assert 0 < lost <= Fraction(frame.error) * frame.unit
    assert frame.error <= 2.0**-52
