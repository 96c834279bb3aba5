"""Checks at the door that many arguments share. Each gives back what was meant, or raises one line.

Whatever comes may be of any kind: an object that fails when it is looked at is refused like any other.
"""

import inspect
import math
import operator
import os
import re
from collections.abc import Callable, Collection
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from hardmax.errors import InputError, NoSuchPlace

# Larger ones can hardly be meant, and Python would not write them out.
LARGEST_WHOLE = 10**1000
LONGEST_PATH, LONGEST_NAME = 4096, 255  # what Linux takes, and few others take more

Thing = TypeVar("Thing")
P = ParamSpec("P")
R = TypeVar("R")


def short(value: Any, width: int = 40) -> str:
    """`repr(value)`, cut to `width` characters, for messages of one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # too deep, too long, or somebody's own repr fails
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= width else text[: width - 1] + "…"


def whole_number(value: Any, name: str, *, at_least: int, at_most: int = LARGEST_WHOLE) -> int:
    """The whole number that `value` is, if it is one and neither too small nor too large.

    >>> whole_number(np.int64(3), "`layers`", at_least=0)
    3
    """
    number = _as_whole(value)
    if number is not None and at_least <= number <= at_most:
        return number
    bounds = f"from {at_least} up" if at_most == LARGEST_WHOLE else f"from {at_least} to {at_most}"
    raise InputError(f"{name} must be a whole number {bounds}, not {short(value)}.", argument=name)


def _as_whole(value: Any) -> int | None:
    # True counts as 1 for Python, but nobody means it as a size.
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except Exception:  # that of numpy, torch or anybody
        return None


def real_number(value: Any, name: str, *, at_least: float = -math.inf, above: float = -math.inf) -> float:
    """The finite float that `value` is, if it is large enough.

    >>> real_number(Fraction(1, 2), "`effort`", above=0)
    0.5
    """
    if isinstance(value, int | float | np.integer | np.floating | Fraction) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and number >= at_least and number > above:
            return number
    bounds = f" from {at_least:g} up" if at_least > -math.inf else f" above {above:g}" if above > -math.inf else ""
    raise InputError(f"{name} must be a finite number{bounds}, not {short(value)}.", argument=name)


def truth_value(value: Any, name: str) -> bool:
    """True or False, and not what Python would take for it: the text "False" is true.

    >>> truth_value(np.True_, "`midpoints`")
    True
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{name} must be True or False, not {short(value)}.", argument=name)


def one_of(value: Any, names: Collection[str], name: str, *, also: str = "") -> str:
    """The text that `value` is, if it is among the names; `also` says in an error what else is taken."""
    if isinstance(value, str) and value in names:
        return str(value)
    raise InputError(f"{name} must be one of {', '.join(map(repr, names))}{also}, not {short(value)}.", argument=name)


def instance(value: Any, kind: type[Thing] | tuple[type[Thing], ...], name: str, wish: str) -> Thing:
    """The value itself, if it is of a kind; `wish` says in an error what was expected, with an example."""
    if isinstance(value, kind):
        return value
    raise InputError(f"{name} must be {wish}, not {short(value)}.", argument=name)


def a_text(value: Any, name: str) -> str:
    """The text that `value` is; bytes are none."""
    if isinstance(value, str):
        return value
    raise InputError(f"{name} must be a text, not {short(value)}.", argument=name)


def caller(value: Any, name: str, *arguments: str) -> Any:
    """A function that can be called with so many arguments, or None."""
    if value is None:
        return None
    try:
        inspect.signature(value).bind(*arguments)
    except TypeError:
        wish = f"None or a function of ({', '.join(arguments)})"
        raise InputError(f"{name} must be {wish}, not {short(value)}.", argument=name) from None
    except Exception:  # some that are written in C do not tell what they take
        if not callable(value):
            raise InputError(f"{name} must be None or a function, not {short(value)}.", argument=name) from None
    return value


def file_path(value: Any, name: str = "`path`") -> Path:
    """The path of a file or folder that a text or a Path names.

    >>> file_path("runs/first.npz").suffix
    '.npz'
    """
    try:
        text = os.fspath(value)
        parts = os.fsencode(text).split(b"/")
    except Exception:  # no path, one that fails, or half a character
        text, parts = "", [b""]
    fits = len(text) <= LONGEST_PATH and max(map(len, parts)) <= LONGEST_NAME
    if not isinstance(text, str) or not any(parts) or not fits or re.search(r"[\0\n\r]", text):
        raise InputError(f"{name} must be the name of a file, a text or a Path, not {short(value)}.", argument=name)
    return Path(text)


def takes(**readers: Callable[[Any, str], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a function's arguments read at its door, by name: each reader is called with the value and its name.

    >>> @takes(hull=truth_value)
    ... def draw(hull=False): ...
    >>> draw(hull="no")
    Traceback (most recent call last):
    hardmax.errors.InputError: `hull` must be True or False, not 'no'.
    """

    def with_door(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = signature.bind(*args, **kwargs)
            for name in readers.keys() & given.arguments.keys():
                given.arguments[name] = readers[name](given.arguments[name], f"`{name}`")
            return function(*given.args, **given.kwargs)

        return checked

    return with_door


def place(index: Any, length: int, name: str) -> int:
    """Where an index points in a sequence, from 0 up: -1 is the last place.

    >>> place(-1, 3, "`cloud`")
    2
    """
    wish = f"a whole number below {length}, or from {-length} up to count from the end"
    number = _as_whole(index)
    if number is None:
        raise InputError(f"{name} must be {wish}, not {short(index)}.", argument=name)
    if -length <= number < length:
        return number % length
    raise NoSuchPlace(f"{name} must be {wish}, not {short(number)}.", argument=name)


def places(part: slice, length: int, name: str) -> range:
    """Where a slice points in a sequence."""
    try:
        return range(length)[part]
    except Exception:
        raise InputError(
            f"{name} must be a whole number or a slice of whole numbers, not {short(part)}.", argument=name
        ) from None


def refuse_unreadable(values: Any, name: str, *, within: int = 0) -> None:
    """Refuse what is no array of numbers though it could be made one: where some are masked, sparse ones, bytes.

    So many levels `within` lists are looked at as well.
    """
    if within and isinstance(values, list | tuple):
        for value in values:
            refuse_unreadable(value, name, within=within - 1)
    # The module of masked arrays is loaded when it is first named.
    if isinstance(values, np.ndarray) and type(values) is not np.ndarray and np.ma.is_masked(values):
        raise InputError(
            f"{name} has masked entries, which are no numbers: fill them with .filled(value), or leave their rows out.",
            argument=name,
        )
    if isinstance(values, bytes | bytearray | memoryview):
        raise InputError(
            f"{name} must be numbers, not bytes: {short(values)}. See numpy.frombuffer to read them.", argument=name
        )
    kind = type(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        raise InputError(
            f"{name} must be numbers, not dates or times ({values.dtype}): say in which unit, by .astype.",
            argument=name,
        )
    if hasattr(kind, "toarray") and hasattr(kind, "nnz"):
        raise InputError(
            f"{name} is a sparse matrix ({kind.__name__}), which is not read: pass its .toarray().", argument=name
        )
