"""Checks of arguments of any kind: each returns what was meant, or raises an error of one line."""

import math
import operator
import os
import re
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from hardmax._common.format import LONGEST_LINE, sanitize_line, shorten_middle, truncate

T = TypeVar("T")

_LARGEST_INT = 10**1000  # Python would not print much larger ones


class InputError(ValueError):
    """Input that cannot be used as given. The message is one line: which argument, what was
    expected, what was given, and the way out.

    Examples
    --------
    >>> import hardmax as hm
    >>> hm.Dynamics(-1)
    Traceback (most recent call last):
    hardmax._common.validation.InputError: `alpha` must be positive, not -1. Try 0.5 or '1/2'.
    """

    def __init__(self, message: str) -> None:
        # Names of files and columns have any length; what to do stands at the end.
        super().__init__(shorten_middle(sanitize_line(message), LONGEST_LINE))


class InputIndexError(InputError, IndexError):
    """An index out of range: also the IndexError that ends Python's loops."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message names the extra to install."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra `{extra}`: {how_to_install(extra)}")


def how_to_install(extra: str) -> str:
    """How to get an extra, with a package index and without one."""
    return f"install hardmax[{extra}] (in a clone: pip install '.[{extra}]')"


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
    return kind(f"{name} must be {expected}, not {shorten(value)}.")


def check_int(
    value: Any,
    name: str,
    *,
    at_least: int,
    at_most: int = _LARGEST_INT,
    error: type[InputError] = InputError,
) -> int:
    """The integer that `value` is, within bounds. True is rejected: it is 1 for Python, but nobody
    means it as a size."""
    with suppress(Exception):  # of numpy, torch or anybody
        if not isinstance(value, bool) and at_least <= (number := operator.index(value)) <= at_most:
            return number
    bounds = f"from {at_least} up" if at_most == _LARGEST_INT else f"from {at_least} to {at_most}"
    raise _wrong(name, f"a whole number {bounds}", value, error)


def check_real(
    value: Any,
    name: str,
    *,
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
) -> float:
    """The finite float that `value` is, within bounds."""
    with suppress(OverflowError):  # an int that no float can hold
        # For numpy a time is a whole number, too.
        if isinstance(value, Real) and type(value).__name__ not in ("bool", "timedelta64"):
            number = float(value)
            if math.isfinite(number) and at_least <= number <= at_most and number > above:
                return number
    bounds = ""
    if above > -math.inf:
        bounds = f" above {above:g}" + (f", at most {at_most:g}" if at_most < math.inf else "")
    elif at_most < math.inf:
        bounds = f" from {at_least:g} to {at_most:g}"
    elif at_least > -math.inf:
        bounds = f" from {at_least:g} up"
    raise _wrong(name, f"a finite number{bounds}", value)


def check_bool(value: Any, name: str) -> bool:
    """True or False, and nothing that is merely truthy: the text "False" is."""
    if type(value).__name__ != "bool":  # Python's or numpy's
        raise _wrong(name, "True or False", value)
    return bool(value)


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


def check_list(value: Any, name: str, expected: str) -> list[Any]:
    """The entries of a list, or of another sequence that is no text; else an error that says what
    was expected."""
    with suppress(Exception):  # of somebody's own, or a memoryview of a table
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return list(value)
    raise _wrong(name, expected, value)


def check_str(value: Any, name: str) -> str:
    """The value, if it is a text; bytes are not."""
    return check_instance(value, str, name, "a text")


def check_path(value: Any, name: str = "`path`") -> Path:
    """The path of a file or folder, from a text or a Path."""
    try:
        text = os.fspath(value)
        os.fsencode(text)
    except Exception:  # no path, one that fails, or half a character
        text = ""
    if not isinstance(text, str) or not text.strip("/") or re.search(r"[\0\n\r]", text):
        raise _wrong(name, "the name of a file, a text or a Path", value)
    return Path(text)


def normalize_index(index: Any, length: int, name: str) -> int:
    """An index of a sequence, from 0 up: -1 is the last one."""
    return (
        check_int(index, name, at_least=-length, at_most=length - 1, error=InputIndexError) % length
    )


def check_numeric(values: Any, name: str, *, within: int = 0) -> None:
    """Refuse what numpy would turn into numbers that nobody meant, also within this many levels of
    nested lists."""
    import numpy as np

    if within and isinstance(values, list | tuple):
        for value in values:
            check_numeric(value, name, within=within - 1)
    kind, wrong = type(values), ""
    # `np.ma` is loaded when first named.
    if isinstance(values, np.ndarray) and kind is not np.ndarray and np.ma.is_masked(values):
        wrong = "masked entries: fill them with .filled(value), or leave their rows out"
    elif isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        wrong = f"dates or times ({values.dtype}): choose a unit with .astype"
    elif hasattr(kind, "toarray") and hasattr(kind, "nnz"):
        wrong = f"a sparse matrix ({kind.__name__}): pass its .toarray()"
    if wrong:
        raise InputError(f"{name} must be numbers, not {wrong}.")
