"""Boxes beside marks, none over another: where labels can stand, whatever draws them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

ALL_ROUND = tuple(range(16))
"""Sixteen directions, counted from the right towards larger y."""
UPRIGHT = (12, 4, 11, 13, 5, 3, 10, 14, 2, 6, 9, 15, 1, 7, 0, 8)
"""The same, those first that are steepest."""


class Box(NamedTuple):
    """A rectangle: left, right, and between them bottom and top, whichever way y goes."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, x: float, y: float, half_width: float, half_height: float) -> "Box":
        """The rectangle with this middle."""
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
) -> tuple[float, float] | None:
    """Where to put the middle of a box of that size, seen from its mark, so that it overlaps nothing that is taken.

    The nearest of the `distances` from the edge of the mark, which has the half width `reach`, is tried first; None:
    there is no room.

    >>> free_offset((0, 0), (4, 2), 1, Box(-9, -9, 9, 9), [], [2])
    (5.0, 0.0)
    """
    angles = 2 * np.pi * np.array(directions) / len(ALL_ROUND)
    half = np.array(size) / 2
    turns = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    offsets = ((reach + np.array(distances))[:, None, None] + half) * turns  # (distances, directions, 2)
    offsets = offsets.reshape(-1, 2)
    middles = np.array(mark) + offsets
    boxes = np.concatenate([middles - half, middles + half], axis=1)
    fits = (boxes[:, :2] >= inside[:2]).all(axis=1) & (boxes[:, 2:] <= inside[2:]).all(axis=1)
    free = np.flatnonzero(fits & ~_overlap(boxes, np.array(taken).reshape(-1, 4)).any(axis=1))
    if not len(free):
        return None
    across, up = offsets[free[0]].tolist()
    return across, up


def _overlap(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which boxes (n, 4) have more than an edge in common with which others (m, 4)."""
    low, high = some[:, None, :2], some[:, None, 2:]
    return np.all((low < others[:, 2:]) & (others[:, :2] < high), axis=2)
