"""Search in cones of directions: near directions share the few points that can be furthest along any of them.

Say the unit vectors of some directions lie within rho of c, and w is furthest along c. Then along each of them, y,

    <y, x - w> <= <c, x - w> + rho |x - w|,

so a point x for which that is below -margin can be dropped for all of them at once. Directions are split into ever
narrower cones (a cone tree: Ram and Gray, Maximum inner-product search using cone trees, KDD 2012), each of which
passes on to its halves only the points that it has kept. On a sphere a cone keeps some four times as many points as it
has directions, wherever the sphere is; of a lattice, the points near a corner.

The points that a cone keeps are moved to the front of those of the cone around it: that is all the memory it takes.

Most clouds have few points far out. A point at distance r from the centre m scores at most <y, m> + r |y| along y, so
the outermost few thousand are searched first, and settle every direction along which no other point can matter.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hardmax._attended import Choices
from hardmax._compile import njit, njit_parallel
from hardmax._float.argmax import ArgmaxResult, sample_rows
from hardmax._float.bounds import UNIT, norms_above, search_rounding

WIDTH = 32  # points in a block, so that their scores are one vector loop
_FEW_ROWS, _FEW_POINTS = 8, 64  # are scored sooner than split, or dropped
# Directions that are scored in full, half of them short, to learn about how small the smallest lead is.
_SAMPLED = 8
# Cones that threads share, and no fewer directions in one than this.
_TASKS, _FEWEST_ROWS = 16, 64
# Points that are searched first, and directions that are tried on them: if they settle fewer than this share of these,
# all points are searched at once.
_OUTERMOST, _TRIED, _MOST = 4096, 256, 0.9


class Cones(NamedTuple):
    """Directions, sorted into cones: cone k has those from `starts[k]` up to `starts[k + 1]` in `order`.

    `sorted` has, in that order, their unit vectors, and what the slack and 1 come to where they are scaled so. Points
    that are not searched score less than `beyond`.
    """

    vectors: np.ndarray  # (rows, d)
    slack: np.ndarray
    beyond: np.ndarray
    order: np.ndarray
    sorted: np.ndarray  # (rows, d + 2)
    starts: np.ndarray


class Blocks(NamedTuple):
    """So many points in blocks, coordinate by coordinate, zeros after the last one, and more than the largest norm."""

    places: np.ndarray  # (blocks, d, WIDTH)
    points: int
    reach: float


class Found(NamedTuple):
    """For each direction the first of the furthest points, its score, its lead over the best beyond its slack, and how
    many come within the slack; from `starts[i]` on, who they are, where there is room for it."""

    winners: np.ndarray
    best: np.ndarray
    leads: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    candidates: np.ndarray


@njit
def _sort_into_cones(units, order, most):
    """Bring directions into an order in which they lie in cones of at most so many; returns where each cone starts."""
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
    """Find the smallest and largest of all columns, and the middle of them; returns the axis along which directions
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
    return np.sqrt(square) * (1 + 2.0**-40 + 4 * len(centre) * UNIT) + 8 * UNIT


@njit
def _split(units, order, start, end, axis, middle):
    """Bring the directions that lie up to `middle` along an axis before the others; returns where these start."""
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


@njit(inline="always")
def _score_block(y, places, b, count, scores):
    """The scores along y of the points in block b, and the largest of them; beyond the last point they are -inf."""
    along = y[0]
    for lane in range(WIDTH):
        scores[b, lane] = along * places[b, 0, lane]
    for axis in range(1, len(y)):
        along = y[axis]
        for lane in range(WIDTH):
            scores[b, lane] += along * places[b, axis, lane]
    for lane in range(count - b * WIDTH, WIDTH):
        scores[b, lane] = -np.inf
    # Four chains side by side: one chain would wait for itself.
    e = f = g = h = -np.inf
    for lane in range(0, WIDTH, 4):
        e = scores[b, lane] if scores[b, lane] > e else e
        f = scores[b, lane + 1] if scores[b, lane + 1] > f else f
        g = scores[b, lane + 2] if scores[b, lane + 2] > g else g
        h = scores[b, lane + 3] if scores[b, lane + 3] > h else h
    return max(max(e, f), max(g, h))


@njit
def _furthest(c, places, count, scores):
    """The first of the furthest points along c."""
    top, at = -np.inf, 0
    for b in range((count + WIDTH - 1) // WIDTH):
        if _score_block(c, places, b, count, scores) > top:
            for lane in range(WIDTH):
                if scores[b, lane] > top:
                    top, at = scores[b, lane], b * WIDTH + lane
    return at


@njit
def _keep(c, at, places, who, count, radius, margin, behind, away):
    """Bring to the front those of the points that may come within the margin of the one `at` a place, along some
    direction of the cone about c; returns how many they are."""
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
def _score_rows(cones, start, end, places, who, count, scores, found, smallest):
    """Score the points along some directions, and list those within the slack where there is room for it; returns the
    smallest lead that is known then."""
    blocks = (count + WIDTH - 1) // WIDTH
    for i in range(start, end):
        row = cones.order[i]
        slack = cones.slack[row]
        top, second, at = -np.inf, -np.inf, -1
        for b in range(blocks):
            if _score_block(cones.vectors[row], places, b, count, scores) > second:
                for lane in range(WIDTH):
                    score = scores[b, lane]
                    if score > top:
                        second, top, at = top, score, who[b * WIDTH + lane]
                    elif score > second:
                        second = score
                        if score == top:
                            at = min(at, who[b * WIDTH + lane])
        close = 1
        if top - second <= slack:
            floor, close, second = top - slack, 0, -np.inf
            for j in range(count):
                score = scores[j // WIDTH, j % WIDTH]
                if score >= floor:
                    if len(found.starts) > 0:
                        found.candidates[found.starts[row] + close] = who[j]
                    close += 1
                elif score > second:
                    second = score
        lead = top - second
        found.winners[row], found.best[row], found.leads[row], found.counts[row] = at, top, lead, close
        # Only a lead that is one among all points may make other directions look less far.
        if lead < smallest and second >= cones.beyond[row]:
            smallest = lead
    return smallest


@njit_parallel(lambda cones, *_: len(cones.starts) - 1)
def search(first_task, last_task, cones, blocks, known, found):
    """For each direction the best point and who comes close. Points that lag by more than the slack and `known`, a
    lead that some direction has, are not looked at."""
    units, order, points, d = cones.sorted, cones.order, blocks.points, cones.vectors.shape[1]
    rounding = (4 * d + 16) * UNIT * blocks.reach
    places, who = blocks.places.copy(), np.arange(len(blocks.places) * WIDTH)
    low, high, centre, behind, away = np.empty(d + 2), np.empty(d + 2), np.empty(d), np.empty(WIDTH), np.empty(WIDTH)
    scores = np.empty((len(places), WIDTH))
    for task in range(first_task, last_task):
        smallest, parts = known, [(cones.starts[task], cones.starts[task + 1], points)]
        while len(parts) > 0:
            start, end, count = parts.pop()
            axis = _find_middle(units, start, end, low, high, centre)
            radius = _radius(units, start, end, centre)
            # How far behind w, along a unit vector, a point still matters to some direction.
            margin = max(high[d], smallest * high[d + 1]) * (1 + 2.0**-40) + rounding
            at = _furthest(centre, places, count, scores)
            left = _keep(centre, at, places, who, count, radius, margin, behind, away)
            if axis >= 0 and end - start > _FEW_ROWS and left > _FEW_POINTS:
                middle = _split(units, order, start, end, axis, centre[axis])
                parts.append((start, middle, left))
                parts.append((middle, end, left))
            else:
                smallest = _score_rows(cones, start, end, places, who, left, scores, found, smallest)


def cones(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """Search the outermost points, then, for directions that they do not settle, all. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    if len(points) > _OUTERMOST:
        some, beyond = _outermost(directions, points)
        tried = np.arange(0, len(directions), max(1, len(directions) // _TRIED))
        _, left = _search(directions[tried], points[some], slack[tried], beyond[tried])
        if len(left) <= (1 - _MOST) * len(tried):
            result, left = _search(directions, points[some], slack, beyond)
            result = result.among(some, np.inf)
            if not len(left):
                return result
            rest, _ = _search(directions[left], points, slack[left], np.full(len(left), -np.inf), result.gap)
            return result.with_rows(left, rest)
    return _search(directions, points, slack, np.full(len(directions), -np.inf))[0]


def _outermost(directions: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points furthest from the centre, and along each direction more than any other can score."""
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    order = np.argpartition(radii, len(points) - _OUTERMOST)
    rounding = search_rounding(points.shape[1])
    reach = radii[order[:-_OUTERMOST]].max() * (1 + rounding) + rounding * np.abs(points).max()
    return np.sort(order[-_OUTERMOST:]), directions @ centre + norms_above(directions) * reach


def _search(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, beyond: np.ndarray, known: float | None = None
) -> tuple[ArgmaxResult, np.ndarray]:
    """The result among these points, and the directions that others, which score less than `beyond`, might change.

    Nobody looks further than a lead that is known. One of a sample is, if none is given.
    """
    if known is None:
        some = sample_rows(norms_above(directions), _SAMPLED)
        known = _search(directions[some], points, slack[some], beyond[some], np.inf)[0].gap
    blocks = Blocks(in_blocks(points), len(points), float(norms_above(points).max()))
    found = _room(len(directions))
    search(_sorted(directions, slack, beyond), blocks, known, found)
    ahead = found.best - beyond
    settled = (ahead > slack) | (beyond == -np.inf)
    # Where the next best is among these points, the lead is one among all points. No lead is smaller than the smallest
    # of those, but where points that are not searched may come closer.
    gap = float(found.leads[settled & (found.leads <= ahead)].min(initial=known))
    settled &= ahead >= gap
    result = ArgmaxResult.clear(found.winners, gap, "cones")
    contested = np.flatnonzero(settled & (found.counts > 1))
    if len(contested):
        counts = found.counts[contested]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        close = _room(len(counts))._replace(starts=offsets, candidates=np.empty(offsets[-1], dtype=np.int64))
        search(_sorted(directions[contested], slack[contested], beyond[contested]), blocks, 0.0, close)
        increasing = np.lexsort((close.candidates, np.repeat(contested, counts)))
        result = replace(result, contested=contested, candidates=Choices(close.candidates[increasing], offsets))
    return result, np.flatnonzero(~settled)


def _sorted(directions: np.ndarray, slack: np.ndarray, beyond: np.ndarray) -> Cones:
    lengths, order = norms_above(directions), np.arange(len(directions))
    units = np.column_stack([directions / lengths[:, None], slack / lengths, 1 / lengths])
    starts = _sort_into_cones(units, order, max(_FEWEST_ROWS, -(-len(order) // _TASKS)))
    return Cones(directions, slack, beyond, order, units, starts)


def _room(rows: int) -> Found:
    winners, counts = np.empty((2, rows), dtype=np.int64)
    best, leads = np.empty((2, rows))
    return Found(winners, best, leads, counts, winners[:0], winners[:0])


def in_blocks(points: np.ndarray) -> np.ndarray:
    """Points in order as (blocks, d, WIDTH), zeros after the last one."""
    blocks = -(-len(points) // WIDTH)
    padded = np.zeros((blocks * WIDTH, points.shape[1]))
    padded[: len(points)] = points
    return np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))
