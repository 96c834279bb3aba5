"""Each word of a text in one token at most: what `hardmax.text.tokens.segments` says, for many texts."""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit


class Sorting(NamedTuple):
    """Memory for the tokens of one text: a key for each, and for each word whether a token has taken it."""

    keys: np.ndarray  # int64
    taken: np.ndarray  # bool


@njit
def room_to_sort(standing):
    """A Sorting for texts that such a Standing can hold."""
    return Sorting(np.empty(len(standing.tokens), np.int64), np.empty(len(standing.piece_of_word), np.bool_))


@njit
def _take_in_turn(standing, first, last, low, sorting):
    """Of the tokens `first` up to `last`, which begin at the word `low` or later, those that go get the size -1."""
    tokens, sizes, _, words, _ = standing
    keys, taken = sorting.keys[: last - first], sorting.taken
    for place in range(first, last):
        keys[place - first] = np.int64(tokens[place]) << 32 | place - first
    keys.sort()
    taken[low : words[last - 1] + 1] = False
    for key in keys:
        place = first + (key & 0xFFFFFFFF)
        begin, end = words[place] - sizes[place] + 1, words[place] + 1
        is_free = True
        for word in range(begin, end):
            is_free = is_free and not taken[word]
        if is_free:
            taken[begin:end] = True
        else:
            sizes[place] = -1


@njit
def keep_segments(standing, found, sorting):
    """Keep those of the first `found` tokens that are segments, in their order; give back how many.

    Only tokens that others reach into need sorting: they are parted into groups that share no word.
    """
    tokens, sizes, pieces, words, _ = standing
    last, low = found, np.int64(len(sorting.taken))
    for place in range(found - 1, -1, -1):
        # `low` is the first word of the group, the tokens from here to `last`, none of which ends before this one.
        if words[place] < low:
            if last > place + 2:
                _take_in_turn(standing, place + 1, last, low, sorting)
            last, low = place + 1, words[place] + 1
        low = min(low, words[place] - sizes[place] + 1)
    if last > 1:
        _take_in_turn(standing, 0, last, low, sorting)
    kept = 0
    for place in range(found):
        if sizes[place] >= 0:
            tokens[kept], sizes[kept] = tokens[place], sizes[place]
            pieces[kept], words[kept] = pieces[place], words[place]
            kept += 1
    return kept
