"""Texts as bags of tokens, and a logistic regression on them: one number a token and class, by L-BFGS.

Bags come in any number, in memory or from files; each evaluation of the loss goes through all of them.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.sparse import csc_array, csr_array

from hardmax.text.encoding import Encoded

try:  # comes with scikit-learn
    from threadpoolctl import threadpool_limits
except ImportError:
    threadpool_limits = nullcontext

_CURVATURE = 0.1  # of the logistic loss, at most 1/4
_ROUNDING = 1e-9
TYPICAL_WEIGHT = 50  # words that the neutral leader weighs while the regression is fitted
_LEAST = 0.02  # of what naive Bayes says of a token, a consistent weight is at least so much


def to_matrix(found: Encoded, tokens: int) -> Any:
    """The factors of the tokens of texts, 1 if nothing modifies them, (texts, tokens), sparse."""
    return csr_array((found.factors, found.ids, found.offsets), shape=(len(found), tokens))


class Stored:
    """Arrays in memory, or in a file of a temporary folder, which is removed with this."""

    def __init__(self, folder: Path | None, *arrays: np.ndarray) -> None:
        self._arrays, self._path = arrays, None
        if folder is not None:
            self._path = folder / secrets.token_hex(8)
            with self._path.open("wb") as stream:
                for array in arrays:
                    array.tofile(stream)
            self._arrays, self._kinds = (), [(array.dtype, len(array)) for array in arrays]
            finalize(self, self._path.unlink, missing_ok=True)

    def load(self) -> tuple[np.ndarray, ...]:
        """The arrays."""
        if self._path is None:
            return self._arrays
        with self._path.open("rb") as stream:
            return tuple(np.fromfile(stream, kind, count) for kind, count in self._kinds)


@dataclass(frozen=True, eq=False)
class Bag:
    """The distinct tokens of each text, the classes of the texts, and how much each text counts."""

    matrix: Any
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int
    is_whole: bool = True
    """Whether these are texts; False for sentences, which come from texts that are in other bags."""

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
        """Number of groups of each class that have each token, (tokens, classes).

        If weighted, a group counts as much as its first text, times the factor of the token there.
        """
        members = self.groups * self.classes + self.labels
        order = np.argsort(members, kind="stable")
        first = np.flatnonzero(np.diff(members[order], prepend=-1))
        texts = self.matrix[order]
        parts = texts.data.copy(), texts.indices, texts.indptr[np.append(first, -1)]
        found = csr_array(parts, shape=(len(first), self.tokens))  # a row for a group
        if len(first) < len(order):
            found.sum_duplicates()
        sizes, first = np.diff(found.indptr), order[first]
        cells = found.indices * np.int64(self.classes) + np.repeat(self.labels[first], sizes)
        values = np.repeat(self.weights[first], sizes) * np.clip(found.data, -1, 1) if weighted else None
        counts = np.bincount(cells, values, minlength=self.tokens * self.classes)
        return counts.reshape(self.tokens, self.classes)


@dataclass(frozen=True, eq=False)
class Bags:
    """Bags of tokens by fold, texts and sentences apart."""

    stored: list[tuple[int, bool, Stored]]
    """Fold, whether they are texts, and the arrays of each: factors, tokens, offsets, labels, weights, groups."""
    tokens: int
    classes: int
    folder: Path | None
    """For what is not kept in memory."""
    vectors: Any = None
    """Those of the tokens (tokens, dimensions), sparse, if there are any."""

    def __iter__(self) -> Iterator[Bag]:
        for _, is_whole, stored in self.stored:
            factors, ids, offsets, labels, weights, groups = stored.load()
            matrix = csr_array((factors, ids, offsets), shape=(len(offsets) - 1, self.tokens))
            yield Bag(matrix, labels, weights, groups, self.classes, is_whole)

    def without(self, fold: int | None) -> "Bags":
        """All but those of a fold."""
        return replace(self, stored=[each for each in self.stored if each[0] != fold])

    def held_out(self, fold: int) -> "Bags":
        """The texts of a fold."""
        return replace(self, stored=[each for each in self.stored if each[:2] == (fold, True)])


def scales(bags: Iterable[Bag], smoothing: float = 1.0) -> np.ndarray:
    """What each token is multiplied by before the regression, (tokens, rows).

    Two classes: the logarithm of how much more frequent it is in the second (naive Bayes). More: its inverse document
    frequency, the same for all classes.
    """
    counts: Any = np.maximum(sum(bag.counts() for bag in bags if bag.is_whole), 0)
    if counts.shape[1] > 2:
        weighted = ((bag.matrix.indices, np.repeat(bag.weights, bag.sizes)) for bag in bags)
        documents: Any = sum(np.bincount(ids, weights, len(counts)) for ids, weights in weighted)
        total = sum(bag.weights.sum() for bag in bags)
        return np.log((1 + total) / (1 + documents))[:, None] * (documents > 0)[:, None]
    ratio = (counts + smoothing) / (counts.sum(axis=0) + smoothing * len(counts))
    return np.log(ratio[:, 1:] / ratio[:, :1])


def regress(
    bags: Iterable[Bag],
    strength: float,
    scale: np.ndarray,
    typical: float,
    *,
    with_bias: bool,
    consistent: bool,
    folder: Path | None = None,
    vectors: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logistic regression on scaled presence, each text divided by its size, as the model's mean will be.

    A text of `typical` size is left as it is. Bags are gone through for each evaluation of the loss, from the folder if
    there is one. If `consistent`, and there are two classes, every weight has the sign of its scale: no token speaks
    against its own counts.

    If tokens have `vectors` (tokens, dimensions), their products with a slope are added to the weights.

    Returns the weights of the tokens (tokens, rows) and the slope (dimensions, rows), which add up to 0 over several
    classes, and the bias (rows,).
    """
    rows, stored = 0, []
    curvature, total = np.zeros(len(scale)), 0.0
    vectors = csr_array((len(scale), 0)) if vectors is None else vectors
    width = vectors.shape[1]
    products = np.zeros((width, width))
    for bag in bags:
        rows = 1 if bag.classes == 2 else bag.classes
        lengths = (typical + TYPICAL_WEIGHT) / (bag.sizes + TYPICAL_WEIGHT)
        # By token: then what is summed up is as long as there are texts in a bag, not tokens, and fits the cache.
        by_token = bag.matrix.tocsc()
        arrays = by_token.data, by_token.indices, by_token.indptr
        meanings = lengths[:, None] * (bag.matrix @ vectors).toarray()
        about = lengths, bag.labels, strength * bag.weights, meanings.ravel()
        stored.append(Stored(folder, *arrays, *about))
        products += meanings.T @ (bag.weights[:, None] * meanings)
        curvature += abs(by_token).T @ (lengths**2 * bag.weights)
        total += bag.weights.sum()
    # Variables are scaled so that the loss is about as curved along each of them: fewer steps.
    # Slopes are turned to the axes along which texts differ: so they are not curved together, either.
    lengths_of_axes, axes = np.linalg.eigh(products)
    curved = np.concatenate([curvature * scale[:, 0] ** 2, lengths_of_axes.clip(0), [total]])
    curved = _CURVATURE * strength * curved + np.append(np.ones(len(curved) - 1), 0)
    sizes = np.repeat(1 / np.sqrt(curved), rows)
    ends = np.cumsum([len(scale), width]) * rows

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        flat = scaled * sizes
        u, slope, bias = (part.reshape(-1, rows) for part in np.split(flat, ends))
        scaled_u, turned = np.ascontiguousarray(u * scale), axes @ slope
        value, for_tokens, for_slope, for_bias = 0.0, np.zeros_like(u), np.zeros_like(slope), np.zeros(rows)
        for each in stored:
            factors, texts, offsets, lengths, labels, weights, meanings = each.load()
            meanings = meanings.reshape(len(labels), width)
            matrix = csc_array((factors, texts, offsets), shape=(len(labels), len(scale)))
            logits = lengths[:, None] * (matrix @ scaled_u) + meanings @ turned + bias
            part, slopes = log_loss(logits, labels, weights)
            value += part
            for_tokens += matrix.T @ (lengths[:, None] * slopes)
            for_slope += meanings.T @ slopes
            for_bias += slopes.sum(axis=0)
        gradients = for_tokens * scale + u, axes.T @ for_slope + slope, for_bias * with_bias
        gradient = np.concatenate([part.ravel() for part in gradients]) * sizes
        return float(value + 0.5 * (flat[:-rows] ** 2).sum()), gradient

    first, bounds = np.zeros(len(sizes)), None
    if consistent and rows == 1:
        first = np.append(_LEAST / sizes[:-1], 0)
        bounds = Bounds(np.append(first[:-1], -np.inf))  # pyright: ignore[reportArgumentType]
    options = {"maxiter": 60, "ftol": 1e-5, "maxcor": 3}  # remembering more costs more than it saves
    with threadpool_limits(1):  # sums of vectors, at which threads of BLAS mostly wait
        found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x * sizes
    u, slope, bias = (part.reshape(-1, rows) for part in np.split(found, ends))
    bias[np.abs(bias) < _ROUNDING] = 0  # or it would decide texts whose tokens balance each other
    slope = axes @ slope
    parts = u * scale + vectors @ slope, bias, slope
    x, bias, slope = parts if rows == 1 else (part - part.mean(axis=1, keepdims=True) for part in parts)
    return x, bias[0], slope


def log_loss(z: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The weighted sum of the losses, and its slope in each logit."""
    if z.shape[1] == 1:
        signs = 2.0 * labels - 1
        margins = signs * z[:, 0]
        slopes = -weights * signs * np.exp(-np.logaddexp(0, margins))
        return float(weights @ np.logaddexp(0, -margins)), slopes[:, None]
    z -= z.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(z).sum(axis=1))
    here = np.arange(len(z)), labels
    slopes = np.exp(z - log_sum[:, None]) * weights[:, None]
    slopes[here] -= weights
    return float(weights @ (log_sum - z[here])), slopes
