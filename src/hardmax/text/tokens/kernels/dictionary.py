"""A dictionary of words in plain arrays: slots that lead to numbers, and how each word is spelt.

Spellings decide: a hash alone never does.
"""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit


class Words(NamedTuple):
    """Word w is `spellings[starts[w]:starts[w + 1]]` and has the hash `keys[w]`; `slots`, a power of two long and at
    least twice as long as there are words, holds numbers, and -1 where it is free."""

    slots: np.ndarray  # int32
    keys: np.ndarray  # uint64
    spellings: np.ndarray  # uint32
    starts: np.ndarray  # int64


@njit(inline="always")
def find_slot(letters, start, end, key, words):
    """The slot in which the number of the word `letters[start:end]` stands, or the free slot where it belongs."""
    table, keys, spellings, starts = words
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot] >= 0:
        number = table[slot]
        first = starts[number]
        same = keys[number] == key and starts[number + 1] - first == end - start
        place = start
        while same and place < end:
            same = letters[place] == spellings[first + place - start]
            place += 1
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit
def find_words(pieces, count, words, numbers):
    """The numbers of the first `count` pieces; -1 for those that are empty or not in the dictionary."""
    end = 0
    for piece in range(count):
        start, end = end, pieces.ends[piece]
        numbers[piece] = -1
        if start < end:
            slot = find_slot(pieces.letters, start, end, pieces.keys[piece], words)
            numbers[piece] = words.slots[slot]


@njit
def fill_table(table, keys, words):
    """Give each of the first `words` of the hashes `keys` a slot."""
    mask = np.uint64(len(table) - 1)
    table[:] = -1
    for number in range(words):
        slot = keys[number] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
