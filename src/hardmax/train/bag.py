"""Texts as bags of tokens, and a logistic regression on them: one number a token and class, by
L-BFGS.

Bags come in any number, in memory or from files; each evaluation of the loss goes through all of
them."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.sparse import csc_array, csr_array

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


class SpilledArrays:
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
    """Whether these are texts; False for sentences, which come from texts that are in other
    bags."""

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
        values = (
            np.repeat(self.weights[first], sizes) * np.clip(found.data, -1, 1) if weighted else None
        )
        counts = np.bincount(cells, values, minlength=self.tokens * self.classes)
        return counts.reshape(self.tokens, self.classes)


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledTexts:
    """What is known of all texts of a corpus."""

    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int
    sentences: float
    """The weight of a sentence."""
    folder: Path | None = None
    """For what is not kept in memory."""
    folds: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    """Not known before the texts have been encoded once."""

    @property
    def prior(self) -> np.ndarray:
        """The logits of a text that nothing is known of, (rows,): each class has the probability
        that is its share of the texts."""
        sizes = np.bincount(self.labels, self.weights, minlength=self.classes)
        logs = np.log(np.maximum(sizes, np.finfo(float).tiny))
        logits = logs - logs.mean() if self.classes > 2 else np.diff(logs)
        return logits.round(_DECIMALS)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bags(LabelledTexts):
    """The texts of a corpus as bags of tokens, a chunk each, and sentences apart from texts."""

    stored: list[tuple[bool, SpilledArrays]]
    """Whether they are texts, and their arrays: factors, tokens, offsets, and the text that each
    comes from."""
    tokens: int
    fold: int | None = None
    """Without the texts of this fold, or with these alone."""
    is_held_out: bool = False
    vectors: Any = None
    """Those of the tokens (tokens, dimensions), sparse, if there are any."""
    designs: dict[Any, Any] = field(default_factory=dict, init=False)
    """What regressions on these texts share, by the fold that is left out and the number of texts
    that have each token; others do not take it over."""

    def __iter__(self) -> Iterator[Bag]:
        for is_whole, stored in self.stored:
            matrix, owners = self._load(stored)
            if self.fold is not None:
                rows = np.flatnonzero((self.folds[owners] == self.fold) == self.is_held_out)
                matrix, owners = matrix[rows], owners[rows]
            weights = self.weights[owners] * (1 if is_whole else self.sentences)
            about = self.labels[owners], weights, self.groups[owners]
            yield Bag(matrix, *about, self.classes, is_whole)

    def _load(self, stored: SpilledArrays) -> tuple[Any, np.ndarray]:
        factors, ids, offsets, owners = stored.load()
        return csr_array((factors, ids, offsets), shape=(len(owners), self.tokens)), owners

    def without(self, fold: int | None) -> "Bags":
        """All but those of a fold."""
        return replace(self, fold=fold, is_held_out=False)

    def held_out(self, fold: int) -> "Bags":
        """The texts of a fold."""
        texts = [(is_whole, stored) for is_whole, stored in self.stored if is_whole]
        return replace(self, stored=texts, fold=fold, is_held_out=True)

    def take(self, tokens: np.ndarray) -> "Bags":
        """The same texts with some of the tokens."""
        kept = []
        for is_whole, stored in self.stored:
            matrix, owners = self._load(stored)
            part = matrix[:, tokens]  # which stay in order of appearance
            kept.append(
                (is_whole, SpilledArrays(self.folder, part.data, part.indices, part.indptr, owners))
            )
        vectors = None if self.vectors is None else self.vectors[tokens]
        return replace(self, stored=kept, tokens=len(tokens), vectors=vectors)


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

    Each text is divided by its size, as the model's mean will be: one of `typical` size is left as
    it is."""

    def __init__(
        self,
        bags: Iterable[Bag],
        typical: float,
        *,
        folder: Path | None = None,
        vectors: Any = None,
    ) -> None:
        bags = list(bags) if folder is None else bags
        self.typical, self.folder = typical, folder
        counts: Any = sum(bag.counts() for bag in bags if bag.is_whole)
        self.counts = np.maximum(counts, 0)
        """How many groups of each class have each token, as `Bag.counts` says, (tokens,
        classes)."""
        self.weight = float(sum(bag.weights.sum() for bag in bags if bag.is_whole))
        """Of all whole texts."""
        self.vectors: Any = csr_array((len(counts), 0)) if vectors is None else vectors
        # Tokens that the same texts have weigh the same: n of them are one column, which is sqrt(n)
        # times as large. Most tokens are in one text only, and its other such tokens are in the
        # same.
        rng = np.random.default_rng(0)
        marks: Any = sum(bag.matrix.T @ rng.random(len(bag)) for bag in bags)
        _, self.first, self.column, times = np.unique(
            marks, return_index=True, return_inverse=True, return_counts=True
        )
        """The first token of each column, and which column stands for each token."""
        self.once = np.sqrt(times)[:, None]
        """The root of the number of tokens of each column, (columns, 1)."""
        self.curvature = np.zeros(len(self.first))
        """The sums of squares of each column."""
        self.products = np.zeros((self.vectors.shape[1],) * 2)
        """Those of the vectors' axes."""
        self.total = 0.0
        """The weight of all texts and sentences."""
        self.stored: list[SpilledArrays] = []
        """For each bag the entries, texts and offsets of the columns, labels, weights, and what the
        vectors of the tokens add up to in each text."""
        for bag in bags:
            lengths = (typical + TYPICAL_WEIGHT) / (bag.sizes + TYPICAL_WEIGHT)
            # By token: then what is summed up is as long as there are texts in a bag, not tokens,
            # and fits the cache.
            by_token = bag.matrix.tocsc()[:, self.first]
            factors = by_token.data * lengths[by_token.indices]
            meanings = lengths[:, None] * (bag.matrix @ self.vectors).toarray()
            self.products += meanings.T @ (bag.weights[:, None] * meanings)
            arrays = factors, by_token.indices, by_token.indptr, bag.labels, bag.weights
            self.stored.append(SpilledArrays(folder, *arrays, meanings.ravel()))
            by_token.data = factors**2
            self.curvature += by_token.T @ bag.weights
            self.total += bag.weights.sum()


def scales(design: Design, scaling: str) -> np.ndarray:
    """What each token is multiplied by before the regression, (tokens, 1): how much it may weigh.

    "rarity": the inverse document frequency. "contrast", for two classes: the logarithm of how much
    more frequent the token is in one of them (naive Bayes), and half of its rarity, added as
    squares. "evidence": this logarithm alone, with five texts more of each class, so that rare
    tokens weigh little. With two classes, tokens that are more frequent in the first have negative
    scales."""
    counts = design.counts
    documents = counts.sum(axis=1, keepdims=True)
    rarity = _RARITY * np.log((1 + design.weight) / (1 + documents)) * (documents > 0)
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

    Bags are gone through for each evaluation of the loss, from the folder if there is one. If
    `consistent`, and there are two classes, every weight has the sign of its scale: no token speaks
    against its own counts. Weights that are nearly right, such as those for another strength, are a
    good start.

    If tokens have vectors, their products with a slope are added to the weights."""
    vectors, first, once = design.vectors, design.first, design.once
    width, scale_of_token, classes = vectors.shape[1], scale, design.counts.shape[1]
    scale, rows = scale[first] * once, 1 if classes == 2 else classes
    # Variables are scaled so that the loss is about as curved along each of them: fewer steps.
    # Slopes are turned to the axes along which texts differ: so they are not curved together,
    # either.
    lengths_of_axes, axes = np.linalg.eigh(design.products)
    squares = design.curvature * scale[:, 0] ** 2
    curved = strength * _CURVATURE * np.append(squares, lengths_of_axes.clip(0)) + 1
    sizes = np.repeat(1 / np.sqrt(curved), rows)

    def split(flat: np.ndarray) -> list[np.ndarray]:
        return np.split(flat.reshape(-1, rows), [len(scale)])

    def load(part: SpilledArrays) -> tuple[Any, Any, np.ndarray, np.ndarray, np.ndarray]:
        factors, texts, offsets, labels, weights, meanings = part.load()
        matrix = csc_array((factors, texts, offsets), shape=(len(labels), len(scale)))
        meanings = meanings.reshape(len(labels), width)
        return matrix, matrix.T, labels, strength * weights, meanings

    loaded = [load(part) for part in design.stored] if design.folder is None else None

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        flat = scaled * sizes
        u, slope = split(flat)
        scaled_u, turned = np.ascontiguousarray(u * scale), axes @ slope
        value, for_tokens, for_slope = 0.0, np.zeros_like(u), np.zeros_like(slope)
        for matrix, transposed, labels, weights, meanings in loaded or map(load, design.stored):
            logits = matrix @ scaled_u
            if width:
                logits += meanings @ turned
            own_value, slopes = log_loss(logits + bias, labels, weights)
            value += own_value
            for_tokens += transposed @ slopes
            if width:
                for_slope += meanings.T @ slopes
        gradients = for_tokens * scale + u, axes.T @ for_slope + slope
        gradient = np.concatenate([part.ravel() for part in gradients]) * sizes
        return float(value + 0.5 * (flat**2).sum()), gradient

    bounds, first_guess = None, np.zeros(len(sizes))
    if start is not None:
        divisor = np.where(scale == 0, 1, scale / once**2)
        own = (start.weights - vectors @ start.slope)[first] / divisor
        guesses = own, axes.T @ start.slope
        first_guess = np.concatenate([part.ravel() for part in guesses]) / sizes
    if consistent and rows == 1:
        least = _LEAST * once[:, 0] / sizes  # no vectors are with these
        bounds = Bounds(least)  # pyright: ignore[reportArgumentType]
        first_guess = np.maximum(first_guess, least)
    # Remembering more costs more than it saves.
    options = {"maxiter": 60, "ftol": 2e-5, "maxcor": 3}
    found = minimize(loss, first_guess, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    u, slope = split(found.x * sizes)
    slope = axes @ slope
    parts = (u / once)[design.column] * scale_of_token + vectors @ slope, slope
    if rows > 1:
        parts = [part - part.mean(axis=1, keepdims=True) for part in parts]
    x, slope = parts
    return Fitted(x, bias, design.typical, np.arange(len(x)), slope)


def log_loss(z: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The weighted sum of the losses, and its slope in each logit."""
    if z.shape[1] == 1:
        signs = 2.0 * labels - 1
        margins = signs * z[:, 0]
        small = np.exp(-np.abs(margins))
        wrong = np.where(margins > 0, small, 1) / (1 + small)  # the probability of the other class
        value = weights @ (np.log1p(small) + np.maximum(-margins, 0))
        return float(value), (-weights * signs * wrong)[:, None]
    z -= z.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(z).sum(axis=1))
    here = np.arange(len(z)), labels
    slopes = np.exp(z - log_sum[:, None]) * weights[:, None]
    slopes[here] -= weights
    return float(weights @ (log_sum - z[here])), slopes


def losses_of(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
    """The log loss of each text, and their mean if every class were as likely."""
    if logits.shape[1] == 1:
        z = logits[:, 0]
        log_sum = np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
        return log_sum - z * labels, float((log_sum - z / 2).mean())
    z = logits - logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(z).sum(axis=1))
    return log_sum - z[np.arange(len(z)), labels], float((log_sum - z.mean(axis=1)).mean())
