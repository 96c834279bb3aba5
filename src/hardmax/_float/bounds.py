"""The scale and the metric in which floats compute, and how wrong they can be: what
`arithmetic="certified"` rests on.

A positive factor changes no attended set, so we take one that suits floats: decimals become whole
numbers, and clouds of any size come to a size at which scores neither overflow nor vanish.

Write u = 2^-53 and gamma_k = k u / (1 - k u). The float point x_j stands for the true z_j, |x_j -
z_j| <= r_j (its running error); rho_j = |x_j|; a is the Frobenius norm of the float metric (1 for
the identity), e the error of that metric. Among the points of a search rho and r are the largest
rho_j and r_j.

**Scores.** A dot product of length d, in any order of summation, with or without fused operations,
is off by at most gamma_d |x||y| (Higham, Accuracy and Stability of Numerical Algorithms, section
3.1). With y_i = fl(A x_i), whose error is at most gamma_d a rho_i, and 0 for the identity, the
score fl(<y_i, x_j>) differs from <A x_i, x_j> by at most

    gamma_d rho_i rho   for the identity,      (2 gamma_d + gamma_d^2) a rho_i rho   for any other
    metric.

The data are off as well: <A x_i, x_j> differs from the true <A z_i, z_j> by at most

    e rho_i rho + (a + e) (rho_i r + rho r_i + r_i r).

The sum of both is E_i. If the winner leads by more than 2 E_i, it is the true winner, alone. The
lead itself is rounded too, by u of itself: SAFETY covers that.

**Steps.** fl(w + t (x - w)) with t = g^m rounded to float: t (x - w) carries three roundings, and
its norm is at most 2 max(|x|, |w|); the sum carries one more. Together they are below 7 u max(|x|,
|w|). The exact map is a convex combination, so r_i becomes at most the larger of r_i and that of
the target, and STEP u max(rho_i, |w|) more. A leader stays where it is: x = w gives w. The mean of
k points carries a rounding for each product with a multiplicity, for the k - 1 sums and for the
division, so that it is off by (k + 1) u rho; sums of more than SUMMED points are made without error
(`active_set.mean_positions`), which leaves three roundings.

**Underflow** adds less than 2^-900, since only clouds whose largest coordinate is between 2^-100
and 2^100 are treated here, and the metric is scaled to a largest entry between 1/2 and 2. A
computed norm misses at most 2^-525 by it: added. These bounds are evaluated in floats themselves,
for less than 2^40 layers: SAFETY covers that."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._tokens.points import Points
from hardmax._tokens.rationals import fits_float64
from hardmax.dynamics import Dynamics

UNIT = 2.0**-53
SAFETY = 1 + 2.0**-10
UNDERFLOW = 2.0**-900
SMALLEST, LARGEST = 2.0**-100, 2.0**100
STEP = 7
SUMMED = 32
_LARGEST_WHOLE = 2**53
_MISSED = 2.0**-525
# Clouds that hold numbers of very different sizes have their largest near 2 to this: a square does
# not overflow.
_HIGHEST = 500


@dataclass(frozen=True, eq=False)
class FloatMetric:
    """The metric in floats (None: the identity), scaled by a power of two to a largest entry near
    1.

    `norm` is at least the spectral norm: 1 for the identity, else Frobenius. `matrix` is the metric
    times `scale`, up to `error`."""

    matrix: np.ndarray | None
    norm: float
    error: float
    scale: Fraction

    def directions(self, points: np.ndarray) -> np.ndarray:
        return points if self.matrix is None else points @ self.matrix.T


def float_metric(dynamics: Dynamics) -> FloatMetric:
    """The metric of the dynamics in floats."""
    given = dynamics.metric
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
    """The smallest lead of an attended point over one that is not, as a share of |A| R^2; inf where
    there is none."""
    return gap if gap == 0.0 or np.isinf(gap) else gap / (metric_norm * largest**2)


def norms_above(points: np.ndarray) -> np.ndarray:
    """Upper bounds of the row norms (up to SAFETY), even where squares underflow."""
    return np.sqrt(np.einsum("ij,ij->i", points, points)) + _MISSED


@dataclass(frozen=True)
class SlackFactors:
    """2 E_i is `rounding` times rho_i rho, plus `spread` times (rho_i r + rho r_i + r_i r), plus
    underflow."""

    rounding: float
    spread: float

    @classmethod
    def of(cls, dimension: int, metric: FloatMetric) -> "SlackFactors":
        gamma = dimension * UNIT / (1 - dimension * UNIT)
        rounding = (
            gamma if metric.matrix is None else (2 * gamma + gamma**2) * metric.norm + metric.error
        )
        return cls(2 * SAFETY * rounding, 2 * SAFETY * (metric.norm + metric.error))

    def slack(
        self, norms: np.ndarray, errors: np.ndarray | float, largest: float, error: float
    ) -> np.ndarray:
        """2 E_i for directions from points of these norms and errors, among points up to `largest`
        and `error`: a lead beyond it is proved."""
        with np.errstate(
            over="ignore"
        ):  # a point far smaller than its error: nothing is proved, as it should be
            slack = norms * (self.rounding * largest + self.spread * error)
            rest = self.spread * (largest + error) * errors
            rest += UNDERFLOW
            slack += rest
        return slack


@dataclass(frozen=True, eq=False)
class Frame:
    """Points in floats: `numbers` (p, d) times `unit` are the tokens, to within `error`, measured
    as the numbers."""

    numbers: np.ndarray
    unit: Fraction
    error: float

    @classmethod
    def of(cls, points: Points) -> "Frame":
        tokens = points.coordinates
        if tokens.dtype != object:
            largest = max(float(tokens.max()), -float(tokens.min()))
            if largest == 0.0 or SMALLEST <= largest <= LARGEST:
                return cls(tokens, Fraction(1), 0.0)
            exponent = _exponent(int(np.frexp(largest)[1]), tokens)
            numbers = np.ldexp(tokens, -exponent)
            lost = not np.array_equal(np.ldexp(numbers, exponent), tokens)
            return cls(numbers, Fraction(2) ** exponent, UNDERFLOW if lost else 0.0)
        cloud = points.integers
        if max(abs(value) for row in cloud.numerators for value in row) <= _LARGEST_WHOLE:
            return cls(
                np.array(cloud.numerators, dtype=np.float64), Fraction(1, cloud.denominator), 0.0
            )
        largest = max(abs(value) for value in tokens.flat)
        exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
        unit = Fraction(2) ** _exponent(exponent, tokens)
        numbers = (tokens / unit).astype(np.float64)
        exact = fits_float64(tokens / unit)
        return cls(
            numbers, unit, 0.0 if exact else rounding_error(float(norms_above(numbers).max()))
        )

    def in_units(self, numbers: np.ndarray) -> np.ndarray:
        """Positions as the tokens were given; coordinates are rounded once more, unless the unit is
        a power of two."""
        if self.unit == 1:
            return numbers
        above, below = self.unit.numerator, self.unit.denominator
        if above & (above - 1) or below & (below - 1):
            # A denominator beyond the largest float is divided by in two steps, of which the first
            # is a power of two.
            spare = max(0, below.bit_length() - 1000)
            return np.ldexp(numbers / float(Fraction(below, 2**spare)) * float(above), -spare)
        return np.ldexp(numbers, above.bit_length() - below.bit_length())

    def error_in_units(self, error: float, largest: float) -> float:
        """What an error comes to with the rounding of `in_units`, for numbers of norm up to
        `largest`."""
        if self.unit == 1 or not np.isfinite(error):
            return error
        return float(Fraction(error + 4 * UNIT * largest) * self.unit) * (1 + 2.0**-40) + 2.0**-1060


def _exponent(largest: int, tokens: np.ndarray) -> int:
    """By which power of two tokens are divided, if that of the largest is known: if others are far
    smaller, these are not to vanish."""
    smallest = np.abs(tokens[tokens != 0]).min()
    return largest - _HIGHEST if smallest < Fraction(2) ** (largest - _HIGHEST) else largest


def kernel_factors(dimension: int, metric: FloatMetric) -> list[float]:
    """What a kernel that proves its choices counts with: the two factors of 2 E_i, underflow, the
    error of a step of length 1, and between which sizes of the largest coordinate the bounds
    hold."""
    factors = SlackFactors.of(dimension, metric)
    return [factors.rounding, factors.spread, UNDERFLOW, step_error(1.0), SMALLEST, LARGEST]


def step_error(largest: float) -> float:
    """How much one step towards a single point adds to the running error."""
    return STEP * UNIT * SAFETY * largest + UNDERFLOW


def mean_error(largest: float, several: int) -> float:
    """How far the computed mean of at most this many points can be from the mean of their
    floats."""
    return (min(max(several, 3), SUMMED) + 1) * UNIT * SAFETY * largest + UNDERFLOW


def search_rounding(dimension: int) -> float:
    """More than rounding changes in a bound <y, c> + r |y| on scores, as a share of r |y| and of
    |y| times the largest coordinate: 2 gamma_d |y| (|c| + |x|) at most, where |c| and |x| are up to
    sqrt(d) such coordinates."""
    return 2.0**-40 + 4 * dimension**1.5 * UNIT


def rounding_error(largest: Any) -> Any:
    """How far the nearest floats can be from points of norm at most `largest`, or from numbers of
    these sizes."""
    return UNIT * SAFETY * largest + UNDERFLOW
