"""The flat that a set of points spans: its dimension, decided before anything else, and a frame in it.

Hulls fail on flat input. So points are first written in coordinates of the smallest flat that holds them, in which they
are not flat.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax.checking import real_number, whole_number
from hardmax.geometry.inputs import read_points
from hardmax.tokens.batches import read_table
from hardmax.tokens.rationals import IntegerCloud

# Rounding leaves coordinates off by 1e-16 of the extent, a computation a few times that, and a plane through
# neighbouring points extrapolates the error. On the other side, a million points on a circle stand out by 5e-12.
RELATIVE_RESOLUTION = 1e-12
# What is thinner than a few times that is flat: its two sides could not be told apart.
THINNEST = 8


@dataclass(frozen=True, eq=False)
class Frame:
    """A flat: the points `origin + c @ axes`, with orthonormal rows `axes` (r, d).

    >>> frame = affine_frame([[0, 0, 1], [3, 4, 1], [6, 8, 1]])
    >>> frame.rank, frame.embed([[0.0]]).tolist(), abs(frame.coordinates([[3.0, 4.0, 1.0]])).tolist()
    (1, [[0.0, 0.0, 1.0]], [[5.0]])
    """

    origin: np.ndarray
    axes: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.axes)

    def coordinates(self, points: Any) -> np.ndarray:
        """The coordinates (n, r) of the points' projections on the flat."""
        return (np.asarray(points) - self.origin) @ self.axes.T

    def embed(self, coordinates: Any) -> np.ndarray:
        """The points (n, d) with these coordinates."""
        return self.origin + np.asarray(coordinates) @ self.axes

    def offsets(self, points: Any) -> np.ndarray:
        """How far each point lies from the flat."""
        off = np.asarray(points) - self.origin
        return np.linalg.norm(off - (off @ self.axes.T) @ self.axes, axis=1)


def affine_rank(points: Any) -> int:
    """The dimension of the smallest flat that holds the points: 0 for a place, 1 for a line, 2 for a plane.

    Decided exactly where the points are rationals; in floats, a few times `resolution(points)` off a flat is in it.

    >>> affine_rank([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), affine_rank([["0", "1e-99"], ["1", "0"], ["2", "0"]])
    (1, 2)
    """
    table = read_table(points, "`points`")
    return exact_rank(table) if table.dtype == object else affine_frame(table).rank


def affine_frame(points: Any, at_most: int | None = None, within: float | None = None) -> Frame:
    """A frame of the smallest flat that holds the points, up to rounding. The first point is its origin.

    Points that span the whole space keep their own axes, and so coordinates that are not rounded again. With `at_most`
    the frame has no more axes than that: those along which the points spread most. What is no further than `within`
    times the largest coordinate from a flat is in it (if None: a few times `resolution(points)`).

    >>> affine_frame([[1, 1], [2, 1], [2, 3]]).axes.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    table, exponent = unit_scaled(read_points(points, "`points`"))
    at_most = None if at_most is None else whole_number(at_most, "`at_most`", at_least=0)
    within = None if within is None else real_number(within, "`within`", at_least=0)
    origin = table[0]
    differences = table - origin
    # Rows of left * values are the points in principal axes; what the last axes hold is the distance from the flat.
    left, values, axes = np.linalg.svd(differences - differences.mean(axis=0), full_matrices=False)
    tails = np.sqrt(np.cumsum(((left * values) ** 2)[:, ::-1], axis=1)).max(axis=0)[::-1]
    rank = int(np.count_nonzero(tails > (THINNEST * resolution(table) if within is None else within)))
    rank = rank if at_most is None else min(rank, at_most)
    full = rank == table.shape[1]
    return Frame(np.ldexp(origin, exponent), np.eye(rank) if full else axes[:rank])


def resolution(points: np.ndarray) -> float:
    """The distance below which floats do not tell these points apart: 1e-12 of their extent, and rounding."""
    rounding = 8 * np.finfo(np.float64).eps * np.abs(points).max()
    return float(RELATIVE_RESOLUTION * np.ptp(points, axis=0).max() + rounding)


def unit_scaled(table: np.ndarray, exponent: int | None = None) -> tuple[np.ndarray, int]:
    """The table over 2^exponent, without rounding, and the exponent: squares then neither overflow nor vanish.

    >>> unit_scaled(np.array([[6.0, 1.0]]))
    (array([[0.75 , 0.125]]), 3)
    """
    if exponent is None:
        exponent = int(np.frexp(np.abs(table).max())[1])
    return np.ldexp(table, -exponent), exponent


def first_of_equals(table: np.ndarray) -> np.ndarray:
    """Indices, increasing, of the rows that equal no row before them.

    >>> first_of_equals(np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]])).tolist()
    [0, 1]
    """
    # Adding zero turns -0.0 into 0.0: they are equal, but sorting may tell them apart.
    return np.sort(np.unique(table + 0.0, axis=0, return_index=True)[1])


def exact_rank(table: np.ndarray) -> int:
    """The dimension that the rows span, by elimination in integers: a row that does not vanish joins the echelon."""
    first, *others = IntegerCloud.of(table).numerators
    echelon: list[tuple[int, list[int]]] = []
    for other in others:
        row = [a - b for a, b in zip(other, first, strict=True)]
        for column, pivot in echelon:
            if row[column]:
                head, lead = row[column], pivot[column]
                row = [lead * a - head * b for a, b in zip(row, pivot, strict=True)]
                common = math.gcd(*row) or 1  # else numbers would be twice as long with every pivot
                row = [value // common for value in row]
        column = next((c for c, value in enumerate(row) if value), None)
        if column is not None:
            echelon.append((column, row))
            if len(echelon) == table.shape[1]:
                break
    return len(echelon)
