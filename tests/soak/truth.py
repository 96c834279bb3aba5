"""The truth about a cloud of floats, in integers: who attends to whom, and where everybody is a
layer later.

Floats are dyadic rationals, so tokens, looks and scores are integers over one denominator. It
shares no code with the package. Where a cloud is large, floats discard those who are behind by many
times what rounding can do, and integers decide among the rest; `plain` does without."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

# Scores made at once.
_BLOCK = 2**22
# Clouds of fewer numbers are left to integers altogether.
_FEW = 2**8


def integers_of(floats: np.ndarray) -> tuple[np.ndarray, int]:
    """Numerators (an array of Python's integers) and the common denominator, a power of two."""
    ratios = [value.as_integer_ratio() for value in floats.ravel().tolist()]
    denominator = max(below for _, below in ratios)
    numerators = np.empty(len(ratios), dtype=object)
    numerators[:] = [above * (denominator // below) for above, below in ratios]
    return numerators.reshape(floats.shape), denominator


def over_largest(rows: np.ndarray) -> np.ndarray:
    """Rows of integers over their largest, each rounded once."""
    units = np.maximum(np.abs(rows).max(axis=1), 1).tolist()
    pairs = zip(rows.tolist(), units, strict=True)
    return np.array([[int(x) / unit for x in row] for row, unit in pairs])


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

    @cached_property
    def floats(self) -> np.ndarray:
        """The tokens over the largest coordinate, each rounded once."""
        unit = int(np.abs(self.numerators).max()) or 1
        return np.array([[int(value) / unit for value in row] for row in self.numerators.tolist()])

    def looks(self, rows: Sequence[int]) -> np.ndarray:
        """A z for some of the tokens, up to a positive factor."""
        some = self.numerators[list(rows)]
        return some if self.metric is None else some @ self.metric.T

    def attended(self, rows: Sequence[int], *, plain: bool = False) -> list[set[int]]:
        """The attended sets of some tokens, repeated tokens as separate indices."""
        plain = plain or self.numerators.size <= _FEW
        step = max(1, _BLOCK // len(self))
        everybody = np.arange(len(self))
        found: list[set[int]] = []
        for start in range(0, len(rows), step):
            looks = self.looks(rows[start : start + step])
            able = None if plain else self._able(looks)
            for row, look in enumerate(looks):
                some = everybody if able is None else np.flatnonzero(able[row])
                found.append(self._best(some, look))
        return found

    def _best(self, some: np.ndarray, look: np.ndarray) -> set[int]:
        """Those of some tokens that lie furthest along a look."""
        if len(some) == 1:
            return {int(some[0])}
        scores = (self.numerators[some] @ look).tolist()
        best = max(scores)
        return {int(j) for j, score in zip(some, scores, strict=True) if score == best}

    def _able(self, looks: np.ndarray) -> np.ndarray:
        """Who is able to win, a row for each look: not behind by more than floats can be wrong.

        With u = 2^-53 all numbers here are off by u of themselves, a sum of d products by (d + 4) u
        times the sum of their sizes; eight times that is allowed for, and 2^-1000 for what
        vanishes."""
        seen = over_largest(looks)
        scores = seen @ self.floats.T
        doubt = np.abs(seen) @ np.abs(self.floats).T
        doubt *= (self.floats.shape[1] + 8) * 2.0**-50
        doubt += 2.0**-1000
        return scores + doubt >= (scores - doubt).max(axis=1)[:, None]

    def moved(self, rows: Sequence[int], sets: Sequence[set[int]], alpha: Fraction) -> "ExactCloud":
        """Some of the tokens one layer later, given their attended sets."""
        common = math.lcm(*(len(several) for several in sets))
        means = np.empty((len(rows), self.numerators.shape[1]), dtype=object)
        for row, several in enumerate(sets):
            total = self.numerators[sorted(several)].sum(axis=0)
            means[row] = total * (common // len(several))
        p, q = alpha.numerator, alpha.denominator
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

    def alone(self, sets: Sequence[set[int]]) -> list[int]:
        """The tokens that attend to their own place and no other."""
        rows = self.numerators.tolist()
        return [i for i, several in enumerate(sets) if all(rows[j] == rows[i] for j in several)]

    def further_than(self, tokens: np.ndarray, error: float) -> list[int]:
        """The rows of float tokens that are further than `error` from these ones."""
        if not math.isfinite(error):
            return list(range(len(tokens))) if math.isnan(error) else []
        above, below = error.as_integer_ratio()
        given, over = integers_of(tokens)
        gaps = given * self.denominator - self.numerators * over  # over both denominators
        squares = (gaps * gaps).sum(axis=1) * below**2
        return np.flatnonzero(squares > (above * self.denominator * over) ** 2).tolist()


def leaders_of(history: Sequence[tuple[ExactCloud, list[set[int]]]]) -> dict[int, int]:
    """Token -> the first layer at which it attends to its own place alone."""
    first: dict[int, int] = {}
    for layer, (cloud, sets) in enumerate(history):
        for i in cloud.alone(sets):
            first.setdefault(i, layer)
    return dict(sorted(first.items()))
