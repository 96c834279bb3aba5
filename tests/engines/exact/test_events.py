"""When the attended sets next change: solved in closed form, checked by looking at every layer."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._exact.events import Curve, layers_negative
from hardmax._exact.positions import ExactPhase

coefficients = st.integers(-60, 60)
keeps = st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(10, 11), Fraction(1, 5), Fraction(1000, 1001)])

# Token 2 ties tokens 0 and 1 and follows their middle (1, 0, 0); along that, token 3 lies further out than they do.
# It catches up where 1.1 (1 - t/2) - 3 t/10 = 1 - t/2, that is at t = 2/7.
OVERTAKEN = [["1", "1", "0"], ["1", "-1", "0"], ["1/2", "0", "3/10"], ["11/10", "0", "-1"]]


@settings(max_examples=examples(1000))
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


def first_by_looking(a0: int, a1: int, a2: int, keep: Fraction, far: int) -> int:
    """The first layer at which the value is not negative, by exact values and halving."""
    low, high = 0, far
    while high - low > 1:
        middle = (low + high) // 2
        t = keep**middle
        low, high = (low, middle) if a0 + a1 * t + a2 * t * t >= 0 else (middle, high)
    return high


@settings(max_examples=examples(300))
@given(keeps, st.integers(1, 400), st.integers(1, 400), st.integers(0, 3), st.integers(-1, 1))
def test_a_layer_that_hits_nought_exactly_counts_and_one_that_misses_by_a_hair_does_not(keep, hit, other, scale, off):
    # The lead is (t - keep^hit)(t + keep^other) up to a negative factor: 0 at the layer `hit`, negative before.
    p, q = (keep**hit).as_integer_ratio()
    r, s = (keep**other).as_integer_ratio()
    factor = 10**scale
    a0, a1, a2 = factor * p * r + off, factor * (p * s - q * r), -factor * q * s
    assume(a0 + a1 + a2 < 0 < a0)
    known = layers_negative(a0, a1, a2, keep)
    assert known == first_by_looking(a0, a1, a2, keep, hit + other + 2)
    if off >= 0:
        assert known <= hit
    if off == 0:
        assert known == hit


@settings(max_examples=examples(200))
@given(keeps, st.integers(2, 120), st.integers(1, 120), st.integers(-1, 1))
def test_a_hump_is_met_at_its_first_layer_and_missed_if_it_lies_between_two(keep, near, width, off):
    # Roots at keep^near and keep^(near + width), between which the value is positive; `off` moves it up or down.
    (p, q), (r, s) = (keep**near).as_integer_ratio(), (keep ** (near + width)).as_integer_ratio()
    a0, a1, a2 = -p * r + off, p * s + q * r, -q * s
    assume(a0 + a1 + a2 < 0 < -a0)
    reached = [m for m in range(1, near + width + 2) if a0 + a1 * keep**m + a2 * keep ** (2 * m) >= 0]
    known = layers_negative(a0, a1, a2, keep)
    if reached:
        assert known == reached[0]
    else:
        assert known is None or a1 + 2 * a2 * keep**known >= 0


@pytest.mark.parametrize("exponent", [6, 30, 120, 300])
def test_events_astronomically_far_away_are_found(exponent):
    # 2 - 7 t turns positive at t = 2/7, so at the first layer m with m ln(1 + alpha) >= ln(7/2).
    digits = Context(prec=2 * exponent + 50)
    alpha = Decimal(10) ** -exponent
    exact = digits.divide(digits.ln(Decimal("3.5")), digits.ln(digits.add(1, alpha)))
    known = layers_negative(2, -7, 0, 1 / (1 + Fraction(alpha)))
    assert known == math.ceil(exact)


def test_a_sign_that_hangs_on_the_last_digits_of_a_long_power_is_taken_from_them():
    keep, hit = Fraction(1000, 1001), 3000
    p, q = (keep**hit).as_integer_ratio()
    for factor in (1, 10**40, 10**400):
        assert [layers_negative(factor * p + off, -factor * q, 0, keep) for off in (-1, 0, 1)] == [hit + 1, hit, hit]
        assert [Curve(factor * p + off, -factor * q, 0, keep).reached(hit) for off in (-1, 0)] == [False, True]


@pytest.mark.parametrize("alpha", ["1/100", "1/1000"])
def test_a_tie_that_is_overtaken_late_is_found_without_walking_there(alpha):
    dynamics = hm.Dynamics(alpha)
    run = hm.simulate(OVERTAKEN, dynamics, layers=5000, arithmetic="exact")
    overtaken = next(m for m in range(1, 5000) if dynamics.contraction**m <= Fraction(2, 7))
    assert run.decided_at == (0, overtaken)
    assert run.settled_at == overtaken
    assert run.attended(overtaken - 1)[2].tolist() == [0, 1]
    assert run.attended(overtaken)[2].tolist() == [3]


@pytest.mark.parametrize("alpha", ["1e-6", "1e-30", "1e-300"])
def test_a_walk_looks_no_further_than_it_was_asked_to(alpha, monkeypatch):
    def refuse(phase, layer):
        raise AssertionError(f"layer {layer} was computed, though no more than 10 are asked for")

    monkeypatch.setattr(ExactPhase, "integers_at", refuse)
    lim = hm.limit(OVERTAKEN, hm.Dynamics(alpha), arithmetic="exact", at_most=10)
    assert lim.settled_at is None
    assert lim.run.layers == 10
    assert (lim.run.phases[-1].until or 0) > 10**6


@pytest.mark.parametrize("side", [3, 5, 9])
def test_a_grid_whose_tied_tokens_move_in_balance_settles_at_once(side):
    run = hm.simulate(hm.clouds.grid(side), hm.Dynamics("1/2"), layers=50)
    assert run.settled_at == 0
    assert len(run.leaders) == 4


def test_a_lead_that_only_vanishes_in_the_limit_is_followed_by_its_slope():
    # t - 2 t^2 is negative at t = 1, and from t = 1/2 on, where it is 0, no more.
    assert layers_negative(0, 1, -2, Fraction(1, 2)) == 1
    assert layers_negative(0, 1, -9, Fraction(2, 3)) == 6
    assert layers_negative(0, -1, -9, Fraction(2, 3)) is None
