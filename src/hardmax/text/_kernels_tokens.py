"""From the pieces of texts to their tokens: the known ones, and which of them count; or all, to
build a vocabulary."""

from typing import NamedTuple

import numpy as np

from hardmax._kernels.compiling import njit, njit_parallel
from hardmax.text._kernels_pieces import (
    fill_table,
    find_pieces,
    find_slot,
    find_words,
    is_spelt,
    make_pieces,
)

TEXTS = 64  # a task for a thread
_GONE = -1  # for a token that is no segment
LAST_BIT = 63  # all modifiers from this one on share it
BREAK = -1  # in a stream of words: a clause ends
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Phrases(NamedTuple):
    """Phrase p leads from the node `keys[p] >> 32` through the word `keys[p] & 0xffffffff`; phrase
    nodes come after all words. `token_of_node` is the token that a node stands for, or -1; there
    are so many `tokens`."""

    slots: np.ndarray  # int32, phrases by hash
    keys: np.ndarray  # int64
    token_of_node: np.ndarray  # int32
    tokens: int


class Standing(NamedTuple):
    """Token `tokens[i]` takes the words from the piece `firsts[i]` to the piece `lasts[i]`; `keys`
    and `taken` are memory."""

    tokens: np.ndarray  # int32
    firsts: np.ndarray  # int32
    lasts: np.ndarray  # int32
    keys: np.ndarray  # int64, one for each token
    taken: np.ndarray  # bool, for each piece whether a token has taken it


class Modifiers(NamedTuple):
    """The modifiers of a `Reader`: word w of the dictionary is the modifier `of_word[w]`, or none,
    -1; a word that is not there is the modifier `of_form[f]` if it has the form f, the ending (or
    the beginning) `letters[bounds[f]:bounds[f + 1]]`."""

    factors: np.ndarray  # float64
    shifts: np.ndarray  # float64
    strengths: np.ndarray  # float64
    of_word: np.ndarray  # int32
    letters: np.ndarray  # uint32
    bounds: np.ndarray  # int64
    is_ending: np.ndarray  # bool
    of_form: np.ndarray  # int32
    scope: int


class Attending(NamedTuple):
    """For each piece of a text the modifier that it is, or -1, and the piece that a token which
    begins with it attends to, or -1 if to itself."""

    modifiers: np.ndarray  # int32
    attended: np.ndarray  # int32


class Found(NamedTuple):
    """What texts get: `sizes[t]` tokens from `bases[t]` on, which is at first the room for all
    before; how often each is there, the means of
    its factors and shifts, and a bit for each modifier that it attends to."""

    bases: np.ndarray  # int64
    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    factors: np.ndarray  # float64
    shifts: np.ndarray  # float64
    attended: np.ndarray  # uint64
    sizes: np.ndarray  # int64


@njit(inline="always")
def pair_slot(key, table, keys):
    """The slot with the number of a pair, or the free slot where it belongs."""
    mask = np.uint64(len(table) - 1)
    mixed = np.uint64(key) * _MIX
    slot = (mixed ^ mixed >> np.uint64(32)) & mask
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit
def fill_pairs(table, keys, pairs):
    """Give each of the first `pairs` a slot in a table that is a power of two long, at least twice
    as long."""
    table[:] = -1
    for number in range(pairs):
        table[pair_slot(keys[number], table, keys)] = number


@njit(inline="always")
def _room_to_stand(longest, longest_phrase):
    """A Standing for a text of at most `longest` bytes."""
    # A word takes two bytes, with what divides it from the next.
    room = (longest + 1) // 2 * longest_phrase
    tokens, firsts = np.empty(room, np.int32), np.empty(room, np.int32)
    lasts, keys = np.empty(room, np.int32), np.empty(room, np.int64)
    return Standing(tokens, firsts, lasts, keys, np.zeros(longest + 1, np.bool_))


@njit
def _find_tokens(count, numbers, phrases, longest, standing):
    """Write the known tokens of a text, whose pieces have these numbers, in the order in which they
    end, the shorter first; return how many."""
    tokens, firsts, lasts, _, _ = standing
    table, keys, token_of_node, _ = phrases
    words = len(token_of_node) - len(keys)
    # `active[k]` is the node of the phrase of k + 1 words that ends at a word, or -1. No phrase has
    # more words than `depth`: so many came since a clause ended, or an unknown word.
    active, found, depth = np.empty(longest, np.int32), 0, 0
    for piece in range(count):
        node = numbers[piece]
        if node < 0:
            depth = 0
            continue
        depth = min(depth + 1, longest)
        for k in range(depth - 1, 0, -1):
            extended = -1
            if active[k - 1] >= 0:
                phrase = table[pair_slot(np.int64(active[k - 1]) << 32 | node, table, keys)]
                extended = phrase + words if phrase >= 0 else -1
            active[k] = extended
        active[0] = node
        for k in range(depth):
            token = token_of_node[active[k]] if active[k] >= 0 else -1
            if token >= 0:
                tokens[found], firsts[found], lasts[found] = token, piece - k, piece
                found += 1
    return found


@njit
def _keep_segments(standing, found):
    """Keep those of the first `found` tokens that are segments, in their order; return how many.

    Tokens are taken in the order of the vocabulary, each from left to right, if none of their words
    is taken yet. Those that share no words, not even by way of others, are no rivals."""
    tokens, firsts, lasts, keys, taken = standing
    end = found
    while end > 0:
        begin = end - 1
        first = firsts[begin]
        while begin > 0 and lasts[begin - 1] >= first:
            begin -= 1
            first = min(first, firsts[begin])
        for t in range(begin, end):
            keys[t] = np.int64(tokens[t]) << 32 | t
        if end > begin + 1:
            keys[begin:end].sort()
        for place in range(begin, end):
            t = keys[place] & 0xFFFFFFFF
            if taken[firsts[t] : lasts[t] + 1].any():
                tokens[t] = _GONE
            else:
                taken[firsts[t] : lasts[t] + 1] = True
        end = begin
    kept = 0
    for t in range(found):
        tokens[kept], firsts[kept], lasts[kept] = tokens[t], firsts[t], lasts[t]
        taken[firsts[t] : lasts[t] + 1] = False
        kept += tokens[t] != _GONE
    return kept


@njit
def _modifier_of(letters, start, end, modifiers):
    """The modifier that a word outside the dictionary is by its form, or -1."""
    for form in range(len(modifiers.of_form)):
        first, last = modifiers.bounds[form], modifiers.bounds[form + 1]
        size = min(last - first, end - start)
        at = end - size if modifiers.is_ending[form] else start
        if is_spelt(letters, at, at + size, modifiers.letters, first, last):
            return modifiers.of_form[form]
    return np.int32(-1)


@njit
def _attend(pieces, count, numbers, modifiers, attending):
    """What `Reader.attend` says of the first `count` pieces."""
    own, attended = attending
    clause, end, latest = 0, 0, -1  # the latest modifier
    for piece in range(count):
        start, end = end, pieces.ends[piece]
        own[piece], attended[piece] = -1, -1
        if start == end:
            clause = piece + 1
            continue
        if numbers[piece] >= 0:
            own[piece] = modifiers.of_word[numbers[piece]]
        else:
            own[piece] = _modifier_of(pieces.letters, start, end, modifiers)
        strength = -1.0
        for before in range(latest, max(clause, piece - modifiers.scope) - 1, -1):
            modifier = own[before]
            if modifier >= 0 and modifiers.strengths[modifier] > strength:
                attended[piece], strength = before, modifiers.strengths[modifier]
        if own[piece] >= 0:
            latest = piece


@njit(inline="always")
def _attended_by(first, last, attending):
    """The piece that a token from one piece to another attends to, or -1 if to itself."""
    for piece in range(first, last + 1):
        if attending.modifiers[piece] >= 0:
            return np.int32(-1)
    return attending.attended[first]


@njit
def _collect(standing, count, attending, modifiers, place, found, text):
    """Write the distinct ones among the first `count` tokens to a text's place in `found`; return
    how many.

    `place[v]`, -1 before and after, says where token v is among them. Without modifiers nothing
    attends."""
    base, tokens = found.bases[text], 0
    for i in range(count):
        token = standing.tokens[i]
        if place[token] < 0:
            place[token] = tokens
            at = base + tokens
            found.ids[at], found.counts[at] = token, 0
            found.factors[at], found.shifts[at], found.attended[at] = 0.0, 0.0, 0
            tokens += 1
        at = base + place[token]
        found.counts[at] += 1
        attended = np.int32(-1)
        if len(modifiers.factors):
            attended = _attended_by(standing.firsts[i], standing.lasts[i], attending)
        if attended < 0:
            found.factors[at] += 1.0
            continue
        modifier = attending.modifiers[attended]
        found.factors[at] += modifiers.factors[modifier]
        found.shifts[at] += modifiers.shifts[modifier]
        found.attended[at] |= np.uint64(1) << np.uint64(min(modifier, LAST_BIT))
    for at in range(base, base + tokens):
        place[found.ids[at]] = -1
        found.factors[at] /= found.counts[at]
        found.shifts[at] /= found.counts[at]
    return tokens


@njit_parallel(lambda data, offsets, *_: -(-(len(offsets) - 1) // TEXTS))
def encode_texts(
    first,
    last,
    data,
    offsets,
    longest,
    characters,
    words,
    phrases,
    modifiers,
    longest_phrase,
    overlapping,
    found,
):
    """Text t gets its tokens, in order of first appearance."""
    pieces, standing = make_pieces(longest), _room_to_stand(longest, longest_phrase)
    numbers, place = np.empty(longest, np.int32), np.full(phrases.tokens, -1, np.int32)
    attending = Attending(np.empty(longest, np.int32), np.empty(longest, np.int32))
    base = found.bases[first * TEXTS]
    for text in range(first * TEXTS, min(last * TEXTS, len(offsets) - 1)):
        size = find_pieces(data, offsets[text], offsets[text + 1], characters, pieces)
        find_words(pieces, size, words, numbers)
        count = _find_tokens(size, numbers, phrases, longest_phrase, standing)
        if not overlapping:
            count = _keep_segments(standing, count)
        if len(modifiers.factors):
            _attend(pieces, size, numbers, modifiers, attending)
        # Where the text before it ends: the rest of its room is never touched.
        found.bases[text] = base
        found.sizes[text] = _collect(standing, count, attending, modifiers, place, found, text)
        base += found.sizes[text]


@njit
def number_words(data, offsets, longest, characters):
    """(stream, ends, spellings, starts): the words of all texts as numbers by first appearance, and
    their spellings.

    Text t is `stream[ends[t]:ends[t + 1]]`, with BREAK where a clause ends. Word w is
    `spellings[starts[w]:starts[w + 1]]`. `longest` is the number of bytes of the longest text.
    """
    found = make_pieces(longest)
    letters, cuts, own_keys = found
    # No more pieces and letters than bytes; memory that is not written to costs nothing.
    most = offsets[-1] - offsets[0]
    stream, used = np.empty(most, np.int32), 0
    ends = np.zeros(len(offsets), np.int64)
    spellings, starts = np.empty(most, np.uint32), np.empty(most + 1, np.int64)
    starts[0] = 0
    table, keys, words = np.full(1024, -1, np.int32), np.empty(most, np.uint64), 0
    for text in range(len(offsets) - 1):
        pieces = find_pieces(data, offsets[text], offsets[text + 1], characters, found)
        end = 0
        for piece in range(pieces):
            start, end = end, cuts[piece]
            used += 1
            if start == end:
                stream[used - 1] = BREAK
                continue
            slot = find_slot(letters, start, end, own_keys[piece], table, keys, spellings, starts)
            if table[slot] < 0:
                first, last = starts[words], starts[words] + end - start
                spellings[first:last] = letters[start:end]
                keys[words], table[slot], starts[words + 1] = own_keys[piece], words, last
                words += 1
            stream[used - 1] = table[slot]
            if 2 * words == len(table):
                table = np.empty(4 * words, np.int32)
                fill_table(table, keys, words)
        ends[text + 1] = used
    return stream[:used], ends, spellings[: starts[words]], starts[: words + 1]
