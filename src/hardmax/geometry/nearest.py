"""The nearest points of a polytope to many targets at once: Wolfe's algorithm, one corral for each target.

A corral is a set of affinely independent vertices with positive weights. Each round adds the vertex that lies furthest
towards the target, then moves to the nearest point of the flat through the corral; where that leaves the corral's
simplex, it stops at the boundary and drops the vertex that lost its weight. Distances fall strictly, so it ends.
"""

from typing import NamedTuple

import numpy as np

# Rounding of one scalar product, with room: progress smaller than this is none.
FINE = 4e-15
CHUNK = 2**21


class Nearest(NamedTuple):
    """For each target: the `ways` (b, r) from it to the nearest point, and the vertices that give this point.

    Those are `corrals` (b, k) with `weights` (b, k); unused places of a corral hold -1 and have weight 0.
    """

    ways: np.ndarray
    corrals: np.ndarray
    weights: np.ndarray

    @property
    def distances(self) -> np.ndarray:
        return np.linalg.norm(self.ways, axis=1)


def nearest(vertices: np.ndarray, targets: np.ndarray) -> Nearest:
    """The points of the convex hull of `vertices` (m, r) that are nearest to the `targets` (b, r).

    Nothing is checked here. Both are best given in units in which they are about 1.

    >>> square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> nearest(square, np.array([[3.0, 0.5], [2.0, 4.0]])).ways.tolist()
    [[-2.0, 0.0], [-1.0, -3.0]]
    """
    m, r = vertices.shape
    size = max(1, CHUNK // max(m, (r + 1) ** 2))
    parts = [_nearest(vertices, targets[start : start + size]) for start in range(0, len(targets), size)]
    return Nearest(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _nearest(vertices: np.ndarray, targets: np.ndarray) -> Nearest:
    extent = np.linalg.norm(vertices, axis=1).max()
    first = np.argmin((vertices**2).sum(axis=1) - 2 * targets @ vertices.T, axis=1)
    corrals = np.full((len(targets), vertices.shape[1] + 1), -1)
    corrals[:, 0] = first
    found = Nearest(vertices[first] - targets, corrals, (corrals >= 0).astype(np.float64))
    reached = FINE * (extent + np.linalg.norm(targets, axis=1))

    rows = np.arange(len(targets))
    best, idle = found.distances, np.zeros(len(targets), dtype=int)
    while rows.size:
        ways, corrals, weights = (array[rows] for array in found)
        lengths = np.linalg.norm(ways, axis=1)
        scores = ways @ vertices.T  # (rows, m)
        each = np.arange(len(rows))
        newcomers = np.argmin(scores, axis=1)
        # All of a corral score alike, up to rounding; a vertex with a lower score is a way to come nearer.
        gaps = scores[each, corrals[:, 0]] - scores[each, newcomers]
        # A corral with r + 1 vertices spans the space: its nearest point is the target itself.
        going = (gaps > FINE * extent * lengths) & (lengths > reached[rows]) & (corrals[:, -1] < 0)
        moved = _with_newcomers(vertices, targets[rows[going]], corrals[going], weights[going], newcomers[going])
        # In thin or far hulls a distance falls by less than rounding until the corral is complete. That takes at most
        # r + 1 rounds: a distance that has not fallen in as many, or rises, is the best that floats can do. So is a
        # corral that the newcomer has to leave at once.
        rows, reach = rows[going], moved.distances
        changed = (moved.corrals != corrals[going]).any(axis=1)
        idle[rows] = np.where(reach < best[rows] * (1 - FINE), 0, idle[rows] + 1)
        kept = changed & (reach <= best[rows] * (1 + FINE)) & (idle[rows] <= vertices.shape[1] + 1)
        rows = rows[kept]
        best[rows] = np.minimum(best[rows], reach[kept])
        for array, after in zip(found, moved, strict=True):
            array[rows] = after[kept]
    return found


def _with_newcomers(
    vertices: np.ndarray, targets: np.ndarray, corrals: np.ndarray, weights: np.ndarray, newcomers: np.ndarray
) -> Nearest:
    """The nearest points of the simplices that come out when a vertex joins each corral."""
    corrals[np.arange(len(corrals)), (corrals >= 0).sum(axis=1)] = newcomers
    ways = np.zeros_like(targets)
    rows = np.arange(len(corrals))
    while rows.size:
        used = corrals[rows] >= 0
        width = int(used.sum(axis=1).max())
        goals = np.zeros(used.shape)
        corners = vertices[corrals[rows, :width]]
        goals[:, :width], ways[rows] = _to_flat(corners, used[:, :width], targets[rows])
        have = weights[rows]
        falling = used & (goals <= 0)
        room = np.where(falling, have / np.maximum(have - goals, np.finfo(np.float64).tiny), np.inf)
        share = np.minimum(room.min(axis=1, keepdims=True), 1.0)
        leaving = falling & (room <= share)
        have = np.where(used & ~leaving, have + share * (goals - have), 0.0)
        places = np.where(leaving, -1, corrals[rows])
        # Used places come first: a gap between them would take a direction away in the factorisation.
        order = np.argsort(places < 0, axis=1, kind="stable")
        corrals[rows] = np.take_along_axis(places, order, axis=1)
        weights[rows] = np.take_along_axis(have / have.sum(axis=1, keepdims=True), order, axis=1)
        rows = rows[falling.any(axis=1)]
    return Nearest(ways, corrals, weights)


def _to_flat(corners: np.ndarray, used: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of the flats through the used corners (b, k, r): weights (b, k) and the ways (b, r) there."""
    base = corners[:, 0]
    ways = base - targets
    if corners.shape[1] == 1:
        return np.ones((len(corners), 1)), ways
    spans = (corners[:, 1:] - base[:, None]) * used[:, 1:, None]
    # Least squares by QR and not by the Gram matrix, which would square the condition number of thin simplices.
    axes, triangles = np.linalg.qr(np.swapaxes(spans, 1, 2))
    diagonal = np.einsum("bii->bi", triangles)
    # A column that adds no direction is no axis either.
    axes *= (diagonal != 0)[:, None]
    diagonal[diagonal == 0] = 1.0
    along = np.einsum("brk,br->bk", axes, ways)
    shares = -np.linalg.solve(triangles, along[:, :, None])[:, :, 0]
    # Twice, so that a way much shorter than the coordinates is still orthogonal to the flat.
    for _ in range(2):
        ways = ways - np.einsum("brk,bk->br", axes, np.einsum("brk,br->bk", axes, ways))
    return np.concatenate([1 - shares.sum(axis=1, keepdims=True), shares], axis=1), ways
