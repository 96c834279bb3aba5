"""What must fit together in a model, checked once, when it is made or read."""

import math
from typing import Any

import numpy as np

from hardmax._tokens.rationals import plain
from hardmax._validation import InputError, check_int, shorten

DEEPEST = 10_000  # layers; of infinitely many, a cloud that has not settled by then is taken as it is there


def read_layers(layers: Any, name: str = "`layers`") -> int | float:
    """A number of layers, or `math.inf`, for which "inf" stands in files.

    >>> read_layers(8), read_layers("inf")
    (8, inf)
    """
    if (isinstance(layers, str) and layers == "inf") or (isinstance(layers, float | np.floating) and layers == np.inf):
        return math.inf
    try:
        return check_int(layers, name, at_least=0, at_most=DEEPEST)
    except InputError:
        wish = f"a whole number from 0 to {DEEPEST}, or math.inf"
        raise InputError(f"{name} must be {wish}, not {shorten(layers)}.", argument=name.strip("`")) from None


def read_classes(classes: Any) -> tuple[str | int | float | bool, ...]:
    """The names of the classes, as a model folder can hold them: at least two, all different."""
    wish = "at least two texts, numbers or truth values, all different"
    if isinstance(classes, list | tuple) or (isinstance(classes, np.ndarray) and classes.ndim == 1):
        names = [plain(name) for name in (classes.tolist() if isinstance(classes, np.ndarray) else classes)]
        are_plain = all(isinstance(name, str | int | float) and name == name for name in names)
        if are_plain and len(set(names)) == len(names) >= 2:
            return tuple(names)
    raise InputError(f"`classes` must be {wish}, not {shorten(classes)}.")


def check_shape(name: str, value: np.ndarray | None, wish: tuple[int, ...]) -> None:
    """Refuse an array that is there and has another shape."""
    if value is not None and value.shape != wish:
        raise InputError(f"`{name}` has shape {shorten(value.shape)}: expected {wish}.")


def check_finite(name: str, value: np.ndarray | None) -> None:
    """Refuse an array that is there and has an entry that is no finite number."""
    if value is None or np.isfinite(value).all():
        return
    place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
    raise InputError(f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again.")
