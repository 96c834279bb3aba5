"""Searches among points of very different sizes, band by band.

The error of a score is a share of |y_i| |x_j|. Measured by the longest point of a cloud, a single token far out would
hide all differences among the others. So points are parted by size into bands, from the longest on, each with a slack
of its own. A direction goes on to the next band only while somebody there may still come as far as what is already
found: |y_i| times the largest of its points. Where it does go on, all who come close in the bands it has seen are its
candidates.
"""

from collections.abc import Callable

import numpy as np

from hardmax._attended import Choices
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import FloatMetric, SlackFactors, norms_above

# Sizes of one band differ by less than this factor; a few points that are shorter are not worth a band.
_WIDTH = 2.0**20
_FEW = 64
# Far above rounding in the comparison of bounds.
_ABOVE = 1 + 2.0**-40

Search = Callable[[np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest."""
    return len(sizes) > _FEW and int(np.count_nonzero(sizes * _WIDTH < sizes.max())) > _FEW


def search_in_bands(
    search: Search,
    own: tuple[np.ndarray, np.ndarray],
    positions: np.ndarray,
    errors: np.ndarray,
    metric: FloatMetric,
    factors: SlackFactors,
) -> ArgmaxResult:
    """Who is furthest along the directions of some points. `own` are those that attend, and their errors. How small the
    smallest lead is is not known."""
    points, own_errors = own
    directions, norms, sizes = metric.directions(points), norms_above(points), norms_above(positions)
    lengths = norms_above(directions)
    floors = np.full(len(points), -np.inf)  # what is sure to be reached
    found, names = [], {"bands": None}  # rows, points, and bounds on what these reach
    pending, order = np.arange(len(points)), np.argsort(-sizes, kind="stable")
    while len(order) and len(pending):
        largest = float(sizes[order[0]])
        is_member = sizes[order] >= largest / _WIDTH
        members, order = np.sort(order[is_member]), order[~is_member]
        slack = factors.slack(norms[pending], own_errors[pending], largest, float(errors[members].max()))
        result = search(directions[pending], positions[members], slack).among(members, 0.0)
        best, choices = np.einsum("ij,ij->i", directions[pending], positions[result.winners]), result.choices()
        # The winner may trail the furthest by the slack, and its score is off by up to half of that.
        found.append((np.repeat([pending, best + 2 * slack], choices.sizes, axis=1), choices.indices))
        floors[pending] = np.maximum(floors[pending], best - slack)
        names |= dict.fromkeys(result.by)
        if len(order):
            longest, error = float(sizes[order[0]]), float(errors[order].max())
            rest = lengths[pending] * longest * _ABOVE
            rest += factors.slack(norms[pending], own_errors[pending], longest, error)
            pending = pending[floors[pending] <= rest]
    rows, ceilings = np.concatenate([some for some, _ in found], axis=1)
    rows, several = rows.astype(np.int64), np.concatenate([some for _, some in found])
    order = np.lexsort((several, rows))
    order = order[ceilings[order] >= floors[rows[order]]]
    offsets = np.searchsorted(rows[order], np.arange(len(points) + 1))
    choices = Choices(several[order], offsets)
    contested = np.flatnonzero(choices.sizes > 1)
    return ArgmaxResult(choices.firsts(np.arange(len(points))), contested, choices.of_rows(contested), 0.0, (*names,))
