"""Search from the outside in: in few dimensions few points are ever looked at.

A point at distance r from the centre c scores at most <y, c> + r |y| along y. Once that is below
the best score found, no point further in can matter. A Gaussian cloud of a million points is
decided by a few dozen of them.

Directions along which the outermost points do not suffice, or come close to one another, are
searched in cones."""

import numpy as np

from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import norms_above, search_rounding
from hardmax._float.cones import WIDTH, cones, in_blocks, score_block
from hardmax._kernels.compiling import njit_parallel

ROWS = 256  # a task for a thread
_OUTERMOST = 4096
# Directions that are tried first: if the outermost points settle fewer of them than this share, all
# go into cones.
_TRIED, _MOST = 256, 0.9


@njit_parallel(lambda directions, *_: -(-len(directions) // ROWS))
def _find_winners(
    first, last, directions, lengths, slack, base, places, count, reach, winners, leads
):
    """For each direction the furthest point, or -1 where others may come within its slack; each
    task's smallest lead.

    `base` are the scores of the centre, `reach[b]` is how far from it points from block b on can
    be."""
    scores = np.empty((len(places), WIDTH))
    for task in range(first, last):
        smallest = np.inf
        for i in range(task * ROWS, min((task + 1) * ROWS, len(directions))):
            top, second, at = -np.inf, -np.inf, -1
            winners[i] = -1
            for b in range(len(places)):
                if score_block(directions[i], places, b, count, scores) > second:
                    for lane in range(WIDTH):
                        score = scores[b, lane]
                        if score > top:
                            second, top, at = top, score, b * WIDTH + lane
                        elif score > second:
                            second = score
                bound = base[i] + lengths[i] * reach[b + 1]
                if top - second <= slack[i]:
                    break
                if bound < top - slack[i] and (bound <= second or top - bound > smallest):
                    winners[i], smallest = at, min(smallest, top - second)
                    break
        leads[task] = smallest


def shells(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """Search the outermost points first, then, where they do not suffice, all in cones. Guesses are
    not needed."""
    directions, count = np.ascontiguousarray(directions), min(len(points), _OUTERMOST)
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    order = np.argpartition(radii, len(points) - count)
    beyond = float(radii[order[:-count]].max(initial=-np.inf))  # of points that are in no block
    order = order[-count:]
    order = order[np.argsort(-radii[order], kind="stable")]
    rounding = search_rounding(points.shape[1])
    reach = np.append(radii[order[::WIDTH]], beyond) * (1 + rounding) + rounding * float(
        np.abs(points).max()
    )
    places = in_blocks(points[order])

    def search(rows: np.ndarray) -> tuple[np.ndarray, float]:
        some, winners, leads = (
            directions[rows],
            np.empty(len(rows), dtype=np.int64),
            np.empty(-(-len(rows) // ROWS)),
        )
        lengths, base = norms_above(some), some @ centre
        _find_winners(some, lengths, slack[rows], base, places, count, reach, winners, leads)
        return winners, float(leads.min())

    tried = np.arange(0, len(directions), max(1, len(directions) // _TRIED))
    if np.count_nonzero(search(tried)[0] < 0) > (1 - _MOST) * len(tried):
        return cones(directions, points, slack)
    winners, gap = search(np.arange(len(directions)))
    result, left = ArgmaxResult.clear(order[winners], gap, "shells"), np.flatnonzero(winners < 0)
    return (
        result.with_rows(left, cones(directions[left], points, slack[left]))
        if len(left)
        else result
    )
