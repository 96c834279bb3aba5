"""Laws of a start, and the probability of cells, enclosed."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from flint import acb, arb, ctx, fmpq

from hardmax._common.validation import InputError, shorten
from hardmax._questions.cells import Box, Cell
from hardmax._tokens.rationals import read_number

_BITS = 128


class Enclosure(NamedTuple):
    """Two numbers, between which another one is proved to be.

    Examples
    --------
    >>> 0.5 in Enclosure(0.25, 0.75)
    True
    """

    low: float
    """It is not less than this."""
    high: float
    """It is not more than this."""

    @property
    def width(self) -> float:
        """How far the two are apart."""
        return self.high - self.low

    def __contains__(self, value: object) -> bool:
        return self.low <= value <= self.high  # pyright: ignore[reportOperatorIssue]

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}"


class Uniform(NamedTuple):
    """The uniform law on a box."""

    box: Box

    def weight(self, cell: Cell) -> float:
        """The probability of a cell, up to rounding."""
        return float(cell.volume) / float(self.box.volume)

    def probability(self, cells: Iterable[Cell]) -> arb:
        """The probability that the start is in one of some cells."""
        return total_volume(cells) / arb(self.box.volume)


@dataclass(frozen=True)
class Gaussian:
    """A Gaussian law with independent coordinates.

    Parameters
    ----------
    mean : number or sequence of numbers, default 0
        The mean of each coordinate; one number is that of all.
    std : number or sequence of numbers, default 1
        The standard deviations, likewise.

    Examples
    --------
    >>> Gaussian(["1/2", 0], 2)
    Gaussian(mean=(Fraction(1, 2), Fraction(0, 1)), std=Fraction(2, 1))
    """

    mean: Any = 0
    """The mean of each coordinate, or of all."""
    std: Any = 1
    """The standard deviation of each coordinate, or of all."""

    def __post_init__(self) -> None:
        for name in ("mean", "std"):
            object.__setattr__(self, name, _read_numbers(getattr(self, name), f"`{name}`"))
        stds = self.std if isinstance(self.std, tuple) else (self.std,)
        if min(stds) <= 0:
            raise InputError(f"`std` must be positive, not {shorten(self.std)}.")


class Normal(NamedTuple):
    """A Gaussian law of starts."""

    moments: list[tuple[Fraction, Fraction]]
    """Mean and standard deviation of each coordinate."""

    def weight(self, cell: Cell) -> float:
        """The probability of a cell, roughly."""
        moments = self.moments
        density = 1.0
        for (mean, std), column in zip(moments, zip(*cell.floats, strict=True), strict=True):
            nearest = min(max(float(mean), min(column)), max(column))
            density *= math.exp(-(((nearest - float(mean)) / float(std)) ** 2) / 2) / float(std)
        return float(cell.volume) * density / (2 * math.pi) ** (len(moments) / 2)

    def probability(self, cells: Iterable[Cell]) -> arb:
        """The probability that the start is in one of some cells."""
        total, edges = arb(0), Counter()
        for cell in cells:
            if isinstance(cell, Box):
                total += math.prod(
                    _normal(high, *moments) - _normal(low, *moments)
                    for (low, high), moments in zip(cell.ends, self.moments, strict=True)
                )
                continue
            for edge in pairwise([*cell.corners, cell.corners[0]]):
                if edges.pop(edge[::-1], 0) == 0:
                    edges[edge] += 1
        return total - sum((self._below(*edge) for edge in edges), arb(0))

    def _below(self, start: Sequence[int], end: Sequence[int]) -> arb:
        """The signed probability of what lies below an edge: by the theorem of Green, that of a
        polygon is their sum, with the other sign."""
        ends = []
        for w, *corner in (start, end):
            pairs = zip(corner, self.moments, strict=True)
            ends.append([_standard(Fraction(x, w), *moments) for x, moments in pairs])
        (x, y), (a, b) = ends
        if (a - x).contains(0):  # upright, or nearly
            return (a - x) * arb(0, 0.5)

        def density(t: acb, _: bool) -> acb:
            along, height = x + t * (a - x), y + t * (b - y)
            return (-along * along / 2).exp() * (1 + (height / arb(2).sqrt()).erf())

        integral = acb.integral(density, acb(0), acb(1), rel_tol=arb(2) ** -40).real
        return integral * (a - x) / (8 * arb.pi()).sqrt()


def moments_of(law: Gaussian, dimension: int) -> list[tuple[Fraction, Fraction]]:
    """Mean and standard deviation of each coordinate."""
    columns = []
    for name, numbers in (("mean", law.mean), ("std", law.std)):
        numbers = numbers if isinstance(numbers, tuple) else (numbers,) * dimension
        if len(numbers) != dimension:
            message = f"`{name}` has {len(numbers)} numbers for {dimension} coordinates."
            raise InputError(message)
        columns.append(numbers)
    return list(zip(*columns, strict=True))


def enclose(low: arb, high: arb) -> Enclosure:
    """What is between two balls, rounded outward."""
    below, above = float(low.lower()), float(high.upper())
    return Enclosure(math.nextafter(below, -math.inf), math.nextafter(above, math.inf))


def enclose_probability(low: arb, high: arb) -> Enclosure:
    """The same of a probability."""
    below, above = enclose(low, high)
    return Enclosure(max(below, 0.0), min(above, 1.0))


def _read_numbers(value: Any, name: str) -> Fraction | tuple[Fraction, ...]:
    if isinstance(value, list | tuple | np.ndarray) and len(value):
        return tuple(read_number(x, name) for x in value)
    return read_number(value, name)


def _standard(x: Fraction, mean: Fraction, std: Fraction) -> arb:
    return arb(fmpq(*((x - mean) / std).as_integer_ratio()))


def _normal(x: Fraction, mean: Fraction, std: Fraction) -> arb:
    """The probability of what is below x."""
    return (1 + (_standard(x, mean, std) / arb(2).sqrt()).erf()) / 2


def total_volume(cells: Iterable[Cell]) -> arb:
    """The volume of cells that do not overlap, to many digits."""
    with ctx.workprec(_BITS):
        return sum((arb(cell.volume) for cell in cells), arb(0))
