"""The products of bytes, in both spellings that machines want."""

import numpy as np
import pytest
from numba import njit

from hardmax._float import rounded as tiles
from hardmax._float.rounded import GROUP, ROWS, STEP, largest_products


@pytest.mark.parametrize("in_fours", [True, False])
@pytest.mark.parametrize(("steps", "groups"), [(1, 1), (3, 2), (16, 8)])
def test_the_largest_products_are_those_of_whole_numbers(monkeypatch, in_fours, steps, groups):
    if in_fours and not tiles.has_sdot():
        pytest.skip("this processor has no sdot")
    monkeypatch.setattr(tiles, "has_sdot", lambda: in_fours)

    @njit
    def largest(rows, points, steps, groups, out):
        largest_products(rows, 0, points, 0, steps, groups, out)  # pyright: ignore[reportCallIssue]

    rng = np.random.default_rng(steps)
    rows = rng.integers(-127, 128, (steps, ROWS, STEP)).astype(np.int8)
    points = rng.integers(-127, 128, (groups, steps, GROUP, STEP)).astype(np.int8)
    rows[:, 0], points[0, :, 0] = -127, -127
    found = np.empty(ROWS, dtype=np.int32)
    largest(rows.ravel(), points.ravel(), steps, groups, found)
    truth = np.einsum("src,gspc->rgp", rows.astype(np.int64), points.astype(np.int64))
    assert found.tolist() == truth.reshape(ROWS, -1).max(axis=1).tolist()
