"""Search from the outside in: in few dimensions few points are ever looked at.

A point at distance r from the centre c scores at most <y, c> + r |y| along y. Once that is below
the best score found, no point further in can matter. A Gaussian cloud of a million points is
decided by a few dozen of them.

Directions along which the outermost points do not suffice, or come close to one another, are
searched in the tree."""

import numpy as np

from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import norms_above, search_rounding
from hardmax._float.tree import search_tree
from hardmax._kernels.compiling import njit_parallel

ROWS = 256  # a task for a thread
WIDTH = 32  # points in a block, so that their scores are one vector loop
_OUTERMOST = 4096
# Directions that are tried first: if the outermost points settle fewer of them than this share, all
# are searched in the tree.
_TRIED, _MOST = 256, 0.9


@njit_parallel(lambda directions, *_: -(-len(directions) // ROWS))
def _find_winners(
    first, last, directions, lengths, slack, places, several, reach, centre, winners, leads
):
    """For each direction the furthest of `several` points, in blocks of which each says from which
    distance of the centre on all points are in it or in one before; or -1 where others may come
    within its slack; each task's smallest lead."""
    scores, dimension = np.empty(WIDTH), directions.shape[1]
    for task in range(first, last):
        smallest = np.inf
        for i in range(task * ROWS, min((task + 1) * ROWS, len(directions))):
            top, second, at, base = -np.inf, -np.inf, -1, 0.0
            winners[i] = -1
            for axis in range(dimension):
                base += directions[i, axis] * centre[axis]
            for b in range(len(places)):
                for lane in range(WIDTH):
                    scores[lane] = directions[i, 0] * places[b, 0, lane]
                for axis in range(1, dimension):
                    along = directions[i, axis]
                    for lane in range(WIDTH):
                        scores[lane] += along * places[b, axis, lane]
                for lane in range(min(WIDTH, several - b * WIDTH)):
                    score = scores[lane]
                    if score > top:
                        second, top, at = top, score, b * WIDTH + lane
                    elif score > second:
                        second = score
                bound = base + lengths[i] * reach[b + 1]
                if top - second <= slack[i]:
                    break
                if bound < top - slack[i] and (bound <= second or top - bound > smallest):
                    winners[i], smallest = at, min(smallest, top - second)
                    break
        leads[task] = smallest


def search_shells(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Search the outermost points first, then, where they do not suffice, the tree."""
    count = min(len(points), _OUTERMOST)
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    order = np.argpartition(radii, len(points) - count)
    beyond = float(radii[order[:-count]].max(initial=-np.inf))  # of points that are in no block
    order = order[-count:]
    order = order[np.argsort(-radii[order], kind="stable")]
    rounding = search_rounding(points.shape[1])
    reach = np.append(radii[order[::WIDTH]], beyond) * (1 + rounding)
    reach += rounding * float(np.abs(points).max())
    shells = _in_blocks(points[order]), count, reach, centre

    def search(every: int) -> tuple[np.ndarray, float]:
        """Winners of some directions, and the smallest lead."""
        some = np.ascontiguousarray(directions[::every])
        winners, leads = np.empty(len(some), dtype=np.int64), np.empty(-(-len(some) // ROWS))
        sure = np.ascontiguousarray(slack[::every])
        _find_winners(some, norms_above(some), sure, *shells, winners, leads)
        return winners, float(leads.min())

    tried, _ = search(max(1, len(directions) // _TRIED))
    if np.count_nonzero(tried >= 0) < _MOST * len(tried):
        return search_tree(directions, points, slack)
    winners, gap = search(1)
    result, left = ArgmaxResult.clear(order[winners], gap, "shells"), np.flatnonzero(winners < 0)
    return result.left_to(search_tree, left, directions, points, slack)


def _in_blocks(points: np.ndarray) -> np.ndarray:
    """Points in order as (blocks, d, WIDTH), zeros after the last one."""
    blocks = -(-len(points) // WIDTH)
    padded = np.zeros((blocks * WIDTH, points.shape[1]))
    padded[: len(points)] = points
    return np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))
