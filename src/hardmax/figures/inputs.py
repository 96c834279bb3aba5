"""What figures are given, checked at the door: what to draw, and axes to draw it on."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from hardmax._tokens.batches import float_array, whole_numbers
from hardmax._validation import InputError, check_instance, check_int, check_real, shorten
from hardmax.figures.asked import LimitLike, RunLike, like
from hardmax.figures.mpl import Axes, is_color_like
from hardmax.geometry._affine import read_points
from hardmax.geometry.polytope import Polytope

LARGEST_FIGURE, FASTEST = 100, 50
Curve = tuple[np.ndarray, np.ndarray, np.ndarray]
P = ParamSpec("P")
R = TypeVar("R")


def validate_params(**checks: Callable[[Any, str], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: pass arguments of a function through checks, each called with the value and the argument's name."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = signature.bind(*args, **kwargs)
            for name in checks.keys() & given.arguments.keys():
                given.arguments[name] = checks[name](given.arguments[name], f"`{name}`")
            return function(*given.args, **given.kwargs)

        return checked

    return decorate


def an_axes(value: Any, name: str) -> Axes:
    """Axes of matplotlib."""
    return check_instance(value, Axes, name, "axes of matplotlib, such as pyplot.gca()")


def a_run(value: Any, name: str) -> RunLike:
    """The run of one cloud."""
    return like(value, RunLike, name, "a Trajectory, as `simulate` gives for one cloud")


def a_limit(value: Any, name: str) -> LimitLike:
    """The limit of one cloud."""
    return like(value, LimitLike, name, "a Limit, as `limit` gives for one cloud")


def a_polytope(value: Any, name: str) -> Polytope:
    """A polytope."""
    return check_instance(value, Polytope, name, "a Polytope")


def runs_by_name(value: Any, name: str) -> Mapping[str, RunLike]:
    """Runs by the titles of their panels, at least one."""
    if isinstance(value, Mapping) and value and all(isinstance(title, str) for title in value):
        for run in value.values():
            a_run(run, f"{name} (each)")
        return value
    raise InputError(f"{name} must be a dict of runs by their titles, not {shorten(value)}.")


def numbers_of_tokens(value: Any, name: str) -> np.ndarray:
    """Which tokens, or which layers: whole numbers from 0 up; there may be none."""
    numbers = whole_numbers(value, name)
    if numbers.ndim != 1 or (numbers.size and numbers.min() < 0):
        raise InputError(f"{name} must be a list of whole numbers from 0 up, not {shorten(value)}.")
    return numbers


def layers(value: Any, name: str) -> list[int]:
    """The layers of a row of panels, at least one and no more than fit."""
    return frames(value, name, 100)


def frames(value: Any, name: str, at_most: int) -> list[int]:
    """Layers that are drawn one by one, at least one and not too many."""
    found = numbers_of_tokens(value, name).tolist()
    check_int(len(found), f"the number of {name}", at_least=1, at_most=at_most)
    return found


def in_plane(value: Any, name: str) -> np.ndarray:
    """Points of the plane (n, 2)."""
    return read_points(value, name, 2)


def path_in_plane(value: Any, name: str) -> np.ndarray:
    """The ways of points of the plane, (layers, n, 2)."""
    path = float_array(value, name)
    if path.ndim != 3 or path.shape[2] != 2 or not path.size or not np.isfinite(path).all():
        raise InputError(f"{name} must be finite numbers of shape (layers, n, 2), not {shorten(value)}.")
    return path


def a_curve(value: Any, name: str) -> Curve:
    """Three arrays of one length, as `calibration_curve` gives them."""
    if isinstance(value, tuple | list) and len(value) == 3:
        confidence, right, texts = (float_array(part, name) for part in value)
        same = confidence.shape == right.shape == texts.shape and confidence.ndim == 1 and confidence.size
        if same and all(np.isfinite(part).all() for part in (confidence, right, texts)):
            return confidence, right, texts
    raise InputError(
        f"{name} must be what `calibration_curve` gives, three arrays of one length, not {shorten(value)}."
    )


def a_color(value: Any, name: str) -> Any:
    """A colour that matplotlib knows."""
    try:
        known = is_color_like(value)
    except Exception:  # whatever comes of looking at it
        known = False
    if not known:
        raise InputError(f"{name} must be a colour, such as 'red' or '#0072B2', not {shorten(value)}.")
    return value


def a_size(value: Any, name: str) -> tuple[float, float] | None:
    """The width and height of a figure in inches; None if that is left to us."""
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 2:
        width, height = (check_real(side, name, above=0) for side in value)
        if max(width, height) <= LARGEST_FIGURE:
            return width, height
    raise InputError(f"{name} must be a width and a height up to {LARGEST_FIGURE} inches, not {shorten(value)}.")


def a_speed(value: Any, name: str) -> float:
    """Frames a second: no more than a GIF can tell apart."""
    speed = check_real(value, name, above=0)
    if speed > FASTEST:
        raise InputError(f"{name} must be at most {FASTEST} frames a second, not {shorten(value)}.")
    return speed


def a_width(value: Any, name: str) -> float:
    """The width of a line, in points."""
    return check_real(value, name, above=0)
