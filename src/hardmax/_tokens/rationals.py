"""Exact numbers: floats are the binary fractions they store, strings are what they say ("1.4" is
7/5).

Also clouds of integers over one common denominator, and lengths that neither overflow nor vanish at
any scale."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from hardmax._common.validation import InputError, check_numeric, shorten
from hardmax._tokens.tensors import is_tensor, to_numpy

LONGEST_NUMBER = 13_000  # bits: Python does not write out integers of more than 4,300 digits

Number = int | float | str | Fraction | Decimal


def finite_number(value: Any, name: str) -> Decimal | Fraction:
    """The rational that `value` is, exactly; decimal text stays a Decimal, which is faster. `name`
    is for errors."""
    wish = "a finite number (such as 0.5, '1/2' or '0.1')"
    try:
        number = Decimal(value) if isinstance(value, str) and "/" not in value else plain(value)
        if isinstance(number, Decimal) and number.is_finite():
            # The integer that a few letters such as 1e999999999 stand for has a billion digits.
            if not number or (abs(number.adjusted()) <= 400 and math.isfinite(float(number))):
                return number
            raise OverflowError
        if isinstance(number, str | int | float | Fraction):
            float(exact := Fraction(number))  # exact at any size, but people are shown floats
            return exact
    except OverflowError:
        wish = "0 or of a size between 1e-400 and 1.8e308, the largest float"
    except (ValueError, ArithmeticError):
        pass
    raise InputError(f"{name} must be {wish}, not {shorten(value)}.")


def read_number(value: Any, name: str) -> Fraction:
    """The rational that an argument is: a float as its shortest decimal; True, which is 1 in
    Python, is refused."""
    given = None if isinstance(value, bool | np.bool_) else _shortest_decimal(value)
    number = Fraction(finite_number(given, name))
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LONGEST_NUMBER:
        raise InputError(f"{name} must be a number of at most 4,000 digits, not {shorten(value)}.")
    return number


def plain(value: Any) -> Any:
    """A numpy scalar as the Python number or string that it is; anything else unchanged."""
    # Dates and times have an `item` too, which may be a number.
    number: Any = (
        value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufU" else value
    )
    if isinstance(number, np.floating):  # a longdouble, finer than any float of Python
        return Fraction(*number.as_integer_ratio()) if np.isfinite(number) else float(number)
    return number


def _shortest_decimal(value: Any) -> Any:
    """A float as the shortest decimal that reads as it in its own precision; anything else
    unchanged."""
    return str(value) if isinstance(value, float | np.floating) else value


def parse_decimals(values: Any) -> np.ndarray:
    """Read floats as the shortest decimals that round to them, and strings as what they say.

    Parameters
    ----------
    values : array_like
        Floats, integers, Fractions, Decimals or strings such as ``"7/5"``.

    Returns
    -------
    ndarray of Fraction
        The rationals, in the same shape.

    Examples
    --------
    >>> parse_decimals([[1.4, 0.2]])
    array([[Fraction(7, 5), Fraction(1, 5)]], dtype=object)
    """
    return to_fractions(values, "`values`", _shortest_decimal)


def to_fractions(
    values: Any, name: str, reading: Callable[[Any], Any] = lambda value: value
) -> np.ndarray:
    """An object array of Fractions of the shape of `values`; an error names the first bad entry."""
    source = as_array(values, name)
    result = np.empty(source.shape, dtype=object)
    for index, value in np.ndenumerate(source):
        if len(index) == 2:
            where = f"row {index[0]}, column {index[1]}"
        else:
            where = f"entry {shorten(index)}"
        result[index] = Fraction(finite_number(reading(value), f"{name} ({where})"))
    return result


def is_arrow(values: Any) -> bool:
    """Whether values are a table of Arrow, told without importing it."""
    return type(values).__module__ == "pyarrow.lib" and hasattr(values, "column_names")


def as_array(values: Any, name: str) -> np.ndarray:
    """The numbers as an array of any shape and type, none of them rounded: those of lists are
    objects, as they came."""
    if type(values) is np.ndarray:
        return values
    if is_tensor(values):
        return to_numpy(values, name)
    # As an array, a data frame of Arrow, polars or pandas would round integers beside floats.
    if is_arrow(values):
        values = list(zip(*(column.to_pylist() for column in values.columns), strict=True))
    elif hasattr(values, "iter_rows"):
        values = list(values.iter_rows())
    elif hasattr(values, "itertuples"):
        values = list(values.itertuples(index=False, name=None))
    is_list = isinstance(values, list | tuple)
    if not is_list or not set(map(type, values)) <= {list, tuple}:
        check_numeric(values, name, within=1)
        if is_list:
            values = [to_numpy(row, name) if is_tensor(row) else row for row in values]
    try:
        array = np.asarray(values, dtype=object if is_list else None)
        array.flat  # noqa: B018  numpy fails on what is nested deeper than 32 levels
    except Exception:  # each library has its own errors for what it cannot do
        raise InputError(
            f"{name} must be an array or a list of rows of numbers, not {shorten(values)}."
        ) from None
    return array


@dataclass(frozen=True, slots=True)
class IntegerCloud:
    """Points with rational coordinates: `numerators[i][c] / denominator`, the denominator
    positive."""

    numerators: list[list[int]]
    denominator: int

    @classmethod
    def of(cls, tokens: np.ndarray) -> "IntegerCloud":
        """The numbers of an array of Fractions or floats, exactly, over their smallest common
        denominator."""
        ratios = [[value.as_integer_ratio() for value in row] for row in tokens.tolist()]
        common = math.lcm(*{under for row in ratios for _, under in row})
        return cls([[over * (common // under) for over, under in row] for row in ratios], common)


def dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    """The scalar product, exactly."""
    return sum(map(mul, x, y))


def fractions_of(vector: Iterable[Any]) -> tuple[Fraction, ...]:
    """Rationals of python-flint as Fractions."""
    return tuple(Fraction(int(number.p), int(number.q)) for number in vector)


def fits_float64(tokens: np.ndarray) -> bool:
    """Whether float64 stores every number of the array exactly."""
    try:
        return all(float(value) == value for value in tokens.flat)
    except OverflowError:
        return False


def unit_of(table: np.ndarray) -> int:
    """The exponent e for which the largest absolute value of the table is between 2^(e - 1) and
    2^e."""
    return int(np.frexp(np.abs(table).max())[1])


def lengths(table: np.ndarray) -> np.ndarray:
    """The length of each row (n, d), up to rounding."""
    unit = unit_of(table)
    with np.errstate(over="ignore", under="ignore"):
        squares = (np.ldexp(table, -unit) ** 2).sum(axis=1)
        return np.ldexp(np.sqrt(squares), unit)


def longest_above(table: np.ndarray) -> float:
    """An upper bound of the lengths of the rows (n, d)."""
    return above(float(lengths(table).max()))


def above(length: float) -> float:
    """An upper bound of a length that was computed to be this one."""
    # Computed sums of squares, roots and products are off by less, in fewer than a billion
    # dimensions.
    return float(np.nextafter(length * (1 + 2.0**-20), np.inf))


def rounding_of(table: np.ndarray) -> float:
    """How far the nearest floats can be from points of which none is longer than the longest row
    (n, d)."""
    unit = unit_of(table)
    relative = 2.0**-53 * longest_above(np.ldexp(table, -unit))
    # The nearest float of a number next to 0 is no further away than the smallest positive one.
    near_zero = math.sqrt(table.shape[1]) * 2.0**-1074
    return above(float(np.ldexp(relative, unit))) + near_zero
