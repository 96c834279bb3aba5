"""Searches among points of very different sizes, band by band.

The error of a score is a share of |y_i| |x_j|. Measured by the longest point of a cloud, a single token far out would
hide all differences among the others. So points are parted by size into bands, from the longest on, each with a slack
and a unit of its own, and each direction has a unit of its own: no score vanishes or overflows. Units are powers of
two, which round nothing.

What a direction is sure to reach is at first the score of its own point. It looks into a band only if somebody there
may come as far: |y_i| times the longest of its points. Tokens that follow one far out are soon in its band, where
floats hardly tell them apart, so that thousands who look away from it would have thousands of candidates each. So
where the points of a band lie in a few clumps, a direction looks into it only if it may reach a ball around one of
them: <y_i, c> + r |y_i|. All who come close in the bands that it has looked into are its candidates.
"""

from collections.abc import Callable

import numpy as np

from hardmax._attended import Choices
from hardmax._float.active_set import ActiveSet
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import SAFETY, FloatMetric, SlackFactors, norms_above

# Sizes of one band differ by less than 2 to this or so; a few points that are shorter are not worth a band.
_WIDTH = 20
_FEW = 64
# Scores of points shorter than this may vanish.
_TINY = 2.0**-400
# Cells from 0 to the longest point: what falls into one of them is a clump.
_CELLS = 2.0**20

Search = Callable[[np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(points: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest, or some so short that their scores vanish."""
    is_short = np.ldexp(sizes, _WIDTH) < sizes.max()
    many = int(np.count_nonzero(is_short)) > _FEW
    return many or (len(sizes) > _FEW and bool(points[is_short & (sizes < _TINY)].any()))


@np.errstate(over="ignore")
def search_in_bands(
    search: Search,
    active: ActiveSet,
    pending: np.ndarray,
    metric: FloatMetric,
    factors: SlackFactors,
) -> ArgmaxResult:
    """Who of all points is furthest along the directions of some. How small the smallest lead is is not known."""
    units = np.frexp(np.maximum(active.norms, active.errors))[1]
    rows = active.rows_of(pending)
    own_units = units[rows]
    own, errors = _in_units(active.positions[rows], own_units), _in_units(active.errors[rows], own_units)
    directions, norms = metric.directions(own), norms_above(own)
    if active.members is not None and (norms_above(directions) <= factors.slack(norms, errors, 1.0, 0.0) + 2.0**-500).any():
        # Who has left is not attended to, unless a direction may be 0.
        return search_in_bands(search, active.reopened(), pending, metric, factors)
    # What is sure to be reached: at first by the own point.
    floors = np.einsum("ij,ij->i", directions, own) - factors.slack(norms, errors, norms, errors)
    floors = np.ldexp(floors, own_units)
    found, names = [], {"bands": None}  # rows and bounds on what is reached, points
    left = np.arange(len(units))
    while len(left):
        top = units[left].max()
        is_member = units[left] > top - _WIDTH
        members, left = left[is_member], left[~is_member]
        band, error = _in_units(active.positions[members], top), float(_in_units(active.errors[members], top).max())
        slack = factors.slack(norms, errors, float(norms_above(band).max()), error)
        rows, seen = _may_reach(directions, band, np.ldexp(floors, -top), slack)
        if not len(rows):
            continue
        members, band, slack = members[seen], band[seen], slack[rows]
        result = search(directions[rows], band, slack)
        best, choices = np.einsum("ij,ij->i", directions[rows], band[result.winners]), result.choices()
        # The winner may trail the furthest by the slack, and its score is off by up to half of that.
        ceilings = np.ldexp(best + 2 * slack, top)
        floors[rows] = np.maximum(floors[rows], np.ldexp(best - slack, top))
        found.append((np.repeat([rows, ceilings], choices.sizes, axis=1), members[choices.indices]))
        names |= dict.fromkeys(result.by)
    rows, ceilings = np.concatenate([some for some, _ in found], axis=1)
    rows, several = rows.astype(np.int64), np.concatenate([some for _, some in found])
    order = np.lexsort((several, rows))
    order = order[ceilings[order] >= floors[rows[order]]]
    choices = Choices(several[order], np.searchsorted(rows[order], np.arange(len(pending) + 1)))
    contested = np.flatnonzero(choices.sizes > 1)
    result = ArgmaxResult(choices.firsts(np.arange(len(pending))), contested, choices.of_rows(contested), 0.0, (*names,))
    return result if active.members is None else result.among(active.members, 0.0)


def _in_units(numbers: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Rows divided by powers of two."""
    return (numbers.T * np.ldexp(1.0, -exponents)).T


def _may_reach(
    directions: np.ndarray, band: np.ndarray, floors: np.ndarray, slack: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which directions may lead to their floors among the points of a band, and whether each of these may be reached.
    Points are taken together in balls: of each clump, if there are few, else of all."""
    cells = np.rint(band @ np.cos(np.arange(band.shape[1])) * _CELLS)
    if len(np.unique(cells[:: 1 + len(cells) // 256])) > _FEW:
        cells[:] = 0.0
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=np.nan) != 0.0)
    centres, sizes = band[order[starts]], np.diff(starts, append=len(order))
    radii = np.maximum.reduceat(norms_above(band[order] - np.repeat(centres, sizes, axis=0)), starts)
    scores = centres @ directions.T
    floors = np.maximum(floors, scores.max(axis=0) - slack) - slack
    reached = scores + SAFETY * radii[:, None] * norms_above(directions) >= floors
    seen = np.empty(len(band), dtype=bool)
    seen[order] = np.repeat(reached.any(axis=1), sizes)
    return np.flatnonzero(reached.any(axis=0)), seen
