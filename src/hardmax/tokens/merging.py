"""Finding equal rows among many, by hashing: one pass, where sorting would take ten."""

import numpy as np
from numba import njit, prange

# A table of this many rows stays in the cache of a core.
_ROWS_OF_A_PART = 2**16
_HALF_OF_BITS = np.uint64(32)


@njit(cache=True, nogil=True, inline="always")
def _key(bits, row):
    key = np.uint64(1469598103934665603)
    for axis in range(bits.shape[1]):
        key = (key ^ np.uint64(bits[row, axis])) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
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


@njit(parallel=True, cache=True, nogil=True)
def first_equal_rows(bits, parts, firsts):
    """For each of many rows (fewer than 2^31) the first that equals it. They are parted by keys, to fit the cache."""
    count = len(bits)
    keys, part_of_row = np.empty(count, np.uint64), np.empty(count, np.uint16)
    for row in prange(count):
        keys[row] = _key(bits, row)
        part_of_row[row] = np.uint16(((keys[row] >> _HALF_OF_BITS) * np.uint64(parts)) >> _HALF_OF_BITS)
    rows, starts = _by_part(part_of_row, parts)
    for part in prange(parts):
        some = rows[starts[part] : starts[part + 1]]
        slots = 16
        while slots < 2 * len(some):
            slots *= 2
        table = np.full(slots, -1, np.int32)
        for row in some:
            slot = np.int64(keys[row] & np.uint64(slots - 1))
            while True:
                seen = table[slot]
                if seen < 0:
                    table[slot] = firsts[row] = row
                    break
                same = True
                for axis in range(bits.shape[1]):
                    same &= bits[seen, axis] == bits[row, axis]
                if same:
                    firsts[row] = seen
                    break
                slot = (slot + 1) & (slots - 1)


@njit(cache=True, nogil=True)
def _by_part(part_of_row, parts):
    """The rows part by part, each part in order, and where each begins."""
    starts = np.zeros(parts + 1, np.int64)
    for part in part_of_row:
        starts[part + 1] += 1
    for part in range(parts):
        starts[part + 1] += starts[part]
    rows, place = np.empty(len(part_of_row), np.int32), starts[:-1].copy()
    for row in range(len(part_of_row)):
        part = part_of_row[row]
        rows[place[part]] = row
        place[part] += 1
    return rows, starts


def parts_of(rows: int) -> int:
    """How many parts `first_equal_rows` should make of so many rows."""
    return min(1 + rows // _ROWS_OF_A_PART, 2**15)
