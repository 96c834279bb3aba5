"""Prepared reviews as one file, which takes nothing but numpy to read. The words are in it, the texts are not."""

import io
from pathlib import Path

import numpy as np

from hardmax._files import write_whole
from hardmax._validation import InputError
from hardmax.paper.reviews.preparing import PaperReviews
from hardmax.paper.reviews.vocabulary import PaperVocabulary


def write_reviews(path: str | Path, reviews: PaperReviews) -> None:
    """Write the reviews, compressed."""
    words = np.frombuffer("\n".join(reviews.vocabulary.words).encode("utf-8"), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        ids=reviews.ids,
        labels=reviews.labels,
        order=reviews.order.astype(np.int32),
        words=words,
        counts=np.array(reviews.vocabulary.counts, dtype=np.int64),
        lemmatised=np.array(reviews.lemmatised),
    )
    write_whole(path, buffer.getvalue())


def read_reviews(path: str | Path) -> PaperReviews:
    """The reviews that were written."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            held = {name: stored[name] for name in ("ids", "labels", "order", "words", "counts", "lemmatised")}
    except (OSError, ValueError, KeyError):
        raise InputError(f"`{path}` holds no prepared reviews: prepare them again.") from None
    words = tuple(held["words"].tobytes().decode("utf-8").split("\n"))
    vocabulary = PaperVocabulary(words, tuple(held["counts"].tolist()))
    return PaperReviews(held["ids"], held["labels"], held["order"], vocabulary, bool(held["lemmatised"]))
