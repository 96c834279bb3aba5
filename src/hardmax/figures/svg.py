"""Paths of SVG, for the picture of a text."""

import math
from collections.abc import Iterable, Sequence

import numpy as np


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
