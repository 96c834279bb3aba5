"""Euclidean lengths that neither overflow nor vanish, whatever the unit of the tokens."""

import math
from fractions import Fraction

import numpy as np

# Sums of squares, roots and products of these are off by less, in fewer than a billion dimensions.
_ROUNDING = 2.0**-20
# The smallest positive float64: the nearest float of a number next to nothing is no further away.
_SMALLEST = 2.0**-1074


def unit_of(table: np.ndarray) -> int:
    """The exponent e for which the largest absolute value of the table is between 2^(e - 1) and 2^e."""
    return int(np.frexp(np.abs(table).max())[1])


def lengths(table: np.ndarray) -> np.ndarray:
    """The length of each row (n, d), up to rounding.

    >>> lengths(np.array([[3e300, 4e300], [0.0, 1e300]])).tolist()
    [5e+300, 1e+300]
    """
    unit = unit_of(table)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.sqrt((np.ldexp(table, -unit) ** 2).sum(axis=1)), unit)


def longest_above(table: np.ndarray) -> float:
    """No row (n, d) is longer than this."""
    return above(float(lengths(table).max()))


def above(length: float) -> float:
    """More than any length that was computed to be this one."""
    return float(np.nextafter(length * (1 + _ROUNDING), np.inf))


def rounding_of(table: np.ndarray) -> float:
    """How far the nearest floats can be from points of which none is longer than the longest row (n, d)."""
    unit = unit_of(table)
    relative = 2.0**-53 * longest_above(np.ldexp(table, -unit))
    return above(float(np.ldexp(relative, unit))) + math.sqrt(table.shape[1]) * _SMALLEST


def root(square: Fraction) -> float:
    """The square root, rounded once; inf beyond the largest float.

    >>> root(Fraction(2)), root(Fraction(1, 10**600)), root(Fraction(10) ** 700)
    (1.4142135623730951, 1e-300, inf)
    """
    # Some 64 bits of the root, one of which says whether there are more: so it is rounded as the root itself would be.
    shift = 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2
    scaled = Fraction(square) * Fraction(4) ** shift
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    found = 2 * whole + (whole * whole != scaled)
    try:
        return float(Fraction(found) / Fraction(2) ** (shift + 1))
    except OverflowError:
        return math.inf
