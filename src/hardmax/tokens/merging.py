"""Finding equal rows among many, by hashing: one pass, where sorting would take ten."""

import numpy as np
from numba import njit


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
        key = np.uint64(1469598103934665603)
        for axis in range(rows.shape[1]):
            key = (key ^ np.uint64(bits[row, axis])) * np.uint64(1099511628211)
            key ^= key >> np.uint64(29)
        slot = np.int64(key & np.uint64(mask))
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
