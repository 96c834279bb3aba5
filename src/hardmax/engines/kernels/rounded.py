"""Search through bytes: points and directions rounded to bytes, whose products name the few points worth a closer look.

Tiles of TILE points, from the outside in, share a scale. A task is a few dozen directions, so that a tile is read from
memory once for all of them. What the bounds mean is told in `hardmax.engines.searches.rounded`.
"""

# The intrinsic is called without the context that it is written with.
# pyright: reportCallIssue=false

import numpy as np
from numba import njit, prange

from hardmax.engines.kernels.tiles import GROUP, ROWS, STEP, largest_products

TILE = 128  # points
TASK = 32  # directions
_TINY = 2.0**-500  # coordinates whose squares may underflow count as zero, and as error
_CHECKED = 4  # tiles between two looks at whether the rest can matter


@njit(parallel=True, cache=True, nogil=True)
def round_points(points, centre, order, packed, scales, reaches, errors):
    """Round the points to bytes, tile by tile; for each tile its scale, and how long points and their errors can be."""
    d = points.shape[1]
    for tile in prange(len(scales)):
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


@njit(parallel=True, cache=True, nogil=True)
def round_directions(directions, order, packed, scales, lengths, errors):
    """Round the directions to bytes, each with a scale of its own; how long it is, and its error."""
    d = directions.shape[1]
    for place in prange(len(order)):
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


@njit(parallel=True, cache=True, nogil=True)
def find_floors(looks, look_scales, look_lengths, look_errors, tiles, scales, reaches, errors, floors):
    """Scores that each direction is sure to reach, from the outermost tiles alone."""
    steps = looks.shape[1]
    groups = tiles.shape[1]
    flat_looks, flat_tiles = looks.reshape(-1), tiles.reshape(-1)
    for block in prange(len(looks)):
        top = np.empty(ROWS, np.int32)
        for tile in range(len(scales)):
            largest_products(flat_looks, block * steps, flat_tiles, tile * groups * steps * 4, steps, groups, top)
            for row in range(ROWS):
                i = block * ROWS + row
                if i < len(floors):
                    off = look_errors[i] * reaches[tile] + (look_lengths[i] + look_errors[i]) * errors[tile]
                    floors[i] = max(floors[i], look_scales[i] * scales[tile] * top[row] - off)


@njit(cache=True, nogil=True, inline="always")
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


@njit(parallel=True, cache=True, nogil=True)
def search(
    directions,
    points,
    rows,
    order,
    looks,
    look_scales,
    look_lengths,
    look_errors,
    tiles,
    scales,
    reaches,
    errors,
    floors,
    margins,
    best,
    second,
    winners,
):
    """For each direction the best score, the next and the winner, among all who could come within its margin."""
    steps = looks.shape[1]
    groups = tiles.shape[1]
    flat_looks, flat_tiles = looks.reshape(-1), tiles.reshape(-1)
    per_tile = groups * steps * 4
    count = len(points)
    for task in prange((len(rows) + TASK - 1) // TASK):
        first = task * TASK
        last = min(first + TASK, len(rows))
        blocks = (last - first + ROWS - 1) // ROWS
        tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
        top = np.empty(ROWS, np.int32)
        read = 0
        while read < len(scales):
            if read % _CHECKED == 0:
                matter = False
                for i in range(first, last):
                    matter |= look_lengths[i] * reaches[read] >= floors[i] - margins[i]
                if not matter:
                    break
            for block in range(blocks):
                at = tops[read, block]
                largest_products(
                    flat_looks, (first // ROWS + block) * steps, flat_tiles, read * per_tile, steps, groups, at
                )
                for row in range(ROWS):
                    i = first + block * ROWS + row
                    if i < last:
                        off = look_errors[i] * reaches[read] + (look_lengths[i] + look_errors[i]) * errors[read]
                        floors[i] = max(floors[i], look_scales[i] * scales[read] * at[row] - off)
            read += 1
        for i in range(first, last):
            block, row = (i - first) // ROWS, (i - first) % ROWS
            floor = floors[i] - margins[i]
            high, next_high, winner = -np.inf, -np.inf, -1
            y = directions[rows[i]]
            for tile in range(read):
                off = look_errors[i] * reaches[tile] + (look_lengths[i] + look_errors[i]) * errors[tile]
                unit = look_scales[i] * scales[tile]
                if unit * tops[tile, block, row] + off < floor:
                    continue
                for group in range(groups):
                    start = tile * TILE + group * GROUP
                    if start >= count:
                        break
                    largest_products(
                        flat_looks, (i // ROWS) * steps, flat_tiles, tile * per_tile + group * steps * 4, steps, 1, top
                    )
                    if unit * top[row] + off < floor:
                        continue
                    for place in range(start, min(start + GROUP, count)):
                        j = order[place]
                        score = _product(y, points[j])
                        if score > high:
                            next_high, high, winner = high, score, j
                        elif score == high:
                            next_high = score
                            winner = min(winner, j)
                        elif score > next_high:
                            next_high = score
            best[rows[i]], second[rows[i]], winners[rows[i]] = high, next_high, winner
