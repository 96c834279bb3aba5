"""Attended sets as the engines keep them, against plain lists."""

import numpy as np
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmax._layer.attended import AttendedIndices


@st.composite
def sets(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 7))
    most = draw(st.sampled_from([1, 3]))
    chosen = st.lists(st.integers(0, n - 1), min_size=1, max_size=most, unique=True).map(sorted)
    return draw(st.lists(chosen, min_size=n, max_size=n))


@settings(max_examples=examples(2000))
@given(sets(), st.data())
def test_choices_are_lists_in_another_form(lists, data):
    n, choices = len(lists), AttendedIndices.of_sets(lists)
    assert (
        choices.lists()
        == lists
        == AttendedIndices.of_sets([np.array(several) for several in lists]).lists()
    )
    assert choices.sizes.tolist() == [len(several) for several in lists]
    leads = [several == [i] for i, several in enumerate(lists)]
    assert choices.is_leader.tolist() == leads
    assert choices.follows_leader.tolist() == [
        len(several) == 1 and leads[several[0]] for several in lists
    ]
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
    assert choices.of_rows(np.array(rows, dtype=int)).lists() == [lists[row] for row in rows]
    assert choices.firsts[np.array(rows, dtype=int)].tolist() == [lists[row][0] for row in rows]
    rows = sorted(set(rows))
    others = data.draw(sets().map(lambda some: (some * 7)[: len(rows)]))
    changed = dict(zip(rows, others, strict=True))
    found = choices.with_rows(np.array(rows, dtype=int), AttendedIndices.of_sets(others))
    assert found.lists() == [changed.get(row, several) for row, several in enumerate(lists)]
    assert choices.lists() == lists
