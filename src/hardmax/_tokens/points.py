"""Repeated tokens merged into points with multiplicities: equal tokens stay equal at every layer.

Equal rows are found by hashing, in one pass where sorting would take ten. That there are none shows
sooner: then the sorted hashes differ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._kernels.compiling import njit, njit_parallel
from hardmax._tokens.batches import Cloud
from hardmax._tokens.rationals import IntegerCloud, fits_float64

_ROWS = 2**14  # a task for a thread
_FEW = 2**14  # coordinates that Python compares before a kernel would be loaded


@njit(inline="always")
def _key(bits, row):
    key = np.uint64(1469598103934665603)
    for axis in range(bits.shape[1]):
        key ^= np.uint64(bits[row, axis])
        # A product carries upwards only, and whole numbers differ in their highest bits alone: fold
        # these down first.
        key ^= key >> np.uint64(32)
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


@njit_parallel(lambda bits, _: -(-len(bits) // _ROWS))
def _make_keys(first, last, bits, keys):
    for row in range(first * _ROWS, min(last * _ROWS, len(bits))):
        keys[row] = _key(bits, row)


def _are_distinct(bits: np.ndarray) -> bool:
    """Whether all rows have hashes of their own."""
    keys = np.empty(len(bits), dtype=np.uint64)
    _make_keys(bits, keys)
    keys.sort()
    return not (keys[1:] == keys[:-1]).any()


@njit
def find_equal_rows(bits, table, label_of_row, first_of_label):
    """Label rows, given as integers, by first appearance; return how many distinct ones there are.

    `table` is a power of two long, at least twice the number of rows.
    """
    mask = len(table) - 1
    for slot in range(len(table)):
        table[slot] = -1
    labels = 0
    for row in range(len(bits)):
        slot = np.int64(_key(bits, row) & np.uint64(mask))
        while True:
            label = table[slot]
            if label < 0:
                table[slot] = labels
                label_of_row[row] = labels
                first_of_label[labels] = row
                labels += 1
                break
            same = True
            for axis in range(bits.shape[1]):
                same &= bits[first_of_label[label], axis] == bits[row, axis]
            if same:
                label_of_row[row] = label
                break
            slot = (slot + 1) & mask
    return labels


def table_size(rows: int) -> int:
    """A power of two, at least twice the number of rows."""
    return 1 << max(4, (2 * rows - 1).bit_length())


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct points in order of first appearance; token t is the point `of_token[t]`."""

    coordinates: np.ndarray
    """Array (p, d) of float64 or Fractions."""
    multiplicities: np.ndarray
    """How many tokens each point has, (p,)."""
    of_token: np.ndarray
    """The point of each token, (n,)."""

    @property
    def tokens(self) -> int:
        """Number of tokens, repeated ones included."""
        return len(self.of_token)

    def spread(self, table: Any) -> Any:
        """The rows of points, an array or a tensor, as rows of tokens."""
        return table[self.of_token]

    @property
    def count(self) -> int:
        return len(self.coordinates)

    @property
    def dimension(self) -> int:
        return self.coordinates.shape[1]

    @cached_property
    def first_tokens(self) -> np.ndarray:
        """The first token at each point, (p,)."""
        return np.unique(self.of_token, return_index=True)[1]

    @cached_property
    def integers(self) -> IntegerCloud:
        return IntegerCloud.of(self.coordinates)

    @cached_property
    def floats(self) -> np.ndarray:
        """The nearest float64 of each coordinate."""
        return self.coordinates.astype(float, copy=False)

    @cached_property
    def floats_are_exact(self) -> bool:
        return self.coordinates.dtype != object or fits_float64(self.coordinates)

    @cached_property
    def members(self) -> list[np.ndarray]:
        """For each point its tokens, in order."""
        order = np.argsort(self.of_token, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.of_token, minlength=self.count))[:-1])


def merge(cloud: Cloud) -> Points:
    """The points of a cloud."""
    # Adding zero turns -0.0 into 0.0: the same number must have the same bits.
    tokens = cloud.tokens + 0
    counts, is_large = cloud.multiplicities, tokens.size > _FEW and tokens.dtype != object
    if is_large and _are_distinct(tokens.view(int)):
        everybody = np.arange(len(tokens))
        return Points(tokens, np.ones_like(everybody) if counts is None else counts, everybody)
    of_token, firsts = (_label if is_large else _label_few)(tokens)
    # With weights these are floats, which are exact below 2^53: no cloud counts for more.
    counts = np.bincount(of_token, counts).astype(int)
    return Points(tokens[firsts], counts, of_token)


def _label_few(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point of each token, and the first token of each point."""
    seen: dict[tuple, int] = {}
    labels = [seen.setdefault(tuple(row), len(seen)) for row in tokens.tolist()]
    return np.array(labels), np.unique(labels, return_index=True)[1]


def _label(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of many floats."""
    n = len(tokens)
    of_token, firsts = np.empty((2, n), dtype=int)
    count = find_equal_rows(tokens.view(int), np.empty(table_size(n), np.int32), of_token, firsts)
    return of_token, firsts[:count]
