"""The metric in floats, and margins."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.tokens.rationals import fits_float64

UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class FloatMetric:
    """The metric in floats, scaled by a power of two to a largest entry near 1: no attended set changes."""

    matrix: np.ndarray | None  # None: the identity
    norm: float  # at least the spectral norm: 1 for the identity, else Frobenius
    error: float
    scale: Fraction  # `matrix` is the metric times this

    def directions(self, points: np.ndarray) -> np.ndarray:
        return points if self.matrix is None else points @ self.matrix.T

    def on_axes(self, exponents: np.ndarray) -> "FloatMetric":
        """The same metric for points whose axis k is measured in units of 2 to the exponent k."""
        assert self.matrix is not None
        sums = exponents[:, None] + exponents
        shift = int((np.frexp(self.matrix)[1] + sums)[self.matrix != 0.0].max(initial=0))
        matrix = np.ldexp(self.matrix, sums - shift)
        norm, error = float(np.linalg.norm(matrix)), 0.0
        if self.error or not np.array_equal(np.ldexp(matrix, shift - sums), self.matrix):
            # Entries were rounded, or underflow now; what underflow took before may be larger now.
            error = UNIT * norm + len(matrix) * float(np.ldexp(1.0, int(sums.max()) - shift - 1074))
        return FloatMetric(matrix, norm, error, self.scale / Fraction(2) ** shift)


@lru_cache(maxsize=64)
def float_metric(dynamics: Dynamics) -> FloatMetric:
    """The metric of the dynamics in floats."""
    given = dynamics.matrix
    if given is None:
        return FloatMetric(None, 1.0, 0.0, Fraction(1))
    largest = Fraction(np.abs(given).max()) or Fraction(1)
    exponent = largest.denominator.bit_length() - largest.numerator.bit_length()
    scale = Fraction(2) ** exponent
    if given.dtype == object:
        scaled = given * scale
        matrix, is_exact = scaled.astype(np.float64), fits_float64(scaled)
    else:
        with np.errstate(under="ignore"):
            matrix = np.ldexp(given, exponent)
            is_exact = np.array_equal(np.ldexp(matrix, -exponent), given)
    norm = float(np.linalg.norm(matrix))
    return FloatMetric(matrix, norm, 0.0 if is_exact else UNIT * norm, scale)


def relative_margin(gap: float, metric_norm: float, largest: float) -> float:
    """The smallest lead of an attended point over one that is not, as a share of |A| R^2; inf where there is none."""
    return gap if gap == 0.0 or np.isinf(gap) else gap / (metric_norm * largest**2)
