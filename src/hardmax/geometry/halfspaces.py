"""Half-planes of tokens and cells of leaders: where tokens find what they attend to."""

from typing import Any

import numpy as np

from hardmax._common.validation import InputError, shorten
from hardmax._tokens.rationals import unit_of
from hardmax.geometry._hull import polygon, read_metric, read_points


def half_plane(token: Any, rectangle: Any, metric: Any = None) -> np.ndarray:
    """Half-plane { z : <A t, z - t> >= 0 } that contains all that a token t attends to, within a
    rectangle.

    Parameters
    ----------
    token : array_like of shape (2,)
        Token t. The half-plane of the zero token is everything.
    rectangle : (float, float, float, float)
        Left, right, bottom and top, as `ax.axis()` gives them.
    metric : array_like of shape (2, 2), optional
        Any square matrix A; the identity if None.

    Returns
    -------
    ndarray of shape (k, 2)
        Corners, counterclockwise; none if no area is left.

    Examples
    --------
    >>> half_plane([1, 0], (0, 3, 0, 1)).tolist()
    [[1.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0]]
    """
    points, window = read_points([token], "`token`", 2), _corners_of(rectangle)
    (normal,) = _scaled(points) @ _scaled(_matrix(metric)).T
    unit = max(unit_of(points), unit_of(window))
    (point,) = np.ldexp(points, -unit)
    return np.ldexp(_clip(np.ldexp(window, -unit), normal, normal @ point), unit)


def leader_cells(leaders: Any, rectangle: Any, metric: Any = None) -> list[np.ndarray]:
    """Cell { z : <A z, l> > <A z, l'> for all others l' } of each leader l in the plane, within a
    rectangle.

    Cells are open cones with their apex in the origin. They do not overlap, and together with their
    borders they cover the rectangle. On a border two leaders tie: a token there may go to neither.
    Of leaders that tie everywhere the first has the cell. A leader that is no vertex of the hull of
    all has none.

    Parameters
    ----------
    leaders : array_like of shape (m, 2)
        Leaders.
    rectangle : (float, float, float, float)
        Left, right, bottom and top, as `ax.axis()` gives them.
    metric : array_like of shape (2, 2), optional
        Any square matrix A; the identity if None.

    Returns
    -------
    list of ndarray of shape (k, 2)
        Corners of each cell with its border, counterclockwise; of shape (0, 2) if it is empty.

    Examples
    --------
    >>> right, left = leader_cells([[1, 0], [-1, 0]], (-2, 2, 0, 1))
    >>> right.tolist(), left.tolist()[0]
    ([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]], [-2.0, 0.0])
    """
    table = read_points(leaders, "`leaders`", 2)
    window = _corners_of(rectangle)
    unit = unit_of(window)
    # <A z, l> = <z, A^T l>: with these in place of the leaders, cells are the normal cones of a
    # polygon.
    directions = _scaled(table) @ _scaled(_matrix(metric))
    order = polygon(directions).tolist()
    cells = [np.zeros((0, 2)) for _ in table]
    for k, leader in enumerate(order):
        cell = np.ldexp(window, -unit)
        # The normal cone of a vertex is bounded by its neighbours on the polygon.
        for neighbour in {order[k - 1], order[(k + 1) % len(order)]} - {leader}:
            cell = _clip(cell, directions[leader] - directions[neighbour], 0.0)
        cells[leader] = np.ldexp(cell, unit)
    return cells


def _matrix(metric: Any) -> np.ndarray:
    return np.array(read_metric(metric, 2).metric, dtype=float)


def _scaled(table: np.ndarray) -> np.ndarray:
    """A table times a power of two: no sum of products overflows."""
    return np.ldexp(table, -unit_of(table))


def _corners_of(rectangle: Any) -> np.ndarray:
    """The corners (4, 2) of (left, right, bottom, top), counterclockwise."""
    ((left, right, bottom, top),) = read_points([rectangle], "`rectangle`", 4)
    if not (left < right and bottom < top):
        wish = "(left, right, bottom, top) with left < right and bottom < top"
        raise InputError(f"`rectangle` must be {wish}, not {shorten(rectangle)}.")
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


def _clip(corners: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The part of a convex polygon (k, 2) with <normal, z> >= offset; (0, 2) where no area is
    left."""
    heights = corners @ normal - offset
    kept = []
    for k, (here, height) in enumerate(zip(corners, heights, strict=True)):
        there, other = corners[k - 1], heights[k - 1]
        if (height < 0 < other) or (other < 0 < height):
            kept.append(there + (here - there) * (other / (other - height)))
        if height >= 0:
            kept.append(here)
    return np.array(kept) if len(kept) > 2 else np.zeros((0, 2))
