"""Repeated tokens merged into points with multiplicities.

Finding equal rows among many, by hashing: one pass, where sorting would take ten.

The distinct tokens of a cloud, with multiplicities. Equal tokens stay equal for ever, so one of them will do.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardmax._compile import njit, njit_parallel
from hardmax._tokens.batches import Cloud
from hardmax._tokens.rationals import IntegerCloud, fits_float64

_ROWS_OF_A_PART = 2**15  # with their keys and table they stay in the cache of a core
_ROWS_OF_A_TASK = 2**14
_HALF_OF_BITS = np.uint64(32)


@njit(inline="always")
def _key(bits, row):
    key = np.uint64(1469598103934665603)
    for axis in range(bits.shape[1]):
        key ^= np.uint64(bits[row, axis])
        # A product carries upwards only, and whole numbers differ in their highest bits alone: fold these down first.
        key ^= key >> np.uint64(32)
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


@njit
def find_equal_rows(rows, bits, table, label_of_row, first_of_label):
    """Label the rows by first appearance; give back how many distinct rows there are.

    `bits` are the rows as integers, `table` is a power of two long, at least twice the number of rows. Equal rows must
    have equal bits: no -0.0.
    """
    mask = len(table) - 1
    table[:] = -1
    labels = 0
    for row in range(len(rows)):
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
            for axis in range(rows.shape[1]):
                same &= rows[first_of_label[label], axis] == rows[row, axis]
            if same:
                label_of_row[row] = label
                break
            slot = (slot + 1) & mask
    return labels


def table_size(rows: int) -> int:
    """A power of two, at least twice the number of rows."""
    return 1 << max(4, (2 * rows - 1).bit_length())


def first_equal_rows(bits: np.ndarray, parts: int, firsts: np.ndarray) -> int:
    """For each of many rows (fewer than 2^31) the first that equals it; gives back how many have one before them.

    Rows are parted by their keys, so that a part with its table fits the cache.
    """
    if parts == 1:
        return _first_of_few(bits, firsts)
    count = len(bits)
    sizes = np.zeros((-(-count // _ROWS_OF_A_TASK), parts), dtype=np.int64)
    _count_parts(bits, parts, firsts, sizes)
    places, starts = _places(sizes)
    keys, rows = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32)
    _part_rows(bits, parts, places, keys, rows)
    repeated = np.zeros(parts, dtype=np.int64)
    _find_in_parts(starts, bits, keys, rows, firsts, repeated)
    return int(repeated.sum())


@njit
def _first_of_few(bits, firsts):
    keys, rows = np.empty(len(bits), np.uint64), np.arange(len(bits)).astype(np.int32)
    for row in range(len(bits)):
        firsts[row], keys[row] = row, _key(bits, row)
    return _find_firsts(bits, keys, rows, firsts)


@njit_parallel(lambda bits, *_: -(-len(bits) // _ROWS_OF_A_TASK))
def _count_parts(first, last, bits, parts, firsts, sizes):
    """How many rows of each task fall to each part; every row is its own first so far."""
    for task in range(first, last):
        for row in range(task * _ROWS_OF_A_TASK, min((task + 1) * _ROWS_OF_A_TASK, len(bits))):
            firsts[row] = row
            sizes[task, _part(_key(bits, row), parts)] += 1


@njit_parallel(lambda bits, *_: -(-len(bits) // _ROWS_OF_A_TASK))
def _part_rows(first, last, bits, parts, places, keys, rows):
    """Bring rows and keys together by parts; `places` says where those of each task go, and moves on."""
    for task in range(first, last):
        for row in range(task * _ROWS_OF_A_TASK, min((task + 1) * _ROWS_OF_A_TASK, len(bits))):
            key = _key(bits, row)
            part = _part(key, parts)
            place = places[task, part]
            keys[place], rows[place] = key, row
            places[task, part] = place + 1


@njit_parallel(lambda starts, *_: len(starts) - 1)
def _find_in_parts(first, last, starts, bits, keys, rows, firsts, repeated):
    """How many rows of each part have an equal one before them."""
    for part in range(first, last):
        start, end = starts[part], starts[part + 1]
        repeated[part] = _find_firsts(bits, keys[start:end], rows[start:end], firsts)


@njit(inline="always")
def _part(key, parts):
    return np.int64(((key >> _HALF_OF_BITS) * np.uint64(parts)) >> _HALF_OF_BITS)


@njit
def _places(sizes):
    """Where the rows of each task go in each part, the tasks in order; and where each part begins."""
    tasks, parts = sizes.shape
    places, starts = np.empty_like(sizes), np.empty(parts + 1, np.int64)
    place = 0
    for part in range(parts):
        starts[part] = place
        for task in range(tasks):
            places[task, part] = place
            place += sizes[task, part]
    starts[parts] = place
    return places, starts


@njit
def _find_firsts(bits, keys, rows, firsts):
    """Set the first row that equals each of these, given in order, where it is another; how many there are."""
    slots = 16
    while slots < 2 * len(keys):
        slots *= 2
    table = np.full(slots, -1, np.int32)
    repeated = 0
    for place in range(len(keys)):
        slot = np.int64(keys[place] & np.uint64(slots - 1))
        while table[slot] >= 0:
            seen, row = rows[table[slot]], rows[place]
            same = keys[table[slot]] == keys[place]
            for axis in range(bits.shape[1] if same else 0):
                same &= bits[seen, axis] == bits[row, axis]
            if same:
                firsts[row] = seen
                repeated += 1
                break
            slot = (slot + 1) & (slots - 1)
        else:
            table[slot] = place
    return repeated


def parts_of(rows: int) -> int:
    """How many parts `first_equal_rows` should make of so many rows."""
    return min(1 + rows // _ROWS_OF_A_PART, 2**15)


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
