"""Repeated tokens merged into points with multiplicities: equal tokens stay equal at every layer.

Equal rows are found by hashing, in one pass where sorting would take ten.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._kernels.compiling import interpreted, njit, njit_parallel
from hardmax._tokens.batches import Cloud
from hardmax._tokens.rationals import IntegerCloud, fits_float64

_ROWS_PER_TASK = 2**14
_ROWS_PER_PART = 2**18  # their keys and table nearly fit the cache of a core
_MOST_PARTS = 16  # each part looks through all keys
_FEW = 64  # rows that Python compares as soon as a kernel
_SOME = 2**14  # coordinates that it compares while the kernel is not compiled


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


@njit_parallel(lambda bits, *_: -(-len(bits) // _ROWS_PER_TASK))
def _make_keys(first, last, bits, keys, firsts):
    for row in range(first * _ROWS_PER_TASK, min(last * _ROWS_PER_TASK, len(bits))):
        keys[row], firsts[row] = _key(bits, row), row


@njit_parallel(lambda bits, keys, firsts, repeated: len(repeated))
def _find_firsts(first, last, bits, keys, firsts, repeated):
    """For each row the first that equals it, the rows parted by their keys; count those of a part
    that are repeated."""
    others = np.uint64(
        len(repeated) - 1
    )  # parts are a power of two: the lowest bits of a key choose one
    rows = np.empty(len(keys) + 1, np.int32)
    for part in range(first, last):
        count = 0
        for row in range(len(keys)):
            rows[count] = row  # overwritten if the row is in another part
            count += (keys[row] & others) == np.uint64(part)
        slots = 16
        while slots < 2 * count:
            slots *= 2
        table, own = np.empty(slots, np.int32), np.empty(count, np.uint64)
        for slot in range(slots):
            table[slot] = -1
        for place in range(count):
            own[place] = keys[rows[place]]
            slot = np.int64((own[place] >> np.uint64(32)) & np.uint64(slots - 1))
            while table[slot] >= 0:
                same = own[table[slot]] == own[place]
                seen, row = rows[table[slot]], rows[place]
                for axis in range(bits.shape[1] if same else 0):
                    same &= bits[seen, axis] == bits[row, axis]
                if same:
                    firsts[row] = seen
                    repeated[part] += 1
                    break
                slot = (slot + 1) & (slots - 1)
            else:
                table[slot] = place


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
    firsts, repeated = _first_equals(tokens)
    weights = cloud.multiplicities
    if not repeated:
        return Points(
            tokens, np.ones(len(tokens), dtype=int) if weights is None else weights, firsts
        )
    is_first = firsts == np.arange(len(tokens))
    of_token = (np.cumsum(is_first) - 1)[firsts]
    # With weights these are floats, which are exact up to 2^53: no cloud counts for more.
    return Points(tokens[is_first], np.bincount(of_token, weights).astype(int), of_token)


def _compare_all(tokens: np.ndarray) -> tuple[np.ndarray, int]:
    seen: dict[tuple, int] = {}
    rows = enumerate(map(tuple, tokens.tolist()))
    firsts = np.array([seen.setdefault(row, number) for number, row in rows])
    return firsts, len(tokens) - len(seen)


def _first_equals(tokens: np.ndarray) -> tuple[np.ndarray, int]:
    """For each token the first one that equals it, and how many have one before them."""
    if tokens.dtype == object or len(tokens) <= _FEW:
        return _compare_all(tokens)
    with interpreted(_find_firsts, if_small=tokens.size <= _SOME) as in_python:
        if in_python:
            return _compare_all(tokens)
    bits, count = tokens.view(np.int64), len(tokens)
    keys, firsts = np.empty(count, dtype=np.uint64), np.empty(count, dtype=int)
    _make_keys(bits, keys, firsts)
    repeated = np.zeros(min(1 << (count // _ROWS_PER_PART).bit_length(), _MOST_PARTS), dtype=int)
    _find_firsts(bits, keys, firsts, repeated)
    return firsts, int(repeated.sum())
