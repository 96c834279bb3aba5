"""Where things go on paper: tokens of many dimensions, and labels beside marks, none over another.

matplotlib is imported only to draw labels: pages in SVG find room for theirs without it.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._format import sanitize_line
from hardmax.figures.palette import FAINT, INK

if TYPE_CHECKING:
    from hardmax.figures.style import Annotation, Axes

ALL_ROUND = tuple(range(16))
"""Sixteen directions, counted from the right towards larger y."""
UPRIGHT = (12, 4, 11, 13, 5, 3, 10, 14, 2, 6, 9, 15, 1, 7, 0, 8)
"""The same, the steepest first."""
_DISTANCES = (2.0, 5.0, 10.0, 17.0, 26.0, 38.0, 54.0)  # from the edge of the mark in points, the nearest first
_NEAR = 6.0  # up to here it is plain which mark a label belongs to
_SAMPLE = 20_000  # of so many tokens the directions of largest spread are found


def principal_axes(tokens: np.ndarray) -> np.ndarray:
    """The two directions (d, 2) in which the tokens (n, d) spread most, seen from the origin as it is.

    >>> principal_axes(np.array([[0.0, 3.0, 0.0], [0.0, -3.0, 0.0], [1.0, 0.0, 0.0]])).round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    some = tokens[:: len(tokens) // _SAMPLE + 1]
    some = some / (np.abs(some).max() or 1.0)  # no square of it is too large or too small for a float
    # The triangle of a QR decomposition has the same directions, and d rows instead of n.
    triangle = np.linalg.qr(some - some.mean(axis=0), mode="r")
    _, _, directions = np.linalg.svd(triangle, full_matrices=True)
    chosen = directions[:2]
    # A direction and its opposite are equally good: the largest entry is made positive, so that pictures do not flip.
    largest = chosen[np.arange(2), np.abs(chosen).argmax(axis=1)]
    return (chosen * np.sign(largest)[:, None]).T


class Box(NamedTuple):
    """A rectangle: left, right, and between them bottom and top, whichever way y goes."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, x: float, y: float, half_width: float, half_height: float) -> "Box":
        """The rectangle with this centre."""
        return cls(x - half_width, y - half_height, x + half_width, y + half_height)

    def overlaps(self, other: "Box") -> bool:
        """Whether the two have more than an edge in common."""
        return bool(_overlap(np.array([self]), np.array([other]))[0, 0])


def free_offset(
    mark: tuple[float, float],
    size: tuple[float, float],
    reach: float,
    inside: Box,
    taken: Sequence[Box],
    distances: Sequence[float],
    directions: Sequence[int] = ALL_ROUND,
    lines: Sequence[np.ndarray] = (),
) -> tuple[float, float] | None:
    """Offset from a mark to the centre of a box of that size that overlaps no taken box and crosses no line (2, 2).

    The nearest of the `distances` from the edge of the mark, which has the half width `reach`, is tried first; None
    if there is no room.

    >>> free_offset((0, 0), (4, 2), 1, Box(-9, -9, 9, 9), [], [2])
    (5.0, 0.0)
    >>> free_offset((0, 0), (4, 2), 1, Box(-9, -9, 9, 9), [], [2], lines=[np.array([[4.0, -9.0], [4.0, 9.0]])])[0] < 4
    True
    """
    angles = 2 * np.pi * np.array(directions) / len(ALL_ROUND)
    half = np.array(size) / 2
    turns = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    offsets = ((reach + np.array(distances))[:, None, None] + half) * turns  # (distances, directions, 2)
    offsets = offsets.reshape(-1, 2)
    centres = np.array(mark) + offsets
    boxes = np.concatenate([centres - half, centres + half], axis=1)
    fits = (boxes[:, :2] >= inside[:2]).all(axis=1) & (boxes[:, 2:] <= inside[2:]).all(axis=1)
    fits &= ~_overlap(boxes, np.array(taken).reshape(-1, 4)).any(axis=1)
    for line in lines:
        fits &= ~_crossed(centres, half, line)
    free = np.flatnonzero(fits)
    if not len(free):
        return None
    across, up = offsets[free[0]].tolist()
    return across, up


def _overlap(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which boxes (n, 4) have more than an edge in common with which others (m, 4)."""
    low, high = some[:, None, :2], some[:, None, 2:]
    return np.all((low < others[:, 2:]) & (others[:, :2] < high), axis=2)


def _crossed(centres: np.ndarray, half: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Which boxes with these centres a line segment meets, by separating axes."""
    away, reach = centres - line.mean(axis=0), np.abs(line[1] - line[0]) / 2
    direction = (line[1] - line[0]) / 2
    aside = np.abs(away @ np.array([-direction[1], direction[0]])) <= half @ reach[::-1]
    return aside & (np.abs(away) <= half + reach).all(axis=1)


def escape_mathtext(text: object) -> str:
    """The text in one line for matplotlib, which takes dollars for a formula."""
    return sanitize_line(text).replace("$", r"\$")


def place_labels(
    places: np.ndarray,
    words: Sequence[str],
    reaches: Sequence[float],
    ax: "Axes",
    *,
    size: float = 8,
    directions: Sequence[int] = ALL_ROUND,
    lines: Sequence[np.ndarray] = (),
    centre: np.ndarray | None = None,
) -> "list[Annotation]":
    """A label for each place, in order; those for which there is no room are left out.

    `reaches` is half the width of each mark, in points: no label covers one, and none crosses the `lines` (2, 2). If
    there is a `centre`, directions away from it are tried first. The limits of the axes must be set before, and its
    place in the figure. A label that is not beside its mark is joined to it by a thin line.
    """
    from hardmax.figures.style import FigureCanvasAgg

    renderer: Any = FigureCanvasAgg(ax.figure.get_figure(root=True)).get_renderer()
    pixels = float(renderer.points_to_pixels(1.0))
    inside = Box(*(ax.get_window_extent(renderer).extents / pixels).tolist())
    marks = ax.transData.transform(places) / pixels
    barriers = [ax.transData.transform(line) / pixels for line in lines]
    boxes = [Box.around(x, y, reach, reach) for (x, y), reach in zip(marks.tolist(), reaches, strict=True)]
    taken: list[Box] = []
    placed = []
    for number, (word, (x, y), reach) in enumerate(zip(words, marks.tolist(), reaches, strict=True)):
        label = _write(word, places[number].tolist(), ax, size)
        box = label.get_window_extent(renderer).padded(pixels)
        width, height = box.width / pixels, box.height / pixels
        others = [*taken, *boxes[:number], *boxes[number + 1 :]]
        order = directions if centre is None else _outwards(places[number] - centre)
        offset = free_offset((x, y), (width, height), reach, inside, others, _DISTANCES, order, barriers)
        if offset is None:
            label.remove()
            continue
        label.set_position(offset)
        taken.append(Box.around(x + offset[0], y + offset[1], width / 2, height / 2))
        placed.append(label)
        _join(places[number].tolist(), offset, (width, height), reach, ax)
    return placed


def _outwards(away: np.ndarray) -> list[int]:
    """The sixteen directions, those along `away` first."""
    angle = math.atan2(away[1], away[0]) * len(ALL_ROUND) / math.tau
    return sorted(ALL_ROUND, key=lambda turn: abs((turn - angle + 8) % len(ALL_ROUND) - 8))


def _write(word: str, place: list[float], ax: "Axes", size: float) -> "Annotation":
    from hardmax.figures.style import withStroke

    return ax.annotate(
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


def _join(place: list[float], offset: tuple[float, float], size: tuple[float, float], reach: float, ax: "Axes") -> None:
    """A thin line from a mark to the edge of its label, if that is not beside it."""
    x, y = offset
    across, up = max(abs(x) - size[0] / 2, 0.0), max(abs(y) - size[1] / 2, 0.0)
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
