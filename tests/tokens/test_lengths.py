"""Lengths at any scale, against exact fractions."""

from fractions import Fraction

import numpy as np
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hardmax._tokens.rationals import lengths, longest_above, rounding_of

numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=1, max_size=4).map(
        np.array
    )
)


def square(row: np.ndarray) -> Fraction:
    return sum((Fraction(float(x)) ** 2 for x in row), Fraction(0))


@settings(max_examples=examples(300))
@given(tables)
def test_lengths_are_roots_of_sums_of_squares_at_any_scale(table):
    largest = max(map(square, table))
    for length, row in zip(lengths(table), table, strict=True):
        # Rows much shorter than the longest may lose what does not show beside it.
        slack = Fraction(1, 10**14) * largest + Fraction(2.0**-1074) ** 2
        assert abs(Fraction(float(length)) ** 2 - square(row)) <= slack * 4
    assert largest <= Fraction(longest_above(table)) ** 2
    assert (
        Fraction(longest_above(table)) ** 2
        <= largest * (1 + Fraction(1, 10**5)) + Fraction(2.0**-1070) ** 2
    )


@settings(max_examples=examples(300))
@given(st.lists(st.fractions(), min_size=1, max_size=4), st.integers(-1074, 1000))
def test_nearest_floats_are_no_further_away_than_rounding(row, exponent):
    exact = [value * Fraction(2) ** exponent for value in row]
    assume(max(map(abs, exact)) < Fraction(10) ** 300)
    floats = np.array([[float(value) for value in exact]])
    off = sum((Fraction(float(x)) - value) ** 2 for x, value in zip(floats[0], exact, strict=True))
    assert rounding_of(floats) > 0
    assert off <= Fraction(rounding_of(floats)) ** 2
    assert Fraction(rounding_of(floats)) <= Fraction(longest_above(floats)) / 2**52 + 4 * Fraction(
        2.0**-1074
    )
