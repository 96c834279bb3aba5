"""Equal rows among many: the first of each, whatever the number of parts."""

import numpy as np
import pytest

from hardmax._tokens.points import find_equal_rows, first_equal_rows, parts_of, table_size


@pytest.mark.parametrize("rows", [1, 1000, 200_000])
@pytest.mark.parametrize("values", [1, 40, 10**6])
def test_every_row_is_told_the_first_that_equals_it(rows, values):
    rng = np.random.default_rng(rows + values)
    table = rng.integers(0, values, (rows, 2)).astype(np.float64)
    _, first, label = np.unique(table, axis=0, return_index=True, return_inverse=True)
    for parts in (1, 3, parts_of(rows)):
        firsts = np.empty(rows, dtype=np.int64)
        assert first_equal_rows(table.view(np.int64), parts, firsts) == rows - len(first)
        assert np.array_equal(firsts, first[label.ravel()])


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 40, 300])
@pytest.mark.parametrize("values", [1, 3, 1000])
def test_rows_are_labelled_by_first_appearance_in_a_table_just_large_enough(rows, values):
    rng = np.random.default_rng(rows)
    table = rng.integers(0, values, (rows, 3)).astype(np.float64)
    size = table_size(rows)
    assert size >= 2 * rows
    assert size & (size - 1) == 0
    assert size <= max(16, 4 * rows)
    labels, firsts = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    count = find_equal_rows(table, table.view(np.int64), np.empty(size, dtype=np.int64), labels, firsts)
    seen: dict[bytes, int] = {}
    wished = [seen.setdefault(row.tobytes(), len(seen)) for row in table]
    assert count == len(seen)
    assert labels.tolist() == wished
    assert firsts[:count].tolist() == [wished.index(label) for label in range(count)]


def test_many_rows_are_parted_and_parts_are_neither_too_many_nor_too_large():
    assert [parts_of(rows) for rows in (1, 2**15 - 1, 2**15, 10**6)] == [1, 1, 2, 31]
    assert parts_of(2**31) == 2**15
