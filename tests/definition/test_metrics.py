"""Whether a matrix is positive definite is decided exactly, once, and by floats where they suffice."""

from fractions import Fraction

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import _metric as metrics
from hardmax._metric import is_positive_definite

TINY = [Fraction(0)] + [sign * Fraction(2) ** -k for k in (20, 52, 80, 400) for sign in (1, -1)]


@pytest.fixture(params=[True, False], ids=["flint", "plain"], autouse=True)
def with_and_without_flint(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(metrics, "_flint", lambda: None)


def with_pivots(pivots: list[Fraction], lower: np.ndarray) -> np.ndarray:
    """L D L^T, L with ones on its diagonal: positive definite if and only if the pivots D are positive."""
    factor = np.tril(lower, -1).astype(object) + np.eye(len(lower), dtype=int).astype(object)
    return factor @ np.diag(np.array(pivots, dtype=object)) @ factor.T + Fraction(0)


@st.composite
def pivots_and_factors(draw):
    n = draw(st.integers(1, 6))
    pivots = draw(st.lists(st.sampled_from([*TINY, Fraction(1), Fraction(3)]), min_size=n, max_size=n))
    entries = draw(st.lists(st.integers(-3, 3), min_size=n * n, max_size=n * n))
    exponents = draw(st.lists(st.integers(-300, 300), min_size=n, max_size=n))
    return pivots, np.array(entries).reshape(n, n), exponents


@settings(max_examples=examples(300))
@given(pivots_and_factors())
def test_a_matrix_is_positive_definite_if_its_pivots_are_positive(drawn):
    pivots, lower, exponents = drawn
    units = np.array([Fraction(2) ** k for k in exponents], dtype=object)
    exact = with_pivots(pivots, lower) * units * units[:, None]
    assert is_positive_definite(exact) == all(pivot > 0 for pivot in pivots)


@pytest.mark.parametrize("tiny", TINY)
def test_the_last_pivot_decides_however_small_it_is(tiny):
    lower = np.random.default_rng(0).integers(-2, 3, (24, 24))
    assert is_positive_definite(with_pivots([Fraction(1)] * 23 + [tiny], lower)) == (tiny > 0)


@settings(max_examples=examples(200))
@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.integers(-4, 4), min_size=n * n, max_size=n * n)))
def test_floats_and_fractions_of_the_same_numbers_are_alike(entries):
    n = round(len(entries) ** 0.5)
    table = np.array(entries).reshape(n, n)
    table = (table + table.T) / 4
    minors = [np.linalg.det(table[:k, :k]) for k in range(1, n + 1)]
    expected = all(round(4**k * minor) > 0 for k, minor in enumerate(minors, 1))
    assert is_positive_definite(table) == expected
    assert is_positive_definite(np.vectorize(Fraction, otypes=[object])(table)) == expected


def test_a_metric_is_decided_once(monkeypatch):
    decided = []
    decide = metrics.positive_definite
    monkeypatch.setattr(metrics, "positive_definite", lambda table: decided.append(1) or decide(table))
    dynamics = hm.Dynamics("1/2", [[2, 1], [1, 1]])
    for _ in range(2):
        hm.simulate([[1, 2], [3, -1]], dynamics, layers=2)
        assert hm.limit([[1, 2], [3, -1]], dynamics).theorem_applies
    assert len(decided) == 1


def test_the_same_metric_in_floats_and_in_texts_makes_the_same_dynamics():
    table = np.array([[0.5, -0.0], [0.0, 2.0]])
    floats, texts = hm.Dynamics(1, table), hm.Dynamics(1, [["1/2", "0"], ["0", "2"]])
    table[0, 0] = 9.0
    assert floats == texts
    assert hash(floats) == hash(texts)
    assert floats != hm.Dynamics(1)
    assert floats != hm.Dynamics(1, [[0.5, 0], [0, "2.1"]])


@pytest.mark.parametrize("size", [1, 2, 5, 24])
@pytest.mark.parametrize("tiny", [Fraction(2) ** -k for k in (0, 20, 40, 52, 60, 80)])
@pytest.mark.parametrize("sign", [1, -1])
def test_floats_and_a_few_products_of_integers_decide_without_elimination(size, tiny, sign, monkeypatch):
    def refuse(rows):
        raise AssertionError("the pivots were asked for")

    monkeypatch.setattr(metrics, "_pivots_are_positive", refuse)
    lower = np.random.default_rng(size).integers(-1, 2, (size, size))
    table = with_pivots([Fraction(1)] * (size - 1) + [sign * tiny], lower)
    assert is_positive_definite(table) == (sign > 0)


def test_what_a_factor_proves_is_positive_definite_and_what_a_vector_refutes_is_not():
    rng = np.random.default_rng(0)
    for n in (1, 3, 8):
        for _ in range(60):
            root = rng.standard_normal((n, n))
            table = root @ root.T + np.diag(rng.choice([1e-17, 1e-3, -1e-17, -1e-3], n))
            table = (table + table.T) / 2
            exact = metrics._pivots_are_positive(metrics._whole(table).tolist())
            assert exact or not metrics._is_proved(table)
            assert not exact or metrics._is_proved(table + np.eye(n) * 1e-3)
            refuted = metrics._is_refuted(metrics._whole(table), table, np.zeros(n, dtype=int))
            assert refuted == (not exact)
