"""The known tokens of one text, wherever they stand: single words, marks, and phrases above them."""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit
from hardmax.text.tokens.kernels.counting import pair_slot


class Phrases(NamedTuple):
    """Phrase p leads from the node `keys[p] >> 32` through the word `keys[p] & 0xffffffff`; phrase nodes come after all
    words. `token_of_node` is the token that a node stands for, or -1; there are so many `tokens`."""

    slots: np.ndarray  # int32, phrases by hash
    keys: np.ndarray  # int64
    token_of_node: np.ndarray  # int32
    tokens: int


class Cutting(NamedTuple):
    """How a tokeniser cuts (see `Tokeniser`)."""

    longest_phrase: int
    marks: bool
    across_sentences: bool
    overlapping: bool


class Standing(NamedTuple):
    """Token `tokens[i]` is `sizes[i]` words long and ends with the piece `pieces[i]`, word `words[i]` of the text; a
    mark has size 0, and stands after that word. Word w is the piece `piece_of_word[w]`."""

    tokens: np.ndarray  # int32
    sizes: np.ndarray  # int8
    pieces: np.ndarray  # int64
    words: np.ndarray  # int64
    piece_of_word: np.ndarray  # int64


@njit
def room_to_stand(longest, longest_phrase):
    """A Standing for a text of at most `longest` bytes."""
    # A word takes two bytes, with what divides it from the next, and a mark takes one.
    room = (longest + 1) * (longest_phrase + 1) // 2
    return Standing(
        np.empty(room, np.int32),
        np.empty(room, np.int8),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(longest, np.int64),
    )


@njit(inline="always")
def _extend_phrases(active, node, phrases):
    """One word further: `active[k]` becomes the node of the phrase of k + 1 words that ends at this word, or -1."""
    table, keys = phrases.slots, phrases.keys
    words = len(phrases.token_of_node) - len(keys)
    for k in range(len(active) - 1, 0, -1):
        extended = -1
        if node >= 0 and active[k - 1] >= 0:
            slot = pair_slot(np.int64(active[k - 1]) << 32 | node, table, keys)
            extended = table[slot] + words if table[slot] >= 0 else -1
        active[k] = extended
    active[0] = node


@njit
def find_tokens(pieces, count, numbers, phrases, cutting, standing):
    """Write the known tokens of a text, of so many pieces, in the order in which they end, the shorter first; give back
    how many."""
    letters, cuts, _ = pieces
    tokens, sizes, ends, words, piece_of_word = standing
    active = np.full(cutting.longest_phrase, -1, np.int32)
    found, word, end = 0, -1, 0
    for piece in range(count):
        start, end, node = end, cuts[piece], numbers[piece]
        is_mark = end == start + 1 and (letters[start] == 0x21 or letters[start] == 0x3F)
        if (is_mark or start == end) and not cutting.across_sentences:
            active[:] = -1
        if start == end or (is_mark and not cutting.marks):
            continue
        lengths = 1
        if not is_mark:
            lengths = len(active)
            _extend_phrases(active, node, phrases)
            word += 1
            piece_of_word[word] = piece
        for k in range(lengths):
            at_node = node if is_mark else active[k]
            token = phrases.token_of_node[at_node] if at_node >= 0 else -1
            if token >= 0:
                tokens[found], sizes[found] = token, 0 if is_mark else k + 1
                ends[found], words[found] = piece, word
                found += 1
    return found
