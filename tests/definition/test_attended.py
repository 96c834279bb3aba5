"""Attended sets as the engines keep them, against plain lists."""

import numpy as np
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmax._layer.attended import AttendedIndices, sort_rows


@st.composite
def sets(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 7))
    most = draw(st.sampled_from([1, 3]))
    numbers = st.integers(0, n - 1)
    chosen = st.lists(numbers, min_size=1, max_size=most, unique=True).map(sorted)
    return draw(st.lists(chosen, min_size=n, max_size=n))


@settings(max_examples=examples(2000))
@given(sets(), st.data())
def test_choices_are_lists_in_another_form(lists, data):
    n, choices = len(lists), AttendedIndices.of_sets(lists)
    as_arrays = AttendedIndices.of_sets([np.array(several) for several in lists])
    assert choices.lists() == as_arrays.lists() == lists
    assert choices.sizes.tolist() == [len(several) for several in lists]
    leads = [several == [i] for i, several in enumerate(lists)]
    assert choices.is_leader.tolist() == leads
    follows = [len(several) == 1 and leads[several[0]] for several in lists]
    assert choices.follows_leader.tolist() == follows
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
    numbers = np.array(rows, dtype=int)
    assert choices.of_rows(numbers).lists() == [lists[row] for row in rows]
    assert choices.firsts[numbers].tolist() == [lists[row][0] for row in rows]
    rows = sorted(set(rows))
    others = data.draw(sets().map(lambda some: (some * 7)[: len(rows)]))
    changed = dict(zip(rows, others, strict=True))
    with_others = AttendedIndices.of_sets(others)
    found = choices.with_rows(np.array(rows, dtype=int), with_others)
    expected = [changed.get(row, several) for row, several in enumerate(lists)]
    assert found.lists() == expected
    assert choices.lists() == lists


@settings(max_examples=examples(1000))
@given(st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=6))
def test_each_row_is_sorted_by_itself(rows):
    indices = np.array([index for row in rows for index in row], dtype=np.int64)
    sizes = np.array([len(row) for row in rows])
    found = sort_rows(indices, sizes).tolist()
    assert found == [index for row in rows for index in sorted(row)]
