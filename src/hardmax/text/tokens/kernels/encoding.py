"""From the bytes of many texts to the known tokens of each: distinct, with how often each is there."""

from typing import NamedTuple

import numpy as np

from hardmax._compile import njit, njit_parallel
from hardmax.text.tokens.kernels.dictionary import find_words
from hardmax.text.tokens.kernels.finding import find_tokens, room_to_stand
from hardmax.text.tokens.kernels.scanning import Pieces, find_pieces
from hardmax.text.tokens.kernels.segments import keep_segments, room_to_sort

TEXTS = 64  # a task for a thread


class Texts(NamedTuple):
    """Text t is `data[offsets[t]:offsets[t + 1]]`, UTF-8; none has more bytes than `longest`."""

    data: np.ndarray  # uint8
    offsets: np.ndarray  # int64
    longest: int


class Found(NamedTuple):
    """What texts get: `sizes[t]` tokens and how often each is there, from `bases[t]` on."""

    bases: np.ndarray  # int64
    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    sizes: np.ndarray  # int64


@njit
def find_segments(pieces, count, numbers, phrases, cutting, standing, sorting):
    """The known tokens of a text that count, to `standing`: all, or if they may not overlap the segments."""
    found = find_tokens(pieces, count, numbers, phrases, cutting, standing)
    return found if cutting.overlapping else keep_segments(standing, found, sorting)


@njit
def _collect(standing, count, place, found, text):
    """Write the distinct ones among the first `count` tokens to a text's place in `found`; give back how many.

    `place[v]`, -1 before and after, says where token v is among them.
    """
    base, tokens = found.bases[text], 0
    for token in standing.tokens[:count]:
        if place[token] < 0:
            place[token] = tokens
            found.ids[base + tokens], found.counts[base + tokens] = token, 0
            tokens += 1
        found.counts[base + place[token]] += 1
    for token in found.ids[base : base + tokens]:
        place[token] = -1
    return tokens


@njit_parallel(lambda texts, *_: -(-(len(texts.offsets) - 1) // TEXTS))
def encode_texts(first, last, texts, characters, words, phrases, cutting, found):
    """Text t gets `found.sizes[t]` tokens, in order of first appearance, from `found.bases[t]` on."""
    longest = texts.longest
    pieces = Pieces(np.empty(longest, np.uint32), np.empty(longest, np.int64), np.empty(longest, np.uint64))
    numbers, place = np.empty(longest, np.int32), np.full(phrases.tokens, -1, np.int32)
    standing = room_to_stand(longest, cutting.longest_phrase)
    sorting = room_to_sort(standing, longest)
    for text in range(first * TEXTS, min(last * TEXTS, len(texts.offsets) - 1)):
        count = find_pieces(texts.data, texts.offsets[text], texts.offsets[text + 1], characters, pieces)
        find_words(pieces, count, words, numbers)
        count = find_segments(pieces, count, numbers, phrases, cutting, standing, sorting)
        found.sizes[text] = _collect(standing, count, place, found, text)


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
