"""Powers of the share that a token keeps: between two numbers, and in floats, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._exact import vectors as powers
from hardmax._exact.vectors import MOST_DIGITS, check_length, enclosed_power, float_powers, power

keeps = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=2000)


@settings(max_examples=examples(300))
@given(keeps, st.integers(1, 600), st.integers(1, 200))
def test_a_power_lies_in_its_enclosure_which_is_as_narrow_as_it_says(keep, layers, bits):
    truth = keep**layers
    low, high = (Fraction(end, 2**shift) for *ends, shift in [enclosed_power(keep, layers, bits)] for end in ends)
    assert low <= truth <= high
    assert high - low < truth / 2**bits


@settings(max_examples=examples(200))
@given(keeps, st.integers(1, 3000))
def test_a_power_is_right_to_fifty_digits(keep, layers):
    truth = keep**layers
    if truth > Fraction(1, 10**700):
        assert abs(power(keep, layers) - truth) <= truth / 10**50


@pytest.mark.parametrize("exponent", [20, 100, 300])
def test_a_long_power_of_almost_one_is_that_of_e(exponent):
    # (1 + a)^-(1/a) is 1/e, up to a share of a.
    found = power(1 / (1 + Fraction(1, 10**exponent)), 10**exponent)
    assert float(found) == np.exp(-1)


@settings(max_examples=60)
@given(keeps, st.one_of(st.integers(0, 2000), st.integers(0, 10**12)), st.integers(1, 200))
def test_floats_of_many_powers_are_those_of_each(keep, first, count):
    together = float_powers(keep, first, count)
    assert together.tolist() == [float(power(keep, first + m)) for m in range(count)]


def test_powers_that_lie_between_two_floats_exactly_go_the_same_way():
    # 3^34 has 54 bits: (3/4)^34 lies in the middle of two floats.
    assert (3**34).bit_length() == 54
    keep = Fraction(3, 4)
    assert float_powers(keep, 0, 60).tolist() == [float(keep**m) for m in range(60)]


@settings(max_examples=30)
@given(keeps, st.integers(0, 500))
def test_where_two_floats_are_in_question_the_power_itself_is_asked(keep, first):
    # With 60 bits it happens all the time; with as many as there are, hardly ever.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(powers, "_BITS", 60)
        patch.setattr(powers, "power", lambda base, layers: base**layers)
        assert float_powers(keep, first, 200).tolist() == [float(keep ** (first + m)) for m in range(200)]


def test_exact_layers_end_where_their_fractions_have_too_many_digits():
    for alpha in (Fraction(1), Fraction(1, 10**6), Fraction(1, 7)):
        keep = 1 / (1 + alpha)
        with pytest.raises(hm.InputError, match="Ask for layers up to") as caught:
            check_length(keep, 10**30)
        last = int(str(caught.value).split("up to ")[1].split(", or")[0].replace(",", ""))
        check_length(keep, last)
        assert keep.denominator**last < 10**MOST_DIGITS <= keep.denominator ** (last + 1)
        with pytest.raises(hm.InputError):
            check_length(keep, last + 1)
