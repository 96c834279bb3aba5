"""From the bytes of many texts to the known tokens of each: distinct, with how often each is there."""

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.text.tokens.kernels.counting import pair_slot
from hardmax.text.tokens.kernels.dictionary import find_words
from hardmax.text.tokens.kernels.scanning import find_pieces

TEXTS = 64  # a task for a thread


@njit(inline="always")
def extend_phrases(active, node, table, keys, words):
    """One word further: `active[k]` becomes the node of the phrase of k + 1 words that ends at this word, or -1."""
    for k in range(len(active) - 1, 0, -1):
        extended = -1
        if node >= 0 and active[k - 1] >= 0:
            slot = pair_slot(np.int64(active[k - 1]) << 32 | node, table, keys)
            extended = table[slot] + words if table[slot] >= 0 else -1
        active[k] = extended
    active[0] = node


@njit
def _collect(
    letters, cuts, pieces, numbers, token_of_node, table, keys, marks, across, active, place, ids, counts, base
):
    """Write the distinct tokens of one text to `ids` and `counts` from `base` on; give back how many.

    `active[k]` is the node of the phrase of k + 1 words that ends at the last word; `place[v]`, -1 before and after,
    says where token v stands.
    """
    longest, found, end = len(active), 0, 0
    active[:] = -1
    for piece in range(pieces):
        start, end, node = end, cuts[piece], numbers[piece]
        is_mark = end == start + 1 and (letters[start] == 0x21 or letters[start] == 0x3F)
        if (is_mark or start == end) and not across:
            active[:] = -1
        if start == end or (is_mark and not marks):
            continue
        if is_mark:
            lengths = 1
        else:
            lengths = longest
            extend_phrases(active, node, table, keys, len(token_of_node) - len(keys))
        for k in range(lengths):
            at_node = node if is_mark else active[k]
            token = token_of_node[at_node] if at_node >= 0 else -1
            if token < 0:
                continue
            if place[token] < 0:
                place[token] = found
                ids[base + found], counts[base + found] = token, 0
                found += 1
            counts[base + place[token]] += 1
    for token in ids[base : base + found]:
        place[token] = -1
    return found


@spread(lambda data, offsets, *_: -(-(len(offsets) - 1) // TEXTS))
def encode_texts(
    first, last, data, offsets, longest, classes, lowered, words, word_keys, spellings, starts, token_of_node, phrases,
    phrase_keys, tokens, longest_phrase, marks, across_sentences, bases, ids, counts, found,
):  # fmt: skip
    """Text t gets `found[t]` tokens, in order of first appearance, in `ids` and `counts` from `bases[t]` on."""
    letters, cuts = np.empty(longest, np.uint32), np.empty(longest, np.int64)
    keys, numbers = np.empty(longest, np.uint64), np.empty(longest, np.int32)
    active, place = np.empty(longest_phrase, np.int32), np.full(tokens, -1, np.int32)
    for text in range(first * TEXTS, min(last * TEXTS, len(offsets) - 1)):
        pieces = find_pieces(data, offsets[text], offsets[text + 1], classes, lowered, letters, cuts, keys)
        find_words(letters, cuts, keys, pieces, words, word_keys, spellings, starts, numbers)
        found[text] = _collect(
            letters, cuts, pieces, numbers, token_of_node, phrases, phrase_keys, marks, across_sentences, active, place,
            ids, counts, bases[text],
        )  # fmt: skip


@njit
def close_ranks(bases, found, extra, ids, counts, offsets, packed_ids, packed_counts):
    """Copy what the texts got, without the room that was left between them; the token `extra` after each, if not -1."""
    at = 0
    for text in range(len(found)):
        for t in range(bases[text], bases[text] + found[text]):
            packed_ids[at], packed_counts[at] = ids[t], counts[t]
            at += 1
        if extra >= 0:
            packed_ids[at], packed_counts[at] = extra, 1
            at += 1
        offsets[text + 1] = at
