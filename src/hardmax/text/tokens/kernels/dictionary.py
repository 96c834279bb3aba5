"""A dictionary of words in plain arrays: slots that lead to numbers, and how each word is spelt.

Spellings decide: a hash alone never does. Keys of short words are their spellings (see `scanning.Pieces`).
"""

from typing import NamedTuple

import numpy as np

from hardmax._compile import njit
from hardmax.text.tokens.kernels.scanning import HASHED

_MIX, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class Words(NamedTuple):
    """Word w is `spellings[starts[w]:starts[w + 1]]` and has the key `keys[w]`; `slots`, a power of two long and at
    least twice as long as there are words, holds numbers, and -1 where it is free."""

    slots: np.ndarray  # int32
    keys: np.ndarray  # uint64
    spellings: np.ndarray  # uint32
    starts: np.ndarray  # int64


@njit
def _is_spelt(letters, start, end, spellings, first, last):
    """Whether `letters[start:end]` are `spellings[first:last]`."""
    same = last - first == end - start
    place = start
    while same and place < end:
        same = letters[place] == spellings[first + place - start]
        place += 1
    return same


@njit
def find_slot(letters, start, end, key, words):
    """The slot in which the number of the word `letters[start:end]` stands, or the free slot where it belongs."""
    table, keys, spellings, starts = words
    mask = np.uint64(len(table) - 1)
    slot = key * _MIX >> _HALF & mask
    while table[slot] >= 0:
        number = table[slot]
        if keys[number] == key and (
            key < HASHED or _is_spelt(letters, start, end, spellings, starts[number], starts[number + 1])
        ):
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit
def find_words(pieces, count, words, numbers):
    """The numbers of the first `count` pieces; -1 for those that are empty or not in the dictionary.

    The search of `find_slot` is written out: to hand arrays over takes longer than to look a word up.
    """
    letters, ends, keys = pieces
    table, known, spellings, starts = words
    mask, end = np.uint64(len(table) - 1), 0
    for piece in range(count):
        start, end = end, ends[piece]
        number = np.int32(-1)
        if start < end:
            key = keys[piece]
            slot = key * _MIX >> _HALF & mask
            number = table[slot]
            while number >= 0:
                if known[number] == key and (
                    key < HASHED or _is_spelt(letters, start, end, spellings, starts[number], starts[number + 1])
                ):
                    break
                slot = (slot + np.uint64(1)) & mask
                number = table[slot]
        numbers[piece] = number


@njit
def fill_table(table, keys, words):
    """Give each of the first `words` of the keys a slot."""
    mask = np.uint64(len(table) - 1)
    table[:] = -1
    for number in range(words):
        slot = keys[number] * _MIX >> _HALF & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
