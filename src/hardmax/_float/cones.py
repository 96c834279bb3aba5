"""Search in cones of directions: near directions share the few points that can be furthest along
any of them.

Say the unit vectors of some directions lie within rho of c, and w is furthest along c. Then along
each of them, y,

    <y, x - w> <= <c, x - w> + rho |x - w|,

so a point x for which that is below -margin can be dropped for all of them at once. Directions are
split into ever narrower cones (a cone tree: Ram and Gray, Maximum inner-product search using cone
trees, KDD 2012), each of which passes on to its halves only the points that it has kept. On a
sphere a cone keeps some four times as many points as it has directions, wherever the sphere is; of
a lattice, the points near a corner.

The points that a cone keeps are moved to the front of those of the cone around it: that is all the
memory it takes."""

from dataclasses import replace

import numpy as np

from hardmax._float.argmax import ArgmaxResult, sample_rows, score_all
from hardmax._float.bounds import UNIT, norms_above
from hardmax._kernels.compiling import njit, njit_parallel
from hardmax._layer.attended import AttendedIndices, sort_rows

WIDTH = 32  # points in a block, so that their scores are one vector loop
_FEW_ROWS, _FEW_POINTS = 16, 32  # are scored sooner than split, or dropped
# Cones that threads share, and no fewer directions in one than this.
_TASKS, _FEWEST_ROWS = 16, 64
# Directions that are searched first, half of them short, to learn about how small the smallest lead
# is.
_SAMPLED = 8


@njit
def _sort_into_cones(units, order, most):
    """Bring directions into an order in which they lie in cones of at most so many; returns where
    each cone starts."""
    starts = [len(order)]
    parts = [(0, len(order))]
    low, high, centre = (
        np.empty(units.shape[1]),
        np.empty(units.shape[1]),
        np.empty(units.shape[1] - 2),
    )
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
    """Find the bounding box of directions and its middle; returns its widest axis, -1 if all are
    the same."""
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
def _split(units, order, start, end, axis, middle):
    """Bring the directions that lie up to `middle` along an axis before the others; returns where
    these start."""
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
def score_block(y, places, b, count, scores):
    """The scores along y of the points in block b, and the largest of them; beyond the last point
    they are -inf."""
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
        if score_block(c, places, b, count, scores) > top:
            for lane in range(WIDTH):
                if scores[b, lane] > top:
                    top, at = scores[b, lane], b * WIDTH + lane
    return at


@njit
def _keep(c, at, places, who, count, radius, margin, behind, away):
    """Bring to the front the points that may come within the margin of the one `at` a place;
    returns how many."""
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
def _score_rows(vectors, slacks, rows, places, who, count, scores, found, smallest):
    """Score the points along some directions, list those within the slack; returns the smallest
    lead known then."""
    winners, leads, counts, starts, candidates = found
    blocks = (count + WIDTH - 1) // WIDTH
    for row in rows:
        slack = slacks[row]
        top, second, at = -np.inf, -np.inf, -1
        for b in range(blocks):
            if score_block(vectors[row], places, b, count, scores) > second:
                for lane in range(WIDTH):
                    score = scores[b, lane]
                    if score > top:
                        second, top, at = top, score, who[b * WIDTH + lane]
                    elif score > second:
                        second = score
        close = 1
        if top - second <= slack:
            floor, close, second = top - slack, 0, -np.inf
            for j in range(count):
                score = scores[j // WIDTH, j % WIDTH]
                if score >= floor:
                    if len(starts) > 0:
                        candidates[starts[row] + close] = who[j]
                    close += 1
                elif score > second:
                    second = score
        lead = top - second
        winners[row], leads[row], counts[row] = at, lead, close
        smallest = min(smallest, lead)
    return smallest


@njit_parallel(lambda starts, *_: len(starts) - 1)
def search(
    first_task,
    last_task,
    starts,
    order,
    units,
    vectors,
    slacks,
    blocks,
    points,
    reach,
    known,
    found,
):
    """Search points no longer than `reach`, but for those that lag by more than the slack and a
    `known` lead.

    `found`: for each direction the first of the furthest points, its lead over the best beyond its
    slack, how many come within the slack, and, unless empty, from where on and who they are."""
    d = vectors.shape[1]
    rounding = (4 * d + 16) * UNIT * reach
    places, who = blocks.copy(), np.arange(len(blocks) * WIDTH)
    low, high, centre, behind, away = (
        np.empty(d + 2),
        np.empty(d + 2),
        np.empty(d),
        np.empty(WIDTH),
        np.empty(WIDTH),
    )
    scores = np.empty((len(places), WIDTH))
    for task in range(first_task, last_task):
        smallest, parts = known, [(starts[task], starts[task + 1], points)]
        while len(parts) > 0:
            start, end, count = parts.pop()
            axis = _find_middle(units, start, end, low, high, centre)
            # A unit vector is off by a few roundings, and so are the middle and a distance.
            radius = (
                np.sqrt(np.sum((high[:d] - centre) ** 2)) * (1 + 2.0**-40 + 4 * d * UNIT)
                + (8 + 2 * d) * UNIT
            )
            # How far behind w, along a unit vector, a point still matters to some direction.
            margin = max(high[d], smallest * high[d + 1]) * (1 + 2.0**-40) + rounding
            at = _furthest(centre, places, count, scores)
            left = _keep(centre, at, places, who, count, radius, margin, behind, away)
            if axis >= 0 and end - start > _FEW_ROWS and left > _FEW_POINTS:
                middle = _split(units, order, start, end, axis, centre[axis])
                parts.append((start, middle, left))
                parts.append((middle, end, left))
            else:
                smallest = _score_rows(
                    vectors, slacks, order[start:end], places, who, left, scores, found, smallest
                )


def cones(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Search in cones."""
    if len(directions) == 1:  # scored sooner than points are laid out
        return score_all(directions, points, slack)
    directions = np.ascontiguousarray(directions)
    laid_out = (in_blocks(points), len(points), float(norms_above(points).max()))
    some = sample_rows(norms_above(directions), _SAMPLED)
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no
    # further.
    known, none = np.inf, np.empty(0, dtype=np.int64)
    for rows in (some, np.arange(len(directions))):
        found = _room(len(rows), none, none)
        search(*_sorted(directions[rows], slack[rows]), *laid_out, known, found)
        winners, leads, counts = found[:3]
        known = float(leads.min(initial=known))
    result, contested = ArgmaxResult.clear(winners, known, "cones"), np.flatnonzero(counts > 1)
    if not len(contested):
        return result
    counts = counts[contested]
    offsets = np.append(0, np.cumsum(counts))
    candidates = np.empty(offsets[-1], dtype=np.int64)
    some = _sorted(directions[contested], slack[contested])
    search(*some, *laid_out, 0.0, _room(len(counts), offsets, candidates))
    increasing = AttendedIndices(sort_rows(candidates, counts), offsets)
    return replace(result, contested=contested, candidates=increasing)


def _sorted(directions: np.ndarray, slack: np.ndarray) -> tuple[np.ndarray, ...]:
    """Where cones of directions start in an order; that; the unit vectors, slack and 1 scaled with
    them, so ordered."""
    lengths, order = norms_above(directions), np.arange(len(directions))
    units = np.column_stack([directions / lengths[:, None], slack / lengths, 1 / lengths])
    starts = _sort_into_cones(units, order, max(_FEWEST_ROWS, -(-len(order) // _TASKS)))
    return starts, order, units, directions, slack


def _room(rows: int, starts: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, ...]:
    return (
        np.empty(rows, dtype=np.int64),
        np.empty(rows),
        np.empty(rows, dtype=np.int64),
        starts,
        candidates,
    )


def in_blocks(points: np.ndarray) -> np.ndarray:
    """Points in order as (blocks, d, WIDTH), zeros after the last one."""
    blocks = -(-len(points) // WIDTH)
    padded = np.zeros((blocks * WIDTH, points.shape[1]))
    padded[: len(points)] = points
    return np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))
