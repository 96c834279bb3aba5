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

Search = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(points: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest, or some so short that their scores vanish."""
    is_short = np.ldexp(sizes, _WIDTH) < sizes.max()
    many = int(np.count_nonzero(is_short)) > _FEW
    return many or (len(sizes) > _FEW and bool(points[is_short & (sizes < _TINY)].any()))


def search_in_bands(
    search: Search,
    active: ActiveSet,
    pending: np.ndarray,
    guesses: np.ndarray,
    metric: FloatMetric,
    factors: SlackFactors,
) -> ArgmaxResult:
    """Who of all points is furthest along the directions of some, with guesses who that may be. How small the smallest
    lead is is not known."""
    units = np.frexp(np.maximum(active.norms, active.errors))[1]
    own_units, count = units[pending], len(pending)
    points, errors = _in_units(active.positions[pending], own_units), _in_units(active.errors[pending], own_units)
    directions, norms = metric.directions(points), norms_above(points)
    lengths = norms_above(directions)
    # What its own point, and what others found so far, are sure to reach.
    own_floors = np.einsum("ij,ij->i", directions, points) - factors.slack(norms, errors, norms, errors)
    floors, unit = np.full(count, -np.inf), 0
    rows, candidates, ceilings = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    names, left = {"bands": None}, np.arange(len(units))
    while len(left):
        top = units[left].max()
        is_member = units[left] > top - _WIDTH
        members, left = left[is_member], left[~is_member]
        band = _in_units(active.positions[members], top)
        largest, error = float(norms_above(band).max()), float(_in_units(active.errors[members], top).max())
        slack = factors.slack(norms, errors, largest, error)
        with np.errstate(over="ignore"):
            # Units fall, so numbers grow: nothing is lost to underflow.
            floors, ceilings, unit = np.ldexp(floors, unit - top), np.ldexp(ceilings, unit - top), top
            least = np.maximum(floors, np.ldexp(own_floors, own_units - top))
        some = np.flatnonzero(lengths * largest * SAFETY + slack >= least)
        if len(left) and len(members) > _FEW:
            looking, seen = _clumps(directions[some], lengths[some], band, least[some], slack[some])
            some, members, band = some[looking], members[seen], band[seen]
        if not len(some):
            continue
        guessed = np.minimum(np.searchsorted(members, guesses[some]), len(members) - 1)
        result = search(directions[some], band, slack[some], guessed)
        best, choices = np.einsum("ij,ij->i", directions[some], band[result.winners]), result.choices()
        floors[some] = np.maximum(least[some], best - slack[some])
        rows = np.append(rows, np.repeat(some, choices.sizes))
        candidates = np.append(candidates, members[choices.indices])
        # The winner may trail the furthest by the slack, and its score is off by up to half of that.
        ceilings = np.append(ceilings, np.repeat(best + 2 * slack[some], choices.sizes))
        close = ceilings >= floors[rows]
        rows, candidates, ceilings = rows[close], candidates[close], ceilings[close]
        names |= dict.fromkeys(result.by)
    order = np.lexsort((candidates, rows))
    choices = Choices(candidates[order], np.searchsorted(rows[order], np.arange(count + 1)))
    contested = np.flatnonzero(choices.sizes > 1)
    return ArgmaxResult(choices.firsts(np.arange(count)), contested, choices.of_rows(contested), 0.0, (*names,))


def _in_units(numbers: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Rows divided by powers of two."""
    return (numbers.T * np.ldexp(1.0, -exponents)).T


def _clumps(
    directions: np.ndarray, lengths: np.ndarray, band: np.ndarray, floors: np.ndarray, slack: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which directions may lead to their floors in a band, and which of its points some of them may lead to, if all
    lie in a few clumps; else all."""
    cells = np.rint(band @ np.cos(np.arange(band.shape[1])) * _CELLS)
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=np.nan) != 0.0)
    if len(starts) > _FEW:
        return np.ones(len(directions), dtype=bool), np.ones(len(band), dtype=bool)
    centres, sizes = band[order[starts]], np.diff(starts, append=len(order))
    radii = np.maximum.reduceat(norms_above(band[order] - np.repeat(centres, sizes, axis=0)), starts)
    scores = directions @ centres.T
    floors = np.maximum(floors, scores.max(axis=1) - slack) - slack
    may_reach = scores + SAFETY * lengths[:, None] * radii >= floors[:, None]
    seen = np.empty(len(band), dtype=bool)
    seen[order] = np.repeat(may_reach.any(axis=0), sizes)
    return may_reach.any(axis=1), seen
