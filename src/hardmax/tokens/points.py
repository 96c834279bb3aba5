"""The distinct tokens of a cloud, with multiplicities. Equal tokens stay equal for ever, so one of them will do."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardmax.tokens.batches import Cloud
from hardmax.tokens.kernels.merging import first_equal_rows, parts_of
from hardmax.tokens.rationals import IntegerCloud, fits_float64


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct points in order of first appearance; token t is the point `of_token[t]`."""

    coordinates: np.ndarray  # (p, d) float64, or Fractions
    multiplicities: np.ndarray  # (p,)
    of_token: np.ndarray  # (n,)

    @property
    def tokens(self) -> int:
        """How many tokens there are, repeated ones too."""
        return len(self.of_token)

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
        return self.coordinates.astype(np.float64, copy=False)

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
    # Adding zero turns -0.0 into 0.0: the same number must have the same bits.
    tokens = cloud.tokens + 0
    firsts, repeated = _first_equals(tokens)
    weights = cloud.multiplicities
    if not repeated:
        return Points(tokens, np.ones(len(tokens), dtype=np.int64) if weights is None else weights, firsts)
    is_first = firsts == np.arange(len(tokens))
    of_token = (np.cumsum(is_first) - 1)[firsts]
    counts = np.bincount(of_token) if weights is None else np.zeros(is_first.sum(), dtype=np.int64)
    if weights is not None:
        np.add.at(counts, of_token, weights)
    return Points(tokens[is_first], counts, of_token)


def _first_equals(tokens: np.ndarray) -> tuple[np.ndarray, int]:
    """For each token the first one that equals it, and how many have one before them."""
    if tokens.dtype == object:
        seen: dict[tuple, int] = {}
        firsts = np.array([seen.setdefault(tuple(row), i) for i, row in enumerate(tokens)])
        return firsts, len(tokens) - len(seen)
    firsts = np.empty(len(tokens), dtype=np.int64)
    return firsts, first_equal_rows(tokens.view(np.int64), parts_of(len(tokens)), firsts)
