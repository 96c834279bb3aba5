"""From the bytes of many texts to the known tokens of each: distinct, with how often each is there."""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.text.tokens.kernels.counting import pair_slot
from hardmax.text.tokens.kernels.dictionary import find_words
from hardmax.text.tokens.kernels.scanning import Pieces, find_pieces

TEXTS = 64  # a task for a thread


class Texts(NamedTuple):
    """Text t is `data[offsets[t]:offsets[t + 1]]`, UTF-8; none has more bytes than `longest`."""

    data: np.ndarray  # uint8
    offsets: np.ndarray  # int64
    longest: int


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


class Found(NamedTuple):
    """What texts get: `sizes[t]` tokens and how often each is there, from `bases[t]` on."""

    bases: np.ndarray  # int64
    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    sizes: np.ndarray  # int64


class _Room(NamedTuple):
    """Memory for one text at a time. `active[k]` is the node of the phrase of k + 1 words that ends at the last word;
    `place[v]`, -1 before and after, says where token v stands."""

    pieces: Pieces
    numbers: np.ndarray
    active: np.ndarray
    place: np.ndarray


@njit(inline="always")
def extend_phrases(active, node, phrases):
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
def _collect(count, room, phrases, cutting, found, text):
    """Write the distinct tokens of a text, of so many pieces, to its place in `found`; give back how many."""
    letters, cuts, _ = room.pieces
    active, place, base = room.active, room.place, found.bases[text]
    tokens, end = 0, 0
    active[:] = -1
    for piece in range(count):
        start, end, node = end, cuts[piece], room.numbers[piece]
        is_mark = end == start + 1 and (letters[start] == 0x21 or letters[start] == 0x3F)
        if (is_mark or start == end) and not cutting.across_sentences:
            active[:] = -1
        if start == end or (is_mark and not cutting.marks):
            continue
        if is_mark:
            lengths = 1
        else:
            lengths = len(active)
            extend_phrases(active, node, phrases)
        for k in range(lengths):
            at_node = node if is_mark else active[k]
            token = phrases.token_of_node[at_node] if at_node >= 0 else -1
            if token < 0:
                continue
            if place[token] < 0:
                place[token] = tokens
                found.ids[base + tokens], found.counts[base + tokens] = token, 0
                tokens += 1
            found.counts[base + place[token]] += 1
    for token in found.ids[base : base + tokens]:
        place[token] = -1
    return tokens


@spread(lambda texts, *_: -(-(len(texts.offsets) - 1) // TEXTS))
def encode_texts(first, last, texts, characters, words, phrases, cutting, found):
    """Text t gets `found.sizes[t]` tokens, in order of first appearance, from `found.bases[t]` on."""
    longest = texts.longest
    pieces = Pieces(np.empty(longest, np.uint32), np.empty(longest, np.int64), np.empty(longest, np.uint64))
    active, place = np.empty(cutting.longest_phrase, np.int32), np.full(phrases.tokens, -1, np.int32)
    room = _Room(pieces, np.empty(longest, np.int32), active, place)
    for text in range(first * TEXTS, min(last * TEXTS, len(texts.offsets) - 1)):
        count = find_pieces(texts.data, texts.offsets[text], texts.offsets[text + 1], characters, pieces)
        find_words(pieces, count, words, room.numbers)
        found.sizes[text] = _collect(count, room, phrases, cutting, found, text)


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
