"""Exact numbers: floats as the binary fractions they store, strings as what they say.

Exact numbers: how they are read, and clouds of integers over one common denominator.

A number is what it is, a text is what it says: the float 1.4 is the dyadic rational that float64 stores, the text
"1.4" is 7/5. `parse_decimals` turns the first into the second.

Euclidean lengths that neither overflow nor vanish, whatever the unit of the tokens.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from hardmax._validation import InputError, check_numeric, shorten

LARGEST_EXPONENT = 400
LONGEST_NUMBER = 13_000  # bits: Python does not write out whole numbers of more than 4,300 digits

Number: TypeAlias = int | float | Fraction | Decimal | str


def exact_number(value: Any, name: str) -> Fraction:
    """The rational that `value` is; `name` says in an error what was being read.

    >>> exact_number("1.4", "`alpha`"), exact_number(0.5, "`alpha`")
    (Fraction(7, 5), Fraction(1, 2))
    """
    value = plain(value)
    if isinstance(value, Fraction):
        return value
    try:
        number = Decimal(value) if isinstance(value, str) and "/" not in value else value
        if isinstance(number, Decimal) and number and number.is_finite() and abs(number.adjusted()) > LARGEST_EXPONENT:
            # A few letters such as 1e999999999 would be a billion digits.
            raise InputError(
                f"{name} must be 0 or of a size between 1e-400 and 1e400, not {shorten(value)}.", argument=name
            )
        if isinstance(number, str | int | float | Decimal):
            return Fraction(number)
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation) as error:
        if isinstance(error, InputError):
            raise
    raise InputError(
        f"{name} must be a finite number (such as 0.5, '1/2' or '0.1'), not {shorten(value)}.", argument=name
    )


def read_number(value: Any, name: str) -> Fraction:
    """The rational that an argument is: a float as it is written; True, which Python counts as 1, is none.

    >>> read_number(0.1, "`alpha`")
    Fraction(1, 10)
    """
    number = exact_number(None if isinstance(value, bool | np.bool_) else written(value), name)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LONGEST_NUMBER:
        raise InputError(f"{name} must be a number of at most 4,000 digits, not {shorten(value)}.", argument=name)
    return number


def plain(value: Any) -> Any:
    """The number or text of Python that a numpy scalar is; anything else as it came, to be taken or refused as that.

    >>> plain(np.uint64(2**64 - 1)), plain(np.float16(0.5)), plain("1/3")
    (18446744073709551615, 0.5, '1/3')
    """
    # Dates and times have an `item` too, which may be a number.
    if not isinstance(value, np.generic) or value.dtype.kind not in "biufU":
        return value
    number: Any = value.item()
    if isinstance(number, np.floating):  # a longdouble, finer than any float of Python
        return Fraction(*number.as_integer_ratio()) if np.isfinite(number) else float(number)
    return number


def written(value: Any) -> Any:
    """The shortest decimal, as a text, that reads as this float in its own precision; anything else as it came.

    >>> written(0.1), written(np.float32(0.1)), written(3)
    ('0.1', '0.1', 3)
    """
    return str(value) if isinstance(value, float | np.floating) else value


def parse_decimals(values: Any) -> np.ndarray:
    """An array of Fractions: every float read as its shortest decimal, every text as what it says.

    >>> parse_decimals([[1.4, 0.2]])
    array([[Fraction(7, 5), Fraction(1, 5)]], dtype=object)
    """
    return to_fractions(values, "`values`", written)


def to_fractions(values: Any, name: str, reading: Callable[[Any], Any] = lambda value: value) -> np.ndarray:
    """An object array of Fractions of the same shape as `values`; an error says where the first bad entry stands."""
    source = values if isinstance(values, np.ndarray) else objects_in(values, name)
    check_numeric(source, name)
    result = np.empty(source.shape, dtype=object)
    for index in np.ndindex(source.shape):
        where = f"row {index[0]}, column {index[1]}" if len(index) == 2 else f"entry {shorten(index)}"
        result[index] = exact_number(reading(source[index]), f"{name} ({where})")
    return result


def objects_in(values: Any, name: str) -> np.ndarray:
    """Whatever is given as an array of objects, none of them looked at."""
    check_numeric(values, name, within=3)
    try:
        return np.asarray(values, dtype=object)
    except Exception:  # each library has its own names for what it cannot do
        raise InputError(f"{name} cannot be read as an array of numbers: it is {shorten(values)}.") from None


@dataclass(frozen=True, slots=True)
class IntegerCloud:
    """Points with rational coordinates: `numerators[i][c] / denominator`, the denominator positive."""

    numerators: list[list[int]]
    denominator: int

    @classmethod
    def of_floats(cls, tokens: np.ndarray) -> "IntegerCloud":
        """The dyadic rationals that the floats are, without rounding."""
        mantissas, exponents = np.frexp(tokens)
        whole = (mantissas * 2.0**53).astype(np.int64).astype(object)
        shifts = exponents.astype(np.int64) - 53
        lowest = int(shifts[tokens != 0].min(initial=0))
        shifted = whole << np.where(tokens != 0, shifts - lowest, 0).astype(object)
        return cls(shifted.tolist(), 1 << -lowest).reduced()

    @classmethod
    def of_fractions(cls, tokens: np.ndarray) -> "IntegerCloud":
        denominator = math.lcm(*(value.denominator for value in tokens.flat))
        rows = [[value.numerator * (denominator // value.denominator) for value in row] for row in tokens]
        return cls(rows, denominator)

    @classmethod
    def of(cls, tokens: np.ndarray) -> "IntegerCloud":
        return cls.of_fractions(tokens) if tokens.dtype == object else cls.of_floats(tokens)

    def reduced(self) -> "IntegerCloud":
        """The same points over the smallest common denominator."""
        common = self.denominator
        for row in self.numerators:
            common = math.gcd(common, *map(int, row))
            if common == 1:
                return self
        rows = [[value // common for value in row] for row in self.numerators]
        return IntegerCloud(rows, self.denominator // common)

    def floats(self) -> np.ndarray:
        """Each coordinate rounded once, to the nearest float64."""
        denominator = int(self.denominator)
        return np.array([[int(value) / denominator for value in row] for row in self.numerators], dtype=np.float64)

    def fractions(self) -> np.ndarray:
        denominator = int(self.denominator)
        result = np.empty((len(self.numerators), len(self.numerators[0])), dtype=object)
        for i, row in enumerate(self.numerators):
            for c, value in enumerate(row):
                result[i, c] = Fraction(int(value), denominator)
        return result

    def rows(self, chosen: Sequence[int]) -> "IntegerCloud":
        return IntegerCloud([self.numerators[i] for i in chosen], self.denominator)


def fits_float64(tokens: np.ndarray) -> bool:
    """Whether every Fraction of the array is a float64 without rounding."""
    try:
        return all(Fraction(float(value)) == value for value in tokens.flat)
    except OverflowError:
        return False


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
