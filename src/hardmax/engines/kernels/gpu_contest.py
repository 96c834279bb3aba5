"""The contest on a GPU: one pass in fp16 on tensor cores names a few tiles of points; float64 decides among them.

A filter score is <y~, x~> with y~, x~ rounded to fp16 after scaling by powers of two (`round_points`,
`round_directions`), accumulated in fp32. How far it can be from the float64 score is derived in `hardmax.engines.gpu`.
Nothing of size n by n is stored: only the largest filter score of each row in each tile of TILE points.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false
from __future__ import annotations

from typing import Any

jit: Any
try:
    import triton
    import triton.language as tl

    jit = triton.jit
except ImportError:  # the file can be read without triton; `hardmax.engines.gpu` says what is missing
    jit = staticmethod

TILE = 128  # points whose scores are kept as one maximum
ROWS = 128  # directions of a program of the filter; directions are padded to a multiple
MOST_TILES = 16  # a row for which more tiles could matter is scored in full


@jit
def _scale(top):
    """A power of two that brings numbers of size `top` to between 1/2 and 1, clear of overflow."""
    exponent = (top.to(tl.int64, bitcast=True) >> 52) & 2047
    exponent = tl.minimum(tl.maximum(exponent, 23), 2023)
    return ((2045 - exponent) << 52).to(tl.float64, bitcast=True)


@jit
def extents(points, parts, count, programs, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr):
    """Smallest and largest coordinates of a share of the points: `parts[0, program]` and `parts[1, program]`."""
    program = tl.program_id(0)
    axis = tl.arange(0, width)
    low = tl.full((block, width), float("inf"), dtype=tl.float64)
    high = tl.full((block, width), float("-inf"), dtype=tl.float64)
    for first in range(program * block, count, programs * block):
        source = tl.minimum(first + tl.arange(0, block), count - 1).to(tl.int64)
        x = tl.load(points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0)
        low = tl.minimum(low, x)
        high = tl.maximum(high, x)
    tl.store(parts + program * width + axis, tl.min(low, 0))
    tl.store(parts + (programs + program) * width + axis, tl.max(high, 0))


@jit
def frame_points(parts, frame, programs, width: tl.constexpr, block: tl.constexpr):
    """Put the parts together: `frame` is the reach about the centre, the centre's norm, two zeros, and the centre."""
    axis = tl.arange(0, width)
    low = tl.full((block, width), float("inf"), dtype=tl.float64)
    high = tl.full((block, width), float("-inf"), dtype=tl.float64)
    for first in range(0, programs, block):
        part = tl.minimum(first + tl.arange(0, block), programs - 1)
        low = tl.minimum(low, tl.load(parts + part[:, None] * width + axis[None, :]))
        high = tl.maximum(high, tl.load(parts + (programs + part)[:, None] * width + axis[None, :]))
    lowest = tl.min(low, 0)
    highest = tl.max(high, 0)
    centre = lowest + (highest - lowest) * 0.5
    # Less than this is rounding: a cloud in one place is not blown up to a cloud of noise.
    noise = tl.maximum(tl.abs(lowest), tl.abs(highest)) * 2.0**-40
    reach = tl.maximum(tl.maximum(highest - centre, centre - lowest), noise)
    tl.store(frame, tl.max(reach, 0))
    # A sum of absolute values is no less than the norm, and does not underflow.
    tl.store(frame + 1, tl.sum(tl.abs(centre), 0))
    tl.store(frame + 2 + tl.arange(0, 2), tl.zeros((2,), dtype=tl.float64))
    tl.store(frame + 4 + axis, centre)


@jit
def round_points(
    points, frame, squares, rounded, count, padded, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr
):
    """Points about the centre, scaled, in fp16; the last one repeated as padding.

    `squares` are the bits of `frame[2:4]`: the largest squared norm of a point, and of what it lost.
    """
    row = tl.program_id(0) * block + tl.arange(0, block)
    source = tl.minimum(row, count - 1).to(tl.int64)
    axis = tl.arange(0, width)
    x = tl.load(points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0)
    x -= tl.load(frame + 4 + axis)[None, :]
    x *= _scale(tl.load(frame))
    half = x.to(tl.float32).to(tl.float16)
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=(row < padded)[:, None])
    lost = half.to(tl.float64) - x
    # Numbers that are not negative are in the order of their bits.
    tl.atomic_max(squares, tl.max(tl.cast(tl.sum(x * x, 1), tl.int64, bitcast=True), 0))
    tl.atomic_max(squares + 1, tl.max(tl.cast(tl.sum(lost * lost, 1), tl.int64, bitcast=True), 0))


@jit
def round_directions(
    directions,
    slack,
    frame,
    rounded,
    best,
    margins,
    reaches,
    count,
    padded,
    accumulation,
    rounding,
    d: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
):
    """Directions, each with a scale of its own, in fp16; 3 B + slack in filter units, and B + slack in those of scores.

    The best filter score so far is set to -inf.
    """
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = row < count
    axis = tl.arange(0, width)
    here = inside[:, None] & (axis < d)[None, :]
    y = tl.load(directions + row.to(tl.int64)[:, None] * d + axis[None, :], mask=here, other=0.0)
    scale = _scale(tl.max(tl.abs(y), 1))
    y *= scale[:, None]
    half = y.to(tl.float32).to(tl.float16)
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=(row < padded)[:, None])
    lost = half.to(tl.float64) - y
    norm = tl.sqrt(tl.sum(y * y, 1))
    lost_norm = tl.sqrt(tl.sum(lost * lost, 1))
    point_scale = _scale(tl.load(frame))
    point = tl.sqrt(tl.load(frame + 2))
    point_lost = tl.sqrt(tl.load(frame + 3))
    away = tl.load(frame + 1) * point_scale + point
    bound = norm * point_lost + lost_norm * (point + point_lost)
    bound += accumulation * (norm + lost_norm) * (point + point_lost)
    bound += rounding * norm * away
    bound = bound * 1.001 + 1e-30
    allowed = tl.load(slack + row, mask=inside, other=0.0)
    margin = 3 * bound + allowed * scale * point_scale
    # A slack beyond fp32 makes every tile a candidate.
    tl.store(margins + row, tl.minimum(margin * 1.000001, 3e38).to(tl.float32), mask=row < padded)
    tl.store(best + row, tl.full((block,), float("-inf"), dtype=tl.float32), mask=row < padded)
    tl.store(reaches + row, allowed + bound / scale / point_scale, mask=row < padded)


@jit
def tile_maxima(
    directions,
    points,
    maxima,
    best,
    rows,
    tiles,
    span,
    width: tl.constexpr,
    depth: tl.constexpr,
    block: tl.constexpr,
    tile: tl.constexpr,
):
    """The largest filter score of each row in each tile, `maxima[tile, row]`, and in all. `span` tiles a program."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    axis = tl.arange(0, depth)
    y_at = directions + row.to(tl.int64)[:, None] * width + axis[None, :]
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    out = maxima + first.to(tl.int64) * rows + row
    highest = tl.full((block,), float("-inf"), dtype=tl.float32)
    if width == depth:
        y = tl.load(y_at)
        for t in range(first, last):
            column = (t * tile + tl.arange(0, tile)).to(tl.int64)
            x = tl.load(points + column[None, :] * width + axis[:, None])
            scores = tl.dot(y, x)
            top = tl.max(scores, 1)
            tl.store(out, top)
            highest = tl.maximum(highest, top)
            out += rows
    else:
        for t in range(first, last):
            column = (t * tile + tl.arange(0, tile)).to(tl.int64)
            x_at = points + column[None, :] * width + axis[:, None]
            scores = tl.zeros((block, tile), dtype=tl.float32)
            for k in range(0, width, depth):
                scores = tl.dot(tl.load(y_at + k), tl.load(x_at + k), scores)
            top = tl.max(scores, 1)
            tl.store(out, top)
            highest = tl.maximum(highest, top)
            out += rows
    tl.atomic_max(best + row, highest)


@jit
def pick_tiles(
    maxima,
    best,
    margins,
    floors,
    counts,
    picked,
    rows,
    tiles,
    block: tl.constexpr,
    step: tl.constexpr,
    most: tl.constexpr,
):
    """The tiles whose maximum is within the margin of the row's best: how many, and the first `most` of them."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    floor = tl.load(best + row) - tl.load(margins + row)
    count = tl.zeros((block,), dtype=tl.int32)
    for first in range(0, tiles, step):
        t = first + tl.arange(0, step)
        there = (t < tiles)[:, None]
        at = maxima + t.to(tl.int64)[:, None] * rows + row[None, :]
        hits = (there & (tl.load(at, mask=there, other=float("-inf")) >= floor[None, :])).to(tl.int32)
        place = count[None, :] + tl.cumsum(hits, 0) - 1
        number = tl.broadcast_to(t[:, None], (step, block))
        tl.store(picked + row[None, :] * most + place, number, mask=(hits > 0) & (place < most))
        count += tl.sum(hits, 0)
    tl.store(floors + row, floor)
    tl.store(counts + row, count)


@jit
def _near(y, points, column, count, floor, width: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr):
    """Which points of a tile have a filter score of at least `floor`."""
    axis = tl.arange(0, depth)
    rough = tl.zeros((tile,), dtype=tl.float32)
    for k in range(0, width, depth):
        x = tl.load(points + column[:, None] * width + k + axis[None, :]).to(tl.float32)
        rough += tl.sum(x * tl.load(y + k + axis).to(tl.float32)[None, :], 1)
    return (rough >= floor) & (column < count)


@jit
def rescore(
    directions,
    points,
    rough_directions,
    rough_points,
    floors,
    reaches,
    counts,
    picked,
    slack,
    winners,
    gaps,
    count,
    d: tl.constexpr,
    width: tl.constexpr,
    depth: tl.constexpr,
    fine_depth: tl.constexpr,
    tile: tl.constexpr,
    most: tl.constexpr,
):
    """One row: the first best of the points above its floor, and its lead; -inf if the row is to be scored in full."""
    row = tl.program_id(0).to(tl.int64)
    tiles = tl.load(counts + row)
    few = tiles <= most
    tiles = tl.where(few, tiles, 0)
    floor = tl.load(floors + row)
    y_rough = rough_directions + row * width
    winner = tl.full((), 2**62, dtype=tl.int64)
    seen = tl.full((), 0, dtype=tl.int32)
    for place in range(0, tiles):
        column = tl.load(picked + row * most + place).to(tl.int64) * tile + tl.arange(0, tile)
        near = _near(y_rough, rough_points, column, count, floor, width, tile, depth)
        winner = tl.minimum(winner, tl.min(tl.where(near, column, 2**62), 0))
        seen += tl.sum(near.to(tl.int32), 0)
    # Everybody below the floor trails by the reach: a point that is alone above it has won.
    gap = tl.where(seen > 0, tl.load(reaches + row), float("-inf"))
    gap = tl.where(seen == count, float("inf"), gap)
    if seen > 1:
        axis = tl.arange(0, fine_depth)
        best = tl.full((), float("-inf"), dtype=tl.float64)
        second = tl.full((), float("-inf"), dtype=tl.float64)
        for place in range(0, tiles):
            column = tl.load(picked + row * most + place).to(tl.int64) * tile + tl.arange(0, tile)
            near = _near(y_rough, rough_points, column, count, floor, width, tile, depth)
            fine = tl.zeros((tile,), dtype=tl.float64)
            for k in range(0, width, fine_depth):
                here = k + axis < d
                y = tl.load(directions + row * d + k + axis, mask=here, other=0.0)
                at = points + column[:, None] * d + k + axis[None, :]
                fine += tl.sum(tl.load(at, mask=near[:, None] & here[None, :], other=0.0) * y[None, :], 1)
            fine = tl.where(near, fine, float("-inf"))
            top = tl.max(fine, 0)
            top_at = tl.min(tl.where(near & (fine == top), column, 2**62), 0)
            rest = tl.max(tl.where(column == top_at, float("-inf"), fine), 0)
            # Tiles come in order, so that an equal score further on does not replace the first best.
            better = top > best
            second = tl.maximum(tl.maximum(second, rest), tl.where(better, best, top))
            winner = tl.where(better, top_at, winner)
            best = tl.maximum(best, top)
        lead = best - second
        gap = tl.where(lead > tl.load(slack + row), tl.minimum(gap, lead), float("-inf"))
    tl.store(winners + row, winner)
    tl.store(gaps + row, gap)
