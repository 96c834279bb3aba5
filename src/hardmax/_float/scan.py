"""Search from the outside in, where a mask says who may attend to whom, and where more than the
furthest point may count: the k furthest, or all within a slack.

Every score is known up to an error: `off` of the asker times the size of the point. A point whose
score may reach the least that counts is a candidate. Beyond a place of the order no point lies
further than `reach` from the centre, so that a score is at most that of the centre and `reach`
times the length of the direction; once this is too little, nobody further in matters. With a causal
mask the first i + 1 tokens lie anywhere in the order; the furthest of them come after some n / i
places, and all rows together take n log n."""

from typing import NamedTuple

import numpy as np

from hardmax._float.bounds import UNDERFLOW, norms_above, search_rounding
from hardmax._kernels.compiling import njit, njit_parallel
from hardmax._layer.attended import AttendedIndices

ROWS = 1024  # a task for a thread
_TINY = UNDERFLOW


class Field(NamedTuple):
    """Points from the outside in. Point `order[p]` may be attended to by rows from `since[p]` on;
    and, unless the table is empty, if `table[row, order[p]]` says so."""

    points: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    order: np.ndarray
    reach: np.ndarray
    since: np.ndarray
    table: np.ndarray
    centre: np.ndarray


class Askers(NamedTuple):
    """Rows that attend: their numbers, directions, the lengths of these, and errors of scores."""

    rows: np.ndarray
    directions: np.ndarray
    lengths: np.ndarray
    off: np.ndarray


class Found(NamedTuple):
    """For each asker how many candidates there are, one of them, whether they are certain to be
    attended to, all of them, and what a score of nobody else exceeds."""

    sizes: np.ndarray
    firsts: np.ndarray
    certain: np.ndarray
    beyond: np.ndarray


def field_of(
    points: np.ndarray, counts: np.ndarray, since: np.ndarray, table: np.ndarray | None
) -> Field:
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    order = np.argsort(-radii, kind="stable")
    rounding = search_rounding(points.shape[1])
    reach = radii[order] * (1 + rounding) + rounding * float(np.abs(points).max())
    sizes = norms_above(points)
    able = np.empty((0, 0), dtype=bool) if table is None else table
    return Field(
        points[order], sizes[order], counts[order], order, reach, since[order], able, centre
    )


@njit(inline="always")
def _score(direction, point):
    score = 0.0
    for axis in range(len(direction)):
        score += direction[axis] * point[axis]
    return score


@njit_parallel(lambda askers, *_: -(-len(askers.rows) // ROWS))
def _rank(first, last, askers, field, k, least):
    """For each asker what the k-th largest score, counted with multiplicity, is sure to be; -inf
    where there are fewer."""
    rows, directions, lengths, off = askers
    points, sizes, counts, order, reach, since, table, centre = field
    best, weights = np.empty(k + 1), np.empty(k + 1, np.int64)
    widest = sizes.max()
    for i in range(first * ROWS, min(last * ROWS, len(rows))):
        base = _score(directions[i], centre) + off[i] * widest + _TINY
        kept, total, least[i] = 0, 0, -np.inf
        for place in range(len(order)):
            if base + lengths[i] * reach[place] < least[i]:
                break
            if rows[i] < since[place] or (len(table) and not table[rows[i], order[place]]):
                continue
            low = _score(directions[i], points[place]) - off[i] * sizes[place] - _TINY
            if low <= least[i]:
                continue
            at = kept
            while at > 0 and best[at - 1] < low:
                best[at], weights[at] = best[at - 1], weights[at - 1]
                at -= 1
            best[at], weights[at] = low, counts[place]
            kept, total = kept + 1, total + counts[place]
            while total - weights[kept - 1] >= k:
                kept -= 1
                total -= weights[kept]
            if total >= k:
                least[i] = best[kept - 1]


@njit_parallel(lambda askers, *_: -(-len(askers.rows) // ROWS))
def _collect(first, last, askers, field, least, enough, slack, found, starts, indices):
    """Count the candidates, whose scores may be at least `least`; and write them, if there is a
    place for them. They are certain if without one of them there were not enough, or if none lags
    the first by more than a slack. The smallest lead of all is found if `enough` is positive, no
    other."""
    rows, directions, lengths, off = askers
    points, sizes, counts, order, reach, since, table, centre = field
    count_of, firsts, certain, beyond = found
    widest, smallest = sizes.max(), np.inf if enough else -np.inf
    for i in range(first * ROWS, min(last * ROWS, len(rows))):
        base = _score(directions[i], centre) + off[i] * widest + _TINY
        number, total, fewest = 0, 0, np.int64(2**62)
        highest, lowest, other = -np.inf, np.inf, -np.inf
        for place in range(len(order)):
            bound = base + lengths[i] * reach[place]
            if bound < least[i] and (bound <= other or least[i] - bound > smallest):
                other = max(other, bound)
                break
            if rows[i] < since[place] or (len(table) and not table[rows[i], order[place]]):
                continue
            score = _score(directions[i], points[place])
            error = off[i] * sizes[place] + _TINY
            if score + error < least[i]:
                other = max(other, score + error)
                continue
            firsts[i] = order[place]
            if len(indices):
                indices[starts[i] + number] = order[place]
            number, total = number + 1, total + counts[place]
            fewest = min(fewest, counts[place])
            highest, lowest = max(highest, score + error), min(lowest, score - error)
        count_of[i], beyond[i] = number, other
        if enough:
            smallest = min(smallest, least[i] - other)
        certain[i] = total - fewest < enough or (slack > 0.0 and lowest >= highest - slack)


def rank(askers: Askers, field: Field, k: int = 1) -> np.ndarray:
    least = np.empty(len(askers.rows))
    _rank(askers, field, k, least)
    return least


def collect(
    askers: Askers, field: Field, least: np.ndarray, k: int = 0, slack: float = 0.0
) -> tuple[AttendedIndices, Found]:
    """The candidates of each asker, increasing, and what is known of them: whether they are all, if
    the k furthest count."""
    rows, none = len(askers.rows), np.empty(0, dtype=np.int64)
    kinds = (np.int64, np.int64, bool, np.float64)
    found = Found(*(np.empty(rows, kind) for kind in kinds))
    _collect(askers, field, least, k, slack, found, none, none)
    sizes, several = found.sizes, np.flatnonzero(found.sizes > 1)
    offsets = np.append(0, np.cumsum(sizes))
    indices = np.repeat(found.firsts, sizes)
    if len(several):
        starts = np.append(0, np.cumsum(sizes[several]))
        written = np.empty(starts[-1], dtype=np.int64)
        some = Askers(*(part[several] for part in askers))
        again = Found(*(part[several] for part in found))
        _collect(some, field, least[several], 0, 0.0, again, starts, written)
        written = written[np.lexsort((written, np.repeat(several, sizes[several])))]
        indices[np.repeat(sizes > 1, sizes)] = written
    return AttendedIndices(indices, offsets), found
