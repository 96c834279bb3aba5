"""Attended sets that change for a single layer: a token comes level with a tie, and falls behind again."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax.engines.events import layers_negative

keeps = st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(5, 6), Fraction(10, 11)])


@given(keeps, st.integers(1, 30), st.integers(1, 50))
def test_a_curve_that_touches_nought_in_one_layer_is_known_to_be_negative_up_to_there(keep, layer, size):
    # -(t - keep^layer)^2, times a positive number: negative but for t = keep^layer.
    p, q = (keep**layer).as_integer_ratio()
    assert layers_negative(-size * p * p, 2 * size * p * q, -size * q * q, keep) == layer


@given(keeps, st.integers(1, 30), st.integers(1, 50))
def test_a_curve_that_stays_below_nought_by_a_hair_is_negative_for_ever(keep, layer, size):
    p, q = (keep**layer).as_integer_ratio()
    assert layers_negative(-size * p * p - 1, 2 * size * p * q, -size * q * q, keep) is None


# Token 4 ties tokens 0 and 1; token 3 is level with them at t = 5/6 and at no other time. That is layer 1 if alpha is
# 1/5, and no layer if it is 1.
TOUCHED = [[10, 10, 0, 0], [10, -10, 0, 0], [0, 0, 0, 50], [15, 0, -9, 10], [1, 0, 1, 0]]


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_a_token_that_comes_level_for_one_layer_joins_the_tie_in_it(arithmetic):
    lim = hm.limit(TOUCHED, hm.Dynamics("1/5"), arithmetic=arithmetic)
    run = hm.simulate(TOUCHED, hm.Dynamics("1/5"), layers=1, arithmetic=arithmetic)
    assert [run.attended(layer)[4].tolist() for layer in (0, 1)] == [[0, 1], [0, 1, 3]]
    assert lim.settled_at == 3
    assert hm.verify(lim.certificate)


def test_a_token_that_comes_level_between_two_layers_joins_nothing():
    run = hm.simulate(TOUCHED, hm.Dynamics(1), layers=5)
    assert {tuple(run.attended(layer)[4].tolist()) for layer in range(6)} == {(0, 1)}
