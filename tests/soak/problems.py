"""Problem number k: a hard cloud, a metric, a step, and who has to answer; the same for ever.

Of ten problems in a row one is large, of which a sample of rows is checked at layer 0 and their
tokens at layer 1; the others are followed through layers 0 to 3, and their limits certified."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.random import Generator

import hardmax as hm
from soak.clouds import KINDS, make
from soak.truth import ExactCloud

SEED = 2
ALPHAS = ("1/2", "1", "1/10", "1000")
DIMENSIONS = (1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 16, 33)
METRICS = ("identity", "identity", "identity", "diagonal", "general", "any")
LARGE = 1200
"""Tokens from which on a problem is large."""
# Kinds of which most pairs are left to integers, however good the search.
TIGHT = ("clusters", "neighbours", "repeats", "far_out")


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What is asked, and of whom."""

    number: int
    kind: str
    alpha: Fraction
    metric: np.ndarray | None
    metric_kind: str
    tokens: np.ndarray
    answerer: str
    """"exact", "batch", "gpu", or "processor" with the name of a search."""

    def __str__(self) -> str:
        n, d = self.tokens.shape
        cloud = f"#{self.number} {self.kind}, n={n}, d={d}"
        return f"{cloud}, alpha={self.alpha}, metric {self.metric_kind}, by {self.answerer}"

    @property
    def is_large(self) -> bool:
        return len(self.tokens) >= LARGE

    @cached_property
    def how(self) -> dict[str, object]:
        """What the answerer takes as arguments."""
        if self.answerer == "exact":
            return {"arithmetic": "exact"}
        if self.answerer == "gpu":
            return {"engine": hm.Gpu()}
        return {}

    @cached_property
    def dynamics(self) -> hm.Dynamics:
        return hm.Dynamics(self.alpha, self.metric)

    @cached_property
    def truth(self) -> ExactCloud:
        return ExactCloud.of(self.tokens, self.metric)


def problem(number: int, *, device: bool = False) -> Problem:
    """The problem with this number; those of a `device` are all for the GPU."""
    rng = np.random.default_rng([SEED, number])
    kind = list(KINDS)[number % len(KINDS)]
    is_large = number % 10 == 9 and kind not in TIGHT
    n = round(np.exp(rng.uniform(np.log(LARGE), np.log(20_000)) if is_large else rng.uniform(0, 4)))
    d = int(rng.choice(DIMENSIONS))
    metric_kind = str(rng.choice(METRICS))
    others = [] if is_large else ["exact", "batch"]
    answerer = str(rng.choice(["processor", *others]))
    return Problem(
        number=number,
        kind=kind,
        alpha=Fraction(str(rng.choice(ALPHAS))),
        metric=draw_metric(rng, metric_kind, d),
        metric_kind=metric_kind,
        tokens=make(kind, rng, n, d),
        answerer="gpu" if device else answerer,
    )


def draw_metric(rng: Generator, kind: str, d: int) -> np.ndarray | None:
    """Symmetric positive definite, or any square matrix; None is the identity."""
    if kind == "identity":
        return None
    if kind == "diagonal":
        reach = rng.choice([1.0, 8.0, 60.0])
        return np.diag(10.0 ** rng.uniform(-reach, reach, d))
    if kind == "general":
        factor = rng.standard_normal((d, d))
        # Whether it is positive definite is decided exactly, which takes seconds for many long
        # numbers.
        factor = factor if d <= 16 else (4 * factor).round() / 4
        gram = factor @ factor.T
        return (gram + gram.T) / 2 + np.eye(d)
    return rng.standard_normal((d, d)).round(int(rng.integers(0, 17)))
