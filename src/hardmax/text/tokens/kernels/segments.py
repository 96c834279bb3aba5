"""Each word of a text in one token at most: what `hardmax.text.tokens.segments` says, for many texts."""

from typing import NamedTuple

import numpy as np

from hardmax._compile import njit

_GONE = -1  # for a token that is no segment
_FEW = 32  # so many are ranked sooner than sorted
_PIECES = 63  # that fit into the bits of a number
_NONE, _ONE = np.uint64(0), np.uint64(1)


class Sorting(NamedTuple):
    """Memory for the tokens of one text: a key for each, and for each piece whether a token has taken it."""

    keys: np.ndarray  # int64
    order: np.ndarray  # int64, of tokens that are few
    taken: np.ndarray  # bool


@njit
def room_to_sort(standing, longest):
    """A Sorting for texts of at most `longest` bytes, whose tokens are in such a Standing."""
    return Sorting(np.empty(len(standing.tokens), np.int64), np.empty(_FEW, np.int64), np.empty(longest, np.bool_))


@njit
def _take_in_turn(standing, first, last, low, sorting):
    """Of the tokens `first` up to `last`, which begin at the piece `low` or later, find those that are gone."""
    tokens, firsts, lasts = standing
    keys, taken = sorting.keys[: last - first], sorting.taken
    for i in range(first, last):
        keys[i - first] = np.int64(tokens[i]) << 32 | i - first
    keys.sort()
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

    Only tokens that others reach into need to be taken in turn: they are parted into groups that share no word. Of a
    small group, such as nearly all are, each token counts those that come before it, and the pieces taken are bits.
    """
    tokens, firsts, lasts = standing
    keys, order, _ = sorting
    last, low = found, len(sorting.taken)
    for i in range(found - 1, -2, -1):
        # `low` is the first piece of the group, the tokens behind this one up to `last`.
        if i >= 0 and lasts[i] >= low:
            low = min(low, firsts[i])
            continue
        first, size = i + 1, last - i - 1
        if size > 1 and (size > _FEW or lasts[last - 1] - low >= _PIECES):
            _take_in_turn(standing, first, last, low, sorting)
        elif size == 3 and lasts[last - 1] - low == 1:
            # Two words and the phrase that they are: the most frequent group.
            whole = tokens[first + 2] < min(tokens[first], tokens[first + 1])
            tokens[first] = _GONE if whole else tokens[first]
            tokens[first + 1] = _GONE if whole else tokens[first + 1]
            tokens[first + 2] = tokens[first + 2] if whole else _GONE
        elif size > 1:
            for t in range(size):
                keys[t] = np.int64(tokens[first + t]) << 32 | t
            for t in range(size):
                key, rank = keys[t], 0
                for other in range(size):
                    rank += keys[other] < key
                order[rank] = first + t
            taken = _NONE
            for t in order[:size]:
                own = ((_ONE << np.uint64(lasts[t] - firsts[t] + 1)) - _ONE) << np.uint64(firsts[t] - low)
                is_free = taken & own == _NONE
                taken |= own if is_free else _NONE
                tokens[t] = tokens[t] if is_free else _GONE
        last = i + 1
        low = firsts[i] if i >= 0 else 0
    kept = 0
    for i in range(found):
        tokens[kept], firsts[kept], lasts[kept] = tokens[i], firsts[i], lasts[i]
        kept += tokens[i] != _GONE
    return kept
