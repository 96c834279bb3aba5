"""Search with a mask that says who may attend to whom, and where more than the furthest point may
count: the k furthest, or all within a slack.

Every score is known up to an error: `off` of the asker times the size of the point. A point whose
score may reach the least that counts is a candidate.

Points lie in blocks of neighbours, blocks in larger blocks. No score in a block exceeds that of its
centre by more than its radius times the length of the direction; where this is too little, and
where a row may not attend to anybody yet, all of it is passed over. So a causal mask takes no list
of n^2 pairs, and in few dimensions few points are looked at, however close together they are."""

from typing import NamedTuple

import numpy as np

from hardmax._float.bounds import UNDERFLOW, norms_above, search_rounding
from hardmax._kernels.compiling import njit, njit_parallel
from hardmax._layer.attended import AttendedIndices, sort_rows

ROWS = 1024  # a task for a thread
BLOCK, BRANCHES = 8, 4  # points in the smallest block, blocks in the next larger one
_GUESSES = 8  # the last winners are tried first
_BITS, _FINE = 60, 16  # of all coordinates, and of one
_TINY = UNDERFLOW


class Blocks(NamedTuple):
    """Blocks of all sizes, each before those in it: the centre, how far points are from it, from
    which row on one of them is allowed, where the block begins, and which block comes after all
    that are in it."""

    centres: np.ndarray
    reach: np.ndarray
    since: np.ndarray
    starts: np.ndarray
    skip: np.ndarray


class Field(NamedTuple):
    """Points, neighbours next to one another. Point `order[p]` may be attended to by rows from
    `since[p]` on; and, unless the table is empty, if `table[row, order[p]]` says so."""

    points: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    order: np.ndarray
    since: np.ndarray
    table: np.ndarray


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
) -> tuple[Field, Blocks]:
    """Points in blocks."""
    order = neighbours(points)
    points, since = points[order], since[order]
    able = np.empty((0, 0), dtype=bool) if table is None else table
    field = Field(points, norms_above(points), counts[order], order, since, able)
    rounding = search_rounding(points.shape[1])
    size, blocks = BLOCK, []
    while not blocks or size < BRANCHES * len(points):
        starts = np.arange(0, len(points), size)
        sizes = np.diff(np.append(starts, len(points)))
        centres = np.add.reduceat(points, starts) / sizes[:, None]
        radii = norms_above(points - np.repeat(centres, sizes, axis=0))
        reach = np.maximum.reduceat(radii, starts) * (1 + rounding)
        reach += rounding * float(np.abs(points).max())
        ends = starts + size
        blocks.append((centres, reach, np.minimum.reduceat(since, starts), starts, ends))
        size *= BRANCHES
    parts = [np.concatenate(part) for part in zip(*blocks, strict=True)]
    place = np.lexsort((-parts[-1], parts[-2]))
    centres, reach, since, starts, ends = (part[place] for part in parts)
    return field, Blocks(centres, reach, since, starts, np.searchsorted(starts, ends))


def neighbours(points: np.ndarray) -> np.ndarray:
    """Points in the order of a curve that stays near where it is: the bits of their coordinates
    taken in turn."""
    axes = np.argsort(-np.ptp(points, axis=0), kind="stable")[:_BITS]
    some = points[:, axes]
    span = float(np.ptp(some, axis=0).max()) or 1.0
    bits = min(_FINE, _BITS // len(axes))
    cells = ((some - some.min(axis=0)) / span * (2.0**bits - 1)).astype(np.int64)
    keys = np.zeros(len(points), dtype=np.int64)
    for bit in range(bits - 1, -1, -1):
        for axis in range(len(axes)):
            keys = (keys << 1) | ((cells[:, axis] >> bit) & 1)
    return np.argsort(keys, kind="stable")


# Inlined, and without slices: threads would count references to the same arrays.
@njit(inline="always")
def _score(directions, i, points, place):
    score = 0.0
    for axis in range(directions.shape[1]):
        score += directions[i, axis] * points[place, axis]
    return score


@njit_parallel(lambda askers, *_: -(-len(askers.rows) // ROWS))
def _rank(first, last, askers, field, blocks, k, least):
    """For each asker what the k-th largest score, counted with multiplicity, is sure to be; -inf
    where there are fewer."""
    rows, directions, lengths, off = askers
    points, sizes, counts, order, since, table = field
    centres, reach, since_of, starts, skip = blocks
    best, weights = np.empty(k + 1), np.empty(k + 1, np.int64)
    guesses, turn = np.zeros(_GUESSES, np.int64), 0
    widest = sizes.max()
    for i in range(first * ROWS, min(last * ROWS, len(rows))):
        row, more = rows[i], off[i] * widest + _TINY
        kept, total, least[i] = 0, 0, -np.inf
        if k == 1:
            for place in guesses:
                if row >= since[place] and (len(table) == 0 or table[row, order[place]]):
                    low = _score(directions, i, points, place) - off[i] * sizes[place] - _TINY
                    least[i] = max(least[i], low)
        block = 0
        while block < len(skip):
            floor = least[i] - more
            far = _score(directions, i, centres, block) + lengths[i] * reach[block]
            if row < since_of[block] or far < floor:
                block = skip[block]
                continue
            start, block = starts[block], block + 1
            if skip[block - 1] > block:  # there are smaller ones in it
                continue
            for place in range(start, min(start + BLOCK, len(order))):
                if row < since[place] or (len(table) and not table[row, order[place]]):
                    continue
                low = _score(directions, i, points, place) - off[i] * sizes[place] - _TINY
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
                if k == 1:
                    guesses[turn] = place
        turn = (turn + 1) % _GUESSES


@njit_parallel(lambda askers, *_: -(-len(askers.rows) // ROWS))
def _collect(first, last, askers, field, blocks, least, enough, slack, found, offsets, indices):
    """Count the candidates, whose scores may be at least `least`; and write them, if there is a
    place for them. They are certain if without one of them there were not enough, or if none lags
    the first by more than a slack. The smallest lead of all is found if `enough` is positive, no
    other."""
    rows, directions, lengths, off = askers
    points, sizes, counts, order, since, table = field
    centres, reach, since_of, starts, skip = blocks
    count_of, firsts, certain, beyond = found
    widest, smallest = sizes.max(), np.inf if enough else -np.inf
    for i in range(first * ROWS, min(last * ROWS, len(rows))):
        row, more = rows[i], off[i] * widest + _TINY
        number, total, fewest = 0, 0, np.int64(2**62)
        highest, lowest, other, block = -np.inf, np.inf, -np.inf, 0
        while block < len(skip):
            floor = min(least[i], max(other, least[i] - smallest)) - more
            far = _score(directions, i, centres, block) + lengths[i] * reach[block]
            if row < since_of[block] or far < floor:
                block = skip[block]
                continue
            start, block = starts[block], block + 1
            if skip[block - 1] > block:  # there are smaller ones in it
                continue
            for place in range(start, min(start + BLOCK, len(order))):
                if row < since[place] or (len(table) and not table[row, order[place]]):
                    continue
                score = _score(directions, i, points, place)
                error = off[i] * sizes[place] + _TINY
                if score + error < least[i]:
                    other = max(other, score + error)
                    continue
                firsts[i] = order[place]
                if len(indices):
                    indices[offsets[i] + number] = order[place]
                number, total = number + 1, total + counts[place]
                fewest = min(fewest, counts[place])
                highest, lowest = max(highest, score + error), min(lowest, score - error)
        count_of[i], beyond[i] = number, other
        certain[i] = total - fewest < enough or (slack > 0.0 and lowest >= highest - slack)
        if enough:
            smallest = min(smallest, least[i] - other)


def rank(askers: Askers, field: tuple[Field, Blocks], k: int = 1) -> np.ndarray:
    least = np.empty(len(askers.rows))
    _rank(askers, *field, k, least)
    return least


def collect(
    askers: Askers, field: tuple[Field, Blocks], least: np.ndarray, k: int = 0, slack: float = 0.0
) -> tuple[AttendedIndices, Found]:
    """The candidates of each asker, increasing, and what is known of them: whether they are all, if
    the k furthest count."""
    rows, none = len(askers.rows), np.empty(0, dtype=np.int64)
    kinds = (np.int64, np.int64, bool, np.float64)
    found = Found(*(np.empty(rows, kind) for kind in kinds))
    _collect(askers, *field, least, k, slack, found, none, none)
    sizes, several = found.sizes, np.flatnonzero(found.sizes > 1)
    offsets = np.append(0, np.cumsum(sizes))
    indices = np.repeat(found.firsts, sizes)
    if len(several):
        starts = np.append(0, np.cumsum(sizes[several]))
        written = np.empty(starts[-1], dtype=np.int64)
        some = Askers(*(part[several] for part in askers))
        again = Found(*(part[several] for part in found))
        _collect(some, *field, least[several], 0, 0.0, again, starts, written)
        indices[np.repeat(sizes > 1, sizes)] = sort_rows(written, sizes[several])
    return AttendedIndices(indices, offsets), found
