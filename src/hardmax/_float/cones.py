"""Search in cones of directions.

Search in cones of directions: near directions share the few points that can be furthest along any of them.

Say the unit vectors of some directions lie within rho of c, and w is furthest along c. Then along each of them, y,

    <y, x - w> <= <c, x - w> + rho |x - w|,

so a point x for which that is below -margin can be dropped for all of them at once. Directions are split into ever
narrower cones (a cone tree: Ram and Gray, Maximum inner-product search using cone trees, KDD 2012), each of which
passes on to its halves only the points that it has kept. On a sphere a cone keeps some four times as many points as it
has directions, wherever the sphere is; of a lattice, the points near a corner.

The points that a cone keeps are brought to the front of those of the cone around it: that is all the memory it takes.

Search in cones of directions, which share the few points that can be furthest along them (see `kernels.cones`).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hardmax._attended import Choices
from hardmax._compile import njit, njit_parallel
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import norms_above
from hardmax._float.kernels import WIDTH, Found

BEST, COUNT, LIST = 0, 1, 2
_FEW_ROWS, _FEW_POINTS = 8, 64  # are scored sooner than split, or dropped
_UNIT = 2.0**-53


class Cones(NamedTuple):
    """Directions, sorted into cones: cone k has those that stand from `starts[k]` up to `starts[k + 1]` in `order`.

    `sorted` has, in that order, their unit vectors, and what the slack and 1 come to where they are scaled so.
    """

    vectors: np.ndarray  # (rows, d)
    slack: np.ndarray
    order: np.ndarray
    sorted: np.ndarray  # (rows, d + 2)
    starts: np.ndarray


class Blocks(NamedTuple):
    """So many points in blocks, coordinate by coordinate, zeros after the last one, and more than the largest norm."""

    places: np.ndarray  # (blocks, d, WIDTH)
    points: int
    reach: float


class Close(NamedTuple):
    """For each direction how many points score at least `floor`, and the best score below it; from `starts[i]` on, who
    they are."""

    floor: np.ndarray
    counts: np.ndarray
    outside: np.ndarray
    starts: np.ndarray
    places: np.ndarray


@njit
def sort_into_cones(units, order, most):
    """Bring directions into an order in which they lie in cones of at most so many; tells where each cone starts."""
    starts = [len(order)]
    parts = [(0, len(order))]
    low, high, centre = np.empty(units.shape[1]), np.empty(units.shape[1]), np.empty(units.shape[1] - 2)
    while len(parts) > 0:
        start, end = parts.pop()
        axis = _find_middle(units, start, end, low, high, centre)
        if end - start <= most or axis < 0:
            starts.append(start)
            continue
        middle = _split(units, order, start, end, axis, centre[axis])
        parts.append((start, middle))
        parts.append((middle, end))
    return np.array(starts[::-1])


@njit
def _find_middle(units, start, end, low, high, centre):
    """The smallest and largest of all columns, and the middle of them; gives back the axis along which directions
    differ most (-1: they do not)."""
    low[:], high[:] = np.inf, -np.inf
    for i in range(start, end):
        for k in range(len(low)):
            value = units[i, k]
            low[k] = value if value < low[k] else low[k]
            high[k] = value if value > high[k] else high[k]
    widest, axis = 0.0, -1
    for k in range(len(centre)):
        centre[k] = low[k] + 0.5 * (high[k] - low[k])
        if high[k] - low[k] > widest and centre[k] < high[k]:
            widest, axis = high[k] - low[k], k
    return axis


@njit
def _radius(units, start, end, centre):
    """More than the largest distance of directions from the middle."""
    square = 0.0
    for i in range(start, end):
        distance = 0.0
        for k in range(len(centre)):
            distance += (units[i, k] - centre[k]) ** 2
        square = distance if distance > square else square
    # A unit vector is off by a few roundings, and so is a distance.
    return np.sqrt(square) * (1 + 2.0**-40 + 4 * len(centre) * _UNIT) + 8 * _UNIT


@njit
def _split(units, order, start, end, axis, middle):
    """Bring the directions that lie up to `middle` along an axis before the others; tells where these start."""
    low, high = start, end - 1
    while low <= high:
        if units[low, axis] <= middle:
            low += 1
        else:
            order[low], order[high] = order[high], order[low]
            for k in range(units.shape[1]):
                units[low, k], units[high, k] = units[high, k], units[low, k]
            high -= 1
    return low


@njit
def _furthest(c, places, count, scores):
    """The first of the furthest points along c."""
    top, at, d = -np.inf, 0, len(c)
    for b in range((count + WIDTH - 1) // WIDTH):
        for lane in range(WIDTH):
            scores[lane] = c[0] * places[b, 0, lane]
        for axis in range(1, d):
            along = c[axis]
            for lane in range(WIDTH):
                scores[lane] += along * places[b, axis, lane]
        for lane in range(count - b * WIDTH, WIDTH):
            scores[lane] = -np.inf
        # Four chains side by side: one chain would wait for itself.
        e = f = g = h = -np.inf
        for lane in range(0, WIDTH, 4):
            e = scores[lane] if scores[lane] > e else e
            f = scores[lane + 1] if scores[lane + 1] > f else f
            g = scores[lane + 2] if scores[lane + 2] > g else g
            h = scores[lane + 3] if scores[lane + 3] > h else h
        if max(max(e, f), max(g, h)) > top:
            for lane in range(WIDTH):
                if scores[lane] > top:
                    top, at = scores[lane], b * WIDTH + lane
    return at


@njit
def _keep(c, at, places, who, count, radius, margin, behind, away):
    """Bring to the front those of the points that may come within the margin of the one `at` a place, along some
    direction of the cone about c; tells how many they are."""
    d, left, square = len(c), 0, radius * radius
    w = places[at // WIDTH, :, at % WIDTH].copy()
    for b in range((count + WIDTH - 1) // WIDTH):
        for lane in range(WIDTH):
            behind[lane] = -margin
            away[lane] = 0.0
        for axis in range(d):
            along, there = c[axis], w[axis]
            for lane in range(WIDTH):
                way = there - places[b, axis, lane]
                behind[lane] += along * way
                away[lane] += way * way
        for lane in range(WIDTH):
            lag = max(behind[lane], 0.0)
            away[lane] = square * away[lane] - lag * lag
        for lane in range(min(WIDTH, count - b * WIDTH)):
            if away[lane] >= 0.0:
                j = b * WIDTH + lane
                if left < j:
                    front, place = left // WIDTH, left % WIDTH
                    for axis in range(d):
                        here = places[b, axis, lane]
                        places[b, axis, lane] = places[front, axis, place]
                        places[front, axis, place] = here
                    who[left], who[j] = who[j], who[left]
                left += 1
    return left


@njit
def _find_best(cones, start, end, places, who, count, scores, found, smallest):
    """Of each of some directions the furthest of the points, of several the one with the smallest number, and the next
    score; gives back the smallest lead that is known then."""
    vectors, order, slack = cones.vectors, cones.order, cones.slack
    winners, best, seconds = found.winners, found.best, found.second
    d = vectors.shape[1]
    for i in range(start, end):
        row = order[i]
        top, second, at = -np.inf, -np.inf, -1
        for b in range((count + WIDTH - 1) // WIDTH):
            along = vectors[row, 0]
            for lane in range(WIDTH):
                scores[lane] = along * places[b, 0, lane]
            for axis in range(1, d):
                along = vectors[row, axis]
                for lane in range(WIDTH):
                    scores[lane] += along * places[b, axis, lane]
            for lane in range(count - b * WIDTH, WIDTH):
                scores[lane] = -np.inf
            e = f = g = h = -np.inf
            for lane in range(0, WIDTH, 4):
                e = scores[lane] if scores[lane] > e else e
                f = scores[lane + 1] if scores[lane + 1] > f else f
                g = scores[lane + 2] if scores[lane + 2] > g else g
                h = scores[lane + 3] if scores[lane + 3] > h else h
            if max(max(e, f), max(g, h)) > second:
                for lane in range(WIDTH):
                    score = scores[lane]
                    if score > top:
                        second, top, at = top, score, who[b * WIDTH + lane]
                    elif score > second:
                        second = score
                        if score == top:
                            at = min(at, who[b * WIDTH + lane])
        winners[row], best[row], seconds[row] = at, top, second
        # A tie leads by nothing: it must not make other directions leave early.
        if slack[row] < top - second < smallest:
            smallest = top - second
    return smallest


@njit
def _in_order(who, count):
    """Where the smallest of some numbers stands, the next, … (Shell's sort: numba takes seconds to compile its own)."""
    order, step = np.arange(count), count // 2
    while step > 0:
        for i in range(step, count):
            j, held = i, order[i]
            while j >= step and who[order[j - step]] > who[held]:
                order[j] = order[j - step]
                j -= step
            order[j] = held
        step //= 2
    return order


@njit
def _find_close(cones, start, end, places, who, count, close, listing):
    """Count the points that score at least the floor of each of some directions, or list them, in increasing order."""
    vectors, order, floors, starts, lists = cones.vectors, cones.order, close.floor, close.starts, close.places
    blocks, d = (count + WIDTH - 1) // WIDTH, vectors.shape[1]
    scores, increasing = np.empty((blocks, WIDTH)), _in_order(who, count if listing else 0)
    for i in range(start, end):
        row = order[i]
        for b in range(blocks):
            along = vectors[row, 0]
            for lane in range(WIDTH):
                scores[b, lane] = along * places[b, 0, lane]
            for axis in range(1, d):
                along = vectors[row, axis]
                for lane in range(WIDTH):
                    scores[b, lane] += along * places[b, axis, lane]
        floor, number, below = floors[row], 0, -np.inf
        first = starts[row] if listing else 0
        for k in range(count):
            j = increasing[k] if listing else k
            score = scores[j // WIDTH, j % WIDTH]
            if score >= floor:
                if listing:
                    lists[first + number] = who[j]
                number += 1
            elif score > below:
                below = score
        if not listing:
            close.counts[row], close.outside[row] = number, below


@njit_parallel(lambda what, cones, *_: len(cones.starts) - 1)
def search(first_task, last_task, what, cones, blocks, known, found, close):
    """For each direction the best point, its score and the next lower one (BEST), or those close to it (COUNT, LIST).

    Whoever lags by more than the slack and `known`, a lead that somebody has, is not looked at.
    """
    units, order, points, d = cones.sorted, cones.order, blocks.points, cones.vectors.shape[1]
    rounding = (4 * d + 16) * _UNIT * blocks.reach
    places, who = blocks.places.copy(), np.arange(len(blocks.places) * WIDTH)
    low, high, centre, behind, away = np.empty(d + 2), np.empty(d + 2), np.empty(d), np.empty(WIDTH), np.empty(WIDTH)
    for task in range(first_task, last_task):
        smallest, parts = known, [(cones.starts[task], cones.starts[task + 1], points)]
        while len(parts) > 0:
            start, end, count = parts.pop()
            axis = _find_middle(units, start, end, low, high, centre)
            radius = _radius(units, start, end, centre)
            # How far behind w, along a unit vector, a point still matters to some direction.
            margin = max(high[d], smallest * high[d + 1]) * (1 + 2.0**-40) + rounding
            at = _furthest(centre, places, count, behind)
            left = _keep(centre, at, places, who, count, radius, margin, behind, away)
            if axis >= 0 and end - start > _FEW_ROWS and left > _FEW_POINTS:
                middle = _split(units, order, start, end, axis, centre[axis])
                parts.append((start, middle, left))
                parts.append((middle, end, left))
            elif what == BEST:
                smallest = _find_best(cones, start, end, places, who, left, behind, found, smallest)
            else:
                _find_close(cones, start, end, places, who, left, close, what == LIST)


# Directions that are scored in full, half of them short, to learn about how small the smallest lead is.
_SAMPLED = 8
# Cones that threads share, and no fewer directions in one than this.
_TASKS, _FEWEST_ROWS = 16, 64


def cones(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """The contest, cone by cone. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    blocks = Blocks(in_blocks(points), len(points), float(norms_above(points).max()))
    some = sample_of(norms_above(directions))
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no further.
    known = _hold(directions[some], blocks, slack[some], np.inf).gap
    return _hold(directions, blocks, slack, known)


def _hold(directions: np.ndarray, blocks: Blocks, slack: np.ndarray, known: float) -> ArgmaxResult:
    """The contest, if nobody need look for a lead beyond one that is known."""
    found = Found.empty(len(directions))
    search(BEST, _cones(directions, slack), blocks, known, found, _NOBODY)
    leads = found.best - found.second
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    contest = ArgmaxResult.clear(found.winners, smallest, "cones")
    if not len(contested):
        return contest
    best, some = found.best[contested], _cones(directions[contested], slack[contested])
    counts, outside = np.empty(len(best), dtype=np.int64), np.empty(len(best))
    close = Close(best - some.slack, counts, outside, counts[:0], counts[:0])
    search(COUNT, some, blocks, smallest, found, close)
    starts = np.concatenate([[0], np.cumsum(counts)])
    close = close._replace(starts=starts, places=np.empty(starts[-1], dtype=np.int64))
    search(LIST, some, blocks, 0.0, found, close)
    gap = min(smallest, float((best - outside).min()))
    return replace(contest, contested=contested, candidates=Choices(close.places, starts), gap=gap)


_NONE = np.empty(0, dtype=np.int64)
_NOBODY = Close(np.empty(0), _NONE, np.empty(0), _NONE, _NONE)


def sample_of(lengths: np.ndarray) -> np.ndarray:
    """Some of the rows: the shortest, which tend to have the smallest leads, and others here and there."""
    shortest = np.argpartition(lengths, min(_SAMPLED, len(lengths) - 1))[:_SAMPLED]
    return np.union1d(shortest, np.arange(0, len(lengths), -(-len(lengths) // _SAMPLED)))


def _cones(directions: np.ndarray, slack: np.ndarray) -> Cones:
    lengths, order = norms_above(directions), np.arange(len(directions))
    units = np.column_stack([directions / lengths[:, None], slack / lengths, 1 / lengths])
    starts = sort_into_cones(units, order, max(_FEWEST_ROWS, -(-len(order) // _TASKS)))
    return Cones(directions, slack, order, units, starts)


def in_blocks(points: np.ndarray) -> np.ndarray:
    """Points in order as (blocks, d, WIDTH), zeros after the last one: a block's scores are one vector loop."""
    blocks = -(-len(points) // WIDTH)
    padded = np.zeros((blocks * WIDTH, points.shape[1]))
    padded[: len(points)] = points
    return np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))
