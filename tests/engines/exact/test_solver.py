"""When the attended sets next change: solved in closed form, checked by looking at every layer."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import oracle
import pytest
from agreement import assert_same_sets
from hypothesis import assume, given
from hypothesis import strategies as st
from known import rational

import hardmax as hm
from hardmax._exact.leads import Lead, Term

SHARES = [(1, 2), (2, 3), (10, 11), (1, 5), (1000, 1001)]
keeps = st.sampled_from([Fraction(*share) for share in SHARES])
coefficients = st.integers(-60, 60)
# Token 2 ties tokens 0 and 1 and follows their middle (1, 0, 0); along that, token 3 lies further
# out than they do. It catches up where 1.1 (1 - t/2) - 3 t/10 = 1 - t/2, that is at t = 2/7.
OVERTAKEN = rational("1 1 0, 1 -1 0, 1/2 0 3/10, 11/10 0 -1")


def layers_negative(a0, a1, a2, keep):
    lead = {Term(0): a0, Term(0, 1): a1, Term(0, 2): a2}
    return Lead(lead, keep).first_reached()


def value(a0, a1, a2, t):
    return a0 + a1 * t + a2 * t * t


far, offs = st.integers(1, 400), st.integers(-1, 1)


@given(keeps, far, far, st.integers(0, 3), offs)
def test_a_layer_that_hits_nought_exactly_counts_and_one_that_misses_by_a_hair_does_not(
    keep, hit, other, scale, off
):
    # The lead is (t - keep^hit)(t + keep^other) up to a negative factor: 0 at the layer `hit`,
    # negative before.
    p, q = (keep**hit).as_integer_ratio()
    r, s = (keep**other).as_integer_ratio()
    factor = 10**scale
    a0, a1, a2 = factor * p * r + off, factor * (p * s - q * r), -factor * q * s
    assume(a0 + a1 + a2 < 0 < a0)
    known = layers_negative(a0, a1, a2, keep)
    assert known is not None
    assert value(a0, a1, a2, keep**known) >= 0
    assert value(a0, a1, a2, keep ** (known - 1)) < 0
    assert known == hit or off


@given(keeps, st.integers(1, 120), st.integers(0, 120), offs)
def test_a_hump_is_met_at_its_first_layer_and_missed_if_it_lies_between_two(keep, near, width, off):
    # Roots at keep^near and keep^(near + width), between which the value is positive; `off` moves
    # it up or down.
    p, q = (keep**near).as_integer_ratio()
    r, s = (keep ** (near + width)).as_integer_ratio()
    a0, a1, a2 = -p * r + off, p * s + q * r, -q * s
    assume(a0 + a1 + a2 < 0 < -a0)
    layers = range(1, near + width + 2)
    reached = [m for m in layers if value(a0, a1, a2, keep**m) >= 0]
    expected = reached[0] if reached else None
    assert layers_negative(a0, a1, a2, keep) == expected


@pytest.mark.parametrize("exponent", [6, 30, 120, 300])
def test_events_astronomically_far_away_are_found(exponent):
    # 2 - 7 t turns positive at t = 2/7, so at the first layer m with m ln(1 + alpha) >= ln(7/2).
    digits, alpha = Context(prec=2 * exponent + 50), Decimal(10) ** -exponent
    step = digits.ln(digits.add(1, alpha))
    exact = digits.divide(digits.ln(Decimal("3.5")), step)
    keep = 1 / (1 + Fraction(alpha))
    assert layers_negative(2, -7, 0, keep) == math.ceil(exact)


def test_a_lead_that_only_vanishes_in_the_limit_is_followed_by_its_slope():
    # t - 2 t^2 is negative at t = 1, and from t = 1/2 on, where it is 0, no more.
    third = Fraction(2, 3)
    assert layers_negative(0, 1, -2, Fraction(1, 2)) == 1
    assert layers_negative(0, 1, -9, third) == 6
    assert layers_negative(0, -1, -9, third) is None


@pytest.mark.parametrize("alpha", ["1/100", "1/1000"])
def test_a_tie_that_is_overtaken_late_is_found_without_going_there(alpha):
    dynamics = hm.Dynamics(alpha)
    run = hm.simulate(OVERTAKEN, dynamics, layers=5000, arithmetic="exact")
    level = Fraction(2, 7)
    overtaken = next(m for m in range(1, 5000) if dynamics.contraction**m <= level)
    assert run.decided_at == (0, overtaken)
    assert run.settled_at == overtaken
    assert run.attended(overtaken - 1)[2].tolist() == [0, 1]
    assert run.attended(overtaken)[2].tolist() == [3]


# The last token is tied; t runs from 1 down to 0 as it goes to its target. Tokens, alpha, when the
# sets settle, and when they are computed.
CORNERS = {}
# Zero attends to all points and sits in their mean, until 1 has moved.
CORNERS["a target that moves"] = rational("-3, 1, 2, 0"), 1, 2, (0, 1, 2)
# (15, 0, -60) is far behind along (1, 0, 1), and in front along the target (10, 0, 0).
CLOUD = rational("10 10 0, 10 -10 0, 15 0 -60, 1 0 1")
CORNERS["a token in front at the end"] = CLOUD, 1, 2, (0, 2)
# It is level at t = 5/6 and at no other time: that is layer 1.
CLOUD = rational("10 10 0 0, 10 -10 0 0, 0 0 0 50, 15 0 -9 10, 1 0 1 0")
CORNERS["a token level in a layer"] = CLOUD, "1/5", 3, (0, 1, 2, 3)
# They cancel only if nobody is counted twice: zero loses its balance after one layer, and follows
# 6.
CLOUD = rational("6, -5, -5, 3, 3, -2, 0")
CORNERS["ways that cancel unless they are counted"] = CLOUD, 1, 2, (0, 1, 2)
# Tied tokens on the edges of a grid move in balance.
GRID = [[Fraction(x), Fraction(y)] for x in range(-2, 3) for y in range(-2, 3)]
CORNERS["a grid"] = GRID, "1/2", 0, (0,)


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize("name", CORNERS)
def test_sets_are_computed_where_they_may_change_and_not_before(name, arithmetic):
    tokens, alpha, settled_at, decided_at = CORNERS[name]
    dynamics = hm.Dynamics(alpha)
    run = hm.simulate(tokens, dynamics, layers=12, arithmetic=arithmetic)
    assert run.settled_at == settled_at
    if arithmetic == "exact":
        assert run.decided_at == decided_at
    assert_same_sets(run, oracle.walk(tokens, dynamics.alpha, None, 12))
    lim = hm.limit(tokens, dynamics, arithmetic=arithmetic, max_layers=12)
    assert hm.verify(lim.prove())
