"""Equal rows among many: the first of each, whatever the number of parts."""

import numpy as np
import pytest

from hardmax.tokens.kernels.merging import first_equal_rows, parts_of


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
