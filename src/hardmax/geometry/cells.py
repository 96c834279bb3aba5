"""The regions from which a token looks towards each leader: cones with their apex in the origin.

    cell of l = { z : <A z, l> >= <A z, l'> for all leaders l' }

A token in the inner part of a cell attends to that leader, if nobody but leaders is furthest out. Where cells meet, it
attends to several.
"""

from typing import Any

import numpy as np

from hardmax.errors import InputError
from hardmax.geometry.halfspaces import clip, corners_of
from hardmax.geometry.hulls import outline
from hardmax.geometry.inputs import Rectangle, read_matrix, read_points, read_targets
from hardmax.geometry.nearest import CHUNK


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
