"""Search among balls: points near one another in blocks, and blocks in groups, each in a ball about its centre.

A point in a ball about c of radius r scores at most <y, c> + r |y| along y. What cannot reach what is already found,
nor be the runner-up of a smaller lead than any before, is passed over. Wherever points lie, on a sphere too, few
blocks are looked at.
"""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.cpu.kernels.outward import CLOSE_ROWS, ROWS, WIDTH, best_with_block, score_block

GROUP = 16  # blocks


class Enclosing(NamedTuple):
    """The centres and radii of balls."""

    centres: np.ndarray  # (d, balls)
    radii: np.ndarray


class InBalls(NamedTuple):
    """So many points in blocks; a narrow ball is around each block, a wide one around each GROUP of them."""

    blocks: np.ndarray  # (blocks, d, WIDTH)
    points: int
    narrow: Enclosing
    wide: Enclosing


@njit
def sort_by_place(points, order):
    """Order points into blocks of WIDTH near one another: halved at a median of the widest axis, again and again."""
    parts = [(0, len(order))]
    while len(parts) > 0:
        start, end = parts.pop()
        blocks = (end - start + WIDTH - 1) // WIDTH
        if blocks < 2:
            continue
        widest, axis = -1.0, 0
        for k in range(points.shape[1]):
            low, high = np.inf, -np.inf
            for place in range(start, end):
                low, high = min(low, points[order[place], k]), max(high, points[order[place], k])
            if high - low > widest:
                widest, axis = high - low, k
        middle = start + blocks // 2 * WIDTH
        _part(points, axis, order, start, end - 1, middle)
        parts.append((start, middle))
        parts.append((middle, end))


@njit
def _part(points, axis, order, low, high, middle):
    """No point before the place `middle` lies further along the axis than one from there on (Hoare's selection)."""
    while low < high:
        pivot = points[order[(low + high) // 2], axis]
        i, j = low, high
        while i <= j:
            while points[order[i], axis] < pivot:
                i += 1
            while points[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit
def enclose(places, size, balls):
    """The centre of every `size` places, column by column, and how far from it the furthest of them is."""
    centres, radii = balls.centres, balls.radii
    count, dimension = places.shape
    for ball in range(len(radii)):
        start, end = ball * size, min((ball + 1) * size, count)
        for axis in range(dimension):
            centres[axis, ball] = places[start:end, axis].mean()
        furthest = 0.0
        for place in range(start, end):
            square = 0.0
            for axis in range(dimension):
                square += (places[place, axis] - centres[axis, ball]) ** 2
            furthest = max(furthest, square)
        radii[ball] = np.sqrt(furthest)


@njit(inline="always")
def _find_bounds(y, length, balls, first, last, bounds):
    """What the points of the balls `first` to `last` can score at most along y."""
    centres, radii = balls.centres, balls.radii
    for ball in range(first, last):
        bounds[ball - first] = length * radii[ball] + y[0] * centres[0, ball]
    for axis in range(1, len(y)):
        along = y[axis]
        for ball in range(first, last):
            bounds[ball - first] += along * centres[axis, ball]


@spread(lambda directions, *_: -(-len(directions.vectors) // ROWS))
def find_best_in_balls(first_task, last_task, directions, balls, found):
    """For each direction the best place in the blocks, its score and the next lower one; as `outward.find_best`."""
    vectors, lengths, slack = directions.vectors, directions.lengths, directions.slack
    blocks, points, narrow, wide = balls.blocks, balls.points, balls.narrow, balls.wide
    groups = len(wide.radii)
    scores, bounds, inner = np.empty(WIDTH), np.empty(groups), np.empty(GROUP)
    for task in range(first_task, last_task):
        smallest = np.inf
        for i in range(task * ROWS, min((task + 1) * ROWS, len(vectors))):
            y, length = vectors[i], lengths[i]
            _find_bounds(y, length, wide, 0, groups, bounds)
            most = np.argmax(bounds)
            top, next_best, place = -np.inf, -np.inf, -1
            for turn in range(groups + 1):
                g = most if turn == 0 else turn - 1
                reach = bounds[g]
                if turn > 0 and g == most:
                    continue
                if reach < top - slack[i] and (reach <= next_best or top - reach > smallest):
                    continue
                first, last = g * GROUP, min((g + 1) * GROUP, len(blocks))
                _find_bounds(y, length, narrow, first, last, inner)
                for b in range(first, last):
                    reach = inner[b - first]
                    if reach < top - slack[i] and (reach <= next_best or top - reach > smallest):
                        continue
                    top, next_best, place = best_with_block(y, blocks, b, points, scores, top, next_best, place)
            found.winners[i], found.best[i], found.second[i] = place, top, next_best
            if slack[i] < top - next_best < smallest:
                smallest = top - next_best


@spread(lambda directions, *_: -(-len(directions.vectors) // CLOSE_ROWS))
def count_close_in_balls(first, last, directions, floor, balls, counts, outside):
    """For each direction how many points score at least `floor`, and the best score below it."""
    vectors, lengths = directions.vectors, directions.lengths
    blocks, points, narrow = balls.blocks, balls.points, balls.narrow
    scores, bounds = np.empty(WIDTH), np.empty(len(blocks))
    for i in range(first * CLOSE_ROWS, min(last * CLOSE_ROWS, len(vectors))):
        close, below = 0, -np.inf
        _find_bounds(vectors[i], lengths[i], narrow, 0, len(blocks), bounds)
        for b in range(len(blocks)):
            if bounds[b] < floor[i] and bounds[b] <= below:
                continue
            score_block(vectors[i], blocks[b], scores)
            for lane in range(min(WIDTH, points - b * WIDTH)):
                if scores[lane] >= floor[i]:
                    close += 1
                elif scores[lane] > below:
                    below = scores[lane]
        counts[i], outside[i] = close, below


@spread(lambda directions, *_: -(-len(directions.vectors) // CLOSE_ROWS))
def list_close_in_balls(first, last, directions, floor, balls, starts, places):
    """Write the places counted by `count_close_in_balls`, those of direction i from `starts[i]` on."""
    vectors, lengths = directions.vectors, directions.lengths
    blocks, points, narrow = balls.blocks, balls.points, balls.narrow
    scores, bounds = np.empty(WIDTH), np.empty(len(blocks))
    for i in range(first * CLOSE_ROWS, min(last * CLOSE_ROWS, len(vectors))):
        at = starts[i]
        _find_bounds(vectors[i], lengths[i], narrow, 0, len(blocks), bounds)
        for b in range(len(blocks)):
            if bounds[b] < floor[i]:
                continue
            score_block(vectors[i], blocks[b], scores)
            for lane in range(min(WIDTH, points - b * WIDTH)):
                if scores[lane] >= floor[i]:
                    places[at] = b * WIDTH + lane
                    at += 1
