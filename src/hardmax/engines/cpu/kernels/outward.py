"""Search from the outside in: points sorted by distance from the centre, so that most of them are never looked at.

A point x at distance r from the centre c scores at most <y, c> + r |y| along y. Once that is below what is already
found, no point further in can matter. A Gaussian cloud of a million points in the plane is decided by a few dozen.

Points come in blocks of WIDTH, coordinate by coordinate, so that a block's scores are one vector loop.
"""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit, spread

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


@spread(lambda directions, *_: -(-len(directions.vectors) // ROWS))
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


@spread(lambda directions, *_: -(-len(directions.vectors) // CLOSE_ROWS))
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


@spread(lambda directions, *_: -(-len(directions.vectors) // CLOSE_ROWS))
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
