"""The words and phrases that a model knows, and how they are chosen from training texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import first_few, pluralize
from hardmax._common.validation import InputError, shorten
from hardmax._tokens.batches import float_array
from hardmax.text._characters import CHARACTERS
from hardmax.text._kernels_tokens import number_words
from hardmax.text._texts import TextBytes, read_words
from hardmax.text.tokeniser import LONGEST_PHRASE, cut_surface, join_words


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The tokens of a model.

    Parameters
    ----------
    surfaces : sequence of str
        Token v is `surfaces[v]`: words in lower case, phrases of words.
    counts : array_like of shape (tokens, classes)
        How many training texts of each class have each token.

    Examples
    --------
    >>> known = Vocabulary(["good", "not good"], [[1, 5], [3, 0]])
    >>> known.index["not good"], known.documents.tolist()
    (1, [6, 3])
    """

    surfaces: tuple[str, ...]
    counts: np.ndarray

    def __init__(self, surfaces: Sequence[str], counts: Any) -> None:
        self._set(_read_surfaces(surfaces), _read_counts(counts))
        if self.counts.ndim != 2 or len(self.counts) != len(self.surfaces):
            raise InputError(
                f"`counts` has shape {self.counts.shape}: "
                f"expected ({len(self.surfaces)}, classes), a row for each token."
            )

    def _set(self, surfaces: tuple[str, ...], counts: np.ndarray) -> None:
        vars(self).update(surfaces=surfaces, counts=counts)
        if len(self.index) != len(surfaces):
            twice = next(s for v, s in enumerate(surfaces) if self.index[s] != v)
            raise InputError(f"`surfaces` has {shorten(twice)} twice: expected each token once.")

    def __len__(self) -> int:
        return len(self.surfaces)

    def __repr__(self) -> str:
        shown = first_few(map(shorten, self.surfaces), 3)
        return f"Vocabulary({pluralize(len(self), 'token')}: {shown})"

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each token."""
        return dict(zip(self.surfaces, range(len(self)), strict=True))

    @property
    def documents(self) -> np.ndarray:
        """How many training texts have each token."""
        return self.counts.sum(axis=1)

    @classmethod
    def _of(cls, surfaces: tuple[str, ...], counts: np.ndarray) -> "Vocabulary":
        """Surfaces that need no check."""
        vocabulary = cls.__new__(cls)
        vocabulary._set(surfaces, counts)
        return vocabulary


def write_vocabulary(vocabulary: Vocabulary) -> bytes:
    """A line for each token, its surface and its counts by class, separated by tabs; UTF-8."""
    rows = zip(vocabulary.surfaces, vocabulary.counts.tolist(), strict=True)
    lines = ("\t".join([surface, *map(str, counts)]) + "\n" for surface, counts in rows)
    return "".join(lines).encode()


def read_vocabulary(data: bytes) -> Vocabulary:
    """What `write_vocabulary` wrote. Surfaces are not checked again: that would take longer than
    everything else that reading a model takes."""
    try:
        *rows, rest = [line.split("\t") for line in data.decode().split("\n")]
        counts = np.array([row[1:] for row in rows], dtype=int, ndmin=2)
    except (ValueError, OverflowError):  # of decoding, of numbers, of shapes
        rows, rest, counts = [], [], np.empty(0)
    if rest != [""] or (rows and not counts.size) or (counts < 0).any():
        raise InputError(
            "vocabulary.txt is damaged or cut off: expected a token and its counts on every line."
        )
    return Vocabulary._of(tuple(row[0] for row in rows), counts[: len(rows)])


def take_tokens(vocabulary: Vocabulary, tokens: np.ndarray) -> Vocabulary:
    """Some of the tokens, in this order."""
    surfaces = tuple(map(vocabulary.surfaces.__getitem__, tokens.tolist()))
    return Vocabulary._of(surfaces, vocabulary.counts[tokens])


def choose_tokens(
    texts: TextBytes, longest_phrase: int, *, words: int, phrases: int, min_df: int
) -> list[str]:
    """The words that most texts have, and after them such phrases, if at least `min_df` texts have
    them. Labels have no say: held-out texts would have chosen the phrases, too.

    >>> from hardmax.text._texts import read_texts
    >>> texts = read_texts(["not good", "not good at all", "so good", "so good indeed"])
    >>> choose_tokens(texts, 2, words=3, phrases=1, min_df=2)
    ['good', 'not', 'so', 'not good']
    """
    stream, owners, known = number_words_of(texts)
    documents = count_texts(stream, owners)
    best = _best(documents, documents >= min_df, words)
    ranked = sorted((-int(documents[word]), known[word]) for word in best)
    found: list[tuple[int, str]] = []
    prefixes, follows = stream, (owners[1:] == owners[:-1]) & (stream[1:] >= 0)
    for length in range(2, longest_phrase + 1):
        # A phrase is a prefix, which ends one place before, and a word.
        places = np.flatnonzero(follows & (prefixes[:-1] >= 0)) + 1
        keys = prefixes[places - 1].astype(int) << 32 | stream[places]
        _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
        documents = count_texts(numbers, owners[places])
        best = _best(documents, documents >= min_df, phrases)
        ends = places[firsts[best]] + 1
        columns = [stream[ends - back].tolist() for back in range(length, 0, -1)]
        spelt = zip(*(map(known.__getitem__, column) for column in columns), strict=True)
        found += zip((-documents[best]).tolist(), map(join_words, spelt), strict=True)
        # A phrase is no more frequent than its beginning.
        prefixes = np.full(len(stream), -1)
        prefixes[places] = np.where(documents[numbers] >= min_df, numbers, -1)
    surfaces = [surface for _, surface in ranked[:words]]
    return surfaces + [surface for _, surface in sorted(found)[:phrases]]


def number_words_of(texts: TextBytes) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The words of all texts as numbers, BREAK where a clause ends; the text of each; and how they
    are spelt."""
    longest = int(np.diff(texts.offsets).max(initial=0))
    stream, ends, spellings, starts = number_words(texts.data, texts.offsets, longest, CHARACTERS)
    letters = spellings.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    words = [letters[first:last] for first, last in pairwise(starts.tolist())]
    return stream, np.repeat(np.arange(len(texts)), np.diff(ends)), words


def count_texts(numbers: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """How many texts have each number; numbers below 0 are nothing."""
    is_word = numbers >= 0
    kinds = int(numbers.max(initial=-1)) + 1
    pairs = np.unique(owners[is_word] * np.int64(kinds) + numbers[is_word])
    return np.bincount(pairs % max(kinds, 1), minlength=kinds)


def _best(scores: np.ndarray, allowed: np.ndarray, most: int) -> list[int]:
    """All that may be among the best `most`, in no order, those equal to the last of them
    included."""
    candidates = np.flatnonzero(allowed)
    if len(candidates) > most > 0:
        last = len(candidates) - most
        bar = np.partition(scores[candidates], last)[last]
        candidates = candidates[scores[candidates] >= bar]
    return candidates.tolist() if most > 0 else []


def _read_surfaces(surfaces: Any) -> tuple[str, ...]:
    words = read_words(surfaces, "`surfaces`")
    for surface in words:
        if not 1 <= len(cut_surface(surface)) <= LONGEST_PHRASE:
            raise InputError(
                f"`surfaces` has {shorten(surface)}, which the tokeniser never yields: "
                "expected words in lower case, joined by single spaces."
            )
    return words


def _read_counts(counts: Any) -> np.ndarray:
    table = float_array(counts, "`counts`")
    if not ((table >= 0) & (table < 2**53) & (table == np.floor(table))).all():
        raise InputError(f"`counts` must be whole numbers from 0 up, not {shorten(counts)}.")
    return table.astype(int)
