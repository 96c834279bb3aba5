"""Sums of products that lose nothing: the sign and the size are those of fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._attended import Choices
from hardmax._float.argmax import exact_argmax, exact_products, squares_fit
from hardmax._float.bounds import FloatMetric
from hardmax._float.kernels import add_product, find_leads, leading_part

# Numbers with all their digits, and of sizes that differ by much, so that products overlap and cancel.
numbers = st.builds(lambda m, e: float(m) * 2.0**e, st.integers(-(2**53), 2**53), st.integers(-90, 10))


def lead_of(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """By how much a is further along y than b."""
    found, lead = exact_argmax(y[None], np.stack([b, a]), Choices.of_sets([[0, 1]]))
    return {(0, 1): 0.0, (1,): lead, (0,): -lead}[tuple(found[0].tolist())]


def exact_dot(a, b) -> Fraction:
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=7), st.booleans())
def test_a_sum_of_products_has_lost_nothing(pairs, cancels):
    if cancels:
        pairs = [*pairs, (-pairs[0][0], pairs[0][1]), (pairs[-1][1], -pairs[-1][0])]
    parts, count = np.zeros(2 * len(pairs)), 0
    for a, b in pairs:
        count = add_product(a, b, parts, count)
    assert count == 2 * len(pairs)
    total = exact_dot(*zip(*pairs, strict=True))
    assert sum(map(Fraction, parts.tolist())) == total
    leading = Fraction(leading_part(parts, count))
    assert (leading > 0) == (total > 0)
    assert (leading < 0) == (total < 0)
    assert abs(leading - total) <= abs(total) / 2**50
    assert leading_part(parts, 0) == 0


@given(st.data(), st.integers(1, 5))
def test_a_lead_has_the_true_sign_and_nearly_the_true_size(data, d):
    y, a, b = (np.array(data.draw(st.lists(numbers, min_size=d, max_size=d))) for _ in range(3))
    if data.draw(st.booleans()):
        b = np.nextafter(a, b)  # neighbours
    lead, true = Fraction(float(lead_of(y, a, b))), exact_dot(y, a) - exact_dot(y, b)
    assert (lead > 0) == (true > 0)
    assert (lead < 0) == (true < 0)
    assert abs(lead - true) <= abs(true) / 2


def test_a_lead_that_rounding_would_turn_round_is_taken_from_all_digits():
    rng = np.random.default_rng(0)
    for d in (2, 3, 8):
        for _ in range(300):
            y = rng.integers(-9, 10, d) + rng.standard_normal(d) * 2.0**-50
            a = rng.integers(-9, 10, d).astype(float)
            b = a + rng.standard_normal(d) * 2.0**-48
            lead, true = lead_of(y, a, b), exact_dot(y.tolist(), a.tolist()) - exact_dot(y, b)
            assert np.sign(lead) == (true > 0) - (true < 0)


def brute_furthest(y, points, candidates) -> tuple[list[int], Fraction | None]:
    scores = {j: exact_dot(y.tolist(), points[j].tolist()) for j in candidates}
    best = max(scores.values())
    below = [best - score for score in scores.values() if score < best]
    return [j for j in candidates if scores[j] == best], min(below, default=None)


@given(st.integers(0, 2**32 - 1))
def test_of_contenders_all_that_tie_are_furthest_and_the_lead_is_that_over_the_next(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    points = rng.integers(-2, 3, (9, d)) * 1.0 + rng.integers(-1, 2, (9, d)) * 2.0 ** -float(rng.integers(1, 60))
    directions = rng.integers(-2, 3, (6, d)) / 3.0
    several = [np.sort(rng.permutation(9)[: rng.integers(1, 9)]).tolist() for _ in range(6)]
    found, lead = exact_argmax(directions, points, Choices.of_sets(several))
    wished = [brute_furthest(y, points, some) for y, some in zip(directions, several, strict=True)]
    assert [some.tolist() for some in found] == [some for some, _ in wished]
    leads = [float(gap) for _, gap in wished if gap is not None]
    assert lead == pytest.approx(min(leads, default=np.inf), rel=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_the_first_of_the_furthest_wins_and_leads_by_what_the_next_lacks(seed):
    rng = np.random.default_rng(seed)
    points, directions = rng.integers(-3, 4, (rng.integers(1, 7), 3)) * 1.0, rng.integers(-3, 4, (5, 3)) * 1.0
    winners, leads = np.empty(5, dtype=np.int64), np.empty(5)
    find_leads(directions, points, winners, leads)
    scores = directions @ points.T
    assert winners.tolist() == scores.argmax(axis=1).tolist()
    ordered = np.sort(scores, axis=1)
    assert leads.tolist() == (ordered[:, -1] - (ordered[:, -2] if len(points) > 1 else -np.inf)).tolist()


def metric_of(matrix, error: float = 0.0) -> FloatMetric:
    return FloatMetric(np.array(matrix, dtype=float), float(np.linalg.norm(matrix)), error, Fraction(1))


def test_products_are_exact_or_none():
    whole = np.array([[3.0, -5.0], [0.75, 2.0]])
    assert exact_products(whole, FloatMetric(None, 1.0, 0.0, Fraction(1))) is whole
    found = exact_products(whole, metric_of([[2, 1], [1, 3]]))
    assert found is not None
    assert found.tolist() == [[1.0, -12.0], [3.5, 6.75]]
    assert exact_products(whole, metric_of([[2, 1], [1, 3]], error=1e-17)) is None
    rng = np.random.default_rng(0)
    for bits in range(20, 34):
        numbers = rng.integers(-(2**bits), 2**bits, (20, 2)) / 1024.0
        matrix = rng.integers(-(2**24), 2**24, (2, 2)) / 64.0
        found = exact_products(numbers, metric_of(matrix))
        exact = [[exact_dot(row, z) for row in matrix.tolist()] for z in numbers.tolist()]
        if found is not None:
            assert [list(map(Fraction, row)) for row in found.tolist()] == exact
        sizes = [[exact_dot(np.abs(row).tolist(), z) for row in matrix] for z in np.abs(numbers).tolist()]
        largest = max(map(max, sizes)) / (quantum(numbers) * quantum(matrix))
        assert (found is None) == (largest >= 2**53)


def quantum(numbers: np.ndarray) -> Fraction:
    """The largest power of two of which all numbers are whole multiples."""
    found = Fraction(2**60)
    while any((Fraction(x) / found).denominator > 1 for x in numbers.ravel().tolist()):
        found /= 2
    return found


def test_numbers_whose_squares_underflow_or_overflow_do_not_fit():
    assert squares_fit(np.array([1.0, 0.0, -(2.0**450), 2.0**-450]))
    assert not squares_fit(np.array([1.0, 2.0**451]))
    assert not squares_fit(np.array([1.0, -(2.0**-451)]))
    assert not squares_fit(np.array([-(2.0**451), 0.0]))


def test_what_is_left_of_a_sum_that_cancels_leads():
    near = 1 + 2.0**-52  # its square is 1 + 2^-51, and 2^-104 that rounding takes
    parts, count = np.zeros(8), 0
    for a, b in ((2.0**-160, 1.0), (-(2.0**-104), 1.0), (-(1 + 2.0**-51), 1.0), (near, near)):
        count = add_product(a, b, parts, count)
    assert parts[count - 1] == 0
    assert leading_part(parts, count) == 2.0**-160
