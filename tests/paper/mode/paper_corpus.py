"""A small corpus that paper mode can learn: planted words, prepared as the paper prepares reviews."""

import numpy as np

from hardmax.paper.reviews.preparing import PaperReviews, prepare_reviews
from hardmax.text import plant


def planted_reviews(texts: int = 200, length: int = 24) -> PaperReviews:
    corpus = plant(texts, length=12, seed=3)
    return prepare_reviews(corpus.texts, [label == "positive" for label in corpus.labels], None, length=length)


def planted_ids(texts: int = 200) -> tuple[np.ndarray, np.ndarray]:
    reviews = planted_reviews(texts)
    return reviews.ids, reviews.labels
