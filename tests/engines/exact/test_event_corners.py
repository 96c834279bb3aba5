"""Corners of the closed form: ties that part, targets that only seem to stand still, sets that change for one layer."""

from fractions import Fraction

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._exact.events import layers_negative

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


# The last token is tied; t runs from 1 down to 0 as it goes to its target. When the sets settle, and when they change.
CORNERS = {
    # Zero attends to everybody and sits in their mean, until 1 has moved.
    "a target that moves": ([[-3], [1], [2], [0]], 3, 2, (0, 1, 2)),
    # Voters on their way to (4, 8, 0) and (4, -8, 0) keep the mean where it is, but not the tie.
    "tied tokens that part": ([[4, 8, 0], [4, -8, 0], [5, 6, -1], [3, -6, 1], [1, 0, 1]], 1, 2, (0, 1, 2)),
    # (15, 0, -60) is far behind along (1, 0, 1), and in front along the target (10, 0, 0).
    "a token in front at the end": ([[10, 10, 0], [10, -10, 0], [15, 0, -60], [1, 0, 1]], 1, 2, (0, 2)),
    # Token 3 comes closer for a while, but never level.
    "a token that stays behind": (
        [[10, 10, 0, 0], [10, -10, 0, 0], [9, 0, 0, 600], [15, 0, -70, 10], [1, 0, 1, 0]],
        *(1, 0, (0,)),
    ),
    # It is level at t = 5/6 and at no other time: that is layer 1 if alpha is 1/5, and no layer if it is 1.
    "a token level in a layer": (
        [[10, 10, 0, 0], [10, -10, 0, 0], [0, 0, 0, 50], [15, 0, -9, 10], [1, 0, 1, 0]],
        *("1/5", 3, (0, 1, 2, 3)),
    ),
    "a token level between layers": (
        [[10, 10, 0, 0], [10, -10, 0, 0], [0, 0, 0, 50], [15, 0, -9, 10], [1, 0, 1, 0]],
        *(1, 1, (0, 1)),
    ),
    # Zero attends to everybody; the ways to 6 and to -6, counted with multiplicity, keep the mean where it is.
    "ways that cancel if they are counted": ([[6], [6], [-6], [2], [-4], [-4], [0]], 1, 0, (0,)),
    # They cancel only if nobody is counted twice: zero loses its balance after one layer, and follows 6.
    "ways that cancel unless they are counted": ([[6], [-5], [-5], [3], [3], [-2], [0]], 1, 2, (0, 1, 2)),
}


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize(("tokens", "alpha", "settled_at", "decided_at"), CORNERS.values(), ids=CORNERS)
def test_sets_are_looked_at_again_where_they_may_change_and_not_before(
    tokens, alpha, settled_at, decided_at, arithmetic
):
    dynamics = hm.Dynamics(alpha)
    run = hm.simulate(tokens, dynamics, layers=12, arithmetic=arithmetic)
    assert run.settled_at == settled_at
    assert run.decided_at == decided_at
    for layer, (_, sets) in enumerate(oracle.walk(rational(tokens), dynamics.alpha, None, 12)):
        assert [set(several.tolist()) for several in run.attended(layer)] == sets
    assert hm.verify(hm.limit(tokens, dynamics, arithmetic=arithmetic, max_layers=12).certificate)


def rational(tokens: list[list[int]]) -> oracle.Cloud:
    return [[Fraction(x) for x in token] for token in tokens]
