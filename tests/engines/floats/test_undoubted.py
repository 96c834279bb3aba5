"""Ties among tokens decided by sums of floats: the same as in fractions."""

from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm
from hardmax._attended import Choices
from hardmax._float.argmax import exact_argmax, exact_products, squares_fit
from hardmax._float.bounds import float_metric


def truth(look: np.ndarray, tokens: np.ndarray) -> tuple[list[int], Fraction | None]:
    scores = [sum(Fraction(a) * Fraction(b) for a, b in zip(look.tolist(), z, strict=True)) for z in tokens.tolist()]
    lower = [score for score in scores if score != max(scores)]
    lead = Fraction(max(scores) - max(lower)) if lower else None
    return [j for j, score in enumerate(scores) if score == max(scores)], lead


@pytest.mark.parametrize("d", [1, 2, 3, 8, 64])
@pytest.mark.parametrize("spread", [0, 30, 200])
def test_the_furthest_contenders_are_the_true_ones(d, spread):
    rng = np.random.default_rng(d + spread)
    for _ in range(60):
        size = 2.0 ** rng.integers(-spread, spread + 1, (12, d))
        tokens = rng.integers(-3, 4, (12, d)) * size
        tokens = np.concatenate([tokens, tokens[:3, ::-1], tokens[:2] * (1 + 2.0**-52)])
        look = rng.integers(-3, 4, d) * 2.0 ** rng.integers(-spread, spread + 1, d)
        everybody = Choices.of_sets([list(range(len(tokens)))])
        found, lead = exact_argmax(look[None].astype(float), tokens, everybody)
        wished, gap = truth(look, tokens)
        assert found[0].tolist() == wished
        assert lead == pytest.approx(float("inf") if gap is None else float(gap), rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 2.0**-300, 2.0**300])
def test_differences_that_rounding_takes_away_are_seen(size):
    # <y, a - b> is 2^-60, which is lost where a - b is rounded; and so is the lead of c over b, 2^-61.
    look = np.array([1.0, 1.0])
    tokens = np.array([[1.0, 0.0], [-(2.0**-60), 1.0], [-(2.0**-61), 1.0]]) * size
    _check_all_orders(look, tokens)
    # Where what is left has the wrong sign: 1 + 2^-60 - 1 - 2^-61 is taken for -2^-61.
    tokens = np.array([[1.0, 0.0, 0.0], [-(2.0**-60), 1.0, 2.0**-61], [0.0, 0.0, 0.0]]) * size
    _check_all_orders(np.ones(3), tokens)


def _check_all_orders(look: np.ndarray, tokens: np.ndarray) -> None:
    wished, gap = truth(look, tokens)
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        found, lead = exact_argmax(look[None], tokens[order], Choices.of_sets([[0, 1, 2]]))
        assert [order[j] for j in found[0]] == wished == [0]
        assert lead == float(gap or 0)


def test_products_with_a_metric_are_given_only_where_nothing_is_rounded():
    whole = np.array([[3.0, -5.0], [2.0**20, 7.0]])
    metric = float_metric(hm.Dynamics(1, [[2, 1], [1, 3]]))
    products = exact_products(whole, metric)
    assert products is not None
    wished = whole @ (np.array([[2, 1], [1, 3]]) * float(metric.scale))
    assert products.tolist() == wished.tolist()
    assert exact_products(whole + 2.0**-40, metric) is None
    assert exact_products(whole, float_metric(hm.Dynamics(1, [["0.1", 0], [0, 1]]))) is None
    assert exact_products(whole / 3, float_metric(hm.Dynamics(1))) is not None


def assert_attended_as_defined(tokens, dynamics: hm.Dynamics) -> None:
    (wished,) = (sets.tolist() for sets in hm.attended([tokens], dynamics))
    assert hm.simulate(tokens, dynamics, layers=0).attended(0).tolist() == wished
    batch = hm.simulate([tokens, tokens], dynamics, layers=0)
    assert [run.attended(0).tolist() for run in batch] == [wished, wished]


@pytest.mark.parametrize("exponent", [-970, -980, -1040, -1074])
def test_a_metric_that_makes_products_vanish_makes_no_ties(exponent):
    u, tiny = 2.0**-52, 2.0**exponent
    tokens = np.array([[1 + 2 * u, 1 + 4 * u, 0], [1 + 4 * u, 1 + 2 * u, 0]])
    assert_attended_as_defined(tokens, hm.Dynamics(1, metric=[[tiny, 0, 0], [0, tiny, 0], [0, 0, 1]]))


def test_a_direction_that_is_rounded_to_2_53_makes_no_ties():
    # The first token looks along -(2^53 + 1, 2^53), which floats round to -(2^53, 2^53).
    tokens = np.array([[2.0**53, 1], [-5, -4], [-4, -5]])
    assert_attended_as_defined(tokens, hm.Dynamics(1, metric=[[-1, -1], [-1, 0]]))


def test_numbers_whose_products_vanish_are_not_trusted():
    assert squares_fit(np.array([[1.0, 0.0], [2.0**-400, 1.0]]))
    assert not squares_fit(np.array([[1.0, 0.0], [2.0**-500, 1.0]]))
    assert not squares_fit(np.array([[1.0, 0.0], [2.0**500, 1.0]]))
