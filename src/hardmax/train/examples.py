"""What is learned from: texts, their classes as numbers, how much each counts, and which are held out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._validation import InputError
from hardmax.text.tokens.texts import TextBytes, read_texts
from hardmax.train.clouds import Clouds


@dataclass(frozen=True, eq=False)
class Examples:
    """Clouds, the class of each as a number, and how much each counts."""

    clouds: Clouds
    labels: np.ndarray
    weights: np.ndarray  # float32, about 1 on average

    def __len__(self) -> int:
        return len(self.labels)


def read_examples(texts: Any, labels: Any, weights: Any) -> tuple[TextBytes, Any, np.ndarray]:
    """Texts, labels and weights that are 1 on average; texts of no weight are left out."""
    found = read_texts(texts)
    if weights is None:
        return found, labels, np.ones(len(found), dtype=np.float32)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (len(found),) or not np.isfinite(given).all() or given.min() < 0 or given.sum() == 0:
        raise InputError(f"`weights` must be {len(found)} numbers, none negative and not all zero, one for each text.")
    read_labels(labels, len(found))
    rows = np.flatnonzero(given)
    return found.pick(rows), np.asarray(labels)[rows], (given[rows] / given[rows].mean()).astype(np.float32)


def read_labels(labels: Any, texts: int) -> tuple[list[Any], np.ndarray]:
    """The classes in order, and the number of the class of each text.

    >>> classes, numbers = read_labels(["pos", "neg", "pos"], 3)
    >>> classes, numbers.tolist()
    (['neg', 'pos'], [1, 0, 1])
    """
    given = np.asarray(labels)
    if given.shape != (texts,):
        raise InputError(f"`labels` has shape {given.shape}: expected ({texts},), one for each text.")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError("`labels` has a number that is not finite: give every text a class, or leave it out.")
    classes, numbers = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"`labels` has {len(classes)} classes: expected at least two to tell apart.")
    return classes.tolist(), numbers.astype(np.int64)


def hold_out(labels: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Which texts are held out: a random share of every class.

    >>> hold_out(np.array([0, 0, 0, 0, 1, 1]), 0.5, seed=0).sum()
    np.int64(3)
    """
    rng = np.random.default_rng([seed, len(labels)])
    held = np.zeros(len(labels), dtype=np.bool_)
    for c in range(labels.max() + 1):
        rows = rng.permutation(np.flatnonzero(labels == c))
        held[rows[: int(share * len(rows))]] = True
    return held
