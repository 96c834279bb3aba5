"""A dictionary of words in plain arrays: slots that lead to numbers, and how each word is spelt.

Word w is `spellings[starts[w]:starts[w + 1]]` and has the hash `keys[w]`; `table`, a power of two long and at least
twice as long as there are words, holds numbers, and -1 where it is free. Spellings decide: a hash alone never does.
"""

import numpy as np

from hardmax.compiling import njit


@njit(inline="always")
def find_slot(letters, start, end, key, table, keys, spellings, starts):
    """The slot in which the number of the word `letters[start:end]` stands, or the free slot where it belongs."""
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
def find_words(letters, cuts, cut_keys, pieces, table, keys, spellings, starts, numbers):
    """The numbers of all pieces of a text; -1 for those that are empty or not in the dictionary."""
    end = 0
    for piece in range(pieces):
        start, end = end, cuts[piece]
        numbers[piece] = -1
        if start < end:
            numbers[piece] = table[find_slot(letters, start, end, cut_keys[piece], table, keys, spellings, starts)]


@njit
def fill_table(table, keys, words):
    """Give each of the first `words` a slot."""
    mask = np.uint64(len(table) - 1)
    table[:] = -1
    for number in range(words):
        slot = keys[number] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
