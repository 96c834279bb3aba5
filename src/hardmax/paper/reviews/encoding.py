"""Reviews as rows of 128 ids: what is longer is cut, what is shorter is filled with padding at its end."""

from collections.abc import Sequence

import numpy as np

from hardmax.paper.reviews.vocabulary import PaperVocabulary

LENGTH = 128


def encode(reviews: Sequence[Sequence[str]], vocabulary: PaperVocabulary, length: int = LENGTH) -> np.ndarray:
    """The ids, (reviews, length) of int32.

    >>> from hardmax.paper.reviews.vocabulary import count_vocabulary
    >>> reviews = [["good", "film"], ["bad", "film", "film"]]
    >>> encode(reviews, count_vocabulary(reviews), length=3).tolist()
    [[2, 1, 0], [3, 1, 1]]
    """
    number = vocabulary.ids()
    ids = np.zeros((len(reviews), length), dtype=np.int32)
    for row, review in zip(ids, reviews, strict=True):
        kept = review[:length]
        row[: len(kept)] = [number[word] for word in kept]
    return ids
