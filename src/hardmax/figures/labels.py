"""Words beside their marks, none over another."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax._format import sanitize_line
from hardmax.figures.free_places import ALL_ROUND, Box, free_offset
from hardmax.figures.mpl import Annotation, Axes, Bbox, FigureCanvasAgg, withStroke
from hardmax.figures.palette import FAINT, INK

_DISTANCES = (2.0, 5.0, 10.0, 17.0, 26.0, 38.0, 54.0)  # from the edge of the mark in points, the nearest first
_NEAR = 6.0  # up to here it is plain which mark a word belongs to


def escape_mathtext(text: object) -> str:
    """The text in one line for matplotlib, which takes dollars for a formula."""
    return sanitize_line(text).replace("$", r"\$")


def place_labels(
    places: np.ndarray,
    words: Sequence[str],
    reaches: Sequence[float],
    ax: Axes,
    *,
    size: float = 8,
    directions: Sequence[int] = ALL_ROUND,
) -> list[Annotation]:
    """A label for each place, the first come first served; those for which there is no room are left out.

    `reaches` is half the width of each mark, in points: no word covers one. The limits of the axes must be set before,
    and its place in the figure. A word that has to stand off is joined to its mark by a thin line.
    """
    renderer = FigureCanvasAgg(ax.figure.get_figure(root=True)).get_renderer()
    inside = Box(*map(float, _in_points(ax.get_window_extent(renderer), renderer).extents))
    middles = (ax.transData.transform(places) / _pixels(renderer)).tolist()
    marks = [Box.around(x, y, reach, reach) for (x, y), reach in zip(middles, reaches, strict=True)]
    taken: list[Box] = []
    placed = []
    for number, word in enumerate(words):
        label = _write(word, places[number].tolist(), ax, size)
        box = _in_points(label.get_window_extent(renderer), renderer).padded(1)
        others = [mark for other, mark in enumerate(marks) if other != number]
        x, y = middles[number]
        reach, size_of_box = reaches[number], (box.width, box.height)
        offset = free_offset((x, y), size_of_box, reach, inside, [*taken, *others], _DISTANCES, directions)
        if offset is None:
            label.remove()
            continue
        label.set_position(offset)
        taken.append(Box.around(x + offset[0], y + offset[1], box.width / 2, box.height / 2))
        placed.append(label)
        _join(places[number].tolist(), offset, box, reaches[number], ax)
    return placed


def _write(word: str, place: list[float], ax: Axes, size: float) -> Annotation:
    label = ax.annotate(
        escape_mathtext(word),
        (place[0], place[1]),
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        color=INK,
        fontsize=size,
        zorder=8,
        path_effects=[withStroke(linewidth=2, foreground="white")],  # it may lie over dots
    )
    label.set_parse_math(False)  # a word is a word, even with a $ in it
    return label


def _join(place: list[float], offset: tuple[float, float], box: Bbox, reach: float, ax: Axes) -> None:
    """A thin line from a mark to the edge of its word, if the word stands off."""
    x, y = offset
    across, up = max(abs(x) - box.width / 2, 0.0), max(abs(y) - box.height / 2, 0.0)
    if math.hypot(across, up) <= reach + _NEAR:
        return
    ax.annotate(
        "",
        (place[0], place[1]),
        xytext=(math.copysign(across, x), math.copysign(up, y)),
        textcoords="offset points",
        zorder=7,
        arrowprops={"arrowstyle": "-", "color": FAINT, "lw": 0.5, "shrinkA": 0, "shrinkB": 0},
    )


def _pixels(renderer: Any) -> float:
    """How many pixels a point has."""
    return float(renderer.points_to_pixels(1.0))


def _in_points(box: Bbox, renderer: Any) -> Bbox:
    return Bbox(np.asarray(box.get_points()) / _pixels(renderer))
