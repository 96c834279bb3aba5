"""What must fit together in a model, checked once, when it is made or read."""

from typing import Any

import numpy as np

from hardmax.checking import short
from hardmax.errors import InputError
from hardmax.tokens.rationals import plain

DEEPEST = 10_000


def read_classes(classes: Any) -> tuple[str | int | float | bool, ...]:
    """The names of the classes, as a model folder can hold them: at least two, all different."""
    wish = "at least two texts, numbers or truth values, all different"
    if isinstance(classes, list | tuple) or (isinstance(classes, np.ndarray) and classes.ndim == 1):
        names = [plain(name) for name in (classes.tolist() if isinstance(classes, np.ndarray) else classes)]
        are_plain = all(isinstance(name, str | int | float) and name == name for name in names)
        if are_plain and len(set(names)) == len(names) >= 2:
            return tuple(names)
    raise InputError(f"`classes` must be {wish}, not {short(classes)}.")


def check_shape(name: str, value: np.ndarray | None, wish: tuple[int, ...]) -> None:
    """Refuse an array that is there and has another shape."""
    if value is not None and value.shape != wish:
        raise InputError(f"`{name}` has shape {short(value.shape)}: expected {wish}.")


def check_finite(name: str, value: np.ndarray | None) -> None:
    """Refuse an array that is there and has an entry that is no finite number."""
    if value is None or np.isfinite(value).all():
        return
    place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
    raise InputError(f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again.")
