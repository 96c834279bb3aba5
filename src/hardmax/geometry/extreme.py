"""Extreme points, in any dimension: those that are not in the convex hull of the others.

No linear programs: whoever is furthest along some direction is extreme, and that settles most points at once. Every
other point is projected on the hull of the extreme points known so far; if it lies outside, the way there is a
direction along which somebody new is furthest (Clarkson 1994).
"""

from typing import Any

import numpy as np

from hardmax.checking import whole_number
from hardmax.geometry.affine import affine_frame, first_of_equals, resolution, unit_scaled
from hardmax.geometry.inputs import read_points
from hardmax.geometry.nearest import CHUNK, nearest

MOST_DIRECTIONS = 20_000


def extreme_points(points: Any, directions: Any = None) -> np.ndarray:
    """Indices, increasing, of the extreme points; of equal points the first.

    A point is extreme if it lies further than `resolution(points)` from the hull of the others. `directions` (k, d) are
    tried first (the points seen from their mean, if None): leaders, for one, are furthest along their own `A z`.

    >>> extreme_points([[0, 0], [2, 0], [1, 0], [0, 2], [0, 0], [1, 1]]).tolist()
    [0, 1, 3]
    """
    table = read_points(points, "`points`")
    d = table.shape[1]
    directions = None if directions is None else read_points(directions, "`directions`", d)
    places = first_of_equals(table)
    scaled, _ = unit_scaled(table[places])
    frame = affine_frame(scaled)
    if frame.rank == 0:
        return places[:1]
    coordinates = frame.coordinates(scaled)
    if directions is None:
        directions = coordinates - coordinates.mean(axis=0)
        directions = directions[:: 1 + len(directions) // MOST_DIRECTIONS]
    else:
        directions = unit_scaled(directions)[0] @ frame.axes.T
    return places[_extreme(coordinates, directions, resolution(scaled))]


def is_extreme(points: Any, index: int) -> bool:
    """Whether the point at `index` lies outside the convex hull of the points that differ from it.

    >>> corners = [[1, 1], [1, -1], [-1, -1], [-1, 1], [1, 0]]
    >>> is_extreme(corners, 0), is_extreme(corners, 4)
    (True, False)
    """
    table = read_points(points, "`points`")
    index = whole_number(index, "`index`", at_least=0, at_most=len(table) - 1)
    scaled, _ = unit_scaled(table)
    others = scaled[(scaled != scaled[index]).any(axis=1)]
    if not len(others):
        return True
    found = nearest(others - scaled[index], np.zeros((1, scaled.shape[1])))
    return bool(found.distances[0] > resolution(scaled))


def _extreme(points: np.ndarray, directions: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices of the extreme ones among distinct points (n, r)."""
    distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
    known = np.zeros(len(points), dtype=bool)
    known[_furthest(points, distances, directions, tolerance)] = True
    # The furthest from the centre is extreme whatever the directions were: the hull to project on is not empty.
    known[np.argmax(distances)] = True
    open_rows = np.flatnonzero(~known)
    while open_rows.size:
        ways = -nearest(points[known], points[open_rows]).ways
        outside = np.linalg.norm(ways, axis=1) > tolerance
        open_rows, ways = open_rows[outside], ways[outside]
        # Those outside see somebody unknown furthest out: at least themselves.
        unknown = np.flatnonzero(~known)
        known[unknown[_furthest(points[unknown], distances[unknown], ways, tolerance / 2)]] = True
        open_rows = open_rows[~known[open_rows]]
    return np.flatnonzero(known)


def _furthest(points: np.ndarray, distances: np.ndarray, directions: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices of the points that are furthest along one of the `directions` (k, r)."""
    winners = []
    size = max(1, CHUNK // len(points))
    slack = tolerance * np.linalg.norm(directions, axis=1, keepdims=True)
    for start in range(0, len(directions), size):
        rows = slice(start, start + size)
        scores = directions[rows] @ points.T
        tied = scores >= scores.max(axis=1, keepdims=True) - slack[rows]
        # Among the tied, the furthest from any fixed place is extreme: balls are strictly convex.
        winners.append(np.argmax(np.where(tied, distances, -1.0), axis=1))
    return np.unique(np.concatenate(winners)) if winners else np.zeros(0, dtype=np.intp)
