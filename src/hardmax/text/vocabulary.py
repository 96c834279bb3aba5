"""The words and phrases that a model knows, and how they are chosen from training texts."""

import re
from collections.abc import Iterable, Sequence
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
from hardmax.text._texts import TextBytes
from hardmax.text.tokeniser import LONGEST_PHRASE, cut_surface, join_words

_WORD = "[a-z0-9]+(?:'[a-z0-9]+)*"
# Most tokens: sooner found than cut.
_PLAIN = re.compile(f"{_WORD}(?: {_WORD}){{0,{LONGEST_PHRASE - 1}}}")


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
    letters = np.frombuffer(data, dtype=np.uint8)
    ends_line = letters[(letters == ord("\t")) | (letters == ord("\n"))] == ord("\n")
    width = int(ends_line.argmax()) + 1 if len(ends_line) else 2
    # Cells are cut all at once, which takes a third of the time of cutting each line.
    cells = data.replace(b"\n", b"\t").split(b"\t")
    try:
        surfaces = b"\n".join(cells[:-1:width]).decode().split("\n") if data else []
        columns = [cells[column:-1:width] for column in range(1, width)]
        counts = np.array(columns, dtype="S18").astype(int).T
    except ValueError:  # of decoding, of numbers, of shapes
        surfaces, counts = [], np.full((1, 1), -1)
    is_regular = (ends_line == (np.arange(1, len(ends_line) + 1) % width == 0)).all()
    if not is_regular or data[-1:] not in b"\n" or width < 2 or (counts < 0).any():
        raise InputError(
            "vocabulary.txt is damaged or cut off: expected a token and its counts on every line."
        )
    return Vocabulary._of(tuple(surfaces), np.ascontiguousarray(counts))


def take_tokens(vocabulary: Vocabulary, tokens: np.ndarray) -> Vocabulary:
    """Some of the tokens, in this order."""
    surfaces = tuple(map(vocabulary.surfaces.__getitem__, tokens.tolist()))
    return Vocabulary._of(surfaces, vocabulary.counts[tokens])


def choose_tokens(
    chunks: Iterable[tuple[TextBytes, np.ndarray]],
    classes: int,
    longest_phrase: int,
    *,
    words: int,
    phrases: int,
    min_df: int,
) -> Vocabulary:
    """The most frequent words, and after them the phrases that tell the classes apart best; they
    are not counted yet.

    Words are ranked by the number of texts that have them, phrases by chi-squared: how unevenly
    they are spread over the classes. Tokens that fewer than `min_df` texts have are left out.
    Chunks are texts and the numbers of their classes; they are gone through once, and once more for
    each length of phrases from three words on.

    >>> from hardmax.text._texts import read_texts
    >>> texts = read_texts(["not good", "not good at all", "so good", "so good indeed"])
    >>> chunks = [(texts, np.array([0, 0, 1, 1]))]
    >>> choose_tokens(chunks, 2, 2, words=3, phrases=1, min_df=2).surfaces
    ('good', 'not', 'so', 'not good')
    """
    numbers: dict[str, int] = {}
    tallies = [_Tally(classes) for _ in range(longest_phrase)]
    sizes = np.zeros(classes, dtype=int)
    for last in range(min(2, longest_phrase), longest_phrase + 1):
        for texts, labels in chunks:
            stream, owners, known = number_words_of(texts, numbers)
            if last <= 2:
                sizes += np.bincount(labels, minlength=classes)
                tallies[0].add(known, stream, owners, labels)
            # After the last word comes what stands for the end of a clause.
            stream = np.append(known, -1)[stream]
            _tally_phrases(tallies[:last], stream, owners, labels, min_df)
    spellings = list(numbers)
    documents = tallies[0].counts.sum(axis=1)
    best = _best(documents, documents >= min_df, words)
    ranked = sorted((-int(documents[word]), spellings[word]) for word in best)
    surfaces = [surface for _, surface in ranked[:words]]
    surfaces += _choose_phrases(tallies, spellings, sizes, phrases, min_df)
    return Vocabulary._of(tuple(surfaces), np.zeros((len(surfaces), classes), dtype=int))


class _Tally:
    """How many texts of each class have each of some numbers, which are sorted."""

    def __init__(self, classes: int) -> None:
        self.keys = np.empty(0, dtype=int)
        self.counts = np.empty((0, classes), dtype=int)

    def add(
        self, keys: np.ndarray, stream: np.ndarray, owners: np.ndarray, labels: np.ndarray
    ) -> None:
        """Count the texts of a chunk, in whose stream `k` stands for `keys[k]`."""
        counts = _count_texts(stream, owners, labels, self.counts.shape[1])
        keys, counts = np.append(self.keys, keys), np.concatenate([self.counts, counts])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        is_first = np.diff(keys, prepend=-1) > 0
        self.keys = keys[is_first]
        self.counts = np.add.reduceat(counts[order], np.flatnonzero(is_first))


def number_words_of(
    texts: TextBytes, numbers: dict[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The words of a chunk by numbers of its own, the text of each, and which of all `numbers`
    these are."""
    longest = int(np.diff(texts.offsets).max(initial=0))
    stream, ends, spellings, starts = number_words(texts.data, texts.offsets, longest, CHARACTERS)
    letters = spellings.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    words = (letters[first:last] for first, last in pairwise(starts.tolist()))
    known = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=int)
    return stream, np.repeat(np.arange(len(texts)), np.diff(ends)), known


def _tally_phrases(
    tallies: list[_Tally], stream: np.ndarray, owners: np.ndarray, labels: np.ndarray, min_df: int
) -> None:
    """Count the phrases of the last length; shorter ones have been counted."""
    prefixes, follows = stream, (owners[1:] == owners[:-1]) & (stream[1:] >= 0)
    for length, tally in enumerate(tallies[1:], 2):
        # A phrase is a prefix, which ends one place before, and a word.
        places = np.flatnonzero(follows & (prefixes[:-1] >= 0)) + 1
        keys = prefixes[places - 1] << 32 | stream[places]
        if length == len(tallies):
            tally.add(*np.unique(keys, return_inverse=True), owners[places], labels)
            return
        phrases = np.searchsorted(tally.keys, keys)
        # A phrase is no more frequent than its beginning.
        is_frequent = tally.counts.sum(axis=1)[phrases] >= min_df
        prefixes = np.full(len(stream), -1)
        prefixes[places] = np.where(is_frequent, phrases, -1)


def _choose_phrases(
    tallies: list[_Tally], spellings: list[str], sizes: np.ndarray, most: int, min_df: int
) -> list[str]:
    ranked: list[tuple[float, str]] = []
    for length, tally in enumerate(tallies[1:], 2):
        counts, documents = tally.counts, tally.counts.sum(axis=1)
        # Chi-squared: with n_c texts of class c that have it, and e_c as many as expected if
        # classes did not matter, the sum over c of (n_c - e_c)^2 / e_c.
        squares = sum(counts[:, c] * counts[:, c] / sizes[c] for c in np.flatnonzero(sizes))
        scores = squares * sizes.sum() / documents - documents
        best = _best(scores, documents >= min_df, most)
        columns, phrases = [], np.array(best, dtype=np.int64)
        for shorter in tallies[length - 1 : 0 : -1]:
            keys = shorter.keys[phrases]
            columns.append(keys & 0xFFFFFFFF)
            phrases = keys >> 32
        columns = [phrases, *reversed(columns)]
        words = [map(spellings.__getitem__, column.tolist()) for column in columns]
        ranked.extend(
            zip((-scores[best]).tolist(), map(join_words, zip(*words, strict=True)), strict=True)
        )
    return [surface for _, surface in sorted(ranked)[:most]]


def _count_texts(
    numbers: np.ndarray, owners: np.ndarray, labels: np.ndarray, classes: int
) -> np.ndarray:
    """How many texts of each class have each number, (numbers, classes); numbers below 0 are
    nothing."""
    from scipy.sparse import csr_array

    is_word = numbers >= 0
    numbers, kinds = numbers[is_word], int(numbers.max(initial=-1)) + 1
    bounds = np.searchsorted(owners[is_word], np.arange(len(labels) + 1))
    data, shape = np.ones(len(numbers), dtype=bool), (len(labels), max(kinds, 1))
    has_number = csr_array((data, numbers, bounds), shape=shape)
    has_number.sum_duplicates()  # each number once in a text
    of_class = np.repeat(labels, np.diff(has_number.indptr))
    cells = has_number.indices * np.int64(classes) + of_class
    return np.bincount(cells, minlength=kinds * classes).reshape(kinds, classes)


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
    listed = surfaces.tolist() if isinstance(surfaces, np.ndarray) else surfaces
    is_list = isinstance(listed, list | tuple)
    if not is_list or not all(isinstance(surface, str) for surface in listed):
        raise InputError(f"`surfaces` must be a list of texts, not {shorten(surfaces)}.")
    for surface in listed:
        if not _PLAIN.fullmatch(surface) and not 1 <= len(cut_surface(surface)) <= LONGEST_PHRASE:
            raise InputError(
                f"`surfaces` has {shorten(surface)}, which the tokeniser never yields: "
                "expected words in lower case, joined by single spaces."
            )
    return tuple(listed)


def _read_counts(counts: Any) -> np.ndarray:
    table = float_array(counts, "`counts`")
    if not ((table >= 0) & (table < 2**53) & (table == np.floor(table))).all():
        raise InputError(f"`counts` must be whole numbers from 0 up, not {shorten(counts)}.")
    return table.astype(int)
