"""Where the known tokens of one text stand."""

import numpy as np

from hardmax.compiling import njit
from hardmax.text.tokens.kernels.encoding import extend_phrases


@njit
def place_tokens(pieces, count, begins, numbers, phrases, cutting, slots, places):
    """Write the first and last character of every token: that of token v to row `slots[v]`, which moves on by one.

    Piece p starts at character `begins[p]`; a character is a letter, so it is over after as many as it has letters.
    """
    letters, cuts, _ = pieces
    longest = cutting.longest_phrase
    active, first = np.full(longest, -1, np.int32), np.zeros(longest, np.int64)
    end = 0
    for piece in range(count):
        start, end, node = end, cuts[piece], numbers[piece]
        is_mark = end == start + 1 and (letters[start] == 0x21 or letters[start] == 0x3F)
        if (is_mark or start == end) and not cutting.across_sentences:
            active[:] = -1
        if start == end or (is_mark and not cutting.marks):
            continue
        if not is_mark:
            extend_phrases(active, node, phrases)
            for k in range(longest - 1, 0, -1):
                first[k] = first[k - 1]
            first[0] = begins[piece]
        for k in range(1 if is_mark else longest):
            at_node = node if is_mark else active[k]
            token = phrases.token_of_node[at_node] if at_node >= 0 else -1
            if token >= 0:
                places[slots[token], 0] = begins[piece] if is_mark else first[k]
                places[slots[token], 1] = begins[piece] + end - start
                slots[token] += 1
