"""One text: all the known tokens that stand in it, and which of them count, in one call."""

import numpy as np

from hardmax._compile import njit
from hardmax.text.tokens.kernels.dictionary import find_words
from hardmax.text.tokens.kernels.finding import find_tokens, room_to_stand
from hardmax.text.tokens.kernels.numbering import number_kinds
from hardmax.text.tokens.kernels.scanning import Pieces, find_pieces
from hardmax.text.tokens.kernels.segments import keep_segments, room_to_sort


@njit
def _find_spans(data, begins, letters, count):
    """Turn the first bytes of pieces into first characters; give back where they end. A character is a letter, so a
    piece is over after as many as it has letters."""
    ends, byte, character, before = np.empty(count, np.int64), 0, 0, 0
    for piece in range(count):
        while byte < begins[piece]:
            byte += 1
            if byte < len(data) and data[byte] & 0xC0 != 0x80:  # it does not continue another
                character += 1
        # An empty piece, a sentence end, stands nowhere.
        begins[piece] = character
        ends[piece], before = character + letters[piece] - before, letters[piece]
    return ends


@njit
def _mark_kept(standing, several, tokens, firsts, lasts, kept):
    """Which of the tokens are among the first `several` of a Standing, in which they are in the same order."""
    i = 0
    for s in range(several):
        while tokens[i] != standing.tokens[s] or firsts[i] != standing.firsts[s] or lasts[i] != standing.lasts[s]:
            i += 1
        kept[i] = True


@njit
def read_text(data, characters, words, phrases, cutting, extra):
    """The known tokens that stand in a text, with their first and last piece and their row among the kinds of those
    that count, or -1; of each piece its first character, the one after its last, and its number in the dictionary, -1
    if that has no such word; these kinds, and the token `extra`, if it is not -1; and how often each counts."""
    room = len(data)
    pieces = Pieces(np.empty(room, np.uint32), np.empty(room, np.int64), np.empty(room, np.uint64))
    numbers, begins = np.empty(room, np.int32), np.zeros(room, np.int64)
    count = find_pieces(data, 0, room, characters, pieces, begins)
    find_words(pieces, count, words, numbers)
    standing = room_to_stand(room, cutting.longest_phrase)
    found = find_tokens(pieces, count, numbers, phrases, cutting, standing)
    tokens, firsts, lasts = standing.tokens[:found], standing.firsts[:found], standing.lasts[:found]
    kept = np.full(found, cutting.overlapping)
    if not cutting.overlapping:
        tokens, firsts, lasts = tokens.copy(), firsts.copy(), lasts.copy()
        several = keep_segments(standing, found, room_to_sort(standing, room))
        _mark_kept(standing, several, tokens, firsts, lasts, kept)
    rows, ids = np.empty(found, np.int32), np.empty(found + 1, np.int32)
    kinds = number_kinds(tokens, kept, rows, ids)
    counts = np.zeros(kinds + 1, np.int32)
    for row in rows:
        if row >= 0:
            counts[row] += 1
    if extra >= 0:
        ids[kinds], counts[kinds], kinds = extra, 1, kinds + 1
    end = 0
    for piece in range(count):
        start, end = end, pieces.ends[piece]
        if end == start + 1 and (pieces.letters[start] == 0x21 or pieces.letters[start] == 0x3F):
            numbers[piece] = -1  # a mark is no word
    ends = _find_spans(data, begins, pieces.ends, count)
    return tokens, firsts, lasts, rows, begins[:count], ends, numbers[:count], ids[:kinds], counts[:kinds]
