"""The scale in which floats walk a cloud. A positive factor changes no attended set, so we take one that suits floats:
decimals become whole numbers, and clouds of any size come to a size at which scores neither overflow nor vanish.

Axes may be measured in different units, too: with S diagonal, <A z, z'> = <S A S y, y'> for z = S y, z' = S y'. Bounds
on rounding know only the norms of points and metric. Where a metric is largest along axes on which tokens are small,
these allow for scores that nobody has; units that make tokens reach equally far along all axes make the bounds sharp.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hardmax._float.bounds import LARGEST, SMALLEST, UNIT, FloatMetric, norms_above, rounding_error
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import fits_float64

_LARGEST_WHOLE = 2**53
# By how much bounds on scores must be sharper for axes to have units of their own.
_WORTH = 2.0**10
# The exponent for an axis along which all tokens are 0: what the metric does there must not count.
_NOWHERE = -400


@dataclass(frozen=True, eq=False)
class Frame:
    """Points in floats: `numbers` times `unit` are the tokens, to within `error`, which is measured as the numbers."""

    numbers: np.ndarray  # (p, d)
    unit: Fraction
    error: float
    exponents: np.ndarray | None = None  # axis k of the numbers is in units of 2 to the exponent k

    @classmethod
    def of(cls, points: Points) -> "Frame":
        if points.coordinates.dtype != object:
            return _of_floats(points.coordinates)
        cloud = points.integers
        if max(abs(value) for row in cloud.numerators for value in row) <= _LARGEST_WHOLE:
            return cls(np.array(cloud.numerators, dtype=np.float64), Fraction(1, cloud.denominator), 0.0)
        return _of_fractions(points.coordinates)

    def balanced(self, metric: FloatMetric) -> "Frame":
        """The same with a unit for each axis, where that makes the bounds on scores far sharper."""
        reach = np.abs(self.numbers).max(axis=0)
        if metric.matrix is None or self.error:
            return self
        exponents = np.where(reach > 0.0, np.frexp(reach)[1], _NOWHERE)
        if 4.0 ** np.ptp(exponents) <= _WORTH:  # axes of like reach: units of their own gain no more than their spread
            return self
        scaled, longest = metric.on_axes(exponents), float(norms_above(self.numbers).max())
        bound = Fraction(_WORTH * len(reach) * (scaled.norm + scaled.error)) / scaled.scale
        if not np.isfinite(scaled.error) or Fraction(metric.norm) / metric.scale * Fraction(longest) ** 2 <= bound:
            return self
        numbers = np.ldexp(self.numbers, -exponents)
        exact = np.array_equal(np.ldexp(numbers, exponents), self.numbers)
        return replace(self, numbers=numbers, exponents=exponents) if exact else self

    def metric(self, metric: FloatMetric) -> FloatMetric:
        """The metric in these units."""
        return metric if self.exponents is None else metric.on_axes(self.exponents)

    def on_one_scale(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers with one unit for all axes."""
        return numbers if self.exponents is None else np.ldexp(numbers, self.exponents)

    @property
    def is_plain(self) -> bool:
        """Whether numbers are as the tokens came."""
        return self.unit == 1 and self.exponents is None

    def in_units(self, numbers: np.ndarray) -> np.ndarray:
        """Places as the tokens came; each coordinate is rounded once more, unless the unit is a power of two."""
        numbers = self.on_one_scale(numbers)
        if self.unit == 1:
            return numbers
        above, below = self.unit.numerator, self.unit.denominator
        if above & (above - 1) or below & (below - 1):
            # A denominator beyond the largest float is divided by in two steps, of which the first is a power of two.
            spare = max(0, below.bit_length() - 1000)
            return np.ldexp(numbers / float(Fraction(below, 2**spare)) * float(above), -spare)
        return np.ldexp(numbers, above.bit_length() - below.bit_length())

    def error_in_units(self, error: float, largest: float) -> float:
        """What an error comes to with the rounding of `in_units`, for numbers of norm up to `largest`."""
        if self.exponents is not None:
            error, largest = (float(np.ldexp(size, int(self.exponents.max()))) for size in (error, largest))
        if self.unit == 1:
            return error
        total = Fraction(error + 4 * UNIT * largest) * self.unit if np.isfinite(error) else None
        return error if total is None else float(total) * (1 + 2.0**-40) + 2.0**-1060


def _of_floats(floats: np.ndarray) -> Frame:
    largest = max(float(floats.max()), -float(floats.min()))
    if largest == 0.0 or SMALLEST <= largest <= LARGEST:
        return Frame(floats, Fraction(1), 0.0)
    exponent = int(np.frexp(largest)[1])
    numbers = np.ldexp(floats, -exponent)
    lost = not np.array_equal(np.ldexp(numbers, exponent), floats)
    # What is lost is lost to underflow, far below any rounding of the largest.
    return Frame(numbers, Fraction(2) ** exponent, rounding_error(1.0) if lost else 0.0)


def _of_fractions(tokens: np.ndarray) -> Frame:
    largest = max(abs(value) for value in tokens.flat)
    unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())
    scaled = tokens / unit
    numbers = scaled.astype(np.float64)
    error = 0.0 if fits_float64(scaled) else rounding_error(float(norms_above(numbers).max()))
    return Frame(numbers, unit, error)
