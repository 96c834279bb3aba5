"""Small pictures of clouds as SVG, a few kilobytes, for a notebook or a page: no matplotlib, nothing loaded.

Tokens are dots, their starts small and pale, leaders stars, ways thin lines, the hull of the leaders shaded.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hardmax._format import escape_html
from hardmax.figures.palette import CYCLE

MARGIN = 10.0
GREY = -1
"""The colour number of tokens that belong to no group."""
_DOT, _START, _WAY, _STAR = 5, 3.6, 0.8, 6.5


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a small picture shows: places in the plane, of any scale, with y upwards."""

    path: np.ndarray  # (k, n, 2) from the start to the end
    leads: np.ndarray  # (n,) bool
    groups: np.ndarray  # (n,) numbers of colours, or GREY
    hull: np.ndarray  # (m, 2) corners in the order in which one meets them; there may be none
    equal_scales: bool = True
    """Whether a step to the right is as long as one upwards; not where y is a time."""


@dataclass(frozen=True)
class Window:
    """Where places lie in a picture."""

    low: np.ndarray
    scale: np.ndarray
    size: np.ndarray  # width and height of the picture

    @classmethod
    def of(cls, sketch: Sketch, width: float, height: float) -> "Window":
        """A window that holds all places, and the origin if it is near; no larger than needed."""
        places = np.concatenate([sketch.path.reshape(-1, 2), sketch.hull])
        low, high = places.min(axis=0), places.max(axis=0)
        if sketch.equal_scales and _is_near(low, high):
            low, high = np.minimum(low, 0), np.maximum(high, 0)
        room, reach = np.array([width, height]) - 2 * MARGIN, high - low
        with np.errstate(divide="ignore", over="ignore"):
            scale = np.where(reach > 0, room / reach, np.inf)
        scale = np.full(2, scale.min()) if sketch.equal_scales else scale
        scale = np.where(np.isfinite(scale), scale, 1.0)  # all in one place
        return cls(low, scale, np.ceil(reach * scale) + 2 * MARGIN)

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points (…, 2) are drawn, y downwards."""
        drawn = (points - self.low) * self.scale + MARGIN
        drawn[..., 1] = self.size[1] - drawn[..., 1]
        return drawn


def sketch_svg(sketch: Sketch, told: str, *, width: int = 220, height: int = 220) -> str:
    """The picture as an element `<svg>`, no larger than that; `told` is read out to those who do not see it."""
    window = Window.of(sketch, width, height)
    path, hull = window.places(sketch.path), window.places(sketch.hull)
    parts = [_hull(hull), _origin(sketch, window)]
    numbers = np.where(sketch.groups == GREY, GREY, sketch.groups % len(CYCLE))
    for number, color in _colors(numbers):
        mine = numbers == number
        parts += [
            _lines(path[:, mine], color),
            _dots(path[0, mine], color, _START, 0.5),
            _dots(path[-1, mine & ~sketch.leads], color, _DOT, 1.0),
        ]
    for number, color in _colors(numbers):
        parts.append(_stars(path[-1, (numbers == number) & sketch.leads], color))
    x, y = window.size.astype(int).tolist()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape_html(told)}" width="{x}" '
        f'height="{y}" viewBox="0 0 {x} {y}" style="color:inherit;max-width:100%">{"".join(parts)}</svg>'
    )


def _is_near(low: np.ndarray, high: np.ndarray) -> bool:
    return bool(np.abs((low + high) / 2).max() <= 3 * (high - low).max())


def _colors(numbers: np.ndarray) -> list[tuple[int, str]]:
    """The colours that are met, by their numbers; grey first, so that others lie over it."""
    return [(number, "currentColor" if number == GREY else CYCLE[number]) for number in np.unique(numbers).tolist()]


def _hull(corners: np.ndarray) -> str:
    if not len(corners):
        return ""
    return (
        f'<path class="hull" d="M{joined(corners)}z" fill="currentColor" fill-opacity=".07" stroke="currentColor" '
        'stroke-opacity=".35" stroke-linejoin="round"/>'
    )


def _origin(sketch: Sketch, window: Window) -> str:
    x, y = window.places(np.zeros(2)).tolist()
    inside = sketch.equal_scales and min(x, y) >= 0 and bool((window.size >= (x, y)).all())
    plus = f"M{tenths(x - 4)} {tenths(y)}h8m-4 -4v8"
    return f'<path class="origin" d="{plus}" stroke="currentColor" stroke-opacity=".5"/>' if inside else ""


def _lines(path: np.ndarray, color: str) -> str:
    ways = [joined(path[:, token]) for token in range(path.shape[1]) if np.ptp(path[:, token], axis=0).max() >= 1]
    if not ways:
        return ""
    return (
        f'<path class="ways" d="M{"M".join(ways)}" fill="none" stroke="{color}" stroke-width="{_WAY}" '
        'stroke-opacity=".7"/>'
    )


def _dots(places: np.ndarray, color: str, size: float, opacity: float) -> str:
    """A line without length that has round ends is a dot, in a third of the letters of a circle."""
    if not len(places):
        return ""
    dots = "".join(f"M{joined([place])}h0" for place in places)
    name = "starts" if opacity < 1 else "ends"
    return (
        f'<path class="{name}" d="{dots}" fill="none" stroke="{color}" stroke-width="{size}" stroke-linecap="round" '
        f'stroke-opacity="{opacity:g}"/>'
    )


def _stars(places: np.ndarray, color: str) -> str:
    if not len(places):
        return ""
    stars = "".join(f"M{joined([place])}{_STAR_AROUND}" for place in places)
    return (
        f'<path class="leaders" d="{stars}" fill="{color}" stroke="currentColor" stroke-width=".6" '
        'stroke-linejoin="round"/>'
    )


def star_around(radius: float) -> str:
    """A star in steps, for a pen that stands in its middle."""
    angles = [math.pi / 2 + math.pi * corner / 5 for corner in range(10)]
    radii = [radius if corner % 2 == 0 else 0.45 * radius for corner in range(10)]
    corners = [(r * math.cos(a), -r * math.sin(a)) for r, a in zip(radii, angles, strict=True)]
    steps = [(x - u, y - v) for (u, v), (x, y) in zip([(0.0, 0.0), *corners[:-1]], corners, strict=True)]
    first, *rest = (f"{tenths(x)} {tenths(y)}" for x, y in steps)
    return f"m{first}l{' '.join(rest)}z"


def joined(places: Iterable[Sequence[float] | np.ndarray]) -> str:
    """Places as a path has them, one after the other."""
    return " ".join(f"{tenths(float(x))} {tenths(float(y))}" for x, y in places)


def tenths(value: float) -> str:
    """A tenth of a pixel is fine enough.

    >>> tenths(12.34), tenths(5.0), tenths(-0.04)
    ('12.3', '5', '0')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


_STAR_AROUND = star_around(_STAR)
