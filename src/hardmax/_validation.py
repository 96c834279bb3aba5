"""Checks of arguments: each returns what was meant, or raises an error of one line.

Values may be of any kind: an object that fails when it is looked at is refused like any other.
"""

import inspect
import math
import operator
import os
import re
import sys
from collections.abc import Collection
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hardmax._format import sanitize_line, truncate

T = TypeVar("T")

_LARGEST_INT = 10**1000  # Python would not print much larger ones
_LONGEST_PATH, _LONGEST_NAME = 4096, 255  # limits of Linux; few systems have larger ones


class InputError(ValueError):
    """Input that cannot be used as given, in one line; the command line exits with 2.

    Parameters
    ----------
    message : str
        Which argument, what was expected, what was given, and the way out. Control characters are escaped.
    argument : str, default ""
        Name of the argument that the message is about.
    also : tuple of str, default ()
        Other arguments as the message spells them. The command line replaces all of these by its options.

    Examples
    --------
    >>> InputError("`layers` must be a whole number from 0 up, not -1.", argument="`layers`").argument
    'layers'
    """

    def __init__(self, message: str, *, argument: str = "", also: tuple[str, ...] = ()) -> None:
        super().__init__(sanitize_line(message))
        self.argument, self.also = argument.strip("`"), also


class InputIndexError(InputError, IndexError):
    """An index out of range: also the IndexError that ends Python's loops."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message names the extra to install."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra `{extra}`: pip install 'hardmax[{extra}]'")


def require_extra(purpose: str, extra: str, *modules: str) -> None:
    """Raise MissingExtra unless the modules of an extra can be imported."""
    if not all(sys.modules.get(module) or find_spec(module) for module in modules):
        raise MissingExtra(purpose, extra)


def shorten(value: Any, width: int = 40) -> str:
    """`repr(value)` in one line of at most `width` characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # too deep, too long, or somebody's own repr fails
        text = f"something of type {type(value).__name__}"
    return truncate(text, width)


def _wrong(name: str, expected: str, value: Any, kind: type[InputError] = InputError) -> InputError:
    return kind(f"{name} must be {expected}, not {shorten(value)}.", argument=name)


def check_int(value: Any, name: str, *, at_least: int, at_most: int = _LARGEST_INT) -> int:
    """The integer that `value` is, within bounds."""
    number = _as_int(value)
    if number is not None and at_least <= number <= at_most:
        return number
    bounds = f"from {at_least} up" if at_most == _LARGEST_INT else f"from {at_least} to {at_most}"
    raise _wrong(name, f"a whole number {bounds}", value)


def _as_int(value: Any) -> int | None:
    if isinstance(value, bool | np.bool_):  # 1 for Python, but nobody means it as a size
        return None
    try:
        return operator.index(value)
    except Exception:  # of numpy, torch or anybody
        return None


def check_real(value: Any, name: str, *, at_least: float = -math.inf, above: float = -math.inf) -> float:
    """The finite float that `value` is, within bounds."""
    if isinstance(value, int | float | np.integer | np.floating | Fraction) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and number >= at_least and number > above:
            return number
    bounds = f" from {at_least:g} up" if at_least > -math.inf else f" above {above:g}" if above > -math.inf else ""
    raise _wrong(name, f"a finite number{bounds}", value)


def check_bool(value: Any, name: str) -> bool:
    """True or False, and nothing that is merely truthy: the text "False" is."""
    return bool(check_instance(value, (bool, np.bool_), name, "True or False"))


def check_choice(value: Any, names: Collection[str], name: str, *, also: str = "") -> str:
    """One of the names; `also` says in the error what else is accepted."""
    if isinstance(value, str) and value in names:
        return str(value)
    raise _wrong(name, f"one of {', '.join(map(repr, names))}{also}", value)


def check_instance(value: Any, kind: type[T] | tuple[type[T], ...], name: str, expected: str) -> T:
    """The value, if it is an instance of a class; else an error that says what was expected."""
    if isinstance(value, kind):
        return value
    raise _wrong(name, expected, value)


def check_str(value: Any, name: str) -> str:
    """The value, if it is a text; bytes are not."""
    return check_instance(value, str, name, "a text")


def check_callable(value: Any, name: str, *arguments: str) -> Any:
    """None, or a function that can be called with these arguments."""
    if value is None:
        return None
    try:
        inspect.signature(value).bind(*arguments)
    except Exception as error:  # some functions that are written in C have no signature
        if isinstance(error, TypeError) or not callable(value):
            raise _wrong(name, f"None or a function of ({', '.join(arguments)})", value) from None
    return value


def check_path(value: Any, name: str = "`path`") -> Path:
    """The path of a file or folder, from a text or a Path."""
    try:
        text = os.fspath(value)
        parts = os.fsencode(text).split(b"/")
    except Exception:  # no path, one that fails, or half a character
        text, parts = "", [b""]
    fits = len(text) <= _LONGEST_PATH and max(map(len, parts)) <= _LONGEST_NAME
    if not isinstance(text, str) or not any(parts) or not fits or re.search(r"[\0\n\r]", text):
        raise _wrong(name, "the name of a file, a text or a Path", value)
    return Path(text)


def normalize_index(index: Any, length: int, name: str) -> int:
    """An index of a sequence, from 0 up: -1 is the last one."""
    number = _as_int(index)
    if number is not None and -length <= number < length:
        return number % length
    expected = f"a whole number below {length}, or from {-length} up to count from the end"
    raise _wrong(name, expected, index, InputError if number is None else InputIndexError)


def normalize_slice(part: slice, length: int, name: str) -> range:
    """The indices in a slice of a sequence."""
    try:
        return range(length)[part]
    except Exception:
        raise _wrong(name, "a whole number or a slice of whole numbers", part) from None


def check_numeric(values: Any, name: str, *, within: int = 0) -> None:
    """Refuse what numpy would turn into numbers that nobody meant: masked entries, bytes, dates, sparse matrices.

    Items of nested lists are checked too, so many levels deep.
    """
    if within and isinstance(values, list | tuple):
        for value in values:
            check_numeric(value, name, within=within - 1)
    kind, wrong = type(values), ""
    # `np.ma` is loaded when first named.
    if isinstance(values, np.ndarray) and kind is not np.ndarray and np.ma.is_masked(values):
        wrong = "has masked entries, which are no numbers: fill them with .filled(value), or leave their rows out"
    elif isinstance(values, bytes | bytearray | memoryview):
        wrong = f"must be numbers, not bytes: {shorten(values)}. See numpy.frombuffer to read them"
    elif isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        wrong = f"must be numbers, not dates or times ({values.dtype}): choose a unit with .astype"
    elif hasattr(kind, "toarray") and hasattr(kind, "nnz"):
        wrong = f"is a sparse matrix ({kind.__name__}), which is not read: pass its .toarray()"
    if wrong:
        raise InputError(f"{name} {wrong}.", argument=name)
