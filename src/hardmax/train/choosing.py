"""Which tokens a model should know: those with the largest say in a linear model of the training texts.

The followers of a leader vote, one vote each, so that tokens of little weight would drown the others. The linear model
is a logistic regression on presences, each scaled by the log-odds of its token between the classes (naive Bayes as a
prior), every text scaled to one length.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.clouds import Clouds
from hardmax.train.descent import descend

_LENGTH = 3.0  # of a text
_STEPS = 60


def choose_tokens(
    encoded: Encoded,
    labels: np.ndarray,
    tokens: int,
    *,
    keep: int,
    strength: float,
    least_odds: float = 0.0,
    smoothing: float = 1.0,
) -> np.ndarray:
    """The numbers, in order, of at most `keep` tokens of `tokens`: those with the largest say about `labels`.

    Labels are the classes as numbers 0, 1, …. Tokens whose log-odds are within `least_odds` of zero, for every class
    against the others, are left out.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> choose_tokens(texts, np.array([0, 0, 1, 1]), tokens=3, keep=2, strength=1.0).tolist()
    [0, 1]
    """
    classes = classes_told(labels)
    odds = [log_odds(encoded, labels == c, tokens, smoothing) for c in classes]
    clear = np.flatnonzero(np.abs(odds).max(axis=0) >= least_odds)
    if len(clear) <= keep:
        return clear
    says = [weigh(encoded, labels == c, of_class, strength) for c, of_class in zip(classes, odds, strict=True)]
    order = np.argsort(-np.abs(says).max(axis=0)[clear], kind="stable")
    return np.sort(clear[order[:keep]])


def rank_tokens(
    encoded: Encoded, labels: np.ndarray, tokens: int, *, strength: float, smoothing: float = 1.0
) -> np.ndarray:
    """The numbers of all tokens, those with the largest say about `labels` first.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> rank_tokens(texts, np.array([0, 0, 1, 1]), tokens=3, strength=1.0).tolist()
    [0, 1, 2]
    """
    odds = [log_odds(encoded, labels == c, tokens, smoothing) for c in classes_told(labels)]
    told = zip(classes_told(labels), odds, strict=True)
    says = [weigh(encoded, labels == c, of_class, strength) for c, of_class in told]
    return np.argsort(-np.abs(says).max(axis=0), kind="stable")


def classes_told(labels: np.ndarray) -> range:
    """The classes that are told from the others: all, but of two the second alone, which says it all."""
    return range(1, 2) if labels.max() == 1 else range(int(labels.max()) + 1)


def log_odds(encoded: Encoded | Clouds, positive: np.ndarray, tokens: int, smoothing: float = 1.0) -> np.ndarray:
    """How much more likely each token is where `positive` than elsewhere, as a logarithm.

    Every count is larger by `smoothing`, so that a token of few texts says little.

    >>> texts = Encoded(np.array([0, 1, 1]), np.ones(3, dtype=np.int32), np.array([0, 1, 2, 3]))
    >>> log_odds(texts, np.array([True, False, False]), tokens=2, smoothing=2.0).round(2).tolist()
    [0.59, -0.51]
    """
    inside = np.repeat(positive, np.diff(encoded.offsets))
    theirs = np.bincount(encoded.ids[inside], minlength=tokens) + smoothing
    others = np.bincount(encoded.ids[~inside], minlength=tokens) + smoothing
    return np.log(theirs / theirs.sum()) - np.log(others / others.sum())


def weigh(encoded: Encoded, positive: np.ndarray, odds: np.ndarray, strength: float, steps: int = _STEPS) -> np.ndarray:
    """The weight of every token in a linear model of `positive`; the larger `strength`, the closer to the data."""
    text = np.repeat(np.arange(len(encoded)), np.diff(encoded.offsets))
    values = odds[encoded.ids]
    lengths = np.sqrt(np.bincount(text, values**2, minlength=len(encoded)))
    values *= _LENGTH / np.maximum(lengths, 1e-9)[text]
    shape = (len(encoded), len(odds))
    features = csr_matrix((values.astype(np.float32), encoded.ids, encoded.offsets), shape=shape)
    return _regress(features, np.where(positive, 1.0, -1.0), strength, steps) * odds


def _regress(features: Any, signs: np.ndarray, strength: float, steps: int) -> np.ndarray:
    """Logistic regression with the penalty |w|^2 / (2 strength) on the sum of the losses."""
    columns, texts = features.T.tocsr(), len(signs)

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        weights, bias = point[:-1], point[-1]
        margins = signs * (features @ weights.astype(np.float32) + bias)
        loss = np.logaddexp(0, -margins).mean() + (weights**2).sum() / (2 * strength * texts)
        pull = -signs / (1 + np.exp(np.minimum(margins, 500))) / texts
        slope = columns @ pull.astype(np.float32) + weights / (strength * texts)
        return float(loss), np.append(slope, pull.sum())

    return descend(objective, np.zeros(features.shape[1] + 1), steps)[:-1]
