"""Labels beside marks, none over another."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax._common.format import sanitize_line
from hardmax.figures.palette import FAINT
from hardmax.figures.style import Annotation, Axes, FigureCanvasAgg, ground, withStroke

_TURNS = 16  # directions that are tried, from the right towards larger y
_DISTANCES = np.array([2.0, 5.0, 10.0, 17.0, 26.0, 38.0, 54.0])  # from the mark, in points
_NEAR = 6.0  # up to here it is plain which mark a label belongs to


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
    centre: np.ndarray | None = None,
) -> list[Annotation]:
    """A label for each of the first places (n, 2), in order; those for which there is no room are
    left out.

    `reaches` is half the width of the mark at each place, in points: no label covers one. If there
    is a `centre`, directions away from it are tried first. The limits of the axes must be set
    before, and its place in the figure. A thin line joins a label to its mark if it is not beside
    it."""
    renderer: Any = FigureCanvasAgg(ax.figure.get_figure(root=True)).get_renderer()
    pixels = float(renderer.points_to_pixels(1.0))
    frame = np.array(ax.get_window_extent(renderer).extents) / pixels
    marks = ax.transData.transform(places) / pixels
    boxes = _boxes(marks, 2 * np.array(reaches).reshape(-1, 1))
    taken, placed = np.empty((0, 4)), []
    for number, word in enumerate(words):
        reach, place = reaches[number], tuple(places[number].tolist())
        label = _write(word, place, ax, size)
        padded = label.get_window_extent(renderer).padded(pixels)
        extent = np.array([padded.width, padded.height]) / pixels
        offsets = _offsets(extent, reach, None if centre is None else places[number] - centre)
        tried = _boxes(marks[number] + offsets, extent)
        inside = (tried[:, :2] >= frame[:2]) & (tried[:, 2:] <= frame[2:])
        occupied = np.concatenate([taken, np.delete(boxes, number, axis=0)])
        is_free = inside.all(axis=1) & ~_overlap(tried, occupied).any(axis=1)
        if not is_free.any():
            label.remove()
            continue
        best = int(is_free.argmax())
        offset = offsets[best]
        label.set_position(offset.tolist())
        taken = np.vstack([taken, tried[best]])
        placed.append(label)
        edge = np.copysign(np.maximum(np.abs(offset) - extent / 2, 0.0), offset)
        if math.hypot(*edge) > reach + _NEAR:
            line = {"arrowstyle": "-", "color": FAINT, "lw": 0.5, "shrinkA": 0, "shrinkB": 0}
            where = {"xytext": tuple(edge), "textcoords": "offset points"}
            ax.annotate("", place, **where, arrowprops=line, zorder=7)
    return placed


def _boxes(centres: np.ndarray, extents: np.ndarray) -> np.ndarray:
    """Boxes (n, 4) of these extents: left, bottom, right, top."""
    return np.concatenate([centres - extents / 2, centres + extents / 2], axis=1)


def _offsets(extent: np.ndarray, reach: float, away: np.ndarray | None) -> np.ndarray:
    """Where the middle of a label may be, seen from its mark (m, 2), the best first."""
    turns = np.arange(_TURNS)
    if away is not None:
        outwards = math.atan2(away[1], away[0]) * _TURNS / math.tau
        away_from_it = np.abs((turns - outwards + _TURNS / 2) % _TURNS - _TURNS / 2)
        turns = np.argsort(away_from_it, kind="stable")
    angles = turns * math.tau / _TURNS
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    distances = (reach + _DISTANCES)[:, None, None] + extent / 2
    return (distances * directions).reshape(-1, 2)


def _overlap(tried: np.ndarray, occupied: np.ndarray) -> np.ndarray:
    """Which boxes (n, 4) have more than an edge in common with which others (m, 4)."""
    tried = tried[:, None]
    begins_before = tried[..., :2] < occupied[:, 2:]
    return np.all(begins_before & (occupied[:, :2] < tried[..., 2:]), axis=2)


def _write(word: str, place: Any, ax: Axes, size: float) -> Annotation:
    halo = [withStroke(linewidth=2, foreground=ground())]  # it may lie over dots
    look = {"ha": "center", "va": "center", "zorder": 8, "path_effects": halo}
    where = {"xytext": (0, 0), "textcoords": "offset points"}
    return ax.annotate(escape_mathtext(word), place, **where, fontsize=size, **look)
