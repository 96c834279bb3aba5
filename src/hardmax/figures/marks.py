"""Marks and lines on axes of the plane or of space."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax.figures.mpl import Axes, Axes3D, Line2D, Line3DCollection, LineCollection, PathCollection


def marks(places: np.ndarray, ax: Axes, **look: Any) -> PathCollection:
    """A mark at each place (n, 2 or 3)."""
    # In space matplotlib pales what is far away, and a pale colour is another colour.
    flat = {"depthshade": False} if isinstance(ax, Axes3D) else {}
    return ax.scatter(*places.T, **look, **flat)


def draw_lines(lines: Sequence[np.ndarray], ax: Axes, **look: Any) -> LineCollection:
    """Lines, each through its corners (k, 2 or 3)."""
    if isinstance(ax, Axes3D):
        in_space = Line3DCollection(lines, **look)
        ax.add_collection3d(in_space, autolim=False)
        return in_space
    drawn = LineCollection(lines, **look)
    ax.add_collection(drawn)
    return drawn


def sign(marker: str, color: str, text: str, size: float, *, face: str | None = None) -> Line2D:
    """A mark for a key; filled with another colour, if `face` is given, inside a rim."""
    return Line2D(
        [],
        [],
        ls="none",
        marker=marker,
        color=color,
        markersize=size,
        markerfacecolor=color if face is None else face,
        markeredgewidth=0.0 if face is None else 0.9,
        label=text,
    )
