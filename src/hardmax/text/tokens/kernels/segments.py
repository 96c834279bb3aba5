"""Each word of a text in one token at most: what `hardmax.text.tokens.segments` says, for many texts."""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit

_GONE = -1  # for a token that is no segment
_FEW = 32  # so many are sorted sooner by the simplest way


class Sorting(NamedTuple):
    """Memory for the tokens of one text: a key for each, and for each piece whether a token has taken it."""

    keys: np.ndarray  # int64
    taken: np.ndarray  # bool


@njit
def room_to_sort(standing, longest):
    """A Sorting for texts of at most `longest` bytes, whose tokens are in such a Standing."""
    return Sorting(np.empty(len(standing.tokens), np.int64), np.empty(longest, np.bool_))


@njit
def _sort(keys):
    if len(keys) > _FEW:
        keys.sort()
        return
    for i in range(1, len(keys)):
        key, j = keys[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@njit
def _take_in_turn(standing, first, last, low, sorting):
    """Of the tokens `first` up to `last`, which begin at the piece `low` or later, find those that are gone."""
    tokens, firsts, lasts = standing
    keys, taken = sorting.keys[: last - first], sorting.taken
    for i in range(first, last):
        keys[i - first] = np.int64(tokens[i]) << 32 | i - first
    _sort(keys)
    taken[low : lasts[last - 1] + 1] = False
    for key in keys:
        i = first + (key & 0xFFFFFFFF)
        is_free = True
        for piece in range(firsts[i], lasts[i] + 1):
            is_free = is_free and not taken[piece]
        if not is_free:
            tokens[i] = _GONE
            continue
        for piece in range(firsts[i], lasts[i] + 1):
            taken[piece] = True


@njit
def keep_segments(standing, found, sorting):
    """Keep those of the first `found` tokens that are segments, in their order; give back how many.

    Only tokens that others reach into need sorting: they are parted into groups that share no word.
    """
    tokens, firsts, lasts = standing
    last, low = found, len(sorting.taken)
    for i in range(found - 1, -1, -1):
        # `low` is the first piece of the group, the tokens behind this one up to `last`.
        if lasts[i] < low:
            if last > i + 2:
                _take_in_turn(standing, i + 1, last, low, sorting)
            last, low = i + 1, lasts[i] + 1
        low = min(low, firsts[i])
    if last > 1:
        _take_in_turn(standing, 0, last, low, sorting)
    kept = 0
    for i in range(found):
        if tokens[i] != _GONE:
            tokens[kept], firsts[kept], lasts[kept] = tokens[i], firsts[i], lasts[i]
            kept += 1
    return kept
