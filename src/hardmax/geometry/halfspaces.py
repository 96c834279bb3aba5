"""Half-spaces and the cells of a polytope's vertices.

The half-space in which a token finds all that it attends to (Figure 1 of the paper), and its picture in the plane.

H_i = { z : <A z_i, z - z_i> >= 0 }

The regions from which a token looks towards each leader: cones with their apex in the origin.

    cell of l = { z : <A z, l> >= <A z, l'> for all leaders l' }

A token in the inner part of a cell attends to that leader, if nobody but leaders is furthest out. Where cells meet, it
attends to several.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import to_fractions
from hardmax._validation import InputError, check_real, shorten
from hardmax.geometry._affine import (
    Rectangle,
    as_table,
    check_shape,
    read_matrix,
    read_points,
    read_rectangle,
    read_targets,
)
from hardmax.geometry.hull import outline
from hardmax.geometry.projection import CHUNK


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """The points z with <normal, z> >= offset. Exact where its numbers and the points are Fractions.

    >>> HalfSpace(np.array([1.0, 0.0]), 0.5).contains([[1, 7], [0, 7]]).tolist()
    [True, False]
    """

    normal: np.ndarray
    offset: Any

    def __post_init__(self) -> None:
        (normal,) = read_table([_one_point(self.normal, "`normal`")], "`normal`")
        object.__setattr__(self, "normal", normal)
        if not isinstance(self.offset, Fraction):
            object.__setattr__(self, "offset", check_real(self.offset, "`offset`"))

    def contains(self, points: Any) -> Any:
        """Whether each point (n, d) lies in it, boundary included; a bool for a single point."""
        rows, single = as_table(points)
        table = read_table(rows, "`points`")
        if table.shape[1] != len(self.normal):
            raise InputError(f"`points` must have {len(self.normal)} coordinates each, not {table.shape[1]}.")
        # Fractions and floats do not multiply exactly, so floats become the Fractions that they are.
        if self.normal.dtype == object and table.dtype != object:
            table = to_fractions(table, "`points`")
        inside = (table @ self.normal >= self.offset).astype(bool)
        return bool(inside[0]) if single else inside

    def clipped(self, rectangle: Rectangle) -> np.ndarray:
        """The part within a rectangle (left, right, bottom, top) of the plane: corners (k, 2), none if it is empty.

        >>> HalfSpace(np.array([1.0, 0.0]), 0.5).clipped((0, 1, 0, 1)).tolist()
        [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
        """
        if len(self.normal) != 2:
            raise InputError(f"A half-space is clipped in the plane, but this one is in {len(self.normal)} dimensions.")
        return clip(corners_of(rectangle), self.normal.astype(np.float64), float(self.offset))


def half_space(token: Any, metric: Any = None) -> HalfSpace:
    """The half-space H = { z : <A t, z - t> >= 0 } of a token t: whoever it attends to lies in it.

    The metric may be any square matrix. The zero token's half-space is everything.

    >>> own = half_space([1, 0], metric=[[2, 1], [1, 1]])
    >>> own.normal.tolist(), own.offset
    ([2.0, 1.0], 2.0)
    """
    table = read_table([_one_point(token, "`token`")], "`token`")
    d = table.shape[1]
    matrix = np.eye(d) if metric is None else read_table(metric, "`metric`")
    check_shape(matrix.shape, d)
    exact = table.dtype == object
    # The token says which numbers are meant: an exact one makes the metric exact, floats make it floats.
    normal = (to_fractions(matrix, "`metric`") if exact else matrix.astype(np.float64)) @ table[0]
    offset = normal @ table[0]
    return HalfSpace(normal, offset if exact else float(offset))


def _one_point(values: Any, name: str) -> list[Any]:
    rows, single = as_table(values)
    if not single:
        raise InputError(f"{name} must be one point, a list of coordinates, not {shorten(values)}.")
    return rows[0]


def corners_of(rectangle: Rectangle) -> np.ndarray:
    """The corners (4, 2) of (left, right, bottom, top), counterclockwise."""
    left, right, bottom, top = read_rectangle(rectangle)
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


def clip(polygon: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The part of a convex polygon (k, 2) with <normal, z> >= offset; (0, 2) where no area is left.

    >>> clip(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([1.0, -1.0]), 0.0).tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    """
    heights = polygon @ normal - offset
    corners = []
    for k, (here, height) in enumerate(zip(polygon, heights, strict=True)):
        there, other = polygon[k - 1], heights[k - 1]
        if (height < 0 < other) or (other < 0 < height):
            corners.append(there + (here - there) * (other / (other - height)))
        if height >= 0:
            corners.append(here)
    return np.array(corners) if len(corners) > 2 else np.zeros((0, 2))


def leader_cells(leaders: Any, rectangle: Rectangle, metric: Any = None) -> list[np.ndarray]:
    """The cell of each leader within (left, right, bottom, top): corners (k, 2), counterclockwise; (0, 2) if empty.

    Together they cover the rectangle, without overlap. Of leaders with one cell the first has it; a leader that is no
    vertex of the hull of all has none. The metric may be any square matrix.

    >>> [cell.tolist() for cell in leader_cells([[1, 0], [-1, 0]], (-2, 2, 0, 1))]
    [[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]], [[-2.0, 0.0], [0.0, 0.0], [0.0, 1.0], [-2.0, 1.0]]]
    """
    table = read_points(leaders, "`leaders`")
    if table.shape[1] != 2:
        raise InputError(
            f"`leaders` must have 2 coordinates each to be drawn, not {table.shape[1]}. "
            "`cell_of` labels points in any dimension."
        )
    window = corners_of(rectangle)
    # <A z, l> = <z, A^T l>: with these in place of the leaders, cells are the normal cones of a polygon.
    directions = table if metric is None else table @ read_matrix(metric, 2)
    order = outline(directions)
    cells = [np.zeros((0, 2)) for _ in table]
    for k, leader in enumerate(order):
        cell = window
        # Its neighbours on the polygon bound the normal cone of a vertex; nobody else reaches it.
        for neighbour in {order[k - 1], order[(k + 1) % len(order)]} - {leader}:
            cell = clip(cell, directions[leader] - directions[neighbour], 0.0)
        cells[leader] = cell
    return cells


def cell_of(points: Any, leaders: Any, metric: Any = None) -> Any:
    """The leader in whose cell each point (n, d) lies, in any dimension; where cells meet, the first of them.

    In floats: a point within rounding of a boundary may be given to either side.

    >>> cell_of([[1, 0, 0], [0, 0, 3], [0, -1, 0]], leaders=[[2, 0, 0], [0, 2, 1], [0, -2, 0]]).tolist()
    [0, 1, 2]
    """
    table = read_points(leaders, "`leaders`")
    targets, single = read_targets(points, table.shape[1])
    directions = table if metric is None else table @ read_matrix(metric, table.shape[1])
    size = max(1, CHUNK // len(directions))
    parts = [np.argmax(targets[k : k + size] @ directions.T, axis=1) for k in range(0, len(targets), size)]
    labels = np.concatenate(parts)
    return int(labels[0]) if single else labels
