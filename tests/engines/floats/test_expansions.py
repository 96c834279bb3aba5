"""Sums of products without error, and ties among tokens decided by them: the same as in
fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float.kernels import add_product, leading_part

powers = st.integers(-120, 60).map(lambda e: 2.0**e)
numbers = st.builds(float.__mul__, st.integers(-(2**53), 2**53).map(float), powers)


def exact_dot(a, b) -> Fraction:
    products = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
    return sum(products, Fraction(0))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_a_sum_of_products_loses_nothing_and_its_leading_part_has_its_sign(pairs):
    parts, count = np.zeros(2 * len(pairs)), 0
    for a, b in pairs:
        count = add_product(a, b, parts, count)
    total = exact_dot(*zip(*pairs, strict=True))
    leading = Fraction(float(leading_part(parts, count)))
    assert sum(map(Fraction, parts.tolist())) == total
    assert (leading > 0, leading < 0) == (total > 0, total < 0)
    assert abs(leading - total) <= abs(total) / 2**50


def assert_attended_as_defined(tokens, dynamics: hm.Dynamics) -> None:
    (wished,) = (sets.tolist() for sets in hm.attended([tokens], dynamics))
    run = hm.simulate(tokens, dynamics, layers=0)
    assert run.attended(0).tolist() == wished
    twice: Any = [tokens] * 2
    for run in hm.simulate(twice, dynamics, layers=0):
        assert run.attended(0).tolist() == wished


@pytest.mark.parametrize("exponent", [-970, -980, -1040, -1074])
def test_a_metric_that_makes_products_vanish_makes_no_ties(exponent):
    u, tiny = 2.0**-52, 2.0**exponent
    tokens = np.array([[1 + 2 * u, 1 + 4 * u, 0], [1 + 4 * u, 1 + 2 * u, 0]])
    metric = np.diag([tiny, tiny, 1.0])
    assert_attended_as_defined(tokens, hm.Dynamics(1, metric))


def test_a_direction_that_is_rounded_to_2_53_makes_no_ties():
    # The first token looks along -(2^53 + 1, 2^53), which floats round to -(2^53, 2^53).
    tokens = np.array([[2.0**53, 1], [-5, -4], [-4, -5]])
    dynamics = hm.Dynamics(1, metric=[[-1, -1], [-1, 0]])
    assert_attended_as_defined(tokens, dynamics)
