"""Word vectors, which tell training what words mean that few texts contain, or none.

The weight of a word is a part of its own plus the product of its vector and a slope that all words
share; both are fitted together (`hardmax.train.bag.regress`). The model keeps only the sums.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hardmax._common.files import decode, read_bytes
from hardmax._common.validation import InputError, check_path, shorten
from hardmax.text._characters import fold
from hardmax.text.tokeniser import cut_surface
from hardmax.text.vocabulary import Vocabulary

MOST_UNSEEN = 20_000  # words that a model gets although no training text has them
_ENGLISH = Path(__file__).with_name("english.npz")  # made by tools/english_vectors.py
_SCALE = 2.0  # of vectors beside the words' own columns
_FREQUENT = 0.01  # a word that is so large a part of the texts counts half
_WISH = 'expected "english", or a file of word vectors: a word and its numbers on every line'


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector of length 1 for each of some words, which are in lower case."""

    rows: dict[str, int]
    table: np.ndarray
    name: str
    """For the model card."""

    def suit(self, vocabulary: Vocabulary) -> bool:
        """Whether most of the words of texts have vectors: else they are in another language."""
        words = [surface for surface in vocabulary.surfaces if " " not in surface]
        return 2 * sum(word in self.rows for word in words) > len(words)

    def of(self, vocabulary: Vocabulary) -> csr_array:
        """The vectors of tokens (tokens, dimensions): shorter for frequent words, 0 for unknown."""
        rows = np.array([self.rows.get(surface, -1) for surface in vocabulary.surfaces])
        documents = vocabulary.documents * (rows >= 0)
        shares = documents / max(1, documents.sum())
        sizes = _SCALE * _FREQUENT / (_FREQUENT + shares) * (rows >= 0)
        return csr_array(self.table[rows] * sizes[:, None])

    def unseen(
        self, vocabulary: Vocabulary, slope: np.ndarray, unwanted: Collection[str], least: float
    ) -> tuple[list[str], np.ndarray]:
        """Words that a vocabulary lacks, the most important first, and their weights (words, rows).

        None is unwanted, and none weighs less than `least`.

        Important words are heavy and frequent: tables begin with the most frequent words.
        """
        weights, words = _SCALE * self.table @ slope, list(self.rows)
        heaviest = np.abs(weights).max(axis=1)
        importance = heaviest / np.sqrt(np.arange(1, len(words) + 1))
        out = vocabulary.index.keys() | set(unwanted)
        # Entries that no text can contain as a word, such as punctuation, stay out.
        usable = (
            row
            for row in np.argsort(-importance, kind="stable").tolist()
            if heaviest[row] >= least and words[row] not in out and _is_word(words[row])
        )
        chosen = list(islice(usable, MOST_UNSEEN))
        return [words[row] for row in chosen], weights[chosen]


def _is_word(word: str) -> bool:
    """Whether texts can contain it as one word."""
    is_plain = word.isascii() and word.isalpha() and word.islower()
    return is_plain or cut_surface(word) == [word]


def read_vectors(source: Any) -> Vectors:
    """The vectors that ship with the package ("english"), of a file, or of a mapping."""
    if isinstance(source, Mapping):
        return _collect(source.items(), f"{len(source):,} words", "`vectors`, entry", 1)
    if source == "english":
        return _read_english()
    return _read_file(check_path(source, "`vectors`"))


@cache
def _read_english() -> Vectors:
    with np.load(_ENGLISH) as arrays:
        words, table = np.char.decode(arrays["words"], "utf-8"), arrays["vectors"]
    rows = {word: row for row, word in enumerate(words.tolist())}
    return Vectors(rows, _scaled(table.astype(np.float32)), "english")


def _read_file(path: Path) -> Vectors:
    name = f"`vectors` `{path}`"
    text = decode(read_bytes(path, _WISH), name, _WISH)
    lines = [line.rstrip().split(" ") for line in text.rstrip().split("\n")]
    # word2vec and fastText begin with a line of two counts.
    first = int(len(lines[0]) == 2 and all(count.isdecimal() for count in lines[0]))
    entries = ((fields[0], fields[1:]) for fields in lines[first:])
    return _collect(entries, path.name, f"{name}, line", first + 1)


def _collect(entries: Iterable[tuple[Any, Any]], name: str, place: str, first: int) -> Vectors:
    """Entries, checked; `place` and their number, from the first on, say where one of them is."""
    vectors: dict[str, np.ndarray] = {}
    length = 0
    for number, (word, values) in enumerate(entries, first):
        try:
            vector = np.array(values, dtype=np.float32)
            is_vector = vector.ndim == 1 and vector.size > 0 and isfinite(vector @ vector)
        except (TypeError, ValueError):
            vector, is_vector = np.empty(0), False
        if not isinstance(word, str) or not word:
            problem = f"the word is {shorten(word)}: expected a text"
        elif not is_vector:
            problem = f"{shorten(word)} has {shorten(values)}: expected finite numbers"
        elif length not in (0, len(vector)):
            there = f"{shorten(word)} has {len(vector)} numbers"
            problem = f"{there}: expected {length}, as for the first word"
        else:
            length = len(vector)
            vectors.setdefault(fold(word), vector)  # of equal words, the first counts
            continue
        raise InputError(f"{place} {number}: {problem}.")
    if not vectors:
        raise InputError(f"{place} {first} is missing: expected a word.")
    rows = {word: row for row, word in enumerate(vectors)}
    return Vectors(rows, _scaled(np.stack(list(vectors.values()))), name)


def _scaled(table: np.ndarray) -> np.ndarray:
    """Vectors of length 1, or 0."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1)
