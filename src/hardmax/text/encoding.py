"""Texts as the tokens that a vocabulary knows: ragged, distinct, with multiplicities."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hardmax._compile import interpreted
from hardmax._tokens.points import table_size
from hardmax._validation import check_str
from hardmax.text._characters import CHARACTERS
from hardmax.text._kernels_pieces import Words, fill_table, find_pieces, make_pieces
from hardmax.text._kernels_tokens import Found, Phrases, close_ranks, encode_texts, fill_pairs, read_text
from hardmax.text._texts import TextBytes, encode_text, read_texts
from hardmax.text.tokeniser import Tokeniser, cut_surface, keep_segments
from hardmax.text.vocabulary import Vocabulary

SHORT = 20_000  # characters; longer texts are read sooner by compiled kernels, if these have to be loaded first
_BYTES_AT_ONCE = 1 << 22  # so that what texts may need at most is little beside what they are


@dataclass(frozen=True, eq=False)
class Encoded:
    """Text t has the distinct tokens `ids[offsets[t]:offsets[t + 1]]`, each as often as `counts` says."""

    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    offsets: np.ndarray  # int64

    def __len__(self) -> int:
        return len(self.offsets) - 1


def join_parts(parts: Sequence[Any]) -> Any:
    """The texts of all parts, at least one, one part after the other; they are all `Encoded`, or `Analysis`."""
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [[0], *(part.offsets[1:] + shift for part, shift in zip(parts, shifts, strict=False))]
    columns = {each.name: [getattr(part, each.name) for part in parts] for each in fields(parts[0])}
    columns |= {"offsets": offsets}
    joined = {n: sum(own) if isinstance(own[0], int) else np.concatenate(own) for n, own in columns.items()}
    return type(parts[0])(**joined)


@dataclass(frozen=True, eq=False)
class Read:
    """The known tokens of one text, and for each of them where it is: rows (start, end) of `text[start:end]`."""

    encoded: Encoded
    places: list[np.ndarray]


def encode(texts: Any, vocabulary: Vocabulary, tokeniser: Tokeniser) -> Encoded:
    """The known tokens of each text, in order of first appearance.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = encode(["Not good, not GOOD film.", "", "A film"], known, Tokeniser())
    >>> found.ids.tolist(), found.counts.tolist(), found.offsets.tolist()
    ([0, 2, 1, 1], [2, 2, 1, 1], [0, 3, 3, 4])
    """
    return join_parts(list(encode_parts(read_texts(texts), vocabulary, tokeniser)))


def encode_parts(
    texts: TextBytes, vocabulary: Vocabulary, tokeniser: Tokeniser, extra: int = -1, *, few: bool = False
) -> Iterator[Encoded]:
    """`encode` in parts of a few megabytes; the token `extra` is added to each text, once, if it is not -1.

    With `few`, texts that are not long are read without waiting for numba, by the definition.
    """
    with interpreted(encode_texts, if_small=few and len(texts.data) <= SHORT) as in_python:
        defined = [_define(text, vocabulary, tokeniser, extra).encoded for text in texts.strings()] if in_python else []
    if in_python:
        nothing = Encoded(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))
        yield join_parts([nothing, *defined])
        return
    lexicon, first = lexicon_of(vocabulary), 0
    while first < len(texts) or not first:
        limit = texts.offsets[first] + _BYTES_AT_ONCE
        last = max(first + 1, int(np.searchsorted(texts.offsets, limit, side="right")) - 1)
        yield _encode_part(texts.part(first, last), lexicon, tokeniser, extra)
        first = last


def read_one(text: str, vocabulary: Vocabulary, tokeniser: Tokeniser, extra: int = -1) -> Read:
    """The known tokens of one text, as `encode` finds them; the token `extra` comes last, and has no place.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = read_one("Not good, not GOOD film.", known, Tokeniser())
    >>> found.encoded.ids.tolist(), found.places[1].tolist()
    ([0, 2, 1], [[0, 8], [10, 18]])
    """
    with interpreted(read_text, if_small=len(check_str(text, "`text`")) <= SHORT) as in_python:
        if in_python:
            return _define(text, vocabulary, tokeniser, extra)
    lexicon = lexicon_of(vocabulary)
    data = np.frombuffer(encode_text(text), dtype=np.uint8)
    tokens, starts, ends = read_text(data, CHARACTERS, lexicon.words, lexicon.phrases, tokeniser.cutting)
    return _group(tokens, starts, ends, extra)


def _define(text: str, vocabulary: Vocabulary, tokeniser: Tokeniser, extra: int) -> Read:
    """One text, read as the definition says: no arrays have to be made for it, and nothing compiled."""
    index = vocabulary.index
    tokens = tokeniser.tokens(encode_text(text).decode())
    known = [(index[token.surface], token) for token in tokens if token.surface in index]
    known = known if tokeniser.overlapping else keep_segments(known)
    rows = np.array([(number, token.start, token.end) for number, token in known], dtype=np.int64).reshape(-1, 3)
    return _group(rows[:, 0].astype(np.int32), rows[:, 1], rows[:, 2], extra)


def _group(tokens: np.ndarray, starts: np.ndarray, ends: np.ndarray, extra: int) -> Read:
    """The distinct ones of the tokens of a text, and the places of each."""
    _, firsts, kinds = np.unique(tokens, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(firsts))[kinds]  # by first appearance
    counts = np.bincount(rank, minlength=len(firsts))
    places = np.stack([starts, ends], axis=1)[np.argsort(rank, kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(counts)])
    ids, has_extra = tokens[np.sort(firsts)], extra >= 0
    encoded = Encoded(
        np.append(ids, [extra] * has_extra).astype(np.int32),
        np.append(counts, [1] * has_extra).astype(np.int32),
        np.array([0, len(ids) + has_extra]),
    )
    return Read(encoded, [places[a:b] for a, b in pairwise([*bounds.tolist(), *[len(places)] * has_extra])])


@dataclass(frozen=True, eq=False)
class Lexicon:
    """A vocabulary in the arrays that kernels read: a dictionary of words, and a tree of phrases above it.

    Nodes are the words of the vocabulary and of its phrases, and after them the beginnings of phrases, and phrases.
    """

    words: Words
    phrases: Phrases

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "Lexicon":
        cut = [surface.split(" ") if surface.isascii() else cut_surface(surface) for surface in vocabulary.surfaces]
        words: dict[str, int] = {}
        for word in chain.from_iterable(cut):
            words.setdefault(word, len(words))
        nodes: dict[int, int] = {}
        token_of_node: dict[int, int] = {}
        for token, (first, *rest) in enumerate(cut):
            node = words[first]
            for word in rest:
                node = len(words) + nodes.setdefault(node << 32 | words[word], len(nodes))
            token_of_node[node] = token
        keys = np.fromiter(nodes, dtype=np.int64, count=len(nodes))
        slots = np.empty(table_size(len(keys)), dtype=np.int32)
        fill_pairs(slots, keys, len(keys))
        tokens = np.full(len(words) + len(keys), -1, dtype=np.int32)
        tokens[list(token_of_node)] = list(token_of_node.values())
        return cls(_dictionary(list(words)), Phrases(slots, keys, tokens, len(vocabulary)))


_made: WeakKeyDictionary[Vocabulary, Lexicon] = WeakKeyDictionary()


def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """The arrays for a vocabulary, made once and kept as long as it: texts often come in many batches."""
    if vocabulary not in _made:
        _made[vocabulary] = Lexicon.of(vocabulary)
    return _made[vocabulary]


def _dictionary(words: list[str]) -> Words:
    """The words cut by the kernel itself, so that their hashes are those it will find in texts."""
    data = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    found = make_pieces(len(data))
    pieces = find_pieces(data, 0, len(data), CHARACTERS, found)
    starts = np.concatenate([[0], found.ends[:pieces]])
    slots = np.empty(table_size(pieces), dtype=np.int32)
    fill_table(slots, found.keys[:pieces], pieces)
    return Words(slots, found.keys[:pieces].copy(), found.letters[: starts[-1]].copy(), starts)


def _encode_part(texts: TextBytes, lexicon: Lexicon, tokeniser: Tokeniser, extra: int) -> Encoded:
    lengths = np.diff(texts.offsets)
    # A word takes two bytes, with what divides it from the next.
    most = (lengths + 1) // 2 * (tokeniser.longest_phrase if tokeniser.overlapping else 1)
    bases = np.concatenate([[0], np.cumsum(np.minimum(most, lexicon.phrases.tokens))])
    ids, counts = np.empty((2, bases[-1]), dtype=np.int32)
    found = Found(bases, ids, counts, np.empty(len(texts), dtype=np.int64))
    longest = int(lengths.max(initial=0))
    encode_texts(
        texts.data, texts.offsets, longest, CHARACTERS, lexicon.words, lexicon.phrases, tokeniser.cutting, found
    )
    total = int(found.sizes.sum()) + (len(texts) if extra >= 0 else 0)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    ids, counts = np.empty((2, total), dtype=np.int32)
    close_ranks(found, extra, offsets, ids, counts)
    return Encoded(ids, counts, offsets)
