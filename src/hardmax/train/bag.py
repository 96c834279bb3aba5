"""Texts as bags of tokens, and a logistic regression on them: one number a token and class, by
L-BFGS."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.sparse import csr_array

from hardmax.text.encoding import Encoded

_CURVATURE = 0.1  # of the logistic loss, at most 1/4
_DECIMALS = 9  # of a bias: less would decide texts whose tokens balance each other
TYPICAL_WEIGHT = 50  # silent words that are added to each text while the regression is fitted
_LEAST = 0.02  # of its scale, a consistent weight is at least so much
_SMOOTHING = 5  # texts of each class
_RARITY = 0.4  # of the inverse document frequency, so that the same strengths suit both scales


def to_matrix(found: Encoded, tokens: int) -> Any:
    """The factors of the tokens of texts, 1 if nothing modifies them, (texts, tokens), sparse."""
    return csr_array((found.factors, found.ids, found.offsets), shape=(len(found), tokens))


def to_shifts(found: Encoded, tokens: int) -> Any:
    """The shifts of the tokens of texts, in the form of their factors."""
    return csr_array((found.shifts, found.ids, found.offsets), shape=(len(found), tokens))


@dataclass(frozen=True, eq=False)
class Bags:
    """The distinct tokens of each text, and what is known of the texts."""

    matrix: Any
    """The factors of their tokens, as `to_matrix` gives them."""
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int
    folds: np.ndarray
    shifts: Any = None
    """What modifiers add to their votes, as `to_shifts` gives it, if some do."""
    vectors: Any = None
    """Those of the tokens (tokens, dimensions), sparse, if there are any."""
    shared: dict[Any, Any] = field(default_factory=dict, init=False)
    """What regressions on these texts share; others do not take it over."""

    @property
    def tokens(self) -> int:
        """The number of tokens that there are."""
        return self.matrix.shape[1]

    @property
    def sizes(self) -> np.ndarray:
        """The number of distinct tokens of each text."""
        return np.diff(self.matrix.indptr)

    @property
    def prior(self) -> np.ndarray:
        """The logits of a text that nothing is known of, (rows,): each class has the probability
        that is its share of the texts."""
        sizes = np.bincount(self.labels, self.weights, minlength=self.classes)
        logs = np.log(np.maximum(sizes, np.finfo(float).tiny))
        logits = logs - logs.mean() if self.classes > 2 else np.diff(logs)
        return logits.round(_DECIMALS)

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """What the tokens of each text say together by these weights, (texts, rows)."""
        sums = self.matrix @ weights
        return sums if self.shifts is None else sums + self.shifts.sum(axis=1)[:, None]

    def without(self, fold: int | None) -> "Bags":
        """All texts but those of a fold."""
        return self if fold is None else self.at(self.folds != fold)

    def held_out(self, fold: int) -> "Bags":
        """The texts of a fold."""
        return self.at(self.folds == fold)

    def at(self, chosen: np.ndarray) -> "Bags":
        """Some of the texts."""
        names = ("labels", "weights", "groups", "folds")
        about = {name: getattr(self, name)[chosen] for name in names}
        texts = np.flatnonzero(chosen)
        shifts = None if self.shifts is None else self.shifts[texts]
        return replace(self, matrix=self.matrix[texts], shifts=shifts, **about)

    def take(self, tokens: np.ndarray) -> "Bags":
        """The same texts with some of the tokens, which stay in order of appearance."""
        vectors = None if self.vectors is None else self.vectors[tokens]
        shifts = None if self.shifts is None else self.shifts[:, tokens]
        return replace(self, matrix=self.matrix[:, tokens], shifts=shifts, vectors=vectors)

    def counts(self, *, weighted: bool = True) -> np.ndarray:
        """Number of groups of each class that have each token, (tokens, classes).

        If weighted, a group counts as much as its first text, times the factors of the token there.
        """
        matrix = self.matrix
        if not weighted:
            data = np.ones_like(matrix.data)
            matrix = csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        members = self.groups * self.classes + self.labels
        _, first, group = np.unique(members, return_index=True, return_inverse=True)
        texts = np.arange(len(members))
        shape = len(first), len(members)
        together = csr_array((np.ones(len(members)), (group, texts)), shape=shape)
        found: Any = together @ matrix
        found.data = np.clip(found.data, -1, 1)
        told = np.eye(self.classes)[self.labels[first]]
        return found.T @ (told * self.weights[first][:, None] if weighted else told)


class Fitted(NamedTuple):
    """What a regression found."""

    weights: np.ndarray
    """Of the tokens, (tokens, rows); over several classes they add up to 0."""
    bias: np.ndarray
    """What every text has beside its votes, (rows,)."""
    typical: float
    """The mean number of tokens of a text."""
    kept: np.ndarray
    """The tokens that have weights."""
    slope: np.ndarray
    """What vectors are multiplied by, (dimensions, rows)."""

    def of_tokens(self, tokens: np.ndarray) -> "Fitted":
        """Those of some tokens, as a start."""
        return self._replace(weights=self.weights[tokens])


class Design:
    """Texts as regressions see them, whatever the strength and the scaling.

    Each text is divided by its size, as the model's mean will be: one of typical size is left as it
    is. Tokens that the same texts have weigh the same: n of them are one column, which is sqrt(n)
    times as large; most tokens are in one text only."""

    def __init__(self, bags: Bags) -> None:
        self.bags = bags
        self.typical = float(bags.sizes.sum() / max(len(bags.sizes), 1))
        self.counts = np.maximum(bags.counts(), 0)
        """How many groups of each class have each token, (tokens, classes)."""
        self.vectors: Any = csr_array((bags.tokens, 0)) if bags.vectors is None else bags.vectors
        marks = bags.matrix.T @ np.random.default_rng(0).random(len(bags.labels))
        _, self.first, self.column, times = np.unique(
            marks, return_index=True, return_inverse=True, return_counts=True
        )
        """The first token of each column, and which column stands for each token."""
        self.once = np.sqrt(times)[:, None]
        """The root of the number of tokens of each column, (columns, 1)."""
        lengths = (self.typical + TYPICAL_WEIGHT) / (bags.sizes + TYPICAL_WEIGHT)
        # By token: then what is summed up is as long as there are texts, and fits the cache.
        self.matrix = bags.matrix.tocsc()[:, self.first]
        self.matrix.data = self.matrix.data * lengths[self.matrix.indices]
        self.curvature = (self.matrix**2).T @ bags.weights
        """The sums of squares of each column."""
        self.moves = np.zeros((len(lengths), 1))
        """What modifiers add to the logits, (texts, 1)."""
        if bags.shifts is not None:
            self.moves[:, 0] = lengths * bags.shifts.sum(axis=1)
        self.meanings = lengths[:, None] * (bags.matrix @ self.vectors).toarray()
        """What the vectors of the tokens add up to in each text."""
        self.products = self.meanings.T @ (bags.weights[:, None] * self.meanings)
        """The sums of products of the vectors' axes."""


def scales(design: Design, scaling: str) -> np.ndarray:
    """What each token is multiplied by before the regression, (tokens, 1): how much it may weigh.

    "rarity": the inverse document frequency. "contrast", for two classes: the logarithm of how much
    more frequent the token is in one of them (naive Bayes), and half of its rarity, added as
    squares. "evidence": this logarithm alone, with five texts more of each class, so that rare
    tokens weigh little. With two classes, tokens that are more frequent in the first have negative
    scales."""
    counts = design.counts
    documents = counts.sum(axis=1, keepdims=True)
    texts = design.bags.weights.sum()
    rarity = _RARITY * np.log((1 + texts) / (1 + documents)) * (documents > 0)
    if counts.shape[1] > 2:
        return rarity
    more = _SMOOTHING if scaling == "evidence" else 1
    ratio = (counts + more) / (counts.sum(axis=0) + more * len(counts))
    contrast = np.log(ratio[:, 1:] / ratio[:, :1])
    if scaling == "evidence":
        return contrast
    return np.copysign(rarity if scaling == "rarity" else np.hypot(contrast, rarity / 2), contrast)


def regress(
    design: Design,
    strength: float,
    scale: np.ndarray,
    *,
    bias: np.ndarray,
    consistent: bool,
    start: Fitted | None = None,
) -> Fitted:
    """Logistic regression on scaled presence, beside a bias that is given: if it were fitted, it
    would stand for frequent words, and a text without any would get a class for them.

    If `consistent`, and there are two classes, every weight has the sign of its scale: no token
    speaks against its own counts. Weights that are nearly right, such as those for another
    strength, are a good start.

    If tokens have vectors, their products with a slope are added to the weights."""
    vectors, first, once, bags = design.vectors, design.first, design.once, design.bags
    own_scale, rows = scale[first] * once, len(bias)
    matrix, transposed, weights = design.matrix, design.matrix.T, strength * bags.weights
    given = design.moves + bias
    # Variables are scaled so that the loss is about as curved along each of them: fewer steps.
    # Slopes are turned to the axes along which texts differ: so they are not curved together,
    # either.
    lengths_of_axes, axes = np.linalg.eigh(design.products)
    squares = design.curvature * own_scale[:, 0] ** 2
    curved = strength * _CURVATURE * np.append(squares, lengths_of_axes.clip(0)) + 1
    sizes = np.repeat(1 / np.sqrt(curved), rows)

    def split(flat: np.ndarray) -> list[np.ndarray]:
        return np.split(flat.reshape(-1, rows), [len(first)])

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        flat = scaled * sizes
        own, slope = split(flat)
        logits = matrix @ np.ascontiguousarray(own * own_scale) + design.meanings @ (axes @ slope)
        value, slopes = log_loss(logits + given, bags.labels, weights)
        gradients = (transposed @ slopes) * own_scale, axes.T @ (design.meanings.T @ slopes)
        gradient = (np.concatenate(gradients).ravel() + flat) * sizes
        return float(value + 0.5 * (flat**2).sum()), gradient

    bounds, first_guess = None, np.zeros(len(sizes))
    if start is not None:
        divisor = np.where(own_scale == 0, 1, own_scale / once**2)
        own = (start.weights - vectors @ start.slope)[first] / divisor
        first_guess = np.concatenate([own, axes.T @ start.slope]).ravel() / sizes
    if consistent and rows == 1:
        least = _LEAST * once[:, 0] / sizes  # no vectors are with these
        bounds = Bounds(least)  # pyright: ignore[reportArgumentType]
        first_guess = np.maximum(first_guess, least)
    # Remembering more costs more than it saves.
    options = {"maxiter": 60, "ftol": 2e-5, "maxcor": 3}
    found = minimize(loss, first_guess, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    own, slope = split(found.x * sizes)
    slope = axes @ slope
    x = (own / once)[design.column] * scale + vectors @ slope
    if rows > 1:
        x, slope = (part - part.mean(axis=1, keepdims=True) for part in (x, slope))
    return Fitted(x, bias, design.typical, np.arange(len(x)), slope)


def both(logits: np.ndarray) -> np.ndarray:
    """A column for each class: of two, the first has the logit 0."""
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    return np.asfortranarray(logits)  # sums over few columns are faster


def _log_sums(z: np.ndarray) -> np.ndarray:
    """`np.logaddexp.reduce(z, axis=1)`, in half the time."""
    top = z.max(axis=1)
    return top + np.log(np.exp(z - top[:, None]).sum(axis=1))


def losses_of(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
    """The log loss of each text, and their mean if every class were as likely."""
    z = both(logits)
    log_sums = _log_sums(z)
    return log_sums - z[np.arange(len(z)), labels], float((log_sums - z.mean(axis=1)).mean())


def log_loss(
    logits: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """The weighted sum of the losses, and its slope in each logit."""
    z, rows = both(logits), logits.shape[1]
    log_sums = _log_sums(z)
    slopes = np.exp(z[:, -rows:] - log_sums[:, None])
    slopes -= labels[:, None] == np.arange(z.shape[1])[-rows:]
    slopes *= weights[:, None]
    return float(weights @ (log_sums - z[np.arange(len(z)), labels])), slopes
