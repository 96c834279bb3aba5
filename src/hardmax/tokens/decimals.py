"""Columns of written numbers into an array: fast where they are plain decimals, exact always.

A text is what it says: "0.1" is 1/10. Where float64 holds every number of the column without rounding, floats come
back, the same numbers and cheaper; otherwise Fractions.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import repeat
from operator import eq
from typing import Any, TypeAlias

import numpy as np

from hardmax.checking import short
from hardmax.errors import InputError

Place: TypeAlias = Callable[[int], str]  # names the cell of that index in an error

LONGEST_PLAIN = 19  # characters: sign, point and digits whose integer int64 can hold
_PLAIN_MARKS = b"+-.0123456789\n"  # the newline stands between cells
LARGEST_ODD_PART = 2**53  # of a float64 that is a whole number


def read_numbers(cells: Sequence[Any], place: Place) -> np.ndarray:
    """A flat array of the numbers that the cells say: float64 if it holds them all, else Fractions.

    >>> read_numbers(["0.5", "-3"], place=str)
    array([ 0.5, -3. ])
    >>> read_numbers(["0.1", "7/5", "1e-3"], place=str)
    array([Fraction(1, 10), Fraction(7, 5), Fraction(1, 1000)], dtype=object)
    """
    plain = _plain_decimals(cells)
    return _of_plain(*plain) if plain else _of_any(_each_number(cells, place), place)


def is_number(cell: str) -> bool:
    """Whether the text says a number; "nan" and "inf" count, to be refused with a better reason."""
    return _number(cell) is not None


def fractions_array(values: list[Fraction]) -> np.ndarray:
    """An object array of the values."""
    # Left to itself numpy would ask every Fraction whether it is a sequence.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain_decimals(cells: Sequence[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """Integers and decimal places of cells like -1.25 (-125 and 2); None if some cell is written in another way."""
    if set(map(type, cells)) != {str}:
        return None
    joined = "\n".join(cells)
    # Spaces of any kind would be counted as decimal places, and `int` would read over them.
    if not joined.isascii() or joined.encode().translate(None, _PLAIN_MARKS) or ".-" in joined or ".+" in joined:
        return None
    if joined.count("\n") != len(cells) - 1:
        return None
    points = np.fromiter(map(str.find, cells, repeat(".")), np.int64, len(cells))
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    if lengths.max() > LONGEST_PLAIN or joined.count(".") != (points >= 0).sum():
        return None
    try:
        integers = np.array(list(map(int, joined.replace(".", "").split("\n"))), dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return integers, np.where(points < 0, 0, lengths - points - 1)


def _of_plain(integers: np.ndarray, places: np.ndarray) -> np.ndarray:
    # m / 10^p = (m / 5^p) / 2^p is dyadic exactly if 5^p divides m.
    fives = 5**places
    dyadic = integers // fives
    odd_parts = np.abs(dyadic) // np.maximum(dyadic & -dyadic, 1)
    if (dyadic * fives == integers).all() and (odd_parts <= LARGEST_ODD_PART).all():
        return np.ldexp(dyadic.astype(np.float64), -places)
    return fractions_array(list(map(Fraction, integers.tolist(), (10**places).tolist())))


def _of_any(numbers: Sequence[Decimal | Fraction], place: Place) -> np.ndarray:
    floats = np.array(list(map(float, numbers)))
    # A short text such as 1e999999999 has more digits than memory: what float64 loses altogether is refused.
    lost = ~np.isfinite(floats)
    zeros = np.flatnonzero(floats == 0)
    lost[zeros] = [numbers[index] != 0 for index in zeros.tolist()]
    if lost.any():
        index = int(lost.argmax())
        raise InputError(f"{place(index)} is {numbers[index]}: expected 0 or a size between 1e-300 and 1e300.")
    if all(map(eq, map(Decimal, floats.tolist()), numbers)):
        return floats
    return fractions_array([Fraction(*number.as_integer_ratio()) for number in numbers])


def _each_number(cells: Sequence[Any], place: Place) -> Sequence[Decimal | Fraction]:
    try:
        if set(map(type, cells)) == {str}:
            decimals = list(map(Decimal, cells))
            if all(map(Decimal.is_finite, decimals)):
                return decimals
    except InvalidOperation:
        pass  # a quotient, or no number: look at the cells one by one
    numbers = [_number(cell) for cell in cells]
    for index, number in enumerate(numbers):
        if number is None:
            raise InputError(f"{place(index)} is {_shown(cells[index])}: expected a number.{_hint(cells[index])}")
        if isinstance(number, Decimal) and not number.is_finite():
            raise InputError(f"{place(index)} is {cells[index].strip()}: expected a finite number.")
    return [number for number in numbers if number is not None]


def _number(cell: Any) -> Decimal | Fraction | None:
    if not isinstance(cell, str):
        return None
    try:
        if "/" not in cell:
            return Decimal(cell)
        above, _, below = cell.partition("/")
        quotient = Fraction(int(above), int(below))
        return quotient if math.isfinite(quotient) else None
    except (InvalidOperation, ValueError, ZeroDivisionError, OverflowError):
        return None


def _shown(cell: Any) -> str:
    if not isinstance(cell, str):
        return short(cell)
    return short(cell.strip()) if cell.strip() else "empty"


def _hint(cell: Any) -> str:
    # A cell with half a pair of quotes, or with a tab in it, was cut out between two commas.
    is_cut = isinstance(cell, str) and ("," in cell or "\t" in cell.strip() or cell.count('"') == 1)
    return " Write decimals with a point." if is_cut else ""
