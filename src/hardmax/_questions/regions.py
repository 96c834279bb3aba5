"""What `basins` returns: regions of starts, and how likely it is that noise changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError
from hardmax._questions.cells import Box, Cell
from hardmax._questions.laws import Enclosure
from hardmax._tokens.batches import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Region:
    """Starts from which a token attends to the same tokens in the end. Made by `basins`.

    Examples
    --------
    >>> from hardmax import basins
    >>> first, second = basins([[0], [1], [3]], box=[(-1, 4)]).regions
    >>> first
    Region(leader 2, area 3.0000 to 3.0000)
    >>> [0.5] in first, [-0.5] in first
    (True, False)
    """

    attended: tuple[int, ...]
    """Whom the token attends to in the end: one leader, itself if it leads, or all leaders of a
    face; of equal tokens the first. Nobody, if that is not decided."""
    name: str
    """The same in words: leader 3, itself, face 0, 1, or undecided."""
    area: Enclosure
    """The area of all its cells (d = 1: the length, d > 2: the volume)."""
    probability: Enclosure | None
    """The probability that the token ends there; without a law None."""
    _cells: tuple[Cell, ...]

    @cached_property
    def cells(self) -> list[np.ndarray]:
        """The corners of each cell as Fractions, (k, d): convex polygons, counterclockwise, in the
        plane, else boxes."""
        cells = []
        for cell in self._cells:
            rows = [[Fraction(x, w) for x in corner] for w, *corner in cell.corners]
            cells.append(np.array(rows, dtype=object))
        return cells

    def __contains__(self, point: Any) -> bool:
        """Whether a point (d,) lies inside one of the cells; on their borders nothing is said."""
        return self._holds(_read_point(point, len(self._cells[0].corners[0]) - 1))

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        tables = [np.array(cell.floats) for cell in self._cells]
        low, high = (np.array([way(table, axis=0) for table in tables]) for way in (np.min, np.max))
        slack = 1e-9 * (np.abs(low) + np.abs(high))
        return low - slack, high + slack

    def _holds(self, point: Sequence[Fraction]) -> bool:
        low, high = self._bounds
        floats = np.array([float(x) for x in point])
        near = np.flatnonzero(((low <= floats) & (floats <= high)).all(axis=1))
        return any(self._cells[k].has_inside(point) for k in near)

    def __repr__(self) -> str:
        return f"Region({self.name}, area {self.area})"


@dataclass(frozen=True, eq=False)
class Basins:
    """Where one token ends, by where it starts. Made by `basins`.

    Examples
    --------
    >>> from hardmax import basins
    >>> found = basins([[0], [1], [3]], box=[(-1, 4)])
    >>> [region.name for region in found.regions]
    ['leader 2', 'itself']
    """

    token: int
    """The token that is moved; the number of tokens, if it is one more."""
    tokens: np.ndarray
    """The others, (n, d), as Fractions."""
    box: tuple[tuple[Fraction, Fraction], ...]
    """Where it starts: an interval in each coordinate."""
    law: Any
    """"uniform", None, or what has the `mean` and `std` of a Gaussian law."""
    regions: tuple[Region, ...]
    """What is proved, the largest region first."""
    undecided: Region
    """What is left of the box. Its probability is that of all that is not decided, also outside the
    box."""

    def at(self, start: Any) -> tuple[int, ...] | None:
        """Whom the token attends to in the end if it starts there, as proved; None if that is
        undecided, on the border of a cell, or outside the box.

        Parameters
        ----------
        start : array_like of shape (d,)
            Where it starts.

        Returns
        -------
        tuple of int or None
            As `Region.attended`.

        Examples
        --------
        >>> from hardmax import basins
        >>> basins([[0], [1], [3]], box=[(-1, 4)]).at([-0.5])
        (3,)
        """
        point = _read_point(start, len(self.box))
        for region in self.regions:
            if region._holds(point):
                return region.attended
        return None

    def __repr__(self) -> str:
        shares = [f"{r.name} {self._share(r):.1%}" for r in self.regions]
        left = f"undecided {self._share(self.undecided):.1%}"
        return f"Basins(token {self.token}: {', '.join([*shares, left])})"

    def _share(self, region: Region) -> float:
        return region.area.high / float(Box.of(self.box).volume)

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import table_card

        rows: list[list[object]] = [["ends at", "area", "probability"]]
        for region in (*self.regions, self.undecided):
            rows.append([region.name, region.area, region.probability or ""])
        return table_card(self, rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, texts and numbers, for JSON; exact numbers are texts."""
        regions = []
        for region in (*self.regions, self.undecided):
            cells = [[[str(x) for x in row] for row in cell] for cell in region.cells]
            probability = region.probability and list(region.probability)
            known = {"attended": list(region.attended), "area": list(region.area)}
            regions.append({**known, "probability": probability, "cells": cells})
        return {
            "token": self.token,
            "box": [[str(low), str(high)] for low, high in self.box],
            "regions": regions[:-1],
            "undecided": regions[-1],
        }

    def plot(
        self, *, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None
    ) -> "Axes":
        """Draw the regions in the plane, or on the line (extra `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title.
        figsize : tuple of float, optional
            Size of the new figure, in inches.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        from hardmax.figures.basins import plot_basins

        return plot_basins(self, ax=ax, figsize=figsize)


@dataclass(frozen=True)
class Unchanged:
    """How likely it is that moving all tokens changes no attended set. Made by `basins`.

    Examples
    --------
    >>> from hardmax import basins
    >>> basins([[2], [1]], noise="1/4")
    Unchanged(noise 0.25: probability 1.0000 to 1.0000)
    """

    noise: Fraction
    """Each coordinate of each token is moved by up to so much, uniformly and independently."""
    radius: float
    """`Limit.radius`: moves of at most this Euclidean length change nothing."""
    probability: Enclosure
    """The probability that no attended set changes, at any layer."""

    def __repr__(self) -> str:
        return f"Unchanged(noise {float(self.noise):.4g}: probability {self.probability})"


def _read_point(value: Any, dimension: int) -> list[Fraction]:
    (row,) = read_table([value], "`start`")
    if len(row) != dimension:
        raise InputError(f"`start` must have {dimension} coordinates, not {len(row)}.")
    return [Fraction(x) for x in row]
