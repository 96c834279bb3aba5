"""Labels beside marks, none over another."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax._common.format import sanitize_line
from hardmax.figures import style
from hardmax.figures.palette import FAINT, INK

_TURNS = 16  # directions that are tried, from the right towards larger y
_DISTANCES = np.array(
    [2.0, 5.0, 10.0, 17.0, 26.0, 38.0, 54.0]
)  # from the edge of the mark in points
_NEAR = 6.0  # up to here it is plain which mark a label belongs to


def escape_mathtext(text: object) -> str:
    """The text in one line for matplotlib, which takes dollars for a formula."""
    return sanitize_line(text).replace("$", r"\$")


def place_labels(
    places: np.ndarray,
    words: Sequence[str],
    reaches: Sequence[float],
    ax: style.Axes,
    *,
    size: float = 8,
    centre: np.ndarray | None = None,
) -> list[style.Annotation]:
    """A label for each of the first places (n, 2), in order; those for which there is no room are
    left out.

    `reaches` is half the width of the mark at each place, in points: no label covers one. If there
    is a `centre`, directions away from it are tried first. The limits of the axes must be set
    before, and its place in the figure. A thin line joins a label to its mark if it is not beside
    it."""
    renderer: Any = style.FigureCanvasAgg(ax.figure.get_figure(root=True)).get_renderer()
    pixels = float(renderer.points_to_pixels(1.0))
    frame = np.array(ax.get_window_extent(renderer).extents) / pixels
    marks, half = ax.transData.transform(places) / pixels, np.array(reaches).reshape(-1, 1)
    boxes = np.concatenate([marks - half, marks + half], axis=1)
    taken = np.empty((0, 4))
    placed = []
    for number, word in enumerate(words):
        reach, place = reaches[number], tuple(places[number].tolist())
        label = _write(word, place, ax, size)
        box = label.get_window_extent(renderer).padded(pixels)
        extent = np.array([box.width, box.height]) / pixels
        offsets = _offsets(extent, reach, None if centre is None else places[number] - centre)
        tried = np.concatenate(
            [marks[number] + offsets - extent / 2, marks[number] + offsets + extent / 2], axis=1
        )
        inside = (tried[:, :2] >= frame[:2]).all(axis=1) & (tried[:, 2:] <= frame[2:]).all(axis=1)
        others = np.concatenate([taken, np.delete(boxes, number, axis=0)])
        free = np.flatnonzero(inside & ~_overlap(tried, others).any(axis=1))
        if not len(free):
            label.remove()
            continue
        label.set_position(offsets[free[0]].tolist())
        taken = np.vstack([taken, tried[free[0]]])
        placed.append(label)
        edge = np.copysign(np.maximum(np.abs(offsets[free[0]]) - extent / 2, 0.0), offsets[free[0]])
        if math.hypot(*edge) > reach + _NEAR:
            line = {"arrowstyle": "-", "color": FAINT, "lw": 0.5, "shrinkA": 0, "shrinkB": 0}
            ax.annotate(
                "", place, xytext=tuple(edge), textcoords="offset points", arrowprops=line, zorder=7
            )
    return placed


def _offsets(extent: np.ndarray, reach: float, away: np.ndarray | None) -> np.ndarray:
    """Where the middle of a label may be, seen from its mark (m, 2), the best first."""
    turns = np.arange(_TURNS)
    if away is not None:
        outwards = math.atan2(away[1], away[0]) * _TURNS / math.tau
        turns = turns[
            np.argsort(np.abs((turns - outwards + _TURNS / 2) % _TURNS - _TURNS / 2), kind="stable")
        ]
    angles = turns * math.tau / _TURNS
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return (((reach + _DISTANCES)[:, None, None] + extent / 2) * directions).reshape(-1, 2)


def _overlap(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which boxes (n, 4) have more than an edge in common with which others (m, 4)."""
    return np.all((some[:, None, :2] < others[:, 2:]) & (others[:, :2] < some[:, None, 2:]), axis=2)


def _write(word: str, place: Any, ax: style.Axes, size: float) -> style.Annotation:
    halo = [style.withStroke(linewidth=2, foreground="white")]  # it may lie over dots
    look = {
        "ha": "center",
        "va": "center",
        "color": INK,
        "fontsize": size,
        "zorder": 8,
        "path_effects": halo,
    }
    return ax.annotate(
        escape_mathtext(word), place, xytext=(0, 0), textcoords="offset points", **look
    )
