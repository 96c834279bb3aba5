"""From texts with labels to what the paper's network is trained on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardmax.paper.reviews.cleaning import clean
from hardmax.paper.reviews.encoding import LENGTH, encode
from hardmax.paper.reviews.lemmas import NounLemmas
from hardmax.paper.reviews.stop_words import STOP_WORDS
from hardmax.paper.reviews.vocabulary import PaperVocabulary, count_vocabulary
from hardmax.paper.reviews.words import split_words


@dataclass(frozen=True, eq=False, repr=False)
class PaperReviews:
    """Reviews as ids with labels 0 and 1, in the order in which the first 70 % are for training."""

    ids: np.ndarray  # (reviews, length), int32
    labels: np.ndarray  # (reviews,), int8
    order: np.ndarray  # (reviews,), which of the given texts each row is
    vocabulary: PaperVocabulary
    lemmatised: bool  # False: no WordNet was at hand, and words stay as they are


class Kept(dict[str, str]):
    """What becomes of each word: its lemma, or nothing of a stop word, before or after."""

    def __init__(self, lemmas: NounLemmas | None) -> None:
        super().__init__()
        self.lemmas = lemmas

    def __missing__(self, word: str) -> str:
        self[word] = kept = self._lemma(word)
        return kept

    def _lemma(self, word: str) -> str:
        if word in STOP_WORDS:
            return ""
        lemma = self.lemmas.shortest(word) if self.lemmas else word
        return "" if lemma in STOP_WORDS else lemma


def words_of(text: str, kept: Kept) -> list[str]:
    """The words of a review: cleaned, cut, without stop words, as lemmas, and without stop words again.

    >>> words_of("I cannot say that this was not a good film.", Kept(None))
    ['I', 'say', 'good', 'film']
    """
    return [lemma for word in split_words(clean(text)) if (lemma := kept[word])]


def prepare_reviews(
    texts: Sequence[str], labels: Sequence[int], lemmas: NounLemmas | None, *, seed: int = 0, length: int = LENGTH
) -> PaperReviews:
    """The reviews in an order of ours, shuffled by `seed`: in which order the authors had them is not known."""
    order = np.random.default_rng(seed).permutation(len(texts))
    kept = Kept(lemmas)
    reviews = [words_of(texts[int(number)], kept) for number in order]
    vocabulary = count_vocabulary(reviews)
    ids = encode(reviews, vocabulary, length)
    return PaperReviews(ids, np.asarray(labels, dtype=np.int8)[order], order, vocabulary, lemmas is not None)
