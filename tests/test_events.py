"""When the attended sets next change: solved in closed form, checked by looking at every layer."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.engines.events import layers_negative

coefficients = st.integers(-60, 60)


@settings(max_examples=1000)
@given(coefficients, coefficients, coefficients, st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(10, 11)]))
def test_a_sign_is_known_for_as_long_as_it_is_said_to_be(a0, a1, a2, keep):
    def value(t):
        return a0 + a1 * t + a2 * t * t

    assume(value(1) < 0)
    known = layers_negative(a0, a1, a2, keep)
    # Coefficients up to 60 are decided long before keep^m falls below 1/60^2.
    changes = next((m for m in range(1, 150) if value(keep**m) >= 0), None)
    if known is None:
        assert changes is None
    elif changes is None:
        # No layer hits the hump, and from `known` on there is none: asked again there, the answer is "for ever".
        t = keep**known
        b0, b1, b2 = scaled(a0, a1 * t, a2 * t * t)
        assert layers_negative(b0, b1, b2, keep) is None
    else:
        assert known == changes


def scaled(*coefficients: Fraction | int) -> list[int]:
    common = math.lcm(*(Fraction(value).denominator for value in coefficients))
    return [int(value * common) for value in coefficients]


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
