"""Search through bytes: points and directions rounded to bytes, whose products name the few points worth a closer look.

Tiles of TILE points, from the outside in, share a scale. A task is a few dozen directions, so that a tile is read from
memory once for all of them. What the bounds mean is told in `hardmax.engines.cpu.searches.rounded`.
"""

# The intrinsic is called without the context that it is written with.
# pyright: reportCallIssue=false

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.cpu.kernels.tiles import GROUP, ROWS, STEP, largest_products

TILE = 128  # points
TASK = 32  # directions
_TINY = 2.0**-500  # coordinates whose squares may underflow count as zero, and as error
_CHECKED = 4  # tiles between two looks at whether the rest can matter


@spread(lambda points, centre, order, *_: -(-len(order) // TILE))
def round_points(first, last, points, centre, order, packed, scales, reaches, errors):
    """Round the points to bytes, tile by tile; for each tile its scale, and how long points and their errors can be."""
    d = points.shape[1]
    for tile in range(first, last):
        some = order[tile * TILE : (tile + 1) * TILE]
        largest = 0.0
        for j in some:
            for axis in range(d):
                largest = max(largest, abs(points[j, axis] - centre[axis]))
        unit = largest / 127.0 if largest > _TINY else 1.0
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
        scales[tile], reaches[tile], errors[tile] = unit, np.sqrt(reach), np.sqrt(error)


@spread(lambda directions, order, *_: len(order))
def round_directions(first, last, directions, order, packed, scales, lengths, errors):
    """Round the directions to bytes, each with a scale of its own; how long it is, and its error."""
    d = directions.shape[1]
    for place in range(first, last):
        i = order[place]
        largest = 0.0
        for axis in range(d):
            largest = max(largest, abs(directions[i, axis]))
        unit = largest / 127.0 if largest > _TINY else 1.0
        length, missed = 0.0, 0.0
        for axis in range(d):
            value = directions[i, axis]
            whole = np.rint(value / unit)
            packed[place // ROWS, axis // STEP, place % ROWS, axis % STEP] = np.int8(whole)
            length += value * value
            missed += (value - whole * unit) * (value - whole * unit)
        scales[place], lengths[place], errors[place] = unit, np.sqrt(length), np.sqrt(missed)


@njit(inline="always")
def _off(i, tile, look_lengths, look_errors, reaches, errors):
    """How far a product of bytes can be from the score that it stands for."""
    return look_errors[i] * reaches[tile] + (look_lengths[i] + look_errors[i]) * errors[tile]


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
def _read_tiles(
    first, last, looks, look_scales, look_lengths, look_errors, tiles, scales, reaches, errors, floors, margins, tops
):  # fmt: skip
    """Largest products of the directions from `first` up to `last` with tile after tile, until no further one matters.

    `tops` gets them, `floors` rises to what each direction is sure to reach; gives back how many tiles were read.
    """
    steps, groups = looks.shape[1], tiles.shape[1]
    for tile in range(len(scales)):
        if tile % _CHECKED == 0:
            matters = False
            for i in range(first, last):
                matters |= look_lengths[i] * reaches[tile] >= floors[i] - margins[i]
            if not matters:
                return tile
        for block in range((last - first + ROWS - 1) // ROWS):
            top = tops[tile, block]
            look, place = (first // ROWS + block) * steps, tile * groups * steps * 4
            largest_products(looks, look, tiles, place, steps, groups, top)
            for row in range(ROWS):
                i = first + block * ROWS + row
                if i < last:
                    off = _off(i, tile, look_lengths, look_errors, reaches, errors)
                    floors[i] = max(floors[i], look_scales[i] * scales[tile] * top[row] - off)
    return len(scales)


@njit
def _look_closer(i, y, points, order, floor, tile, unit, off, looks, tiles, top, found):
    """Score in float64 the groups of a tile that can reach the floor; `found` is (best, next); the winner comes back,
    or -1 where nobody beats the best."""
    steps, groups = looks.shape[1], tiles.shape[1]
    winner = -1
    for group in range(groups):
        start = tile * TILE + group * GROUP
        if start >= len(points):
            break
        place = (tile * groups + group) * steps * 4
        largest_products(looks, (i // ROWS) * steps, tiles, place, steps, 1, top)
        if unit * top[i % ROWS] + off < floor:
            continue
        for j in order[start : min(start + GROUP, len(points))]:
            score = _product(y, points[j])
            if score > found[0]:
                found[1], found[0], winner = found[0], score, j
            elif score > found[1]:
                found[1] = score
    return winner


@spread(lambda looks, look_scales, *_: -(-len(look_scales) // TASK))
def find_floors(
    first_task, last_task, looks, look_scales, look_lengths, look_errors, tiles, scales, reaches, errors, floors
):
    """Raise the floors to what each direction is sure to reach among these tiles."""
    margins = np.full(len(floors), np.inf)  # all tiles matter
    tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        _read_tiles(
            first, last, looks, look_scales, look_lengths, look_errors, tiles, scales, reaches, errors, floors, margins,
            tops,
        )  # fmt: skip


@spread(lambda directions, points, rows, *_: -(-len(rows) // TASK))
def search(
    first_task, last_task, directions, points, rows, order, looks, look_scales, look_lengths, look_errors, tiles,
    scales, reaches, errors, floors, margins, best, second, winners,
):  # fmt: skip
    """For each direction the best score, the next and the winner, among all who could come within its margin."""
    tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
    top, found = np.empty(ROWS, np.int32), np.empty(2)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(rows))
        read = _read_tiles(
            first, last, looks, look_scales, look_lengths, look_errors, tiles, scales, reaches, errors, floors, margins,
            tops,
        )  # fmt: skip
        for i in range(first, last):
            floor, y = floors[i] - margins[i], directions[rows[i]]
            found[:] = -np.inf
            winner = -1
            for tile in range(read):
                off = _off(i, tile, look_lengths, look_errors, reaches, errors)
                unit = look_scales[i] * scales[tile]
                if unit * tops[tile, (i - first) // ROWS, i % ROWS] + off >= floor:
                    closer = _look_closer(i, y, points, order, floor, tile, unit, off, looks, tiles, top, found)
                    winner = closer if closer >= 0 else winner
            best[rows[i]], second[rows[i]], winners[rows[i]] = found[0], found[1], winner
