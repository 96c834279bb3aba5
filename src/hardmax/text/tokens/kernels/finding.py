"""The known tokens of one text, wherever they stand: single words, marks, and phrases above them."""

from typing import NamedTuple

import numpy as np

from hardmax._compile import njit
from hardmax.text.tokens.kernels.counting import mix_pair


class Phrases(NamedTuple):
    """Phrase p leads from the node `keys[p] >> 32` through the word `keys[p] & 0xffffffff`; phrase nodes come after all
    words. `token_of_node` is the token that a node stands for, or -1; there are so many `tokens`."""

    slots: np.ndarray  # int32, phrases by hash
    keys: np.ndarray  # int64
    token_of_node: np.ndarray  # int32
    tokens: int
    hints: np.ndarray  # uint64, a bit for each hash that a phrase has: so few of them that they stay near


class Cutting(NamedTuple):
    """How a tokeniser cuts (see `Tokeniser`)."""

    longest_phrase: int
    marks: bool
    across_sentences: bool
    overlapping: bool


class Standing(NamedTuple):
    """Token `tokens[i]` takes the words from the piece `firsts[i]` to the piece `lasts[i]`. A mark is no word:
    it takes nothing, so that its first is behind its last, where it stands."""

    tokens: np.ndarray  # int32
    firsts: np.ndarray  # int32
    lasts: np.ndarray  # int32


@njit
def room_to_stand(longest, longest_phrase):
    """A Standing for a text of at most `longest` bytes."""
    # A word takes two bytes, with what divides it from the next, and a mark takes one.
    room = (longest + 1) * (longest_phrase + 1) // 2
    return Standing(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))


@njit
def make_hints(keys, hints):
    """Set the bits of all phrases; `hints` is a power of two long."""
    hints[:] = 0
    for key in keys:
        bit = mix_pair(key) >> np.uint64(32) & np.uint64(64 * len(hints) - 1)
        hints[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@njit
def find_tokens(pieces, count, numbers, phrases, cutting, standing):
    """Write the known tokens of a text, of so many pieces, in the order in which they end, the shorter first; give back
    how many."""
    letters, cuts, _ = pieces
    tokens, firsts, lasts = standing
    table, keys, token_of_node, _, hints = phrases
    longest = cutting.longest_phrase
    words = len(token_of_node) - len(keys)
    mask, most = np.uint64(len(table) - 1), np.uint64(64 * len(hints) - 1)
    # `active[k]` is the node of the phrase of k + 1 words that ends at a word, or -1; `begins[k]` is its first piece.
    active, begins = np.full(longest, -1, np.int32), np.zeros(longest, np.int32)
    found, end = 0, 0
    for piece in range(count):
        start, end, node = end, cuts[piece], numbers[piece]
        is_mark = end == start + 1 and (letters[start] == 0x21 or letters[start] == 0x3F)
        if (is_mark or start == end) and not cutting.across_sentences:
            for k in range(longest):
                active[k] = -1
        if start == end:
            continue
        if is_mark:
            token = token_of_node[node] if cutting.marks and node >= 0 else -1
            if token >= 0:
                tokens[found], firsts[found], lasts[found] = token, piece + 1, piece
                found += 1
            continue
        for k in range(longest - 1, 0, -1):
            extended = -1
            if node >= 0 and active[k - 1] >= 0:
                key = np.int64(active[k - 1]) << 32 | node
                mixed = mix_pair(key)
                bit = mixed >> np.uint64(32) & most
                # Most pairs are no phrase, and most of those have no hint. The rest is what `pair_slot` does, written
                # out: to hand arrays over takes longer.
                if hints[bit >> np.uint64(6)] >> (bit & np.uint64(63)) & np.uint64(1):
                    slot = mixed & mask
                    phrase = table[slot]
                    while phrase >= 0 and keys[phrase] != key:
                        slot = (slot + np.uint64(1)) & mask
                        phrase = table[slot]
                    extended = phrase + words if phrase >= 0 else -1
            active[k], begins[k] = extended, begins[k - 1]
        active[0], begins[0] = node, piece
        for k in range(longest):
            token = token_of_node[active[k]] if active[k] >= 0 else -1
            if token >= 0:
                tokens[found], firsts[found], lasts[found] = token, begins[k], piece
                found += 1
    return found
