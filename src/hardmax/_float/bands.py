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
from hardmax._float.bounds import SAFETY, UNDERFLOW, UNIT, FloatMetric, look, norms_above, slack_by_axis

# Bands are of use if more than a few points are shorter than the longest by 2 to this; sizes of one band differ by less
# than 2 to its width, or so.
_SPREAD, _WIDTH, _FEW = 20, 20, 64
# Scores of points shorter than this may vanish.
_TINY = 2.0**-400
# Cells from 0 to the longest point: what falls into one of them is a clump.
_CELLS = 2.0**8
# Of clumps that are narrower than this, floats tell little.
_NARROW = 2.0**-40

Search = Callable[[np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(points: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest, or some so short that their scores vanish."""
    is_short = np.ldexp(sizes, _SPREAD) < sizes.max()
    many = int(np.count_nonzero(is_short)) > _FEW
    return many or (len(sizes) > _FEW and bool(points[is_short & (sizes < _TINY)].any()))


@np.errstate(over="ignore")
def search_in_bands(
    search: Search,
    active: ActiveSet,
    pending: np.ndarray,
    metric: FloatMetric,
    offsets: Callable[[np.ndarray], np.ndarray],
) -> ArgmaxResult:
    """Who of all points is furthest along the directions of some. How small the smallest lead is is not known. `offsets`
    tells the ways to points from the first of them, up to a factor, each coordinate rounded once."""
    units = np.frexp(np.maximum(active.norms, active.off))[1]
    rows = active.rows_of(pending)
    own_units = units[rows]
    own, errors = (_in_units(table[rows], own_units) for table in (active.positions, active.errors))
    directions, off = look(own, errors, metric)
    lengths = norms_above(directions)
    if active.members is not None and (lengths <= 2 * norms_above(off)).any():
        # Those who have left are not attended to, but along a direction that may be 0.
        return search_in_bands(search, active.reopened(), pending, metric, offsets)
    # What is sure to be reached, at first by the own point: no coordinate of it, or error, is beyond 1.
    doubt = np.abs(directions) * (errors + len(own.T) * UNIT) + 2 * off
    floors = _in_units(np.sum(directions * own - 2 * SAFETY * doubt, axis=1) - UNDERFLOW, -own_units)
    order, starts = _clumps(active.positions, units)
    ends, tops = np.append(starts[1:], len(order)), np.maximum.reduceat(units[order], starts)
    points, errors = (_in_units(table[order], np.repeat(tops, ends - starts)) for table in (active.positions, active.errors))
    centres = points[starts]
    radii = np.maximum.reduceat(norms_above(points - np.repeat(centres, ends - starts, axis=0)), starts)
    sizes, errors = (np.maximum.reduceat(table, starts) for table in (np.abs(points), errors))
    scores, slack = centres @ directions.T, slack_by_axis(directions, off, sizes, errors)
    reach = _in_units(scores + SAFETY * radii[:, None] * lengths + slack, -tops)
    floors = np.maximum(floors, _in_units(scores - slack, -tops).max(axis=0))
    found, numbers = [], order if active.members is None else active.members[order]
    for clump, (start, end) in enumerate(zip(starts, ends, strict=True)):
        rows = np.flatnonzero(reach[clump] >= floors)
        if not len(rows):
            continue
        places, within = points[start:end], slack[clump, rows]
        if end - start > 1 and radii[clump] < _NARROW:
            places = offsets(numbers[start:end])
            size = np.abs(places).max(axis=0)
            within = slack_by_axis(directions[rows], off[rows], size, UNIT * size)
        result = search(directions[rows], places, within)
        choices = result.choices()
        # The winner may trail the furthest by a few times the slack, and its score is off by up to half of that.
        best = np.einsum("ij,ij->i", directions[rows], points[start + result.winners])
        ceilings = _in_units(best + 4 * slack[clump, rows], -tops[clump])
        floors[rows] = np.maximum(floors[rows], _in_units(best - slack[clump, rows], -tops[clump]))
        found.append((np.repeat([rows, ceilings], choices.sizes, axis=1), numbers[start + choices.indices]))
    rows, ceilings = np.concatenate([some for some, _ in found], axis=1)
    rows, several = rows.astype(np.int64), np.concatenate([some for _, some in found])
    order = np.lexsort((several, rows))
    order = order[ceilings[order] >= floors[rows[order]]]
    choices = Choices(several[order], np.searchsorted(rows[order], np.arange(len(pending) + 1)))
    contested = np.flatnonzero(choices.sizes > 1)
    return ArgmaxResult(choices.firsts(np.arange(len(pending))), contested, choices.of_rows(contested), 0.0, ("bands",))


def _in_units(numbers: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Rows divided by powers of two."""
    return (numbers.T * np.ldexp(1.0, -exponents)).T


def _clumps(positions: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order in which points of a band, and in it those of a clump, come together, the longest first; and where each
    clump begins in it. A band of many clumps is one clump."""
    keys, band, left = np.empty(len(units)), 0, np.arange(len(units))
    axes = np.cos(np.outer(np.arange(positions.shape[1]), [1, 2]))  # any two
    while len(left):
        top = units[left].max()
        is_member = units[left] > top - _WIDTH
        members, left, band = left[is_member], left[~is_member], band + 1
        cells = np.rint(_in_units(positions[members], top) @ axes * _CELLS) @ [1.0, 2.0**20]
        is_clumpy = all(len(np.unique(some)) <= _FEW for some in (cells[:: 1 + len(cells) // 256], cells))
        keys[members] = band * 2.0**42 + is_clumpy * cells
    order = np.argsort(keys, kind="stable")
    return order, np.flatnonzero(np.diff(keys[order], prepend=np.nan) != 0.0)
