"""Kernels of the argmax search on a GPU: one pass in fp16 on tensor cores names a few tiles,
float64 decides there.

A filter score is the dot product of a direction and a point, both centred, scaled by powers of two
and rounded to fp16, accumulated in fp32. How far it can be from the float64 score is derived in
`hardmax._gpu.argmax`. Nothing of size n by n is stored: only the largest filter score of each row
in each tile of TILE points."""

from typing import Any

import triton
import triton.language

# pyright: reportMissingImports=false, reportInvalidTypeForm=false

jit: Any = triton.jit
tl: Any = triton.language

TILE = tl.constexpr(128)  # points whose scores are kept as one maximum
ROWS = tl.constexpr(
    128
)  # directions of a program of the filter; directions are padded to a multiple
MOST_TILES = tl.constexpr(16)  # a row for which more tiles could matter is scored in full
BLOCK = tl.constexpr(32)  # rows, and tiles at a time, of a program that picks tiles
# Places in `state`: the largest norm, how many rows are not proved, the reach about the centre, the
# norm of the centre, the largest squares of a scaled point and of what it lost by rounding; and
# HEADER further the centre.
REACH, CENTRE_NORM, SQUARES, HEADER = (tl.constexpr(place) for place in (2, 3, 4, 8))
# Places in `constants`; the first three are those of `bounds.kernel_factors`.
ROUNDING, SPREAD, UNDERFLOW, ERROR, KEEP, ACCUMULATION, SUMMATION = (
    tl.constexpr(place) for place in range(7)
)


@jit
def scale_of(top):
    """A power of two that brings numbers of size `top` to between 1/2 and 1, clear of overflow."""
    exponent = (top.to(tl.int64, bitcast=True) >> 52) & 2047
    exponent = tl.minimum(tl.maximum(exponent, 23), 2023)
    return ((2045 - exponent) << 52).to(tl.float64, bitcast=True)


@jit
def norm(square):
    """None too small even where squares underflow."""
    return tl.sqrt(square) + 2.0**-500


@jit
def slack_of(size, largest, error, constants):
    """By how much the choice of a point of this norm must lead: 2 E_i of `bounds`, summed as the
    processor does."""
    rounding, spread = tl.load(constants + ROUNDING), tl.load(constants + SPREAD)
    slack = rounding * size * largest + spread * (size * error + largest * error + error * error)
    return slack + tl.load(constants + UNDERFLOW)


@jit
def extents(
    points, state, count, programs, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr
):
    """Smallest and largest coordinates of a share of the points, and the largest squared norm: inf,
    if not finite.

    They are written behind the centre in `state`: all the smallest, then all the largest, then the
    squares."""
    program = tl.program_id(0)
    axis = tl.arange(0, width)
    low = tl.full((block, width), float("inf"), dtype=tl.float64)
    high = tl.full((block, width), float("-inf"), dtype=tl.float64)
    square = tl.zeros((block,), dtype=tl.float64)
    for first in range(program * block, count, programs * block):
        source = tl.minimum(first + tl.arange(0, block), count - 1).to(tl.int64)
        x = tl.load(
            points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0
        )
        low = tl.minimum(low, x)
        high = tl.maximum(high, x)
        here = tl.sum(x * x, 1)
        square = tl.maximum(
            square, tl.where(here < float("inf"), here, float("inf"))
        )  # nan is not below inf
    parts = state + HEADER + width
    tl.store(parts + program * width + axis, tl.min(low, 0))
    tl.store(parts + (programs + program) * width + axis, tl.max(high, 0))
    tl.store(parts + 2 * programs * width + program, tl.max(square, 0))


@jit
def frame_points(state, programs, width: tl.constexpr, block: tl.constexpr):
    """Join the parts: the largest norm, the centre and the reach about it."""
    axis = tl.arange(0, width)
    parts = state + HEADER + width
    low = tl.full((block, width), float("inf"), dtype=tl.float64)
    high = tl.full((block, width), float("-inf"), dtype=tl.float64)
    square = tl.zeros((block,), dtype=tl.float64)
    for first in range(0, programs, block):
        part = tl.minimum(first + tl.arange(0, block), programs - 1)
        low = tl.minimum(low, tl.load(parts + part[:, None] * width + axis[None, :]))
        high = tl.maximum(high, tl.load(parts + (programs + part)[:, None] * width + axis[None, :]))
        square = tl.maximum(square, tl.load(parts + 2 * programs * width + part))
    lowest = tl.min(low, 0)
    highest = tl.max(high, 0)
    centre = lowest + (highest - lowest) * 0.5
    # Less than this is rounding: a cloud in one place is not blown up to a cloud of noise.
    noise = tl.maximum(tl.abs(lowest), tl.abs(highest)) * 2.0**-40
    reach = tl.maximum(tl.maximum(highest - centre, centre - lowest), noise)
    tl.store(state, norm(tl.max(square, 0)))
    tl.store(state + 1, 0.0)
    tl.store(state + REACH, tl.max(reach, 0))
    # A sum of absolute values is no less than the norm, and does not underflow.
    tl.store(state + CENTRE_NORM, tl.sum(tl.abs(centre), 0))
    tl.store(state + SQUARES + tl.arange(0, 2), tl.zeros((2,), dtype=tl.float64))
    tl.store(state + HEADER + axis, centre)


@jit
def round_points(
    points, state, rounded, count, padded, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr
):
    """Points about the centre, scaled, in fp16; the last one repeated as padding."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    source = tl.minimum(row, count - 1).to(tl.int64)
    axis = tl.arange(0, width)
    x = tl.load(points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0)
    x -= tl.load(state + HEADER + axis)[None, :]
    x *= scale_of(tl.load(state + REACH))
    half = x.to(tl.float32).to(tl.float16)
    tl.store(
        rounded + row.to(tl.int64)[:, None] * width + axis[None, :],
        half,
        mask=(row < padded)[:, None],
    )
    lost = half.to(tl.float64) - x
    tl.atomic_max(state + SQUARES, tl.max(tl.sum(x * x, 1), 0))
    tl.atomic_max(state + SQUARES + 1, tl.max(tl.sum(lost * lost, 1), 0))


@jit
def _filter_bound(size, lost, state, constants, point_scale):
    """B of `argmax` for directions of these norms, which lost so much: how far a filter score can
    be off."""
    point = tl.sqrt(tl.load(state + SQUARES))
    point_lost = tl.sqrt(tl.load(state + SQUARES + 1))
    away = tl.load(state + CENTRE_NORM) * point_scale + point
    bound = size * point_lost + lost * (point + point_lost)
    bound += tl.load(constants + ACCUMULATION) * (size + lost) * (point + point_lost)
    bound += tl.load(constants + SUMMATION) * size * away
    return bound * 1.001 + 1e-30


@jit
def round_directions(
    askers,
    directions,
    state,
    constants,
    rounded,
    rows,
    first,
    count,
    room,
    d: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
):
    """Directions from `first` on, each with a scale of its own, in fp16, and how far the filter can
    be trusted.

    `rows` has four parts: the best score so far, -inf; 3 B + slack in units of the filter; B +
    slack in those of scores; and the slack."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = row < count
    padding = row < room
    axis = tl.arange(0, width)
    here = inside[:, None] & (axis < d)[None, :]
    at = (first + row).to(tl.int64)[:, None] * d + axis[None, :]
    asker = tl.load(askers + at, mask=here, other=0.0)
    slack = slack_of(
        norm(tl.sum(asker * asker, 1)), tl.load(state), tl.load(constants + ERROR), constants
    )
    y = tl.load(directions + at, mask=here, other=0.0)
    own = scale_of(tl.max(tl.abs(y), 1))
    y *= own[:, None]
    half = y.to(tl.float32).to(tl.float16)
    tl.store(
        rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=padding[:, None]
    )
    lost = half.to(tl.float64) - y
    point_scale = scale_of(tl.load(state + REACH))
    bound = _filter_bound(
        tl.sqrt(tl.sum(y * y, 1)), tl.sqrt(tl.sum(lost * lost, 1)), state, constants, point_scale
    )
    margin = 3 * bound + slack * own * point_scale
    tl.store(rows + row, tl.full((block,), float("-inf"), dtype=tl.float64), mask=padding)
    # A slack beyond fp32 makes every tile a candidate.
    tl.store(rows + room + row, tl.minimum(margin * 1.000001, 3e38), mask=padding)
    tl.store(rows + 2 * room + row, slack + bound / own / point_scale, mask=padding)
    tl.store(rows + 3 * room + row, slack, mask=padding)


@jit
def tile_maxima(
    directions, points, maxima, best, room, tiles, span, width: tl.constexpr, depth: tl.constexpr
):
    """The largest filter score of each row in each tile, `maxima[tile, row]`, and in all.

    A program does `span` tiles, and takes `depth` of the `width` axes at once; directions no wider
    stay in registers."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    axis = tl.arange(0, depth)
    y_at = directions + row.to(tl.int64)[:, None] * width + axis[None, :]
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    out = maxima + first.to(tl.int64) * room + row
    highest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    y = tl.load(y_at)
    for t in range(first, last):
        column = (tl.arange(0, TILE) + t * TILE).to(tl.int64)
        x_at = points + column[None, :] * width + axis[:, None]
        if width == depth:
            scores = tl.dot(y, tl.load(x_at))
        else:
            scores = tl.zeros((ROWS, TILE), dtype=tl.float32)
            for k in range(0, width, depth):
                scores = tl.dot(tl.load(y_at + k), tl.load(x_at + k), scores)
        top = tl.max(scores, 1)
        tl.store(out, top)
        highest = tl.maximum(highest, top)
        out += room
    tl.atomic_max(best + row, highest.to(tl.float64))


@jit
def pick_tiles(maxima, rows, picked, room, tiles):
    """Tiles whose maximum is within the margin of the row's best: `picked[row]` has how many, and
    the first few."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    floor = (tl.load(rows + row) - tl.load(rows + room + row)).to(tl.float32)
    out = picked + row.to(tl.int64) * (MOST_TILES + 1)
    count = tl.zeros((BLOCK,), dtype=tl.int32)
    for first in range(0, tiles, BLOCK):
        t = first + tl.arange(0, BLOCK)
        there = (t < tiles)[:, None]
        at = maxima + t.to(tl.int64)[:, None] * room + row[None, :]
        hits = (there & (tl.load(at, mask=there, other=float("-inf")) >= floor[None, :])).to(
            tl.int32
        )
        place = count[None, :] + tl.cumsum(hits, 0)
        number = tl.broadcast_to(t[:, None], (BLOCK, BLOCK))
        tl.store(out[None, :] + place, number, mask=(hits > 0) & (place <= MOST_TILES))
        count += tl.sum(hits, 0)
    tl.store(out, count)


@jit
def _near(direction, points, column, count, floor, width: tl.constexpr, depth: tl.constexpr):
    """Which points of a tile have a filter score of at least `floor`; direction and points are the
    rounded ones."""
    axis = tl.arange(0, depth)
    rough = tl.zeros((TILE,), dtype=tl.float32)
    for k in range(0, width, depth):
        x = tl.load(points + column[:, None] * width + k + axis[None, :]).to(tl.float32)
        rough += tl.sum(x * tl.load(direction + k + axis).to(tl.float32)[None, :], 1)
    return (rough >= floor) & (column < count)


@jit
def _fine_scores(
    direction, points, column, near, d: tl.constexpr, width: tl.constexpr, depth: tl.constexpr
):
    """Float64 scores of the points of a tile that are near; -inf for the others."""
    axis = tl.arange(0, depth)
    fine = tl.zeros((TILE,), dtype=tl.float64)
    for k in range(0, width, depth):
        here = k + axis < d
        y = tl.load(direction + k + axis, mask=here, other=0.0)
        x = tl.load(
            points + column[:, None] * d + k + axis[None, :],
            mask=near[:, None] & here[None, :],
            other=0.0,
        )
        fine += tl.sum(x * y[None, :], 1)
    return tl.where(near, fine, float("-inf"))


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
    moves: tl.constexpr,
):
    """One row: the first best of the points above its floor, and its lead; -inf if the row is to be
    scored in full.

    The rows rounded are those from `first` on. With `moves` the point of the row moves one layer
    on."""
    place = tl.program_id(0).to(tl.int64)
    row = first + place
    mine = picked + place * (MOST_TILES + 1)  # how many tiles can win, and their numbers
    tiles = tl.load(mine)
    tiles = tl.where(tiles <= MOST_TILES, tiles, 0)
    floor = (tl.load(rows + place) - tl.load(rows + room + place)).to(tl.float32)
    direction, rough = directions + row * d, rough_directions + place * width
    winner = tl.full((), 2**62, dtype=tl.int64)
    seen = tl.full((), 0, dtype=tl.int32)
    for t in range(0, tiles):
        column = tl.load(mine + 1 + t).to(tl.int64) * TILE + tl.arange(0, TILE)
        near = _near(rough, rough_points, column, count, floor, width, depth)
        winner = tl.minimum(winner, tl.min(tl.where(near, column, 2**62), 0))
        seen += tl.sum(near.to(tl.int32), 0)
    # Everybody below the floor trails by the reach: a point that is alone above it has won.
    gap = tl.where(seen > 0, tl.load(rows + 2 * room + place), float("-inf"))
    gap = tl.where(seen == count, float("inf"), gap)
    if seen > 1:
        top = tl.full((), float("-inf"), dtype=tl.float64)
        second = tl.full((), float("-inf"), dtype=tl.float64)
        for t in range(0, tiles):
            column = tl.load(mine + 1 + t).to(tl.int64) * TILE + tl.arange(0, TILE)
            near = _near(rough, rough_points, column, count, floor, width, depth)
            fine = _fine_scores(direction, points, column, near, d, width, depth)
            best = tl.max(fine, 0)
            best_at = tl.min(tl.where(near & (fine == best), column, 2**62), 0)
            rest = tl.max(tl.where(column == best_at, float("-inf"), fine), 0)
            # Tiles come in order, so that an equal score further on does not replace the first
            # best.
            second = tl.maximum(tl.maximum(second, rest), tl.minimum(best, top))
            winner = tl.where(best > top, best_at, winner)
            top = tl.maximum(top, best)
        gap = tl.where(
            top - second > tl.load(rows + 3 * room + place),
            tl.minimum(gap, top - second),
            float("-inf"),
        )
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
