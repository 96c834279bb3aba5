"""When the attended sets next change: solved in closed form, checked by looking at every layer."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.engines.events import first_nonnegative

coefficients = st.integers(-60, 60)


@settings(max_examples=1000)
@given(coefficients, coefficients, coefficients, st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(10, 11)]))
def test_the_first_sign_change_is_the_one_found_layer_by_layer(a0, a1, a2, keep):
    assume(a0 + a1 + a2 < 0)
    # Coefficients up to 60 are decided long before keep^m falls below 1/60^2.
    walked = (m for m in range(1, 150) if a0 + a1 * keep**m + a2 * keep ** (2 * m) >= 0)
    assert first_nonnegative(a0, a1, a2, keep) == next(walked, None)


def test_a_tie_that_is_overtaken_late_is_found_without_walking_there():
    # The face x = 1 attracts (1/2, 0); token 4 starts inside, and the vertex it follows lies beyond that face.
    cloud = [["1", "1"], ["1", "-1"], ["1/2", "0"], ["-3", "0"]]
    run = hm.simulate(cloud, hm.Dynamics("1/100"), layers=5000)
    assert run.settled_at is not None
    assert len(run.decided_at) < 20


@pytest.mark.parametrize("side", [3, 5, 9])
def test_a_grid_whose_tied_tokens_move_in_balance_settles_at_once(side):
    run = hm.simulate(hm.clouds.grid(side), hm.Dynamics("1/2"), layers=50)
    assert run.settled_at == 0
    assert len(run.leaders) == 4
