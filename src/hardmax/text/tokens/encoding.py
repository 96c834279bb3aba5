"""Texts as the tokens a model knows: ragged, distinct, with multiplicities. Training and inference start here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax._validation import check_instance
from hardmax.text.tokens.kernels.encoding import Found, Texts, close_ranks, encode_texts
from hardmax.text.tokens.lexicon import Lexicon, lexicon_of
from hardmax.text.tokens.texts import TextBytes, read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

_BYTES_AT_ONCE = 1 << 22  # so that what texts may need at most is little beside what they are


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """Text t has the distinct tokens `ids[offsets[t]:offsets[t + 1]]`, each as often as `counts` says."""

    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    offsets: np.ndarray  # int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Encoded({pluralize(len(self), 'text')}, {pluralize(int(self.counts.sum()), 'known token')})"


def encode(texts: Any, vocabulary: Vocabulary, tokeniser: Tokeniser) -> Encoded:
    """The known tokens of each text, in order of first appearance.

    >>> known = Vocabulary(["good", "film", "not good"], [[0], [0], [0]])
    >>> found = encode(["Not good, not GOOD film.", "", "A film"], known, Tokeniser())
    >>> found.ids.tolist(), found.counts.tolist(), found.offsets.tolist()
    ([0, 2, 1, 1], [2, 2, 1, 1], [0, 3, 3, 4])
    """
    check_instance(tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
    lexicon = lexicon_of(check_instance(vocabulary, Vocabulary, "`vocabulary`", "a Vocabulary"), tokeniser)
    parts = [encode_part(part, lexicon, tokeniser) for part in blocks(read_texts(texts))]
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
    offsets = [part.offsets[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    nothing = np.empty(0, dtype=np.int32)
    return Encoded(
        np.concatenate([nothing, *(part.ids for part in parts)]),
        np.concatenate([nothing, *(part.counts for part in parts)]),
        np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
    )


def blocks(texts: TextBytes) -> Iterator[TextBytes]:
    """The texts in parts of a few megabytes, a long text in a part of its own."""
    first = 0
    while first < len(texts):
        limit = texts.offsets[first] + _BYTES_AT_ONCE
        last = max(first + 1, int(np.searchsorted(texts.offsets, limit, side="right")) - 1)
        yield texts.part(first, last)
        first = last


def encode_part(texts: TextBytes, lexicon: Lexicon, tokeniser: Tokeniser, extra: int = -1) -> Encoded:
    """`encode` for texts that are read in one go; the token `extra` is added to each, once, if it is not -1."""
    lengths = np.diff(texts.offsets)
    # A word takes two bytes, with what divides it from the next, and a mark takes one.
    words = lengths if tokeniser.marks else (lengths + 1) // 2
    most = words * (tokeniser.longest_phrase if tokeniser.overlapping else 1)
    bases = np.concatenate([[0], np.cumsum(np.minimum(most, lexicon.tokens))])
    ids, counts = np.empty(bases[-1], dtype=np.int32), np.empty(bases[-1], dtype=np.int32)
    found = np.empty(len(texts), dtype=np.int64)
    encode_texts(
        Texts(texts.data, texts.offsets, int(lengths.max(initial=0))),
        lexicon.characters,
        lexicon.words,
        lexicon.phrases,
        tokeniser.cutting,
        Found(bases, ids, counts, found),
    )
    total = int(found.sum()) + (len(texts) if extra >= 0 else 0)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    packed = Encoded(np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32), offsets)
    close_ranks(bases, found, extra, ids, counts, offsets, packed.ids, packed.counts)
    return packed
