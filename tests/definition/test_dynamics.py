"""The parameters of a layer: how they are read, what is refused, and which matrices are metrics."""

import json
from fractions import Fraction

import numpy as np
import pytest
from any_layers import masks, values
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from refusals import listed_refusals, refuses
from strategies import alphas, any_metrics

import hardmax as hm
from hardmax._layer.metric import is_positive_definite
from hardmax._layer.rules import check_definite
from hardmax.theorem import theorem_reason

TINY = [Fraction(0)]
for exponent in (20, 52, 80, 400):
    TINY += [Fraction(2) ** -exponent, -(Fraction(2) ** -exponent)]
TENTHS = [0.1, "0.1", "1/10", Fraction(1, 10), np.float64(0.1), np.float32(0.1)]


@pytest.mark.parametrize("alpha", TENTHS)
def test_alpha_is_the_decimal_it_is_written_as(alpha):
    assert hm.Dynamics(alpha).alpha == Fraction(1, 10)
    assert hm.Dynamics(alpha).contraction == Fraction(10, 11)


numbers = st.fractions("1/9", 99, max_denominator=99)
softmax = st.builds(hm.Softmax, numbers)
attentions = numbers.map(hm.Localmax) | st.integers(1, 9).map(hm.TopK) | softmax


@st.composite
def any_dynamics(draw):
    """Every part of a layer, the paper's or another."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    parts = {"value": draw(st.none() | values(d))}
    parts["mask"] = draw(st.none() | st.just("causal") | masks(n))
    metrics = st.none() | any_metrics(d)
    if draw(st.booleans()):
        heads = st.builds(hm.Head, metrics, numbers)
        parts["heads"] = draw(st.lists(heads, min_size=1, max_size=3))
        alpha = draw(alphas)
    else:
        parts["metric"] = draw(metrics)
        parts["attention"] = draw(st.none() | attentions)
        alpha = draw(alphas | st.lists(alphas, min_size=1, max_size=3))
    try:
        return hm.Dynamics(alpha, **parts)
    except hm.InputError as error:
        assume("no inverse" not in str(error))
        raise


@settings(max_examples=examples(2000))
@given(any_dynamics())
def test_plain_data_of_dynamics_are_these_dynamics(dynamics):
    """Also as JSON."""
    again = hm.Dynamics(**json.loads(json.dumps(dynamics.to_dict())))
    assert again == dynamics
    assert repr(again) == repr(dynamics)


SKEW = r"not symmetric: \|A - A.T\| reaches 2. Pass \(A \+ A.T\)/2 if that is rounding"
NO_METRICS = [
    ([[1, 2], [0, 1]], SKEW),
    ([[1, 2], [2, 1]], "not positive definite: its smallest eigenvalue is -1"),
    ([[0, 0], [0, 1]], "not positive definite: its smallest eigenvalue is 0"),
]


@pytest.mark.parametrize(("metric", "reason"), NO_METRICS)
def test_what_is_not_a_metric_is_accepted_with_a_warning_of_limit(metric, reason):
    dynamics = hm.Dynamics(1, metric)
    assert not dynamics.is_definite
    with pytest.warns(UserWarning, match=reason):
        lim = hm.limit([[1, 2], [3, 1]], dynamics, max_layers=3)
    assert theorem_reason(lim)
    with refuses(f"`metric` must be symmetric positive definite: it is {reason}"):
        check_definite(dynamics)


def with_pivots(pivots: list[Fraction], lower: np.ndarray) -> np.ndarray:
    """L D L^T, L with ones on its diagonal: positive definite if and only if the pivots D are
    positive."""
    ones = np.eye(len(lower), dtype=int)
    factor = (np.tril(lower, -1) + ones).astype(object)
    diagonal = np.diag(np.array(pivots, dtype=object))
    return factor @ diagonal @ factor.T + Fraction(0)


@st.composite
def pivots_and_factors(draw):
    n = draw(st.integers(1, 6))
    pivot = st.sampled_from([*TINY, Fraction(1), Fraction(3)])
    pivots = draw(st.lists(pivot, min_size=n, max_size=n))
    entries = draw(st.lists(st.integers(-3, 3), min_size=n * n, max_size=n * n))
    exponents = draw(st.lists(st.integers(-300, 300), min_size=n, max_size=n))
    return pivots, np.array(entries).reshape(n, n), exponents


@settings(max_examples=examples(2000))
@given(pivots_and_factors())
def test_a_matrix_is_positive_definite_if_its_pivots_are_positive(drawn):
    pivots, lower, exponents = drawn
    units = np.array([Fraction(2) ** k for k in exponents], dtype=object)
    exact = with_pivots(pivots, lower) * units * units[:, None]
    assert is_positive_definite(exact) == all(pivot > 0 for pivot in pivots)
    if (exact.astype(float) == exact).all():
        assert is_positive_definite(exact.astype(float)) == is_positive_definite(exact)


@pytest.mark.parametrize("tiny", TINY)
def test_the_last_pivot_decides_however_small_it_is(tiny):
    lower = np.random.default_rng(0).integers(-2, 3, (24, 24))
    matrix = with_pivots([Fraction(1)] * 23 + [tiny], lower)
    assert is_positive_definite(matrix) == (tiny > 0)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
