"""The truth about a cloud of floats, in integers: which token attends to which, and where everybody
is a layer later.

Floats are dyadic rationals, so tokens, looks and scores are integers over one denominator. It
shares no code with the package."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

History = list[tuple["ExactCloud", list[set[int]]]]


def integers_of(floats: np.ndarray) -> tuple[np.ndarray, int]:
    """Numerators (an array of Python's integers) and the common denominator, a power of two."""
    ratios = [value.as_integer_ratio() for value in floats.ravel().tolist()]
    denominator = max(below for _, below in ratios)
    numerators = [above * (denominator // below) for above, below in ratios]
    return np.array(numerators, dtype=object).reshape(floats.shape), denominator


@dataclass(frozen=True, eq=False)
class ExactCloud:
    """Tokens `numerators / denominator` at one layer, and the metric times a positive number."""

    numerators: np.ndarray  # (n, d) of integers
    denominator: int
    metric: np.ndarray | None  # (d, d) of integers; None: the identity

    @classmethod
    def of(cls, tokens: np.ndarray, metric: np.ndarray | None) -> "ExactCloud":
        return cls(*integers_of(tokens), None if metric is None else integers_of(metric)[0])

    @classmethod
    def of_fractions(cls, tokens: np.ndarray) -> "ExactCloud":
        denominator = math.lcm(*(value.denominator for value in tokens.flat))
        return cls((tokens * denominator).astype(object), denominator, None)

    def __len__(self) -> int:
        return len(self.numerators)

    def attended(self, rows: Sequence[int]) -> list[set[int]]:
        """The attended sets of some tokens, repeated tokens as separate indices."""
        looks = self.numerators[list(rows)]
        if self.metric is not None:
            looks = looks @ self.metric.T
        scores = fmpz_mat(looks.tolist()) * fmpz_mat(self.numerators.tolist()).transpose()
        bests = [(row, max(row)) for row in scores.tolist()]
        return [{j for j, score in enumerate(row) if score == best} for row, best in bests]

    def moved(self, rows: Sequence[int], sets: Sequence[set[int]], alpha: Fraction) -> "ExactCloud":
        """Some of the tokens one layer later, given their attended sets."""
        common = math.lcm(*(len(several) for several in sets))
        means = np.empty((len(rows), self.numerators.shape[1]), dtype=object)
        for row, several in enumerate(sets):
            total = self.numerators[sorted(several)].sum(axis=0)
            means[row] = total * (common // len(several))
        p, q = alpha.as_integer_ratio()
        numerators = self.numerators[list(rows)] * (q * common) + means * p
        return ExactCloud(numerators, self.denominator * common * (p + q), self.metric)

    def walk(self, alpha: Fraction, layers: int) -> Iterator[tuple["ExactCloud", list[set[int]]]]:
        """The cloud and its attended sets at layers 0, 1, ..., `layers`."""
        cloud, everybody = self, range(len(self))
        for layer in range(layers + 1):
            sets = cloud.attended(everybody)
            yield cloud, sets
            if layer < layers:
                cloud = cloud.moved(everybody, sets, alpha)

    def further_than(self, tokens: np.ndarray, error: float) -> list[int]:
        """The rows of float tokens that are further than `error` from these ones."""
        if not math.isfinite(error):
            return list(range(len(tokens))) if math.isnan(error) else []
        above, below = error.as_integer_ratio()
        given, over = integers_of(tokens)
        gaps = given * self.denominator - self.numerators * over  # over both denominators
        squares = (gaps * gaps).sum(axis=1) * below**2
        return np.flatnonzero(squares > (above * self.denominator * over) ** 2).tolist()


def leaders_of(history: History) -> dict[int, int]:
    """Token -> the first layer at which it attends to its own place alone."""
    first: dict[int, int] = {}
    for layer, (cloud, sets) in enumerate(history):
        rows = cloud.numerators.tolist()
        for i, several in enumerate(sets):
            if all(rows[j] == rows[i] for j in several):
                first.setdefault(i, layer)
    return dict(sorted(first.items()))
