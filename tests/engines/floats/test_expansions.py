"""Sums of products without error, and ties among tokens decided by them: the same as in
fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float.argmax import exact_argmax
from hardmax._float.kernels import add_product, leading_part
from hardmax._layer.attended import AttendedIndices

numbers = st.builds(lambda m, e: m * 2.0**e, st.integers(-(2**53), 2**53), st.integers(-120, 60))


def exact_dot(a, b) -> Fraction:
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_a_sum_of_products_loses_nothing_and_its_leading_part_has_its_sign(pairs):
    parts, count = np.zeros(2 * len(pairs)), 0
    for a, b in pairs:
        count = add_product(a, b, parts, count)
    total = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    leading = Fraction(float(leading_part(parts, count)))
    assert sum(map(Fraction, parts.tolist())) == total
    assert (leading > 0, leading < 0) == (total > 0, total < 0)
    assert abs(leading - total) <= abs(total) / 2**50


def truth(look: np.ndarray, tokens: np.ndarray, candidates) -> tuple[list[int], Fraction | None]:
    scores = {j: exact_dot(look.tolist(), tokens[j].tolist()) for j in candidates}
    best = max(scores.values())
    below = [best - score for score in scores.values() if score < best]
    return [j for j in candidates if scores[j] == best], min(below, default=None)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 8]), st.sampled_from([0, 30, 200]))
def test_all_candidates_that_tie_are_furthest_and_the_lead_is_that_over_the_next(seed, d, spread):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-3, 4, (12, d)) * 2.0 ** rng.integers(-spread, spread + 1, (12, d))
    tokens = np.concatenate([tokens, tokens[:3, ::-1], tokens[:2] * (1 + 2.0**-52)])
    directions = (
        rng.integers(-3, 4, (5, d))
        * 2.0 ** rng.integers(-spread, spread + 1, (5, d))
        / rng.choice([1, 3])
    )
    several = [np.sort(rng.permutation(17)[: rng.integers(1, 17)]).tolist() for _ in range(5)]
    found, lead = exact_argmax(directions, tokens, AttendedIndices.of_sets(several))
    wished = [truth(y, tokens, some) for y, some in zip(directions, several, strict=True)]
    assert [some.tolist() for some in found] == [some for some, _ in wished]
    leads = [float(gap) for _, gap in wished if gap is not None]
    assert lead == pytest.approx(min(leads, default=np.inf), rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 2.0**-300, 2.0**300])
@pytest.mark.parametrize(
    "tokens",
    [
        # <y, a - b> is 2^-60, which is lost where a - b is rounded; and so is the lead of c over b,
        # 2^-61.
        [[1.0, 0.0], [-(2.0**-60), 1.0], [-(2.0**-61), 1.0]],
        # What is left has the wrong sign: 1 + 2^-60 - 1 - 2^-61 is taken for -2^-61.
        [[1.0, 0.0, 0.0], [-(2.0**-60), 1.0, 2.0**-61], [0.0, 0.0, 0.0]],
    ],
)
def test_differences_that_rounding_takes_away_are_seen(tokens, size):
    tokens = np.array(tokens) * size
    look = np.ones(tokens.shape[1])
    wished, gap = truth(look, tokens, range(3))
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        found, lead = exact_argmax(look[None], tokens[order], AttendedIndices.of_sets([[0, 1, 2]]))
        assert [order[j] for j in found[0]] == wished == [0]
        assert lead == float(gap or 0)


def assert_attended_as_defined(tokens, dynamics: hm.Dynamics) -> None:
    (wished,) = (sets.tolist() for sets in hm.attended([tokens], dynamics))
    assert hm.simulate(tokens, dynamics, layers=0).attended(0).tolist() == wished
    twice: Any = [tokens] * 2
    assert [run.attended(0).tolist() for run in hm.simulate(twice, dynamics, layers=0)] == [
        wished
    ] * 2


@pytest.mark.parametrize("exponent", [-970, -980, -1040, -1074])
def test_a_metric_that_makes_products_vanish_makes_no_ties(exponent):
    u, tiny = 2.0**-52, 2.0**exponent
    tokens = np.array([[1 + 2 * u, 1 + 4 * u, 0], [1 + 4 * u, 1 + 2 * u, 0]])
    assert_attended_as_defined(
        tokens, hm.Dynamics(1, metric=[[tiny, 0, 0], [0, tiny, 0], [0, 0, 1]])
    )


def test_a_direction_that_is_rounded_to_2_53_makes_no_ties():
    # The first token looks along -(2^53 + 1, 2^53), which floats round to -(2^53, 2^53).
    tokens = np.array([[2.0**53, 1], [-5, -4], [-4, -5]])
    assert_attended_as_defined(tokens, hm.Dynamics(1, metric=[[-1, -1], [-1, 0]]))
