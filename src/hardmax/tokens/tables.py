"""One table of numbers, read exactly: float64 where it holds every number given, Fractions where it does not.

numpy rounds where kinds of numbers meet: beside a float the whole number 2^53 + 1 becomes 2^53, and two tokens become
one. So a list is looked at entry by entry, and an array by its kind.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from hardmax.checking import refuse_unreadable, short
from hardmax.errors import InputError
from hardmax.tokens.rationals import plain, to_fractions
from hardmax.tokens.tensors import is_tensor, to_numpy

# Below this size float64 holds every whole number, and what it rounds does not come out below it.
FIRST_UNSURE_INTEGER = 2**53
LARGEST_FLOAT = int(np.finfo(np.float64).max)
_FLOATS: set[type] = {float, np.float64}
_NUMBERS: set[type] = {*_FLOATS, int, bool}


def read_table(values: Any, name: str) -> np.ndarray:
    """A table `(n, d)` of the numbers given, all finite; `name` is for errors.

    >>> read_table([[2**53, 0.5]], "`tokens`")
    array([[9.00719925e+15, 5.00000000e-01]])
    >>> read_table([[2**53 + 1, 0.5]], "`tokens`")
    array([[Fraction(9007199254740993, 1), Fraction(1, 2)]], dtype=object)
    """
    table = np.ascontiguousarray(exact_table(values, name))
    token = first_not_finite(table)
    if token is not None:
        raise not_finite(name, token, table[token])
    return table


def exact_table(values: Any, name: str) -> np.ndarray:
    """As `read_table`, but floats may be nan or infinite, and lie in memory as they like."""
    array = as_array(values, name)
    if array.ndim != 2:
        is_metric = name.endswith("metric`")
        shape = "(d, d)" if is_metric else "(n, d)"
        hint = "For tokens on a line pass shape (n, 1)." if array.ndim == 1 and not is_metric else ""
        came = f"of shape {short(array.shape)}" if array.ndim else short(values)
        raise InputError(f"{name} must be a table of shape {shape}, not {came}. {hint}".rstrip())
    if array.shape[0] == 0:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    if array.shape[1] == 0:
        raise InputError(f"{name} has tokens without coordinates: d must be at least 1.")
    floats = _floats_of_array(array, name)
    return _shown_as_floats(to_fractions(array, name), name) if floats is None else floats


def float_array(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Real numbers in an array of any shape, rounded to floats; they may be nan or infinite.

    >>> float_array(["1/2", 3], "`bias`", np.float32)
    array([0.5, 3. ], dtype=float32)
    """
    is_empty = isinstance(values, list | tuple) and not values
    array = np.empty(0) if is_empty else as_array(values, name)
    floats = _floats_of_array(array, name)
    if floats is None:
        floats = _shown_as_floats(np.atleast_2d(to_fractions(array, name)), name).reshape(array.shape)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(floats, dtype=dtype).reshape(array.shape)


def first_not_finite(table: np.ndarray) -> int | None:
    """The first row with a nan or an infinity, if there is one."""
    if table.dtype == object or np.isfinite(table).all():
        return None
    return int(np.argmin(np.isfinite(table).all(axis=1)))


def not_finite(name: str, token: int, row: np.ndarray) -> InputError:
    """The error for a row with a nan or an infinity."""
    return InputError(f"{name} must be finite: token {token} is {short(row.tolist())}. Remove or mend it.")


def _shown_as_floats(table: np.ndarray, name: str) -> np.ndarray:
    """Rationals are exact at any size, but people are shown floats, which end at 1.8e308."""
    for token, row in enumerate(table):
        if any(abs(value) > LARGEST_FLOAT for value in row):
            raise InputError(f"{name}: token {token} lies beyond 1.8e308, the largest float. Scale the cloud.")
    return table


# ---------------------------------------------------------------- whatever is given, as an array


def as_array(values: Any, name: str) -> np.ndarray:
    """The numbers given as an array of any shape and kind, none of them rounded."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, list | tuple):
        return _array_of_rows(values, name)
    return to_numpy(values, name) if is_tensor(values) else _array_of_container(values, name)


def _array_of_rows(rows: Sequence[Any], name: str) -> np.ndarray:
    if not rows:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [row if isinstance(row, list | tuple) else _row(row, name) for row in rows]
        _check_lengths(rows, name)
        return _objects(rows, name)
    _check_lengths(rows, name)
    floats = _floats_of_entries(list(chain.from_iterable(rows)))
    return _objects(rows, name) if floats is None else floats.reshape(len(rows), -1)


def _row(row: Any, name: str) -> Any:
    """A row that makes an array of itself; any other as it came."""
    refuse_unreadable(row, name)
    return as_array(row, name) if hasattr(type(row), "__array__") else row


def _check_lengths(rows: Sequence[Any], name: str) -> None:
    lengths = [len(row) if isinstance(row, list | tuple) or getattr(row, "ndim", 0) else None for row in rows]
    for token, length in enumerate(lengths if lengths[0] is not None else ()):
        if length != lengths[0]:
            came = "a single number" if length is None else f"{length} coordinates"
            raise InputError(f"{name}: token {token} has {came}, the tokens before it have {lengths[0]}.")


def _objects(rows: Sequence[Any], name: str) -> np.ndarray:
    """Every entry as it came: told to make objects, numpy does not look for a kind that would suit them all."""
    try:
        return np.asarray(rows, dtype=object)
    except Exception:  # rows of different shapes, or such as fail when they are looked at
        wish = "a table of shape (n, d), not rows of different shapes"
        raise InputError(f"{name} must be {wish}: {short(rows)}.") from None


def _array_of_container(values: Any, name: str) -> np.ndarray:
    """What is no list, array or tensor makes an array of itself."""
    refuse_unreadable(values, name)
    try:
        array = np.asarray(values)
        is_mixed = array.ndim == 2 and array.dtype.kind == "f" and not _is_of_one_kind(values)
    except Exception:  # each library has its own names for what it cannot do
        raise InputError(
            f"{name} cannot be read as an array: it is {short(type(values))}. Pass a list of rows."
        ) from None
    # A data frame of whole numbers and floats has rounded the whole numbers by now.
    if is_mixed and (np.abs(array[np.isfinite(array)]) >= FIRST_UNSURE_INTEGER).any():
        raise InputError(
            f"{name}: {type(values).__name__} makes floats of columns of different kinds, which leaves out whole "
            "numbers beyond 2^53. Pass an array or a list of rows."
        )
    return array


def _is_of_one_kind(container: Any) -> bool:
    columns = getattr(container, "dtypes", None)
    if isinstance(columns, Iterable):
        return len(set(map(str, columns))) == 1
    return hasattr(container, "dtype")


# ---------------------------------------------------------------- the same numbers as float64, or None


def _floats_of_array(array: np.ndarray, name: str) -> np.ndarray | None:
    """The numbers of an array as float64; None if it does not hold them all, or if some have to be read first."""
    if array.dtype == np.float64:
        return array
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "O":
        floats = _floats_of_entries(array.ravel().tolist())
        return None if floats is None else floats.reshape(array.shape)
    if kind == "U":
        return None
    if kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, not {array.dtype}. Convert it to float64 first.")
    if kind == "f" and size > 8:
        return _floats_of_longer(array)
    floats = array.astype(np.float64, copy=False)
    if kind in "iu" and size == 8 and not _is_sure(floats):
        # Python compares whole numbers with floats as they are; numpy would round them first.
        return floats if floats.ravel().tolist() == array.ravel().tolist() else None
    return floats


def _floats_of_longer(array: np.ndarray) -> np.ndarray | None:
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64)
    return floats if (floats == array).all() else None


def _floats_of_entries(entries: list[Any]) -> np.ndarray | None:
    kinds = set(map(type, entries))
    if not kinds <= _NUMBERS:
        entries = list(map(plain, entries))
        kinds = set(map(type, entries))
    if not kinds <= _NUMBERS:
        return None
    try:
        floats = np.array(entries, dtype=np.float64)
    except OverflowError:  # a whole number beyond the largest float
        return None
    if kinds <= _FLOATS or _is_sure(floats) or not np.isfinite(floats).all():
        return floats
    return floats if floats.tolist() == entries else None


def _is_sure(floats: np.ndarray) -> bool:
    """Whether whole numbers that became these floats cannot have been rounded."""
    return bool(floats.max(initial=0) < FIRST_UNSURE_INTEGER and floats.min(initial=0) > -FIRST_UNSURE_INTEGER)
