"""Loops in numba: expansions, norms, scores, the furthest tokens, shells.

Sums of products of floats without error, as sums of floats that do not overlap (Shewchuk's expansions).

Lengths of rows.

Every score of a small contest: numpy would take longer to be called than this takes to run.

Who of a few candidates lies furthest along a direction: decided without error, for directions and points that are
exactly the floats they are.

Which points lie well inside a polytope.

Search from the outside in: points sorted by distance from the centre, so that most of them are never looked at.

A point x at distance r from the centre c scores at most <y, c> + r |y| along y. Once that is below what is already
found, no point further in can matter. A Gaussian cloud of a million points in the plane is decided by a few dozen.

Points come in blocks of WIDTH, coordinate by coordinate, so that a block's scores are one vector loop.
"""

from typing import NamedTuple

import numpy as np

from hardmax._compile import njit, njit_parallel

_SPLIT = 2.0**27 + 1


@njit(inline="always")
def _add(a, b):
    """The sum and what rounding took from it (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@njit(inline="always")
def _multiply(a, b):
    """The product and what rounding took from it (Dekker); exact unless that underflows."""
    product = a * b
    shifted = _SPLIT * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = _SPLIT * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit
def add_product(a, b, parts, count):
    """Add a b to the sum of the first `count` parts, the smallest first; gives back how many parts there are then."""
    for part in _multiply(a, b):
        carried = part
        for i in range(count):
            carried, parts[i] = _add(carried, parts[i])
        parts[count] = carried
        count += 1
    return count


@njit
def leading_part(parts, count):
    """The largest part that is not 0: it has the sign of the sum, and nearly its size. 0 if the sum is 0."""
    for i in range(count - 1, -1, -1):
        if parts[i] != 0.0:
            return parts[i]
    return 0.0


@njit
def lengths(points, least, norms):
    """The length of every row, and `least` more."""
    for i in range(len(points)):
        square = 0.0
        for axis in range(points.shape[1]):
            square += points[i, axis] * points[i, axis]
        norms[i] = np.sqrt(square) + least


@njit
def find_leads(directions, points, winners, leads):
    """For each direction the first of the furthest points, and its lead over the next one (inf: there is none)."""
    for row in range(len(directions)):
        best, second, at = -np.inf, -np.inf, 0
        for j in range(len(points)):
            score = 0.0
            for axis in range(directions.shape[1]):
                score += directions[row, axis] * points[j, axis]
            if score > best:
                second, best, at = best, score, j
            elif score > second:
                second = score
        winners[row], leads[row] = at, best - second


_UNIT = 2.0**-53


@njit
def _exact_lead(directions, row, points, a, b, parts):
    """The sign of <y, a> - <y, b>, and nearly its size."""
    count = 0
    for axis in range(directions.shape[1]):
        count = add_product(directions[row, axis], points[a, axis], parts, count)
        count = add_product(-directions[row, axis], points[b, axis], parts, count)
    return leading_part(parts, count)


@njit_parallel(lambda directions, *_: len(directions))
def mark_furthest(first, last, directions, points, candidates, offsets, furthest, leads):
    """Mark the furthest candidates along each direction, all that tie, and tell their lead over the next (inf: none).

    Direction r has the candidates from `offsets[r]` up to `offsets[r + 1]`.
    """
    d = directions.shape[1]
    parts = np.empty(4 * d)
    for row in range(first, last):
        start, best, lead = offsets[row], candidates[offsets[row]], np.inf
        if not directions[row].any():  # nobody is further than others
            furthest[start : offsets[row + 1]], leads[row] = True, lead
            continue
        furthest[start] = True
        for place in range(start + 1, offsets[row + 1]):
            other = candidates[place]
            ahead, size = 0.0, 0.0
            for axis in range(d):
                product = directions[row, axis] * (points[other, axis] - points[best, axis])
                ahead += product
                size += abs(product)
            # Each difference and each product has one rounding, each sum one more. Neighbours, too, are told apart so:
            # it is their distance that counts, not how far out they are.
            if not abs(ahead) > (d + 3) * 2.0 * _UNIT * size:
                ahead = _exact_lead(directions, row, points, other, best, parts)
            furthest[place] = ahead >= 0.0
            if ahead > 0.0:
                furthest[start:place] = False
                best, lead = other, ahead
            elif ahead < 0.0:
                lead = min(lead, -ahead)
        leads[row] = lead


@njit_parallel(lambda directions, *_: len(directions))
def mark_first_or_second(first, last, directions, columns, share, least, close):
    """Mark for each direction the columns that can be among the two furthest along it: a score is off by less than a
    share of the sizes of its products, and `least`."""
    d, count = columns.shape
    scores, off = np.empty(count), np.empty(count)
    for row in range(first, last):
        scores[:], off[:] = 0.0, 0.0
        for axis in range(d):
            along = directions[row, axis]
            for j in range(count):
                product = along * columns[axis, j]
                scores[j] += product
                off[j] += abs(product)
        top, second = -np.inf, -np.inf
        for j in range(count):
            off[j] = share * off[j] + least
            sure = scores[j] - off[j]
            if sure > second:
                top, second = max(top, sure), min(top, sure)
        for j in range(count):
            close[row, j] = scores[j] + off[j] >= second


INSIDE_ROWS = 1024  # a task for a thread


@njit_parallel(lambda places, *_: -(-len(places) // INSIDE_ROWS))
def keep_well_inside(first, last, places, centre, square, facets, depth, marked):
    """Clear the mark of every marked place that is not inside by `depth`: beyond a facet (normal, offset) moved in.

    Places nearer to the centre than the root of `square` are known to be inside.
    """
    count, dimension = places.shape
    for i in range(first * INSIDE_ROWS, min(last * INSIDE_ROWS, count)):
        if not marked[i]:
            continue
        away = 0.0
        for axis in range(dimension):
            away += (places[i, axis] - centre[axis]) ** 2
        if away <= square:
            continue
        for f in range(len(facets)):
            beyond = facets[f, dimension]
            for axis in range(dimension):
                beyond += facets[f, axis] * (places[i, axis] - centre[axis])
            if beyond > -depth:
                marked[i] = False
                break


WIDTH = 32
ROWS = 256  # a task for a thread
CLOSE_ROWS = 16  # the same, of rows that many points come close in


class Directions(NamedTuple):
    """Directions, their lengths, and how close to the best score of each counts as close."""

    vectors: np.ndarray  # (rows, d)
    lengths: np.ndarray
    slack: np.ndarray

    def rows(self, rows: np.ndarray) -> "Directions":
        """Some of them."""
        return Directions(self.vectors[rows], self.lengths[rows], self.slack[rows])


class Shells(NamedTuple):
    """So many points in blocks, from the outside in; `reach[b]` is how far from the centre points from block b on can
    be, `reach[-1]` for points that are in no block (-inf: there are none)."""

    blocks: np.ndarray  # (blocks, d, WIDTH)
    points: int
    reach: np.ndarray  # (blocks + 1,)


class Found(NamedTuple):
    """For each direction who is furthest, its score and the next lower one."""

    winners: np.ndarray
    best: np.ndarray
    second: np.ndarray

    @classmethod
    def empty(cls, rows: int) -> "Found":
        """Room for so many directions."""
        return cls(np.empty(rows, dtype=np.int64), np.empty(rows), np.empty(rows))


@njit(inline="always")
def score_block(y, block, scores):
    """The scores of a block's points along y."""
    first = y[0]
    for lane in range(WIDTH):
        scores[lane] = first * block[0, lane]
    for axis in range(1, len(y)):
        along = y[axis]
        for lane in range(WIDTH):
            scores[lane] += along * block[axis, lane]


@njit(inline="always")
def _largest_score(scores, count):
    # Four chains side by side: one chain would wait for itself.
    a = b = c = d = -np.inf
    if count == WIDTH:
        for lane in range(0, WIDTH, 4):
            a = scores[lane] if scores[lane] > a else a
            b = scores[lane + 1] if scores[lane + 1] > b else b
            c = scores[lane + 2] if scores[lane + 2] > c else c
            d = scores[lane + 3] if scores[lane + 3] > d else d
    else:
        for lane in range(count):
            a = scores[lane] if scores[lane] > a else a
    return max(max(a, b), max(c, d))


@njit(inline="always")
def best_with_block(y, blocks, b, points, scores, top, next_best, place):
    """The best score, the next lower one and the place of the best, with those of one more block."""
    score_block(y, blocks[b], scores)
    count = min(WIDTH, points - b * WIDTH)
    if _largest_score(scores, count) > next_best:
        for lane in range(count):
            score = scores[lane]
            if score > top:
                next_best, top, place = top, score, b * WIDTH + lane
            elif score > next_best:
                next_best = score
    return top, next_best, place


@njit_parallel(lambda directions, *_: -(-len(directions.vectors) // ROWS))
def find_best(first, last, directions, base, shells, found, resolved):
    """For each direction the best place in the blocks, its score and the next lower one.

    `base` are the scores of the centre; `resolved` says whether all others are out of the contest. A row whose lead is
    sure to be larger than its slack, and than that of an earlier row of the task, is left early: its `second` is then
    only a lower bound.
    """
    vectors, lengths, slack = directions.vectors, directions.lengths, directions.slack
    blocks, points, reach = shells.blocks, shells.points, shells.reach
    scores = np.empty(WIDTH)
    for task in range(first, last):
        smallest = np.inf
        for i in range(task * ROWS, min((task + 1) * ROWS, len(vectors))):
            y = vectors[i]
            top, next_best, place, decided = -np.inf, -np.inf, -1, False
            for b in range(len(blocks)):
                top, next_best, place = best_with_block(y, blocks, b, points, scores, top, next_best, place)
                bound = base[i] + lengths[i] * reach[b + 1]
                if bound < top - slack[i] and (bound <= next_best or top - bound > smallest):
                    decided = True
                    break
            decided |= reach[-1] == -np.inf  # everybody was in a block
            found.winners[i], found.best[i], found.second[i], resolved[i] = place, top, next_best, decided
            # A tie leads by nothing: it must not make the rows after it leave early.
            if decided and slack[i] < top - next_best < smallest:
                smallest = top - next_best


@njit_parallel(lambda directions, *_: -(-len(directions.vectors) // CLOSE_ROWS))
def count_close(first, last, directions, base, floor, shells, counts, outside):
    """For each direction how many points score at least `floor`, and the best score below it."""
    vectors, lengths = directions.vectors, directions.lengths
    blocks, points, reach = shells.blocks, shells.points, shells.reach
    scores = np.empty(WIDTH)
    for i in range(first * CLOSE_ROWS, min(last * CLOSE_ROWS, len(vectors))):
        close, below = 0, -np.inf
        for b in range(len(blocks)):
            score_block(vectors[i], blocks[b], scores)
            for lane in range(min(WIDTH, points - b * WIDTH)):
                if scores[lane] >= floor[i]:
                    close += 1
                elif scores[lane] > below:
                    below = scores[lane]
            if base[i] + lengths[i] * reach[b + 1] < min(floor[i], below):
                break
        counts[i], outside[i] = close, below


@njit_parallel(lambda directions, *_: -(-len(directions.vectors) // CLOSE_ROWS))
def list_close(first, last, directions, base, floor, shells, starts, places):
    """Write the places counted by `count_close`, those of direction i from `starts[i]` on."""
    vectors, lengths = directions.vectors, directions.lengths
    blocks, points, reach = shells.blocks, shells.points, shells.reach
    scores = np.empty(WIDTH)
    for i in range(first * CLOSE_ROWS, min(last * CLOSE_ROWS, len(vectors))):
        at = starts[i]
        for b in range(len(blocks)):
            score_block(vectors[i], blocks[b], scores)
            for lane in range(min(WIDTH, points - b * WIDTH)):
                if scores[lane] >= floor[i]:
                    places[at] = b * WIDTH + lane
                    at += 1
            if base[i] + lengths[i] * reach[b + 1] < floor[i]:
                break
