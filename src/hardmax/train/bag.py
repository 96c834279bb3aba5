"""Texts as bags of tokens, and a logistic regression on them: one number a token and class, by L-BFGS."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hardmax.text.encoding import Encoded

try:  # comes with scikit-learn
    from threadpoolctl import threadpool_limits
except ImportError:
    threadpool_limits = nullcontext

_CURVATURE = 0.1  # of the logistic loss, at most 1/4
TYPICAL_WEIGHT = 50  # words that the neutral leader weighs while the regression is fitted


def to_matrix(found: Encoded, tokens: int) -> Any:
    """Presence of tokens (texts, tokens), sparse."""
    return csr_array((np.ones(len(found.ids)), found.ids, found.offsets), shape=(len(found), tokens))


@dataclass(frozen=True, eq=False)
class Bag:
    """The distinct tokens of each text, the classes of the texts, and how much each text counts."""

    matrix: Any
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def tokens(self) -> int:
        """The number of tokens that there are."""
        return self.matrix.shape[1]

    @property
    def sizes(self) -> np.ndarray:
        """The number of distinct tokens of each text."""
        return np.diff(self.matrix.indptr)

    def counts(self, *, weighted: bool = True) -> np.ndarray:
        """Number of groups of each class that have each token, weighted as their first texts, (tokens, classes)."""
        members = self.groups * self.classes + self.labels
        order = np.argsort(members, kind="stable")
        first = np.flatnonzero(np.diff(members[order], prepend=-1))
        texts = self.matrix[order]
        parts = np.ones(texts.nnz, dtype=bool), texts.indices, texts.indptr[np.append(first, -1)]
        found = csr_array(parts, shape=(len(first), self.tokens))  # a row for a group
        if len(first) < len(order):
            found.sum_duplicates()
        sizes, first = np.diff(found.indptr), order[first]
        cells = found.indices * np.int64(self.classes) + np.repeat(self.labels[first], sizes)
        values = np.repeat(self.weights[first], sizes) if weighted else None
        counts = np.bincount(cells, values, minlength=self.tokens * self.classes)
        return counts.reshape(self.tokens, self.classes)


def scales(bag: Bag, smoothing: float = 1.0) -> np.ndarray:
    """What each token is multiplied by before the regression, (tokens, rows).

    Two classes: the logarithm of how much more frequent it is in the second (naive Bayes). More: its inverse document
    frequency, the same for all classes.
    """
    counts = bag.counts()
    if bag.classes > 2:
        documents = np.bincount(bag.matrix.indices, np.repeat(bag.weights, bag.sizes), bag.tokens)
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
    lengths = (typical + TYPICAL_WEIGHT) / (bag.sizes + TYPICAL_WEIGHT)
    values = np.repeat(lengths, bag.sizes) * scale[bag.matrix.indices, 0]
    table = csr_array((values, bag.matrix.indices, bag.matrix.indptr), shape=bag.matrix.shape)
    transposed = table.T.tocsr()
    weights = strength * bag.weights
    # Variables are scaled so that the loss is about as curved along each of them: fewer steps.
    curved = np.append(1 + _CURVATURE * (transposed.power(2) @ weights), _CURVATURE * weights.sum())
    sizes = np.repeat(1 / np.sqrt(curved), rows)

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        flat = scaled * sizes
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
        return float(value + 0.5 * (u**2).sum()), np.append((transposed @ slopes + u).ravel(), for_bias) * sizes

    first = np.zeros((bag.tokens + 1) * rows)
    options = {"maxiter": 60, "ftol": 1e-5, "maxcor": 3}  # remembering more costs more than it saves
    with threadpool_limits(1):  # sums of vectors, at which threads of BLAS mostly wait
        found = minimize(loss, first, jac=True, method="L-BFGS-B", options=options).x * sizes
    x, bias = found[:-rows].reshape(-1, rows) * scale, found[-rows:]
    return (x, bias) if rows == 1 else (x - x.mean(axis=1, keepdims=True), bias - bias.mean())
