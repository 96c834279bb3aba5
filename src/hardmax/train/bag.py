"""Texts as bags of tokens, and a logistic regression on them: one number a token and class, by L-BFGS."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array

from hardmax.text.tokens.encoding import Encoded

TYPICAL_WEIGHT = 50  # words that the neutral leader weighs while the regression is fitted


@dataclass(frozen=True, eq=False)
class Bag:
    """The distinct tokens of each text, the classes of the texts, and how much each text counts."""

    ids: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    tokens: int
    classes: int

    @classmethod
    def of(
        cls, found: Encoded, labels: np.ndarray, weights: np.ndarray, groups: np.ndarray, tokens: int, classes: int
    ) -> "Bag":
        """A bag of what was found in texts."""
        return cls(found.ids.astype(np.int64), found.offsets, labels, weights, groups, tokens, classes)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> np.ndarray:
        """The number of distinct tokens of each text."""
        return np.diff(self.offsets)

    def matrix(self) -> Any:
        """Presence of tokens (texts, tokens), sparse."""
        return csr_array((np.ones(len(self.ids)), self.ids, self.offsets), shape=(len(self), self.tokens))

    def counts(self) -> np.ndarray:
        """Weighted number of groups of each class that have each token, (tokens, classes)."""
        texts = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        members = self.groups[texts] * self.classes + self.labels[texts]
        _, first = np.unique(self.ids * (int(members.max(initial=0)) + 1) + members, return_index=True)
        cells = self.ids[first] * self.classes + self.labels[texts[first]]
        values = self.weights[texts[first]]
        return np.bincount(cells, values, minlength=self.tokens * self.classes).reshape(self.tokens, self.classes)


def scales(bag: Bag, smoothing: float = 1.0) -> np.ndarray:
    """What each token is multiplied by before the regression, (tokens, rows).

    Two classes: the logarithm of how much more frequent it is in the second (naive Bayes). More: its inverse document
    frequency, the same for all classes.
    """
    counts = bag.counts()
    if bag.classes > 2:
        documents = np.bincount(bag.ids, bag.weights[np.repeat(np.arange(len(bag)), np.diff(bag.offsets))], bag.tokens)
        return np.log((1 + bag.weights.sum()) / (1 + documents))[:, None] * (documents > 0)[:, None]
    ratio = (counts + smoothing) / (counts.sum(axis=0) + smoothing * bag.tokens)
    return np.log(ratio[:, 1:] / ratio[:, :1])


def regress(
    bag: Bag, strength: float, scale: np.ndarray, typical: float, *, with_bias: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Logistic regression on scaled presence, each text divided by its size, as the model's mean will be.

    A text of `typical` size is left as it is.

    Returns the weights of the tokens (tokens, rows), which add up to 0 over several classes, and the bias (rows,).
    """
    rows = 1 if bag.classes == 2 else bag.classes
    table = (
        diags_array((typical + TYPICAL_WEIGHT) / (bag.sizes + TYPICAL_WEIGHT)) @ bag.matrix() @ diags_array(scale[:, 0])
    )
    table = table.tocsr()
    transposed = table.T.tocsr()
    weights = strength * bag.weights

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        u, bias = flat[:-rows].reshape(-1, rows), flat[-rows:]
        z = table @ u + bias
        if rows == 1:
            signs = 2.0 * bag.labels - 1
            margins = signs * z[:, 0]
            value = weights @ np.logaddexp(0, -margins)
            slopes = (-weights * signs * np.exp(-np.logaddexp(0, margins)))[:, None]
        else:
            z -= z.max(axis=1, keepdims=True)
            log_sum = np.log(np.exp(z).sum(axis=1))
            here = np.arange(len(bag)), bag.labels
            value = weights @ (log_sum - z[here])
            slopes = np.exp(z - log_sum[:, None]) * weights[:, None]
            slopes[here] -= weights
        for_bias = slopes.sum(axis=0) * with_bias
        return float(value + 0.5 * (u**2).sum()), np.append((transposed @ slopes + u).ravel(), for_bias)

    first = np.zeros((bag.tokens + 1) * rows)
    found = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": 60, "ftol": 1e-5}).x
    x, bias = found[:-rows].reshape(-1, rows) * scale, found[-rows:]
    return (x, bias) if rows == 1 else (x - x.mean(axis=1, keepdims=True), bias - bias.mean())
