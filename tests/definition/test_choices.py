"""Attended sets as the engines keep them, against plain lists; and what makes a matrix a metric, against minors."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import any_metrics, spd_metrics

from hardmax._attended import AttendedSets, Choices
from hardmax._metric import is_metric, is_positive_definite
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge


@st.composite
def sets(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 7))
    most = draw(st.sampled_from([1, 3]))
    chosen = st.lists(st.integers(0, n - 1), min_size=1, max_size=most, unique=True).map(sorted)
    return draw(st.lists(chosen, min_size=n, max_size=n))


@settings(max_examples=examples(2000))
@given(sets(), st.data())
def test_choices_are_lists_in_another_form(lists, data):
    n, choices = len(lists), Choices.of_sets(lists)
    assert len(choices) == n
    assert choices.lists() == lists == [several.tolist() for several in choices]
    assert Choices.of_sets([np.array(several) for several in lists]).lists() == lists
    assert choices.sizes.tolist() == [len(several) for several in lists]
    assert choices.all_single == all(len(several) == 1 for several in lists)
    leads = [several == [i] for i, several in enumerate(lists)]
    assert choices.is_leader.tolist() == leads
    assert choices.follows_leader.tolist() == [len(several) == 1 and leads[several[0]] for several in lists]
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
    assert choices.of_rows(np.array(rows, dtype=int)).lists() == [lists[row] for row in rows]
    assert choices.firsts(np.array(rows, dtype=int)).tolist() == [lists[row][0] for row in rows]
    rows = sorted(set(rows))
    others = data.draw(sets().map(lambda some: (some * 7)[: len(rows)]))
    changed = dict(zip(rows, others, strict=True))
    found = choices.with_rows(np.array(rows, dtype=int), Choices.of_sets(others))
    assert found.lists() == [changed.get(row, several) for row, several in enumerate(lists)]
    assert choices.lists() == lists


def test_no_choices_at_all():
    assert Choices.of_sets([]).lists() == Choices.of_sets([]).lists() == []


def test_tokens_attend_to_all_copies_of_a_point():
    points = merge(Cloud(np.array([[1.0], [2.0], [1.0], [3.0], [2.0]])))
    attended = AttendedSets(Choices.of_sets([[1, 2], [0], [2]]), points)
    wished = [[1, 3, 4], [0, 2], [1, 3, 4], [3], [0, 2]]
    assert attended.tolist() == wished == [several.tolist() for several in attended]
    assert [several.tolist() for several in attended[1:4:2]] == wished[1:4:2]
    assert attended[-2].tolist() == [3]
    assert len(attended) == 5


def table(rows) -> np.ndarray:
    return np.array(rows, dtype=object)


def minor(rows, size: int) -> Fraction:
    """The leading minor, by Leibniz' formula."""
    total = Fraction(0)
    for order in permutations(range(size)):
        sign = (-1) ** sum(order[i] > order[j] for i in range(size) for j in range(i + 1, size))
        product = Fraction(sign)
        for i, j in enumerate(order):
            product *= rows[i][j]
        total += product
    return total


@settings(max_examples=examples(2000))
@given(st.integers(1, 4).flatmap(lambda d: st.one_of(any_metrics(d), spd_metrics(d))), st.integers(-4, 4))
def test_a_metric_is_symmetric_and_its_leading_minors_are_positive(matrix, shift):
    if matrix is None:
        return
    rows = [[value + (shift if i == j else 0) for j, value in enumerate(row)] for i, row in enumerate(matrix)]
    whole = [[(rows[i][j] + rows[j][i]) / 2 for j in range(len(rows))] for i in range(len(rows))]
    definite = all(minor(whole, size) > 0 for size in range(1, len(whole) + 1))
    assert is_positive_definite(table(whole)) == is_metric(table(whole)) == definite
    assert is_metric(table(rows)) == (rows == whole and definite)


@pytest.mark.parametrize("near", [-1, 0, 1])
def test_a_matrix_a_hair_from_singular_is_told_apart(near):
    third = Fraction(1, 3)
    rows = [[Fraction(1), third, third], [third, Fraction(1), third], [third, third, Fraction(1)]]
    # 1/3 of the sum of all others is the projection of the last row: its square is 1/6.
    rows[2][2] = Fraction(1, 6) + Fraction(near, 10**30)
    assert is_positive_definite(table(rows)) == (near > 0) == (minor(rows, 3) > 0)
