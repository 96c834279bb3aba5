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
    own: tuple[np.ndarray, np.ndarray, np.ndarray],
    positions: np.ndarray,
    errors: np.ndarray,
    metric: FloatMetric,
    factors: SlackFactors,
) -> ArgmaxResult:
    """Who is furthest along the directions of some points. `own` are those that attend, their errors, and guesses whom
    they attend to. How small the smallest lead is is not known."""
    points, own_errors, guesses = own
    own_units, units = _units(points, own_errors), _units(positions, errors)
    points, own_errors = np.ldexp(points, -own_units[:, None]), np.ldexp(own_errors, -own_units)
    directions, norms, count = metric.directions(points), norms_above(points), len(points)
    lengths = norms_above(directions)
    # What its own point, and what others found so far, are sure to reach.
    own_floors = np.einsum("ij,ij->i", directions, points)
    own_floors -= factors.slack(norms, own_errors, norms, own_errors)
    floors, unit = np.full(count, -np.inf), 0
    rows, candidates, ceilings = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    names, order = {"bands": None}, np.argsort(-units, kind="stable")
    while len(order):
        top = int(units[order[0]])
        is_member = units[order] > top - _WIDTH
        members, order = np.sort(order[is_member]), order[~is_member]
        band = np.ldexp(positions[members], -top)
        largest, error = float(norms_above(band).max()), float(np.ldexp(errors[members].max(), -top))
        slack = factors.slack(norms, own_errors, largest, error)
        with np.errstate(over="ignore"):
            # Units fall, so numbers grow: nothing is lost to underflow.
            floors, ceilings, unit = np.ldexp(floors, unit - top), np.ldexp(ceilings, unit - top), top
            least = np.maximum(floors, np.ldexp(own_floors, own_units - top))
        pending = np.flatnonzero(lengths * largest * SAFETY + slack >= least)
        if len(order) and len(members) > _FEW:
            looking, seen = _clumps(directions[pending], lengths[pending], band, least[pending], slack[pending])
            pending, members, band = pending[looking], members[seen], band[seen]
        if not len(pending):
            continue
        guessed = np.minimum(np.searchsorted(members, guesses[pending]), len(members) - 1)
        result = search(directions[pending], band, slack[pending], guessed)
        best, choices = np.einsum("ij,ij->i", directions[pending], band[result.winners]), result.choices()
        floors[pending] = np.maximum(least[pending], best - slack[pending])
        rows = np.append(rows, np.repeat(pending, choices.sizes))
        candidates = np.append(candidates, members[choices.indices])
        # The winner may trail the furthest by the slack, and its score is off by up to half of that.
        ceilings = np.append(ceilings, np.repeat(best + 2 * slack[pending], choices.sizes))
        close = ceilings >= floors[rows]
        rows, candidates, ceilings = rows[close], candidates[close], ceilings[close]
        names |= dict.fromkeys(result.by)
    order = np.lexsort((candidates, rows))
    choices = Choices(candidates[order], np.searchsorted(rows[order], np.arange(count + 1)))
    contested = np.flatnonzero(choices.sizes > 1)
    return ArgmaxResult(choices.firsts(np.arange(count)), contested, choices.of_rows(contested), 0.0, (*names,))


def _units(points: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Of each point the exponent of its largest coordinate, or of its error if that is larger; of zeros the least."""
    sizes = np.maximum(np.abs(points).max(axis=1), errors)
    units = np.frexp(sizes)[1]
    units[sizes == 0.0] = units[sizes > 0.0].min(initial=0)
    return units


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
