"""Fields of a document that was read, each with its type, shape and range: nothing is rounded or made to fit.

Whatever is wrong is an InputError that names the field.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax.checking import short, whole_number
from hardmax.errors import InputError

Shape = tuple[int | None, ...]  # None: of any length


def field(document: Any, key: str) -> Any:
    """What a document says of a key, which it must have."""
    if not isinstance(document, dict):
        raise InputError(f"a part of it is {short(document)}, where a JSON object belongs.")
    if key not in document:
        raise InputError(f"it says nothing of `{key}`.")
    return document[key]


def optional(read: Callable[..., Any], document: Any, key: str, **wishes: Any) -> Any:
    """A field that may say that there is nothing: None then."""
    return None if field(document, key) is None else read(document, key, **wishes)


def text(document: Any, key: str) -> str:
    """A text."""
    found = field(document, key)
    if not isinstance(found, str):
        raise InputError(f"`{key}` must be a text, not {short(found)}.")
    return found


def items(document: Any, key: str) -> list[Any]:
    """A list."""
    found = field(document, key)
    if not isinstance(found, list):
        raise InputError(f"`{key}` must be a list, not {short(found)}.")
    return found


def whole(document: Any, key: str, *, at_least: int = 0) -> int:
    """A whole number."""
    return whole_number(field(document, key), f"`{key}`", at_least=at_least)


def size(value: Any, name: str) -> float:
    """A number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < np.inf:
        raise InputError(f"`{name}` must be a number from 0 up, not {short(value)}.")
    return float(value)


def size_of(document: Any, key: str) -> float:
    """A field with a number from 0 up."""
    return size(field(document, key), key)


def size_or(nothing: float, document: Any, key: str) -> float:
    """A number from 0 up; JSON knows no inf and no nan, and says null instead."""
    found = field(document, key)
    return nothing if found is None else size(found, key)


def yes_or_no(document: Any, key: str) -> bool:
    """True or false; 1 and "False" are neither."""
    found = field(document, key)
    if not isinstance(found, bool):
        raise InputError(f"`{key}` must be true or false, not {short(found)}.")
    return found


def integers(document: Any, key: str, shape: Shape, *, at_least: int = 0, below: int = 2**62) -> np.ndarray:
    """An int64 array of that shape; 1.5 and true are no whole numbers."""
    array = _array(document, key, shape, "iu", "whole numbers")
    if array.size and not (at_least <= int(array.min()) and int(array.max()) < below):
        raise InputError(f"`{key}` must hold whole numbers from {at_least} up to {below - 1}.")
    return array.astype(np.int64)


def floats(document: Any, key: str, shape: Shape) -> np.ndarray:
    """A float64 array of that shape, of finite numbers."""
    array = _array(document, key, shape, "fiu", "numbers").astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"`{key}` must hold finite numbers.")
    return array


def truths(document: Any, key: str, shape: Shape) -> np.ndarray:
    """An array of true and false."""
    return _array(document, key, shape, "b", "true or false").astype(bool)


def numbers(document: Any, key: str) -> np.ndarray:
    """A table of floats, or of the Fractions that texts such as `7/5` say."""
    rows = field(document, key)
    if not (isinstance(rows, list) and rows and isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], str)):
        return floats(document, key, (None, None))
    return np.array(_table(document, key, (len(rows), len(rows[0])), _quotient), dtype=object)


def hexadecimal(document: Any, key: str, shape: tuple[int, int]) -> list[list[int]]:
    """A table of integers, each written in hexadecimal."""
    return _table(document, key, shape, lambda said: int(said, 16))


def _table(document: Any, key: str, shape: tuple[int, int], read: Callable[[str], Any]) -> list[list[Any]]:
    rows = items(document, key)
    if len(rows) != shape[0] or not all(isinstance(row, list) and len(row) == shape[1] for row in rows):
        raise InputError(f"`{key}` must be a table of {shape[0]} rows with {shape[1]} entries each.")
    try:
        return [[read(said) for said in row] for row in rows]
    except (ValueError, TypeError, ZeroDivisionError):
        raise InputError(f"`{key}` must hold written numbers.") from None


def _quotient(said: str) -> Fraction:
    above, _, below = said.partition("/")
    # Not Fraction(said): 1e999999999 is a short text and a long number.
    return Fraction(int(above), int(below or "1"))


def _array(document: Any, key: str, shape: Shape, kinds: str, what: str) -> np.ndarray:
    found = field(document, key)
    array = _array_of_list(found, key, kinds, what) if isinstance(found, list) else found
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.dtype.itemsize > 8:
        raise InputError(f"`{key}` must hold {what}, not {getattr(array, 'dtype', short(array))}.")
    if array.ndim != len(shape) or any(wish not in (None, came) for wish, came in zip(shape, array.shape, strict=True)):
        wish = " x ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"`{key}` has shape {array.shape}: expected {wish}.")
    return array


def _array_of_list(found: list[Any], key: str, kinds: str, what: str) -> np.ndarray:
    try:
        entries = np.array(found, dtype=object)
    except ValueError:
        raise InputError(f"`{key}` must be an array, of rows that are equally long.") from None
    # Looked at before numpy does, to which true is 1 and 1 is 1.0.
    allowed = {"f": {float, int}, "i": {int}, "b": {bool}}[kinds[0]]
    odd = [entry for entry in entries.ravel().tolist() if type(entry) not in allowed]
    if odd:
        raise InputError(f"`{key}` must hold {what}, not {short(odd[0])}.")
    try:
        return entries.astype({"f": np.float64, "i": np.int64, "b": np.bool_}[kinds[0]])
    except OverflowError:
        raise InputError(f"`{key}` must hold {what} that are not as large.") from None
