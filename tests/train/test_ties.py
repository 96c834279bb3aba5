"""Ties in training, where tokens are rounded: what ties in truth is shared, what lies further out wins alone."""

# pyright: reportMissingImports=false
# ruff: noqa: E402
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from hardmax.train.clouds import Clouds
from hardmax.train.layer import Hardmax

SQUARE = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]])
# Turns by angles with rational sines and cosines, in whole numbers: what ties before ties after, but for rounding.
TURNS = [(m * m - n * n, 2 * m * n, m * m + n * n) for m in range(2, 12) for n in range(1, m)]
CLOUD = Clouds(np.arange(5), np.ones(5), np.array([0, 5]))


def walk(tokens, dtype, layers):
    return Hardmax().walk(torch.tensor(tokens, dtype=dtype), CLOUD, torch.tensor(0.5, dtype=dtype), layers)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("layers", [1, 8])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_tie_outlasts_rounding_whatever_the_unit(dtype, layers, size):
    for along, across, whole in TURNS:
        turn = np.array([[along, -across], [across, along]]) / whole
        moved = walk(SQUARE @ turn.T * size, dtype, layers).tokens.double().numpy() @ turn / size
        np.testing.assert_allclose(moved[4], [1 - 0.5 * (2 / 3) ** layers, 0.0], atol=1e-5)


@pytest.mark.parametrize(("dtype", "gap"), [(torch.float32, 1e-5), (torch.float64, 1e-13)], ids=str)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_what_is_further_out_by_more_than_rounding_wins_alone(dtype, gap, size):
    tokens = SQUARE.copy()
    tokens[0, 0] += gap
    moved = walk(tokens * size, dtype, 1).tokens[4].double().numpy() / size
    np.testing.assert_allclose(moved, [2 / 3, 1 / 3], atol=1e-5)
