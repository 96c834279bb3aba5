"""What the picture of one text shows: its words in the plane, whom they follow, their mean, and where classes meet."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hardmax.figures.palette import CYCLE, place_of_class

NEUTRAL = -1
"""The side of words that say nothing."""
_SIDEWAYS, _BELOW, _ABOVE = 0.14, 0.38, 0.2  # of width and height: words find room around, most of it below
_FLATTEST, _STEEPEST = 0.6, 0.9  # height over width of a picture
_NEAR, _BEYOND = 0.5, 0.2  # of the reach of the words: a border no further than that is shown, and so much beyond it


@dataclass(frozen=True)
class Window:
    """A rectangle of the plane: what is seen."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def aspect(self) -> float:
        """Height over width."""
        return (self.top - self.bottom) / (self.right - self.left)

    @property
    def drawn_aspect(self) -> float:
        """Height over width of a picture of it: the same, unless that would be very flat or very steep."""
        return min(max(self.aspect, _FLATTEST), _STEEPEST)

    @property
    def corners(self) -> np.ndarray:
        """Its corners, (4, 2), in turn."""
        x, y = (self.left, self.right, self.right, self.left), (self.bottom, self.bottom, self.top, self.top)
        return np.array([x, y]).T


@dataclass(frozen=True, eq=False)
class TextScene:
    """Words and their mean in the plane, at some layers, and what the decoder says of every place.

    The score of class c at a place is `scores[c] @ (x, y, 1)`; a text whose mean lies there gets the class with the
    largest one. Places are a linear map of the vectors; `remark` says which, where they have not two dimensions.
    """

    path: np.ndarray  # (layers, n, 2), at least one word
    mean: np.ndarray  # (layers, 2)
    words: tuple[str, ...]
    sides: np.ndarray  # (n,) the number of the class for which a word speaks, or NEUTRAL
    leads: np.ndarray  # (n,) bool
    weights: np.ndarray  # (n,) how much each word adds: those that add more are named first
    extra: int | None  # which of the words is the extra token
    classes: tuple[str, ...]
    scores: np.ndarray  # (classes, 3)
    remark: str

    @property
    def named(self) -> list[int]:
        """The words that count, in the order in which they are named: leaders, then those that add most, the first of
        every side before the second of any."""
        order = [t for t in np.argsort(-self.weights, kind="stable").tolist() if self.sides[t] != NEUTRAL]
        met, rank = Counter[int](), {}
        for t in order:
            side = int(self.sides[t])
            rank[t], met[side] = met[side], met[side] + 1
        return sorted((t for t in order if t != self.extra), key=lambda t: (not self.leads[t], rank[t]))

    @property
    def crowd(self) -> list[int]:
        """The words that say nothing."""
        return [t for t in np.flatnonzero(self.sides == NEUTRAL).tolist() if t != self.extra]

    def place_of_side(self, side: int) -> int:
        """Where in the cycles of colours and shapes a class stands."""
        return int(place_of_class(side, len(self.classes)))

    def color(self, side: int) -> str:
        """The colour of a class."""
        return CYCLE[self.place_of_side(side) % len(CYCLE)]

    def at(self, layers: Sequence[int]) -> "TextScene":
        """The same at some of its layers."""
        return replace(self, path=self.path[list(layers)], mean=self.mean[list(layers)])

    def window(self) -> Window:
        """A frame round all places, the mean, and the border if it is near, with room for words around."""
        places = np.concatenate([self.path.reshape(-1, 2), self.mean])
        low, high = places.min(axis=0), places.max(axis=0)
        foot, near = self._nearest_border(), _NEAR * (high - low).max()
        if foot is not None and (foot >= low - near).all() and (foot <= high + near).all():
            beyond = (
                foot + _BEYOND * (foot - self.mean[-1]) / (math.dist(foot, self.mean[-1]) or 1.0) * (high - low).max()
            )
            low, high = np.minimum(low, beyond), np.maximum(high, beyond)
        reach = np.where(high > low, high - low, _FLATTEST * (high - low).max() or 1.0)
        middle = (low + high) / 2
        (left, bottom), (right, top) = (middle - reach / 2).tolist(), (middle + reach / 2).tolist()
        width, height = reach.tolist()
        return Window(
            left - _SIDEWAYS * width, right + _SIDEWAYS * width, bottom - _BELOW * height, top + _ABOVE * height
        )

    def regions(self, window: Window) -> list[np.ndarray]:
        """For each class the corners (m, 2) of the part of the window that is its own; there may be none."""
        return [self._region(c, window) for c in range(len(self.scores))]

    def borders(self, window: Window) -> list[np.ndarray]:
        """The lines (2, 2) between classes, as far as they are seen."""
        regions, found = self.regions(window), []
        for a, b in combinations(range(len(self.scores)), 2):
            lead, corners = self.scores[a] - self.scores[b], regions[a]
            on_it = corners[np.abs(_values(lead, corners)) <= 1e-9 * np.abs(_values(lead, window.corners)).max()]
            if len(on_it) >= 2 and np.abs(lead[:2]).any():
                along = on_it @ np.array([-lead[1], lead[0]])
                found.append(on_it[[along.argmin(), along.argmax()]])
        return found

    def class_at(self, place: np.ndarray) -> int:
        """The class that a text would get whose mean lies there."""
        return int(np.argmax(self.scores @ np.array([*place.tolist(), 1.0])))

    def _region(self, c: int, window: Window) -> np.ndarray:
        corners = window.corners
        for other in range(len(self.scores)):
            if other != c:
                # A draw belongs to the first.
                corners = _clip(corners, self.scores[c] - self.scores[other], strictly=other < c)
        return corners

    def _nearest_border(self) -> np.ndarray | None:
        """The place nearest to the mean at which the first class and the second are level."""
        mean = self.mean[-1]
        second, first = np.argsort(self.scores @ np.array([*mean.tolist(), 1.0]), kind="stable")[-2:]
        lead = self.scores[first] - self.scores[second]
        steepness = float(lead[:2] @ lead[:2])
        return mean - _values(lead, mean[None])[0] * lead[:2] / steepness if steepness > 0 else None


def _values(lead: np.ndarray, places: np.ndarray) -> np.ndarray:
    return places @ lead[:2] + lead[2]


def _clip(corners: np.ndarray, lead: np.ndarray, *, strictly: bool) -> np.ndarray:
    """The part of a convex polygon in which the lead is not negative (or `strictly` positive, if it is so nowhere)."""
    values = _values(lead, corners)
    if len(corners) == 0 or values.max() < 0 or (strictly and values.max() <= 0):
        return np.empty((0, 2))
    kept = []
    for here, there, value, next_value in zip(
        corners, np.roll(corners, -1, axis=0), values, np.roll(values, -1), strict=True
    ):
        if value >= 0:
            kept.append(here)
        if value * next_value < 0:
            kept.append(here + (there - here) * value / (value - next_value))
    return np.array(kept)
