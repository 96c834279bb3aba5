"""From the bytes of a text to its pieces (words, ends of clauses), and from words to their numbers.

The definition, for one text at a time, is `hardmax.text.tokeniser`.
"""

from typing import NamedTuple

import numpy as np

from hardmax._kernels.compiling import njit

# Kinds of characters. Those from LETTER on make words. SIGN and JOINER belong to the word before
# them, and are letters where there is none; SOLO is a word of its own, and so are LEAD with the
# SOLO after it, a pair of FLAGs, and what a JOINER joins. What a MARK is depends on its neighbours.
SEPARATOR, APOSTROPHE, MARK, CLAUSE_END, TAG_START = range(5)
LETTER, SIGN, JOINER, SOLO, LEAD, FLAG = range(5, 11)
LONGEST_TAG = 200  # characters between the first letter and `>`
MOUTHS = tuple(b")(][/|\\dpoDPO")  # of emoticons


class Characters(NamedTuple):
    """The kind of each character; each in lower case, those beyond the end of `lowered` as they
    are; and whether it counts at most twice in a row."""

    classes: np.ndarray
    lowered: np.ndarray
    stretching: np.ndarray


class Pieces(NamedTuple):
    """Piece p of a text is `letters[ends[p - 1]:ends[p]]`, folded.

    `keys[p]` are its letters themselves, a byte each, if they are at most eight, of ASCII; else a
    hash of them, at least HASHED. A piece without letters is the end of a clause."""

    letters: np.ndarray  # uint32
    ends: np.ndarray  # int64
    keys: np.ndarray  # uint64


class Words(NamedTuple):
    """A dictionary: word w is `spellings[starts[w]:starts[w + 1]]` and has the key `keys[w]`.

    `slots`, a power of two long and at least twice as long as there are words, has their numbers,
    and -1 where free."""

    slots: np.ndarray  # int32
    keys: np.ndarray  # uint64
    spellings: np.ndarray  # uint32
    starts: np.ndarray  # int64


_BROKEN = np.int64(0xFFFD)
_START, _PRIME = np.uint64(1469598103934665603), np.uint64(1099511628211)
_BYTE, _NONE, _ASCII, _LETTERS = np.uint64(8), np.uint64(0), np.uint64(0x80), 8
_MIX, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
HASHED = np.uint64(1 << 63)  # no letter of ASCII has the first bit


@njit(inline="always")
def make_pieces(longest):
    """Memory for the pieces of a text of at most `longest` bytes."""
    letters, keys = np.empty(longest, np.uint32), np.empty(longest, np.uint64)
    return Pieces(letters, np.empty(longest, np.int64), keys)


@njit
def _hash(letters, start, end):
    hashed = _START
    for place in range(start, end):
        hashed = (hashed ^ np.uint64(letters[place])) * _PRIME
    return hashed ^ hashed >> np.uint64(29) | HASHED


@njit
def _tail(data, at, end):
    """The six bits of a byte that continues a character; -1 if it does not."""
    if at < end and data[at] & 0xC0 == 0x80:
        return np.int64(data[at]) & 0x3F
    return np.int64(-1)


@njit
def _read(data, at, end):
    """The character at `at`, and how many bytes it has. Broken bytes are U+FFFD, one by one."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    second, third = _tail(data, at + 1, end), _tail(data, at + 2, end)
    fourth = _tail(data, at + 3, end)
    if 0xC2 <= lead < 0xE0 and second >= 0:
        return (lead & 0x1F) << 6 | second, 2
    if 0xE0 <= lead < 0xF0 and second >= 0 and third >= 0:
        return (lead & 0x0F) << 12 | second << 6 | third, 3
    if 0xF0 <= lead < 0xF5 and second >= 0 and third >= 0 and fourth >= 0:
        return (lead & 0x07) << 18 | second << 12 | third << 6 | fourth, 4
    return _BROKEN, 1


@njit
def _class_of(code, classes):
    return np.int64(classes[code]) if code < len(classes) else np.int64(SEPARATOR)  # no character


@njit
def _is_digit(code):
    return 0x30 <= code <= 0x39


@njit
def _read_unusual(data, at, end, before, classes):
    """The character at `at`, how many bytes it has, and its kind, after the letter `before`, or -1
    if there is none.

    An apostrophe between letters is a letter, and so are a point and a comma between digits;
    elsewhere these two end a clause, as two hyphens do."""
    code, size = _read(data, at, end)
    kind = _class_of(code, classes)
    if kind not in (APOSTROPHE, MARK):
        return code, size, kind
    after = np.int64(0x20)
    if at + size < end:
        after, _ = _read(data, at + size, end)
    if kind == APOSTROPHE:
        is_inside = before >= 0 and LETTER <= _class_of(after, classes) <= JOINER
        if is_inside:
            return np.int64(0x27), size, np.int64(LETTER)
        return code, size, np.int64(SEPARATOR)
    if code == 0x2D:
        return code, size, np.int64(CLAUSE_END if after == 0x2D else SEPARATOR)
    is_inside = _is_digit(before) and _is_digit(after)
    return code, size, np.int64(LETTER if is_inside else CLAUSE_END)


@njit
def _after_tag(data, at, end):
    """Where the tag that starts at `at` is over; `at` itself if none starts there."""
    inside = at + 1
    if inside < end and data[inside] == 0x2F:
        inside += 1
    if inside >= end or not 0x61 <= data[inside] | 0x20 <= 0x7A:
        return at
    inside += 1
    characters = 0
    while inside < end:
        byte = data[inside]
        if byte == 0x3E:
            return inside + 1 if characters <= LONGEST_TAG else at
        characters += byte & 0xC0 != 0x80
        if byte == 0x3C or characters > LONGEST_TAG:
            return at
        inside += 1
    return at


@njit
def _after_emoticon(data, begin, at, end, classes):
    """Where the emoticon that starts at `at` is over, of a text that begins at `begin`; `at` itself
    if none starts there."""
    is_heart = data[at] == 0x3C
    mouth = at + 1
    if mouth < end and not is_heart and data[mouth] in (0x27, 0x2D):
        mouth += 1
    if mouth >= end or (at > begin and data[at - 1] > 0x20 and data[at - 1] != 0x3E):
        return at
    after, code = mouth + 1, np.int64(0x20)
    while after < end and data[after] == data[mouth]:
        after += 1
    if after < end:
        code, _ = _read(data, after, end)
    is_mouth = data[mouth] == 0x33 if is_heart else data[mouth] in MOUTHS
    is_apart = not LETTER <= _class_of(code, classes) <= JOINER
    return after if is_mouth and is_apart else at


@njit
def _joins(tie, kind):
    """Whether a character belongs to the word before it; `tie` says what may follow that."""
    if kind in (SIGN, JOINER):
        return True
    if kind == LETTER or tie == LETTER:
        return kind == tie
    if kind == FLAG:
        return tie in (FLAG, JOINER)
    return kind == SOLO and tie in (JOINER, LEAD)


@njit
def _tie_after(tie, kind, joins):
    """What may follow a character: LETTER in a run of letters and outside words, else the kind that
    waits for more."""
    if joins and tie != LETTER:
        return JOINER if kind == JOINER else SOLO
    return LETTER if kind <= JOINER or joins else kind


@njit
def find_pieces(data, at, end, characters, found):
    """Cut the text `data[at:end]` into pieces, `found`; return how many."""
    classes, lowered, stretching = characters
    letters, ends, keys = found
    pieces, length, start, tie, begin = 0, 0, 0, LETTER, at
    packed, union = _NONE, _NONE
    last, run = np.int64(-1), 0
    while at <= end:
        # After the last byte comes a separator, which ends the last word.
        code, size = np.int64(data[at]) if at < end else np.int64(0x20), 1
        kind = np.int64(classes[code])
        # Most characters are plain letters and spaces: no call for them.
        if code >= 0x80 or kind in (APOSTROPHE, MARK):
            before = np.int64(-1)
            if length > start and tie == LETTER:
                before = np.int64(letters[length - 1])
            code, size, kind = _read_unusual(data, at, end, before, classes)
        joins = kind == LETTER
        if kind > LETTER or tie > LETTER:
            joins = _joins(tie, kind)
            tie, kind = _tie_after(tie, kind, joins), min(kind, LETTER)
        if length > start and not joins:
            if run > 1 and length == start + 2:  # "mmmm" keeps three
                letters[length] = last
                length, packed = length + 1, packed << _BYTE | np.uint64(last)
            is_short = length - start <= _LETTERS and union < _ASCII
            ends[pieces] = length
            keys[pieces] = packed if is_short else _hash(letters, start, length)
            pieces, start = pieces + 1, length
            packed, union = _NONE, _NONE
            last = np.int64(-1)
        at += size
        if kind == LETTER:
            code = np.int64(lowered[code]) if code < len(lowered) else code
            run = (run + 1) * (code == last)
            last = code
            if run > 1 and stretching[code]:
                continue
            letters[length] = code
            length += 1
            packed, union = packed << _BYTE | np.uint64(code), union | np.uint64(code)
            continue
        after = at
        if 0x3A <= code <= 0x3D:  # : ; < =
            after = _after_emoticon(data, begin, at - 1, end, classes)
        if after > at:
            mouth = np.int64(lowered[data[after - 1]])
            letters[length], letters[length + 1] = code, mouth
            start = length = length + 2
            ends[pieces], keys[pieces] = length, np.uint64(code << 8 | mouth)
            pieces, at = pieces + 1, after
            continue
        if kind == TAG_START:
            after = _after_tag(data, at - 1, end)
            kind = CLAUSE_END if after >= at else SEPARATOR
            at = max(at, after)
        if kind == CLAUSE_END:
            ends[pieces], keys[pieces] = length, _NONE
            pieces += 1
    return pieces


@njit
def is_spelt(letters, start, end, spellings, first, last):
    same = last - first == end - start
    place = start
    while same and place < end:
        same = letters[place] == spellings[first + place - start]
        place += 1
    return same


@njit(inline="always")
def find_slot(letters, start, end, key, table, keys, spellings, starts):
    """The slot with the number of the word `letters[start:end]`, or the free slot where it belongs.

    Spellings decide, never a hash alone. Keys of short words are their spellings.
    """
    mask = np.uint64(len(table) - 1)
    slot = key * _MIX >> _HALF & mask
    number = table[slot]
    while number >= 0 and not (
        keys[number] == key
        and (
            key < HASHED
            or is_spelt(letters, start, end, spellings, starts[number], starts[number + 1])
        )
    ):
        slot = (slot + np.uint64(1)) & mask
        number = table[slot]
    return slot


@njit
def find_words(pieces, count, words, numbers):
    """The numbers of the first `count` pieces; -1 for those that are empty or not in the
    dictionary."""
    letters, ends, keys = pieces
    table, known, spellings, starts = words
    end = 0
    for piece in range(count):
        start, end = end, ends[piece]
        numbers[piece] = -1
        if start < end:
            slot = find_slot(letters, start, end, keys[piece], table, known, spellings, starts)
            numbers[piece] = table[slot]


@njit
def fill_table(table, keys, words):
    """Give each of the first `words` keys a slot."""
    mask = np.uint64(len(table) - 1)
    table[:] = -1
    for number in range(words):
        slot = keys[number] * _MIX >> _HALF & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
