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

_STEPS = 150


class Bag(NamedTuple):
    """What each token says for each class (rows, tokens), and what is said without any; of two classes one row."""

    says: np.ndarray
    bias: np.ndarray


def solve_bag(encoded: Encoded, labels: np.ndarray, tokens: int, strength: float, steps: int = _STEPS) -> Bag:
    """The bag of words for texts and their classes as numbers; the larger `strength`, the closer to the data.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> solve_bag(texts, np.array([0, 0, 1, 1]), tokens=3, strength=10.0).says.round(1)[0, :2].tolist()
    [-3.1, 3.1]
    """
    sizes = np.diff(encoded.offsets)
    documents = np.bincount(encoded.ids, minlength=tokens)
    rarity = np.log((1 + len(encoded)) / (1 + documents)) + 1
    values = rarity[encoded.ids] / np.repeat(np.maximum(sizes, 1), sizes)
    features = csr_matrix((values, encoded.ids, encoded.offsets), shape=(len(encoded), tokens))
    rows = len(classes_told(labels))
    problem = _Problem(features, features.T.tocsr(), labels, rows, strength)
    found = descend(problem, np.zeros(rows * (tokens + 1)), steps).reshape(rows, tokens + 1)
    return Bag(found[:, :-1] * rarity, found[:, -1])


class _Problem(NamedTuple):
    """Loss and slope of logistic regression, with the penalty |w|² / (2 strength) on the sum of the losses."""

    features: csr_matrix
    columns: csr_matrix
    labels: np.ndarray
    rows: int
    strength: float

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        weights = point.reshape(self.rows, -1)[:, :-1]
        logits = (self.features @ weights.T) + point.reshape(self.rows, -1)[:, -1]
        losses, pull = self._binary(logits[:, 0]) if self.rows == 1 else self._of_many(logits)
        texts = len(self.labels)
        loss = losses.mean() + (weights**2).sum() / (2 * self.strength * texts)
        slope = (self.columns @ pull).T / texts + weights / (self.strength * texts)
        return float(loss), np.concatenate([slope, pull.sum(axis=0)[:, None] / texts], axis=1).ravel()

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
