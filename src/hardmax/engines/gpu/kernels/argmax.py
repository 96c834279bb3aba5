"""The search on a GPU: one pass in fp16 on tensor cores names a few tiles of points; float64 decides among them.

A filter score is the dot product of a direction and a point as `rounding` rounded them, accumulated in fp32. How far it
can be from the float64 score is derived in `hardmax.engines.gpu.argmax`. Nothing of size n by n is stored: only
the largest filter score of each row in each tile of TILE points.
"""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.language import jit, tl
from hardmax.engines.gpu.kernels.rounding import KEEP

TILE = 128  # points whose scores are kept as one maximum
ROWS = 128  # directions of a program of the filter; directions are padded to a multiple
MOST_TILES = 16  # a row for which more tiles could matter is scored in full


@jit
def tile_maxima(
    directions,
    points,
    maxima,
    best,
    room,
    tiles,
    span,
    width: tl.constexpr,
    depth: tl.constexpr,
    block: tl.constexpr,
    tile: tl.constexpr,
):
    """The largest filter score of each row in each tile, `maxima[tile, row]`, and in all.

    A program does `span` tiles, and takes `depth` of the `width` axes at once: of directions no wider, it keeps hold.
    """
    row = tl.program_id(0) * block + tl.arange(0, block)
    axis = tl.arange(0, depth)
    y_at = directions + row.to(tl.int64)[:, None] * width + axis[None, :]
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    out = maxima + first.to(tl.int64) * room + row
    highest = tl.full((block,), float("-inf"), dtype=tl.float32)
    y = tl.load(y_at)
    for t in range(first, last):
        column = (t * tile + tl.arange(0, tile)).to(tl.int64)
        x_at = points + column[None, :] * width + axis[:, None]
        if width == depth:
            scores = tl.dot(y, tl.load(x_at))
        else:
            scores = tl.zeros((block, tile), dtype=tl.float32)
            for k in range(0, width, depth):
                scores = tl.dot(tl.load(y_at + k), tl.load(x_at + k), scores)
        top = tl.max(scores, 1)
        tl.store(out, top)
        highest = tl.maximum(highest, top)
        out += room
    tl.atomic_max(best + row, highest.to(tl.float64))


@jit
def pick_tiles(maxima, rows, picked, room, tiles, block: tl.constexpr, step: tl.constexpr, most: tl.constexpr):
    """Tiles whose maximum is within the margin of the row's best: `picked[row]` has how many, and the first `most`."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    floor = (tl.load(rows + row) - tl.load(rows + room + row)).to(tl.float32)
    out = picked + row.to(tl.int64) * (most + 1)
    count = tl.zeros((block,), dtype=tl.int32)
    for first in range(0, tiles, step):
        t = first + tl.arange(0, step)
        there = (t < tiles)[:, None]
        at = maxima + t.to(tl.int64)[:, None] * room + row[None, :]
        hits = (there & (tl.load(at, mask=there, other=float("-inf")) >= floor[None, :])).to(tl.int32)
        place = count[None, :] + tl.cumsum(hits, 0)
        number = tl.broadcast_to(t[:, None], (step, block))
        tl.store(out[None, :] + place, number, mask=(hits > 0) & (place <= most))
        count += tl.sum(hits, 0)
    tl.store(out, count)


@jit
def _near(direction, points, column, count, floor, width: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr):
    """Which points of a tile have a filter score of at least `floor`; direction and points are the rounded ones."""
    axis = tl.arange(0, depth)
    rough = tl.zeros((tile,), dtype=tl.float32)
    for k in range(0, width, depth):
        x = tl.load(points + column[:, None] * width + k + axis[None, :]).to(tl.float32)
        rough += tl.sum(x * tl.load(direction + k + axis).to(tl.float32)[None, :], 1)
    return (rough >= floor) & (column < count)


@jit
def _fine_scores(
    direction, points, column, near, d: tl.constexpr, width: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr
):
    """Float64 scores of the points of a tile that are near; -inf for the others."""
    axis = tl.arange(0, depth)
    fine = tl.zeros((tile,), dtype=tl.float64)
    for k in range(0, width, depth):
        here = k + axis < d
        y = tl.load(direction + k + axis, mask=here, other=0.0)
        x = tl.load(points + column[:, None] * d + k + axis[None, :], mask=near[:, None] & here[None, :], other=0.0)
        fine += tl.sum(x * y[None, :], 1)
    return tl.where(near, fine, float("-inf"))


@jit
def _above(
    numbers, tiles, direction, points, count, floor, width: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr
):
    """The first point above the floor in the tiles of these numbers, and how many there are."""
    first = tl.full((), 2**62, dtype=tl.int64)
    seen = tl.full((), 0, dtype=tl.int32)
    for place in range(0, tiles):
        column = tl.load(numbers + place).to(tl.int64) * tile + tl.arange(0, tile)
        near = _near(direction, points, column, count, floor, width, tile, depth)
        first = tl.minimum(first, tl.min(tl.where(near, column, 2**62), 0))
        seen += tl.sum(near.to(tl.int32), 0)
    return first, seen


@jit
def _decide(
    numbers,
    tiles,
    direction,
    points,
    rough_direction,
    rough_points,
    count,
    floor,
    d: tl.constexpr,
    width: tl.constexpr,
    tile: tl.constexpr,
    depth: tl.constexpr,
):
    """Of the points above the floor, the first best in float64, and how far it leads."""
    winner = tl.full((), 2**62, dtype=tl.int64)
    top = tl.full((), float("-inf"), dtype=tl.float64)
    second = tl.full((), float("-inf"), dtype=tl.float64)
    for place in range(0, tiles):
        column = tl.load(numbers + place).to(tl.int64) * tile + tl.arange(0, tile)
        near = _near(rough_direction, rough_points, column, count, floor, width, tile, depth)
        fine = _fine_scores(direction, points, column, near, d, width, tile, depth)
        here = tl.max(fine, 0)
        here_at = tl.min(tl.where(near & (fine == here), column, 2**62), 0)
        rest = tl.max(tl.where(column == here_at, float("-inf"), fine), 0)
        # Tiles come in order, so that an equal score further on does not replace the first best.
        second = tl.maximum(tl.maximum(second, rest), tl.minimum(here, top))
        winner = tl.where(here > top, here_at, winner)
        top = tl.maximum(top, here)
    return winner, top - second


@jit
def rescore(
    directions,
    points,
    rough_directions,
    rough_points,
    rows,
    picked,
    state,
    constants,
    winners,
    gaps,
    moved,
    count,
    first,
    room,
    d: tl.constexpr,
    width: tl.constexpr,
    depth: tl.constexpr,
    tile: tl.constexpr,
    most: tl.constexpr,
    moves: tl.constexpr,
):
    """One row: the first best of the points above its floor, and its lead; -inf if the row is to be scored in full.

    The rows rounded are those from `first` on. With `moves` the point of the row moves one layer on.
    """
    place = tl.program_id(0).to(tl.int64)
    row = first + place
    mine = picked + place * (most + 1)  # how many tiles can win, and their numbers
    tiles, numbers = tl.load(mine), mine + 1
    tiles = tl.where(tiles <= most, tiles, 0)
    floor = (tl.load(rows + place) - tl.load(rows + room + place)).to(tl.float32)
    direction, rough = directions + row * d, rough_directions + place * width
    winner, seen = _above(numbers, tiles, rough, rough_points, count, floor, width, tile, depth)
    # Everybody below the floor trails by the reach: a point that is alone above it has won.
    gap = tl.where(seen > 0, tl.load(rows + 2 * room + place), float("-inf"))
    gap = tl.where(seen == count, float("inf"), gap)
    if seen > 1:
        winner, lead = _decide(
            numbers, tiles, direction, points, rough, rough_points, count, floor, d, width, tile, depth
        )
        gap = tl.where(lead > tl.load(rows + 3 * room + place), tl.minimum(gap, lead), float("-inf"))
    tl.store(winners + row, winner)
    tl.store(gaps + row, gap)
    if gap == float("-inf"):
        tl.atomic_add(state + 1, 1.0)
    elif moves:
        axis = tl.arange(0, width)
        here = axis < d
        target = tl.load(points + winner * d + axis, mask=here, other=0.0)
        way = tl.load(points + row * d + axis, mask=here, other=0.0) - target
        tl.store(moved + row * d + axis, target + tl.load(constants + KEEP) * way, mask=here)
