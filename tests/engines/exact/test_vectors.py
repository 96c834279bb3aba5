"""Powers of the contraction: in balls, and in floats, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from hardmax._exact.vectors import MOST_DIGITS, check_length, enclosed_power, power

keeps = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=2000)


@given(keeps, st.integers(1, 600), st.integers(1, 200))
def test_a_power_lies_in_its_enclosure_which_is_as_narrow_as_it_says(keep, layers, bits):
    truth, power = keep**layers, enclosed_power(keep, layers, bits)
    middle, radius = (Fraction(str(part.fmpq())) for part in (power.mid(), power.rad()))
    assert abs(middle - truth) <= radius < truth / 2**bits


@given(keeps, st.integers(1, 2000))
def test_powers_that_a_float_shows_are_right_to_fifty_digits(keep, layers):
    truth = keep**layers
    slack = truth / 10**50 if truth > Fraction(1, 10**700) else Fraction(1, 10**700)
    assert abs(power(keep, layers) - truth) <= slack


@pytest.mark.parametrize("exponent", [20, 100, 300])
def test_a_long_power_of_almost_one_is_that_of_e(exponent):
    # (1 + a)^-(1/a) is 1/e, up to a share of a.
    many = 10**exponent
    found = power(1 / (1 + Fraction(1, many)), many)
    assert float(found) == np.exp(-1)


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(1, 10**6), Fraction(1, 7)])
def test_exact_layers_end_where_their_fractions_have_too_many_digits(alpha):
    keep = 1 / (1 + alpha)
    with refuses("Ask for layers up to") as caught:
        check_length(keep, 10**30)
    _, said = str(caught.value).split("up to ")
    last = int(said.split(", or")[0].replace(",", ""))
    check_length(keep, last)
    assert keep.denominator**last < 10**MOST_DIGITS <= keep.denominator ** (last + 1)
