"""The authors' classifier as a `TextModel`, and reviews as the rows of its embedding.

By rows it is their model, PAD and multiplicities included, with the package's exact dynamics in place of float ties:

    model = model_of(read_weights("authors_model_d2.pth"))
    weigh_rows(model, reviews).probabilities          # reviews: (reviews, 128) rows, 0 where there are no words left

From texts it is not: see `reads_texts`.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._validation import InputError, check_instance, shorten
from hardmax.paper.authors.weights import Weights
from hardmax.paper.authors.words import TOKENISER, is_word, name_rows
from hardmax.text._analysis import Analysis, walk_cloud
from hardmax.text.encoding import Encoded
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectory

CLASSES = ("negative", "positive")
LENGTH = 128  # positions of a review, as the authors cut and pad it


def model_of(weights: Weights, words: Sequence[str] | None = None) -> TextModel:
    """The model with these weights, unrounded; token v of its vocabulary is row v. `words` are those of the rows."""
    check_instance(weights, Weights, "`weights`", "what `read_weights` gives")
    if words is not None and len(words) != weights.rows:
        raise InputError(f"`words` has {len(words):,} entries: expected {weights.rows:,}, one for each row.")
    tokens = name_rows(weights.rows, words)
    named = sum(map(is_word, tokens))
    return TextModel(
        vocabulary=Vocabulary(tokens, np.zeros((weights.rows, len(CLASSES)))),
        embeddings=weights.embeddings,
        decoder=weights.decoder[None, :],
        bias=np.array([weights.bias]),
        classes=CLASSES,
        layers=weights.layers,
        alpha=Fraction(float(weights.alpha)),
        tokeniser=TOKENISER,
        metrics={
            "imported": "weights that the authors of the paper saved; nothing was measured",
            "sha256 of their file": weights.sha256,
            "rows": weights.rows,
            "rows that texts can have": named,
            "alpha in decimals": float(weights.alpha),
            "what it reads": reads_texts(named),
        },
    )


def reads_texts(named: int) -> str:
    """What the model can do with texts, if so many rows have names that texts can have.

    >>> reads_texts(0)
    'reviews given as rows of the embedding; of texts it knows no word, and answers with its bias'
    """
    if named == 0:
        return "reviews given as rows of the embedding; of texts it knows no word, and answers with its bias"
    return (
        "reviews given as rows of the embedding; texts only roughly: words in lower case, all of them, where the "
        f"authors keep capitals, leave out stop words, put nouns in the singular, cut after {LENGTH} words and fill up "
        "with PAD"
    )


def encode_rows(reviews: Any, rows: int) -> Encoded:
    """Reviews as the distinct rows of each, with how often they are there; `reviews` is (reviews, positions).

    >>> found = encode_rows([[7, 2, 7, 0], [0, 0, 0, 0]], rows=9)
    >>> found.ids.tolist(), found.counts.tolist(), found.offsets.tolist()
    ([0, 2, 7, 0], [1, 1, 2, 4], [0, 3, 4])
    """
    table = np.sort(_read_reviews(reviews, rows), axis=1)
    is_first = np.ones(table.shape, dtype=bool)
    is_first[:, 1:] = table[:, 1:] != table[:, :-1]
    starts = np.flatnonzero(is_first)
    counts = np.diff(starts, append=table.size)
    offsets = np.concatenate([[0], np.cumsum(is_first.sum(axis=1))])
    return Encoded(table[is_first].astype(np.int32), counts.astype(np.int32), offsets.astype(np.int64))


def weigh_rows(model: TextModel, reviews: Any) -> Analysis:
    """All that the model finds in reviews given as rows: masses, leaders, logits, probabilities."""
    check_instance(model, TextModel, "`model`", "a model, as `model_of` gives it")
    return model.weigh(encode_rows(reviews, len(model.vocabulary)))


def run_of_rows(model: TextModel, review: Any) -> tuple[np.ndarray, "Trajectory"]:
    """The distinct rows of one review, and their run through the layers, each as often as it is there."""
    check_instance(model, TextModel, "`model`", "a model, as `model_of` gives it")
    found = encode_rows([review], len(model.vocabulary))
    return found.ids, walk_cloud(model.prepared.table[found.ids], found.counts, model.dynamics, model.layers)


def _read_reviews(reviews: Any, rows: int) -> np.ndarray:
    wish = f"an array (reviews, positions) of rows of the embedding, from 0 to {rows - 1}"
    try:
        table: np.ndarray = np.asarray(reviews)
    except Exception:  # whatever came may fail in its own way, and numpy refuses rows of different lengths
        table = np.empty(())
    if table.ndim != 2 or table.dtype.kind not in "iu" or table.size == 0:
        raise InputError(f"`reviews` must be {wish}, not {shorten(reviews)}.", argument="reviews")
    if not 0 <= table.min() <= table.max() < rows:
        wrong = table.min() if table.min() < 0 else table.max()
        raise InputError(f"`reviews` has row {wrong}: expected {wish}.", argument="reviews")
    return table
