"""Vectors of fractions: sums, products, and the same over one denominator."""

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import NamedTuple

import numpy as np

Vector = tuple[Fraction, ...]


class Whole(NamedTuple):
    """A vector as integers over one denominator."""

    numerators: Sequence[int]
    denominator: int

    @classmethod
    def of(cls, vector: Vector) -> "Whole":
        common = math.lcm(*(value.denominator for value in vector))
        return cls([value.numerator * (common // value.denominator) for value in vector], common)

    @classmethod
    def reduced(cls, numerators: Sequence[int], denominator: int) -> "Whole":
        common = math.gcd(*numerators, denominator)
        if common == 1:
            return cls(numerators, denominator)
        return cls([value // common for value in numerators], denominator // common)

    @property
    def fractions(self) -> Vector:
        return tuple(Fraction(value, self.denominator) for value in self.numerators)

    def times(self, factor: int) -> Sequence[int]:
        return self.numerators if factor == 1 else [value * factor for value in self.numerators]

    def on_the_way(self, there: "Whole", share: Fraction) -> "Whole":
        """The place that is a share of the way from here before there: here at 1, there at 0."""
        common = math.lcm(self.denominator, there.denominator)
        stay, go = share.numerator, share.denominator - share.numerator
        own, others = self.times(common // self.denominator), there.times(common // there.denominator)
        numerators = [stay * z + go * w for z, w in zip(own, others, strict=True)]
        return Whole.reduced(numerators, common * share.denominator)


def weighted_mean(places: Sequence[Whole], weights: Sequence[int]) -> Whole:
    """The mean of some places, counted with weights."""
    common = math.lcm(*{place.denominator for place in places})
    factors = [weight * (common // place.denominator) for place, weight in zip(places, weights, strict=True)]
    columns = zip(*(place.numerators for place in places), strict=True)
    return Whole.reduced([sum(map(mul, factors, column)) for column in columns], common * sum(weights))


def fractions_table(vectors: Sequence[Vector]) -> np.ndarray:
    """Vectors as an object array, a row each."""
    table = np.empty((len(vectors), len(vectors[0])), dtype=object)
    table[:] = vectors
    return table


def dot(x: Sequence[Fraction | int], y: Sequence[Fraction | int]) -> Fraction:
    """The scalar product."""
    return Fraction(sum(a * b for a, b in zip(x, y, strict=True)))


def exact_sum(values: np.ndarray) -> Fraction:
    """The sum of floats, without error: whole mantissas, in two halves so that none overflows, exponent by exponent.

    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    Fraction(1, 1)
    """
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    total = Fraction(0)
    for exponent in np.unique(exponents).tolist():
        some = whole[exponents == exponent]
        high, low = int((some >> 26).sum()), int((some & (2**26 - 1)).sum())
        total += ((high << 26) + low) * Fraction(2) ** (exponent - 53)
    return total


def minus(a: Vector, b: Vector) -> Vector:
    """The difference."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def between(there: Vector, here: Vector, share: Fraction) -> Vector:
    """The place that is a share of the way from here before there: `here` at 1, `there` at 0."""
    return tuple(w + share * (z - w) for w, z in zip(there, here, strict=True))
