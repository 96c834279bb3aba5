"""The bag of words that the layers start from, solved to its end: without layers, a model is linear in its vectors.

The logits of a text are then a bias and the mean, over its distinct tokens, of what each token says: logistic
regression on the means, a convex problem. A token that few texts have may say more (its weight is scaled by its inverse
document frequency, as in TF-IDF), so that rare tokens are not silenced by the penalty.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.choosing import classes_told
from hardmax.train.descent import descend

STEPS = 150


class Way(NamedTuple):
    """How a bag of words is solved."""

    strength: float  # the larger, the closer to the data
    neutral: bool = False  # whether a token that says nothing is in every text
    bias: bool = True  # whether anything is said without a word


class Bag(NamedTuple):
    """What each token says for each class (rows, tokens), and what is said without any; of two classes one row."""

    says: np.ndarray
    bias: np.ndarray


def solve_bag(encoded: Encoded, labels: np.ndarray, loud: np.ndarray, way: Way, steps: int = STEPS) -> Bag:
    """The bag of words for texts and their classes as numbers; tokens that are not `loud` say nothing.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> solve_bag(texts, np.array([0, 0, 1, 1]), np.array([True, True, False]), Way(10.0)).says.round(1).tolist()
    [[-3.1, 3.1, 0.0]]
    """
    tokens, speak = len(loud), np.flatnonzero(loud)
    documents = np.bincount(encoded.ids, minlength=tokens)
    rarity = np.log((1 + len(encoded)) / (1 + documents)) + 1
    features = mean_features(encoded, tokens, way)
    features.data *= rarity[encoded.ids]
    features = features if loud.all() else features[:, speak]
    rows = len(classes_told(labels))
    problem = _Problem(features, features.T.tocsr(), labels, rows, way)
    found = descend(problem, np.zeros(rows * (len(speak) + 1)), steps).reshape(rows, -1)
    says = np.zeros((rows, tokens))
    says[:, speak] = found[:, :-1] * rarity[speak]
    return Bag(says, found[:, -1])


def mean_features(encoded: Encoded, tokens: int, way: Way) -> csr_matrix:
    """What a bag of words reads: the share of each text that each of its tokens is."""
    sizes = np.diff(encoded.offsets)
    values = 1 / np.repeat(np.maximum(sizes + way.neutral, 1), sizes)
    return csr_matrix((values, encoded.ids, encoded.offsets), shape=(len(encoded), tokens))


class _Problem(NamedTuple):
    """Loss and slope of logistic regression, with the penalty |w|² / (2 strength) on the sum of the losses."""

    features: csr_matrix
    columns: csr_matrix
    labels: np.ndarray
    rows: int
    way: Way

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        weights = point.reshape(self.rows, -1)[:, :-1]
        logits = (self.features @ weights.T) + point.reshape(self.rows, -1)[:, -1]
        losses, pull = self._binary(logits[:, 0]) if self.rows == 1 else self._of_many(logits)
        texts = len(self.labels)
        loss = losses.mean() + (weights**2).sum() / (2 * self.way.strength * texts)
        slope = (self.columns @ pull).T / texts + weights / (self.way.strength * texts)
        lift = pull.sum(axis=0)[:, None] / texts if self.way.bias else np.zeros((self.rows, 1))
        return float(loss), np.concatenate([slope, lift], axis=1).ravel()

    def _binary(self, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        signs = np.where(self.labels == 1, 1.0, -1.0)
        margins = signs * logits
        return np.logaddexp(0, -margins), (-signs / (1 + np.exp(np.minimum(margins, 500))))[:, None]

    def _of_many(self, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = logits - logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        totals = powers.sum(axis=1)
        mine = (np.arange(len(self.labels)), self.labels)
        pull = powers / totals[:, None]
        losses = np.log(totals) - logits[mine]
        pull[mine] -= 1.0
        return losses, pull
