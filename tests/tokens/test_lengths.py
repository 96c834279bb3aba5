"""Lengths at any scale, against exact fractions."""

from fractions import Fraction

import numpy as np
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hardmax._tokens.rationals import lengths, longest_above, rounding_of

numbers = st.floats(-1e300, 1e300)


@st.composite
def tables(draw):
    d = draw(st.integers(1, 4))
    row = st.lists(numbers, min_size=d, max_size=d)
    return np.array(draw(st.lists(row, min_size=1, max_size=4)))


def square(row: np.ndarray) -> Fraction:
    return sum((Fraction(float(x)) ** 2 for x in row), Fraction(0))


@settings(max_examples=examples(300))
@given(tables())
def test_lengths_are_roots_of_sums_of_squares_at_any_scale(table):
    largest = max(map(square, table))
    for length, row in zip(lengths(table), table, strict=True):
        # Rows much shorter than the longest may lose what does not show beside it.
        slack = Fraction(1, 10**14) * largest + Fraction(2.0**-1074) ** 2
        assert abs(Fraction(float(length)) ** 2 - square(row)) <= slack * 4
    above = Fraction(longest_above(table)) ** 2
    assert largest <= above
    assert above <= largest * (1 + Fraction(1, 10**5)) + Fraction(2.0**-1070) ** 2


some_fractions = st.lists(st.fractions(), min_size=1, max_size=4)


@settings(max_examples=examples(300))
@given(some_fractions, st.integers(-1074, 1000))
def test_nearest_floats_are_no_further_away_than_rounding(row, exponent):
    exact = [value * Fraction(2) ** exponent for value in row]
    assume(max(map(abs, exact)) < Fraction(10) ** 300)
    floats = np.array([[float(value) for value in exact]])
    pairs = zip(floats[0].tolist(), exact, strict=True)
    off = sum((Fraction(x) - value) ** 2 for x, value in pairs)
    rounding = Fraction(rounding_of(floats))
    assert rounding > 0
    assert off <= rounding**2
    longest = Fraction(longest_above(floats))
    assert rounding <= longest / 2**52 + 4 * Fraction(2.0**-1074)
