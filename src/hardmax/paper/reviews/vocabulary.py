"""The paper's vocabulary: all words of all reviews, also of the test reviews, the most frequent first; 0 is padding."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PAD = "<PAD>"


@dataclass(frozen=True, eq=False, repr=False)
class PaperVocabulary:
    """Words by their ids, and how often each came; the first is PAD, which did not come."""

    words: tuple[str, ...]
    counts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    def ids(self) -> dict[str, int]:
        """The id of each word."""
        return {word: number for number, word in enumerate(self.words)}


def count_vocabulary(reviews: Iterable[Sequence[str]]) -> PaperVocabulary:
    """The vocabulary of reviews that are lists of words; words as frequent as each other stand as they came.

    >>> vocabulary = count_vocabulary([["good", "film"], ["bad", "film"]])
    >>> vocabulary.words, vocabulary.counts
    (('<PAD>', 'film', 'good', 'bad'), (0, 2, 1, 1))
    """
    counts: Counter[str] = Counter()
    for review in reviews:
        counts.update(review)
    words, often = zip(*((PAD, 0), *counts.most_common()), strict=True)
    return PaperVocabulary(words, often)
