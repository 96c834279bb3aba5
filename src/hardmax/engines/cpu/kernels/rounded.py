"""Search through bytes: points and directions rounded to bytes, whose products name the few points worth a closer look.

Tiles of TILE points, from the outside in, share a scale. A task is a few dozen directions, so that a tile is read from
memory once for all of them. What the bounds mean is told in `hardmax.engines.cpu.searches.rounded`.
"""

# The intrinsic is called without the context that it is written with.
# pyright: reportCallIssue=false

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.cpu.kernels.tiles import GROUP, ROWS, STEP, largest_products

TILE = 128  # points
TASK = 32  # directions
_TINY = 2.0**-500  # coordinates whose squares may underflow count as zero, and as error
_CHECKED = 4  # tiles after which it is asked whether the rest can matter


class RoundedPoints(NamedTuple):
    """Points as they are and as bytes, in tiles from the outside in; of each tile its scale, and how long points and
    their errors can be."""

    points: np.ndarray  # (n, d)
    order: np.ndarray  # the points in tiles; copies of the last one fill the last tile
    packed: np.ndarray  # (tiles, groups, steps, GROUP, STEP) int8
    scales: np.ndarray
    reaches: np.ndarray  # of points from the centre
    errors: np.ndarray


class RoundedDirections(NamedTuple):
    """Directions as they are and as bytes, each with a scale of its own; how long each is, and its error."""

    vectors: np.ndarray  # (rows, d)
    order: np.ndarray  # the rows, as they stand in what follows
    packed: np.ndarray  # (blocks, steps, ROWS, STEP) int8
    scales: np.ndarray
    lengths: np.ndarray
    errors: np.ndarray


@njit(inline="always")
def _largest_byte(dimension):
    """The largest number to round to: so many products of two of them still fit into 32 bits."""
    return min(127.0, np.floor(np.sqrt((2.0**31 - 1.0) / dimension)))


@spread(lambda tiles, *_: len(tiles.packed))
def round_points(first, last, tiles, centre):
    """Round the points to bytes, tile by tile, the centre taken out."""
    points, packed = tiles.points, tiles.packed
    d = points.shape[1]
    for tile in range(first, last):
        some = tiles.order[tile * TILE : (tile + 1) * TILE]
        largest = 0.0
        for j in some:
            for axis in range(d):
                largest = max(largest, abs(points[j, axis] - centre[axis]))
        unit = largest / _largest_byte(d) if largest > _TINY else 1.0
        reach, error = 0.0, 0.0
        for place in range(len(some)):
            length, missed = 0.0, 0.0
            for axis in range(d):
                value = points[some[place], axis] - centre[axis]
                whole = np.rint(value / unit)
                packed[tile, place // GROUP, axis // STEP, place % GROUP, axis % STEP] = np.int8(whole)
                length += value * value
                missed += (value - whole * unit) * (value - whole * unit)
            reach, error = max(reach, length), max(error, missed)
        tiles.scales[tile], tiles.reaches[tile], tiles.errors[tile] = unit, np.sqrt(reach), np.sqrt(error)


@spread(lambda directions: -(-len(directions.order) // TASK))
def round_directions(first, last, directions):
    """Round the directions to bytes."""
    vectors, order, packed = directions.vectors, directions.order, directions.packed
    scales, lengths, errors = directions.scales, directions.lengths, directions.errors
    d = vectors.shape[1]
    for place in range(first * TASK, min(last * TASK, len(order))):
        i = order[place]
        largest = 0.0
        for axis in range(d):
            largest = max(largest, abs(vectors[i, axis]))
        unit = largest / _largest_byte(d) if largest > _TINY else 1.0
        length, missed = 0.0, 0.0
        for axis in range(d):
            value = vectors[i, axis]
            whole = np.rint(value / unit)
            packed[place // ROWS, axis // STEP, place % ROWS, axis % STEP] = np.int8(whole)
            length += value * value
            missed += (value - whole * unit) * (value - whole * unit)
        scales[place], lengths[place], errors[place] = unit, np.sqrt(length), np.sqrt(missed)


@njit(inline="always")
def _off(length, error, reach, error_of_points):
    """How far a product of bytes can be from the score that it stands for."""
    return error * reach + (length + error) * error_of_points


@njit(inline="always")
def _product(y, x):
    # Four sums side by side: one would wait for itself. The bounds hold for any order of summation.
    a = b = c = e = 0.0
    whole = len(y) // 4 * 4
    for axis in range(0, whole, 4):
        a += y[axis] * x[axis]
        b += y[axis + 1] * x[axis + 1]
        c += y[axis + 2] * x[axis + 2]
        e += y[axis + 3] * x[axis + 3]
    for axis in range(whole, len(y)):
        a += y[axis] * x[axis]
    return (a + b) + (c + e)


@njit
def _read_tiles(first, last, directions, tiles, floors, margins, tops):
    """Largest products of the directions from `first` up to `last` with tile after tile, until no further one matters.

    `tops` gets them, `floors` rises to what each direction is sure to reach; gives back how many tiles were read.
    """
    rows, units, lengths, lost = directions.packed, directions.scales, directions.lengths, directions.errors
    packed, scales, reaches, errors = tiles.packed, tiles.scales, tiles.reaches, tiles.errors
    steps, groups = rows.shape[1], packed.shape[1]
    for tile in range(len(scales)):
        if tile % _CHECKED == 0:
            matters = False
            for i in range(first, last):
                matters |= lengths[i] * reaches[tile] >= floors[i] - margins[i]
            if not matters:
                return tile
        for block in range((last - first + ROWS - 1) // ROWS):
            top = tops[tile, block]
            place = (first // ROWS + block) * steps
            largest_products(rows, place, packed, tile * groups * steps * 4, steps, groups, top)
            for row in range(ROWS):
                i = first + block * ROWS + row
                if i < last:
                    off = _off(lengths[i], lost[i], reaches[tile], errors[tile])
                    floors[i] = max(floors[i], units[i] * scales[tile] * top[row] - off)
    return len(scales)


@njit
def _score_tile(i, tile, directions, tiles, floor, top, found):
    """Score in float64 the groups of a tile that can reach the floor; `found` is (best, next); the winner comes back,
    or -1 where nobody beats the best."""
    rows, packed, points, order = directions.packed, tiles.packed, tiles.points, tiles.order
    steps, groups, count = rows.shape[1], packed.shape[1], len(points)
    unit = directions.scales[i] * tiles.scales[tile]
    off = _off(directions.lengths[i], directions.errors[i], tiles.reaches[tile], tiles.errors[tile])
    y = directions.vectors[directions.order[i]]
    winner = -1
    for group in range(groups):
        start = tile * TILE + group * GROUP
        if start >= count:
            break
        place = (tile * groups + group) * steps * 4
        largest_products(rows, (i // ROWS) * steps, packed, place, steps, 1, top)
        if unit * top[i % ROWS] + off < floor:
            continue
        for j in order[start : min(start + GROUP, count)]:
            score = _product(y, points[j])
            if score > found[0]:
                found[1], found[0], winner = found[0], score, j
            elif score > found[1]:
                found[1] = score
    return winner


@spread(lambda directions, *_: -(-len(directions.scales) // TASK), is_python=False)
def find_floors(first_task, last_task, directions, tiles, floors):
    """Raise the floors to what each direction is sure to reach among these tiles."""
    margins = np.full(len(floors), np.inf)  # all tiles matter
    tops = np.empty((len(tiles.scales), TASK // ROWS, ROWS), np.int32)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        _read_tiles(first, last, directions, tiles, floors, margins, tops)


@spread(lambda directions, *_: -(-len(directions.scales) // TASK), is_python=False)
def search(first_task, last_task, directions, tiles, floors, margins, found):
    """For each direction the winner, its score and the next lower one, among all who could come within its margin."""
    scales, reaches, errors = tiles.scales, tiles.reaches, tiles.errors
    tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
    top, scores = np.empty(ROWS, np.int32), np.empty(2)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        read = _read_tiles(first, last, directions, tiles, floors, margins, tops)
        for i in range(first, last):
            floor, unit = floors[i] - margins[i], directions.scales[i]
            length, lost = directions.lengths[i], directions.errors[i]
            scores[:] = -np.inf
            winner = -1
            for tile in range(read):
                off = _off(length, lost, reaches[tile], errors[tile])
                if unit * scales[tile] * tops[tile, (i - first) // ROWS, i % ROWS] + off >= floor:
                    closer = _score_tile(i, tile, directions, tiles, floor, top, scores)
                    winner = closer if closer >= 0 else winner
            row = directions.order[i]
            found.winners[row], found.best[row], found.second[row] = winner, scores[0], scores[1]
