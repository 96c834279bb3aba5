"""Checks at the public door: errors of one line, and what arguments may be.

What goes wrong at the door, in one line: which argument, what was expected, what came, what to do.

Checks at the door that many arguments share. Each gives back what was meant, or raises one line.

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
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from hardmax._format import sanitize_line


class InputError(ValueError):
    """The input cannot be used as given. The message is one line for people; the command line exits with 2.

    What came, be it the name of a file or a value, is quoted in it: nothing that a terminal would obey is left there.

    `argument` is the one that the message is about; `also` are others in it, as written there (`any_metric=True`).
    Whoever knows arguments by other names, as the command line does, can put these in their place.

    >>> error = InputError("`layers` must be a whole number from 0 up, not -1.", argument="`layers`")
    >>> error.argument, error.also
    ('layers', ())
    """

    def __init__(self, message: str, *, argument: str = "", also: tuple[str, ...] = ()) -> None:
        super().__init__(sanitize_line(message))
        self.argument, self.also = argument.strip("`"), also


class InputIndexError(InputError, IndexError):
    """An index beyond the ends of a sequence: also the IndexError by which Python's loops know where it ends."""


class InputTypeError(InputError, TypeError):
    """A thing of the wrong kind, where others expect a TypeError: scikit-learn does of its estimators."""


class MissingExtra(ImportError):
    """An optional part of the package is not installed. The message names the extra that brings it."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra `{extra}`: pip install 'hardmax[{extra}]'")


# What is imported of each extra.
_BROUGHT = {
    "faithfulness": ("lime", "shap", "sklearn"),
    "figures": ("matplotlib",),
    "gpu": ("torch", "triton"),
    "hub": ("huggingface_hub",),
    "sklearn": ("sklearn",),
    "tables": ("pyarrow", "pandas", "narwhals"),
    "train": ("torch", "sklearn"),
}


def require_extra(purpose: str, extra: str, *modules: str) -> None:
    """Refuse, before the work, what needs an extra that is not there; `modules` are those needed of it, if not all.

    >>> need("Adding up", "figures", "math")
    """
    if not all(map(_is_there, modules or _BROUGHT[extra])):
        raise MissingExtra(purpose, extra)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # a module without a spec was put in its place
        return True


# Larger ones can hardly be meant, and Python would not write them out.
LARGEST_WHOLE = 10**1000
LONGEST_PATH, LONGEST_NAME = 4096, 255  # what Linux takes, and few others take more

Thing = TypeVar("Thing")
P = ParamSpec("P")
R = TypeVar("R")


def shorten(value: Any, width: int = 40) -> str:
    """`repr(value)`, cut to `width` characters, for messages of one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # too deep, too long, or somebody's own repr fails
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= width else text[: width - 1] + "…"


def check_int(value: Any, name: str, *, at_least: int, at_most: int = LARGEST_WHOLE) -> int:
    """The whole number that `value` is, if it is one and neither too small nor too large.

    >>> whole_number(np.int64(3), "`layers`", at_least=0)
    3
    """
    number = _as_whole(value)
    if number is not None and at_least <= number <= at_most:
        return number
    bounds = f"from {at_least} up" if at_most == LARGEST_WHOLE else f"from {at_least} to {at_most}"
    raise InputError(f"{name} must be a whole number {bounds}, not {shorten(value)}.", argument=name)


def _as_whole(value: Any) -> int | None:
    # True counts as 1 for Python, but nobody means it as a size.
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except Exception:  # that of numpy, torch or anybody
        return None


def check_real(value: Any, name: str, *, at_least: float = -math.inf, above: float = -math.inf) -> float:
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
    raise InputError(f"{name} must be a finite number{bounds}, not {shorten(value)}.", argument=name)


def check_bool(value: Any, name: str) -> bool:
    """True or False, and not what Python would take for it: the text "False" is true.

    >>> truth_value(np.True_, "`midpoints`")
    True
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{name} must be True or False, not {shorten(value)}.", argument=name)


def check_choice(value: Any, names: Collection[str], name: str, *, also: str = "") -> str:
    """The text that `value` is, if it is among the names; `also` says in an error what else is taken."""
    if isinstance(value, str) and value in names:
        return str(value)
    raise InputError(f"{name} must be one of {', '.join(map(repr, names))}{also}, not {shorten(value)}.", argument=name)


def check_instance(value: Any, kind: type[Thing] | tuple[type[Thing], ...], name: str, wish: str) -> Thing:
    """The value itself, if it is of a kind; `wish` says in an error what was expected, with an example."""
    if isinstance(value, kind):
        return value
    raise InputError(f"{name} must be {wish}, not {shorten(value)}.", argument=name)


def check_str(value: Any, name: str) -> str:
    """The text that `value` is; bytes are none."""
    if isinstance(value, str):
        return value
    raise InputError(f"{name} must be a text, not {shorten(value)}.", argument=name)


def check_callable(value: Any, name: str, *arguments: str) -> Any:
    """A function that can be called with so many arguments, or None."""
    if value is None:
        return None
    try:
        inspect.signature(value).bind(*arguments)
    except TypeError:
        wish = f"None or a function of ({', '.join(arguments)})"
        raise InputError(f"{name} must be {wish}, not {shorten(value)}.", argument=name) from None
    except Exception:  # some that are written in C do not tell what they take
        if not callable(value):
            raise InputError(f"{name} must be None or a function, not {shorten(value)}.", argument=name) from None
    return value


def check_path(value: Any, name: str = "`path`") -> Path:
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
        raise InputError(f"{name} must be the name of a file, a text or a Path, not {shorten(value)}.", argument=name)
    return Path(text)


def validate_params(**readers: Callable[[Any, str], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a function's arguments read at its door, by name: each reader is called with the value and its name.

    >>> @takes(hull=truth_value)
    ... def draw(hull=False): ...
    >>> draw(hull="no")
    Traceback (most recent call last):
    hardmax._validation.InputError: `hull` must be True or False, not 'no'.
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


def normalize_index(index: Any, length: int, name: str) -> int:
    """Where an index points in a sequence, from 0 up: -1 is the last place.

    >>> place(-1, 3, "`cloud`")
    2
    """
    wish = f"a whole number below {length}, or from {-length} up to count from the end"
    number = _as_whole(index)
    if number is None:
        raise InputError(f"{name} must be {wish}, not {shorten(index)}.", argument=name)
    if -length <= number < length:
        return number % length
    raise InputIndexError(f"{name} must be {wish}, not {shorten(number)}.", argument=name)


def normalize_slice(part: slice, length: int, name: str) -> range:
    """Where a slice points in a sequence."""
    try:
        return range(length)[part]
    except Exception:
        raise InputError(
            f"{name} must be a whole number or a slice of whole numbers, not {shorten(part)}.", argument=name
        ) from None


def check_numeric(values: Any, name: str, *, within: int = 0) -> None:
    """Refuse what is no array of numbers though it could be made one: where some are masked, sparse ones, bytes.

    So many levels `within` lists are looked at as well.
    """
    if within and isinstance(values, list | tuple):
        for value in values:
            check_numeric(value, name, within=within - 1)
    # The module of masked arrays is loaded when it is first named.
    if isinstance(values, np.ndarray) and type(values) is not np.ndarray and np.ma.is_masked(values):
        raise InputError(
            f"{name} has masked entries, which are no numbers: fill them with .filled(value), or leave their rows out.",
            argument=name,
        )
    if isinstance(values, bytes | bytearray | memoryview):
        raise InputError(
            f"{name} must be numbers, not bytes: {shorten(values)}. See numpy.frombuffer to read them.", argument=name
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
