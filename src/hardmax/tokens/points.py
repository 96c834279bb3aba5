"""The distinct tokens of a cloud, with multiplicities. Equal tokens stay equal for ever, so one of them will do."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardmax.tokens.batches import Cloud
from hardmax.tokens.merging import find_equal_rows, table_size
from hardmax.tokens.rationals import IntegerCloud, fits_float64


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct points in order of first appearance; token t is the point `of_token[t]`."""

    coordinates: np.ndarray  # (p, d) float64, or Fractions
    multiplicities: np.ndarray  # (p,)
    of_token: np.ndarray  # (n,)

    @property
    def count(self) -> int:
        return len(self.coordinates)

    @property
    def dimension(self) -> int:
        return self.coordinates.shape[1]

    @cached_property
    def integers(self) -> IntegerCloud:
        return IntegerCloud.of(self.coordinates)

    @cached_property
    def floats(self) -> np.ndarray:
        """The nearest float64 of each coordinate."""
        return self.coordinates.astype(np.float64)

    @cached_property
    def floats_are_exact(self) -> bool:
        return self.coordinates.dtype != object or fits_float64(self.coordinates)

    @cached_property
    def members(self) -> list[np.ndarray]:
        """For each point the tokens that sit on it, in order."""
        order = np.argsort(self.of_token, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.of_token, minlength=self.count))[:-1])


def merge(cloud: Cloud) -> Points:
    """The points of a cloud.

    >>> points = merge(Cloud(np.array([[1.0], [2.0], [1.0]])))
    >>> points.coordinates.tolist(), points.multiplicities.tolist(), points.of_token.tolist()
    ([[1.0], [2.0]], [2, 1], [0, 1, 0])
    """
    first, of_token = _first_appearances(cloud.tokens)
    weights = cloud.multiplicities
    if weights is None:
        counts = np.bincount(of_token, minlength=len(first))
    else:
        counts = np.zeros(len(first), dtype=np.int64)
        np.add.at(counts, of_token, weights)
    # Adding zero turns -0.0 into 0.0: the same number must have the same bits.
    return Points(cloud.tokens[first] + 0, counts, of_token)


def _first_appearances(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the first token of each distinct point, and the point of every token."""
    if tokens.dtype == object:
        seen: dict[tuple, int] = {}
        labels = np.array([seen.setdefault(tuple(row), len(seen)) for row in tokens])
        first = np.full(len(seen), len(tokens))
        np.minimum.at(first, labels, np.arange(len(tokens)))
        return first, labels
    rows = tokens + 0.0
    table = np.empty(table_size(len(rows)), dtype=np.int64)
    labels, first = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    count = find_equal_rows(rows, rows.view(np.int64), table, labels, first)
    return first[:count], labels
