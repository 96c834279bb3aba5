"""A vocabulary from training texts: the most frequent words, and the phrases that tell the classes apart best."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_instance, check_int
from hardmax.text.labels import class_numbers
from hardmax.text.tokens.characters import MARKS
from hardmax.text.tokens.encoding import encode
from hardmax.text.tokens.kernels.counting import count_documents, number_phrases, number_words, surprise
from hardmax.text.tokens.texts import TextBytes, read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

FEWEST_DOCUMENTS = 2  # what a single text says is no evidence


def build_vocabulary(
    texts: Any,
    labels: Any,
    tokeniser: Tokeniser,
    *,
    words: int = 10_000,
    phrases: int = 30_000,
    fewest: int = FEWEST_DOCUMENTS,
) -> Vocabulary:
    """The vocabulary of training texts: words by the number of texts that have them, then phrases by their surprise.

    `labels` are the classes as numbers 0, 1, …. The surprise of a phrase is large where it is spread unevenly over
    the classes: (n_0 - n_1)^2 / (n_0 + n_1) for two classes of equal size. What fewer than `fewest` texts say is
    left out.

    >>> texts = ["not good", "not good at all", "so good", "so good indeed"]
    >>> build_vocabulary(texts, [0, 0, 1, 1], Tokeniser(), words=3, phrases=1).surfaces
    ('good', 'not', 'so', 'not good')
    """
    found = read_texts(texts)
    labels = _read_labels(labels, len(found))
    check_instance(tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
    words, phrases = (check_int(most, name, at_least=0) for most, name in ((words, "`words`"), (phrases, "`phrases`")))
    fewest = check_int(fewest, "`fewest`", at_least=1)
    stream, ends, spellings, starts = number_words(
        found.data, found.offsets, longest_text(found), tokeniser.alphabet.characters, tokeniser.across_sentences
    )
    spell = _Speller(spellings, starts)
    chosen = spell.best(count_documents(stream, ends, len(starts) - 1), words, fewest)
    marks = list(MARKS) if tokeniser.marks else []
    joined = _choose_phrases(stream, ends, spell, labels, tokeniser, phrases, fewest)
    return _count_by_class(chosen + marks + joined, found, labels, tokeniser)


class _Speller:
    """Turns numbers of words back into what they say."""

    def __init__(self, spellings: np.ndarray, starts: np.ndarray) -> None:
        self._letters = spellings.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        self._starts = starts.tolist()

    def __call__(self, word: int) -> str:
        return self._letters[self._starts[word] : self._starts[word + 1]]

    def best(self, documents: np.ndarray, most: int, fewest: int) -> list[str]:
        """The words that most texts have; among equals, in the order of the alphabet."""
        candidates = _at_least_as_good(documents, documents >= fewest, most)
        ranked = sorted((-int(documents[word]), self(word)) for word in candidates)
        return [surface for _, surface in ranked[:most]]


def _choose_phrases(
    stream: np.ndarray,
    ends: np.ndarray,
    spell: _Speller,
    labels: np.ndarray,
    tokeniser: Tokeniser,
    most: int,
    fewest: int,
) -> list[str]:
    order = np.argsort(labels, kind="stable")
    class_ends = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    ranked: list[tuple[float, str]] = []
    prefixes, words_of = stream, lambda word: [spell(word)]
    for _ in range(2, tokeniser.longest_phrase + 1):
        numbers, keys = number_phrases(stream, ends, prefixes)
        scores, documents = surprise(numbers, ends, order, class_ends, len(keys))
        words_of = _phrase_speller(keys, words_of, spell)
        candidates = _at_least_as_good(scores, documents >= fewest, most)
        ranked += [(-float(scores[phrase]), tokeniser.alphabet.join(words_of(phrase))) for phrase in candidates]
        # A phrase is no more frequent than its beginning.
        frequent = np.append(documents >= fewest, False)
        prefixes = np.where(frequent[numbers], numbers, -1).astype(np.int32)
    return [surface for _, surface in sorted(ranked)[:most]]


def _phrase_speller(keys: np.ndarray, prefix: Callable[[int], list[str]], word: _Speller) -> Callable[[int], list[str]]:
    return lambda phrase: [*prefix(int(keys[phrase]) >> 32), word(int(keys[phrase]) & 0xFFFFFFFF)]


def _at_least_as_good(scores: np.ndarray, allowed: np.ndarray, most: int) -> list[int]:
    """All that may be among the best `most`, in no order, those equal to the last of them included."""
    candidates = np.flatnonzero(allowed)
    if most < 1 or len(candidates) <= most:
        return candidates.tolist() if most > 0 else []
    bar = np.partition(scores[candidates], len(candidates) - most)[len(candidates) - most]
    return candidates[scores[candidates] >= bar].tolist()


def _count_by_class(surfaces: list[str], texts: TextBytes, labels: np.ndarray, tokeniser: Tokeniser) -> Vocabulary:
    classes = int(labels.max()) + 1
    uncounted = Vocabulary(surfaces, np.zeros((len(surfaces), classes), dtype=np.int64))
    # Nobody knows yet which tokens there will be, and so not which places others take.
    encoded = encode(texts, uncounted, replace(tokeniser, overlapping=True))
    label_of_token = np.repeat(labels, np.diff(encoded.offsets))
    counts = np.bincount(encoded.ids * np.int64(classes) + label_of_token, minlength=len(surfaces) * classes)
    return Vocabulary(surfaces, counts.reshape(len(surfaces), classes))


def longest_text(texts: TextBytes) -> int:
    """The number of bytes of the longest text."""
    return int(np.diff(texts.offsets).max(initial=0))


def _read_labels(labels: Any, texts: int) -> np.ndarray:
    numbers = class_numbers(labels, "`labels`")
    if len(numbers) != texts:
        raise InputError(f"`labels` has shape {numbers.shape}: expected {texts}, one for each text.")
    if texts == 0:
        raise InputError("`texts` is empty: a vocabulary needs training texts.")
    return numbers
