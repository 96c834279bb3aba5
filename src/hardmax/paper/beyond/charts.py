"""Charts of measured numbers: a line with marks for each series, named where it ends."""

from collections.abc import Sequence
from typing import Any

from hardmax.figures.palette import look_of
from hardmax.figures.style import Axes, Line2D


def open_axes(ax: Axes) -> None:
    """Axes without the two sides that say nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def series(x: Sequence[float], y: Sequence[float], number: int, name: str, ax: Axes, **look: Any) -> Line2D:
    """The line of a series, in the colour and with the marks of its number; its name stands beside its last mark."""
    color, marker = look_of(number)
    (line,) = ax.plot(x, y, color=color, marker=marker, ms=4.5, lw=1.4, **look)
    if name:
        ax.annotate(
            name,
            (x[-1], y[-1]),
            textcoords="offset points",
            xytext=(6, 0),
            va="center",
            fontsize=8,
            color=color,
            annotation_clip=False,
        )
    return line
