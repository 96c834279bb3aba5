"""Searches among points of very different sizes.

The error of a score is a share of |y_i| |x_j|. Measured by the longest point of a cloud, a single
token far out would hide all differences among the others. So points are parted by size into bands,
and the points of a band into clumps, if there are only a few of these. Each clump has a slack and a
unit of its own, and so has each direction: no score vanishes or overflows. Units are powers of two,
which round nothing.

What a direction is sure to reach is the score of any centre c of a clump, and the best in clumps
that it has looked into. It looks into a clump of radius r only if somebody there may come as far,
<y_i, c> + r |y_i|. So thousands of tokens that follow one far out, and are so close to one another
that floats hardly tell them apart, do not matter to those who look elsewhere. For those who look at
them, what counts is where they are as seen from one of them. All who come close in the clumps that
a direction has looked into are its candidates."""

from collections.abc import Callable

import numpy as np

from hardmax._float.active_set import ActiveSet
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import (
    SAFETY,
    UNIT,
    FloatMetric,
    look,
    norms_above,
    slack_by_axis,
)
from hardmax._layer.attended import AttendedIndices

# Points are spread if more than a few are shorter than the longest by 2 to this: the width of a
# band.
_WIDTH = 20
_FEW = 64  # clumps of a band, too
# Scores of points shorter than this may vanish.
_TINY = 2.0**-400
# Cells along an axis from 0 to the longest point of a band: what falls into one is a clump.
_CELLS = 2.0**8
# Of clumps that are narrower than this floats tell little.
_NARROW = 2.0**-40

Search = Callable[[np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(points: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest, or some so short that scores vanish."""
    is_short = sizes < np.ldexp(sizes.max(), -_WIDTH)
    many = int(np.count_nonzero(is_short)) > _FEW
    return many or (len(sizes) > _FEW and bool(points[is_short & (sizes < _TINY)].any()))


def search_in_bands(
    search: Search,
    active: ActiveSet,
    pending: np.ndarray,
    metric: FloatMetric,
    offsets: Callable[[np.ndarray], np.ndarray],
) -> ArgmaxResult:
    """Who of all points is furthest along the directions of some.

    `offsets` tells the ways from the first of some points to each of them, up to a factor, each
    coordinate rounded once. How small the smallest lead is is not known.
    """
    units = np.frexp(np.maximum(active.norms, active.off))[1]
    own = active.rows_of(pending)
    places, errors = _in_units(active, own, units[own])
    directions, off = look(places, errors, metric)
    lengths = norms_above(directions)
    if active.members is not None and (lengths <= 2 * norms_above(off)).any():
        # Those who have left are attended to along a direction that is 0 only.
        return search_in_bands(search, active.reopened(), pending, metric, offsets)
    order, starts = _clumps(active.positions, units)
    ends = np.append(starts[1:], len(order))
    tops = np.maximum.reduceat(units[order], starts)
    points, errors = _in_units(active, order, np.repeat(tops, ends - starts))
    centres, scales = points[starts], np.ldexp(1.0, tops)[:, None]
    ways = points - np.repeat(centres, ends - starts, axis=0)
    radii = np.maximum.reduceat(norms_above(ways), starts)
    largest = (np.maximum.reduceat(table, starts) for table in (np.abs(points), errors))
    slack, scores = slack_by_axis(directions, off, *largest), centres @ directions.T
    floors = ((scores - slack) * scales).max(axis=0)
    reach = (scores + SAFETY * radii[:, None] * lengths + slack) * scales
    numbers = order if active.members is None else active.members[order]
    rows, candidates = [], []
    for clump, (start, end) in enumerate(zip(starts, ends, strict=True)):
        some = np.flatnonzero(reach[clump] >= floors)
        if not len(some):
            continue
        seen, doubts = points[start:end], slack[clump, some]
        within = doubts
        if end - start > 1 and radii[clump] < _NARROW:
            seen = offsets(numbers[start:end])
            size = np.abs(seen).max(axis=0)
            within = slack_by_axis(directions[some], off[some], size, UNIT * size)
        result = search(directions[some], seen, within)
        best = np.einsum("ij,ij->i", directions[some], points[start + result.winners])
        floors[some] = np.maximum(floors[some], (best - doubts) * scales[clump])
        # The best may trail the furthest by a few times the slack, and is off by up to half of
        # that.
        (close,) = np.nonzero((best + 4 * doubts) * scales[clump] >= floors[some])
        choices = result.choices().of_rows(close)
        rows.append(np.repeat(some[close], choices.sizes))
        candidates.append(numbers[start + choices.indices])
    rows, candidates, every = (
        np.concatenate(rows),
        np.concatenate(candidates),
        np.arange(len(pending)),
    )
    order = np.lexsort((candidates, rows))
    choices = AttendedIndices(
        candidates[order], np.searchsorted(rows[order], np.append(every, len(every)))
    )
    contested = np.flatnonzero(choices.sizes > 1)
    candidates = choices.of_rows(contested)
    return ArgmaxResult(choices.firsts(every), contested, candidates, 0.0, ("bands",))


def _in_units(
    active: ActiveSet, rows: np.ndarray, exponents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and errors of some members, each divided by a power of two."""
    scales = np.ldexp(1.0, -exponents)[:, None]
    return active.positions[rows] * scales, active.errors[rows] * scales


def _clumps(positions: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order in which the points of a band, and in it of a clump, come together, the longest
    first, and where clumps begin in it. A band of many clumps is one clump."""
    keys, band, left = np.empty(len(units)), 0, np.arange(len(units))
    axes = np.cos(np.outer(np.arange(positions.shape[1]), [1, 2]))  # any two will do
    while len(left):
        top = units[left].max()
        is_member = units[left] > top - _WIDTH
        members, left, band = left[is_member], left[~is_member], band + 1
        cells = np.rint(positions[members] @ axes * np.ldexp(_CELLS, -top)) @ [1.0, 2.0**20]
        is_clumpy = all(
            len(np.unique(some)) <= _FEW for some in (cells[:: 1 + len(cells) // 256], cells)
        )
        keys[members] = band * 2.0**42 + is_clumpy * cells
    order = np.argsort(keys, kind="stable")
    return order, np.flatnonzero(np.diff(keys[order], prepend=np.nan) != 0.0)
