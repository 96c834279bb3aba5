"""Counting all words and phrases of training texts: words become numbers, and phrases pairs of numbers."""

import numpy as np

from hardmax._compile import njit
from hardmax.text._kernels_pieces import fill_table, find_pieces, find_slot, make_pieces

BREAK, EXCLAMATION, QUESTION = -1, -2, -3  # in a stream of words: no phrase crosses a break; marks belong to none
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit
def _grown(array, length):
    larger = np.empty(length, array.dtype)
    larger[: len(array)] = array
    return larger


@njit
def number_words(data, offsets, longest, characters):
    """(stream, ends, spellings, starts): the words of all texts as numbers by first appearance, and their spellings.

    Text t is `stream[ends[t]:ends[t + 1]]`, with BREAK where a sentence ends. Word w is
    `spellings[starts[w]:starts[w + 1]]`. `longest` is the number of bytes of the longest text.
    """
    found = make_pieces(longest)
    letters, cuts, own_keys = found
    stream, used = np.empty(1024, np.int32), 0
    ends = np.zeros(len(offsets), np.int64)
    table, keys, words = np.full(1024, -1, np.int32), np.empty(512, np.uint64), 0
    spellings, starts = np.empty(8192, np.uint32), np.zeros(513, np.int64)
    for text in range(len(offsets) - 1):
        pieces = find_pieces(data, offsets[text], offsets[text + 1], characters, found)
        while used + 2 * pieces > len(stream):
            stream = _grown(stream, 2 * len(stream))
        end = 0
        for piece in range(pieces):
            start, end = end, cuts[piece]
            mark = 0
            if end == start + 1 and (letters[start] == 0x21 or letters[start] == 0x3F):
                mark = EXCLAMATION if letters[start] == 0x21 else QUESTION
            if mark or start == end:
                stream[used] = BREAK
                used += 1
            if start == end:
                continue
            stream[used] = mark
            used += 1
            if mark:
                continue
            slot = find_slot(letters, start, end, own_keys[piece], table, keys, spellings, starts)
            if table[slot] < 0:
                while starts[words] + end - start > len(spellings):
                    spellings = _grown(spellings, 2 * len(spellings))
                spellings[starts[words] : starts[words] + end - start] = letters[start:end]
                starts[words + 1] = starts[words] + end - start
                keys[words], table[slot] = own_keys[piece], words
                words += 1
            stream[used - 1] = table[slot]
            if words == len(keys):
                keys, starts = _grown(keys, 2 * words), _grown(starts, 2 * words + 1)
                table = np.empty(4 * words, np.int32)
                fill_table(table, keys, words)
        ends[text + 1] = used
    return stream[:used], ends, spellings[: starts[words]], starts[: words + 1]


@njit
def count_documents(stream, ends, numbers):
    """In how many texts each of the `numbers` words of a stream appears."""
    documents = np.zeros(numbers, np.int64)
    last = np.full(numbers, -1, np.int64)
    for text in range(len(ends) - 1):
        for place in range(ends[text], ends[text + 1]):
            number = stream[place]
            if number >= 0 and last[number] != text:
                last[number] = text
                documents[number] += 1
    return documents


@njit
def number_phrases(stream, ends, prefixes):
    """(numbers, keys): the phrases that a prefix and the next word make, by first appearance.

    `prefixes[i]` is the number of the prefix that ends at place i, or -1; `numbers[i]` is that of the phrase that ends
    there. Phrase p is the prefix `keys[p] >> 32` and the word `keys[p] & 0xffffffff`.
    """
    numbers = np.full(len(stream), -1, np.int32)
    table, keys, phrases = np.full(2048, -1, np.int32), np.empty(1024, np.int64), 0
    for text in range(len(ends) - 1):
        prefix = -1
        for place in range(ends[text], ends[text + 1]):
            word = stream[place]
            if word < BREAK:
                continue
            if word >= 0 and prefix >= 0:
                key = np.int64(prefix) << 32 | word
                slot = pair_slot(key, table, keys)
                if table[slot] < 0:
                    table[slot] = phrases
                    keys[phrases] = key
                    phrases += 1
                numbers[place] = table[slot]
                if phrases == len(keys):
                    keys = _grown(keys, 2 * phrases)
                    table = np.empty(4 * phrases, np.int32)
                    fill_pairs(table, keys, phrases)
            prefix = prefixes[place]
    return numbers, keys[:phrases]


@njit(inline="always")
def mix_pair(key):
    """A hash of a pair."""
    mixed = np.uint64(key) * _MIX
    return mixed ^ mixed >> np.uint64(32)


@njit(inline="always")
def pair_slot(key, table, keys):
    """The slot with the number of a pair, or the free slot where it belongs."""
    mask = np.uint64(len(table) - 1)
    slot = mix_pair(key) & mask
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit
def fill_pairs(table, keys, pairs):
    """Give each of the first `pairs` a slot in a table that is a power of two long, at least twice as long."""
    table[:] = -1
    for number in range(pairs):
        table[pair_slot(keys[number], table, keys)] = number


@njit
def surprise(numbers, ends, order, class_ends, phrases):
    """(scores, documents): how unevenly each phrase is spread over the classes (chi-squared), and its number of texts.

    With n_c the texts of class c that have it, and e_c as many as expected if classes did not matter, the score is the
    sum over c of (n_c - e_c)^2 / e_c. The texts of class c are `order[class_ends[c]:class_ends[c + 1]]`.
    """
    here, documents = np.zeros(phrases, np.int64), np.zeros(phrases, np.int64)
    squares, last = np.zeros(phrases), np.full(phrases, -1, np.int64)
    for c in range(len(class_ends) - 1):
        size = class_ends[c + 1] - class_ends[c]
        for text in order[class_ends[c] : class_ends[c + 1]]:
            for place in range(ends[text], ends[text + 1]):
                phrase = numbers[place]
                if phrase >= 0 and last[phrase] != text:
                    last[phrase] = text
                    here[phrase] += 1
        for phrase in range(phrases):
            if here[phrase]:
                squares[phrase] += here[phrase] * here[phrase] / size
                documents[phrase] += here[phrase]
                here[phrase] = 0
    for phrase in range(phrases):
        squares[phrase] = squares[phrase] * len(order) / documents[phrase] - documents[phrase]
    return squares, documents
