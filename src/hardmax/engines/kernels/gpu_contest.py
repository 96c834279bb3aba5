"""The contest on a GPU: one pass in fp16 on tensor cores names a few tiles of points; float64 decides among them.

A filter score is <y~, x~> with y~, x~ rounded to fp16 after scaling by powers of two (`round_points`,
`round_directions`), accumulated in fp32. How far it can be from the float64 score is derived in `hardmax.engines.gpu`.
Nothing of size n by n is stored: only the largest filter score of each row in each tile of TILE points.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

try:
    import triton
    import triton.language as tl

    jit = triton.jit
except ImportError:  # the file can be read without triton; `hardmax.engines.gpu` says what is missing

    def jit(kernel):
        """Leave the kernel as it is: nobody can call it."""
        return kernel


TILE = 128  # points whose scores are kept as one maximum
ROWS = 128  # directions of a program of the filter; directions are padded to a multiple
MOST_TILES = 16  # a row for which more tiles could matter is scored in full


@jit
def _scale(top):
    """A power of two that brings numbers of size `top` to between 1/2 and 1, clear of overflow."""
    exponent = (top.to(tl.int64, bitcast=True) >> 52) & 2047
    exponent = tl.minimum(tl.maximum(exponent, 523), 1523)
    return ((2045 - exponent) << 52).to(tl.float64, bitcast=True)


@jit
def round_points(
    points, centre, top, rounded, squares, count, padded, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr
):
    """Points about the centre, scaled, in fp16; the last one repeated as padding. Squared norms, and of what is lost."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    source = tl.minimum(row, count - 1).to(tl.int64)
    axis = tl.arange(0, width)
    here = (axis < d)[None, :]
    x = tl.load(points + source[:, None] * d + axis[None, :], mask=here, other=0.0)
    x -= tl.load(centre + axis[None, :], mask=here, other=0.0)
    x *= _scale(tl.load(top))
    half = x.to(tl.float32).to(tl.float16)
    inside = row < padded
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=inside[:, None])
    lost = half.to(tl.float64) - x
    tl.store(squares + row, tl.sum(x * x, 1), mask=inside)
    tl.store(squares + padded + row, tl.sum(lost * lost, 1), mask=inside)


@jit
def round_directions(
    directions,
    slack,
    sizes,
    shift,
    top,
    rounded,
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

    `sizes` are the largest norms of the scaled points and of what they lost, `shift` is the norm of the centre.
    """
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = row < count
    axis = tl.arange(0, width)
    here = inside[:, None] & (axis < d)[None, :]
    y = tl.load(directions + row.to(tl.int64)[:, None] * d + axis[None, :], mask=here, other=0.0)
    scale = _scale(tl.max(tl.abs(y), 1))
    y *= scale[:, None]
    half = y.to(tl.float32).to(tl.float16)
    tl.store(
        rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=(row < padded)[:, None]
    )
    lost = half.to(tl.float64) - y
    norm = tl.sqrt(tl.sum(y * y, 1))
    lost_norm = tl.sqrt(tl.sum(lost * lost, 1))
    point_scale = _scale(tl.load(top))
    point = tl.load(sizes)
    point_lost = tl.load(sizes + 1)
    away = tl.load(shift) * point_scale + point
    bound = norm * point_lost + lost_norm * (point + point_lost)
    bound += accumulation * (norm + lost_norm) * (point + point_lost)
    bound += rounding * norm * away
    bound = bound * 1.001 + 1e-30
    allowed = tl.load(slack + row, mask=inside, other=0.0)
    margin = 3 * bound + allowed * scale * point_scale
    tl.store(margins + row, (margin * 1.000001).to(tl.float32), mask=row < padded)
    tl.store(reaches + row, allowed + bound / scale / point_scale, mask=row < padded)


@jit
def tile_maxima(
    directions,
    points,
    maxima,
    rows,
    tiles,
    span,
    width: tl.constexpr,
    depth: tl.constexpr,
    block: tl.constexpr,
    tile: tl.constexpr,
):
    """The largest filter score of each row in each tile: `maxima[tile, row]`. A program does `span` tiles in turn."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    axis = tl.arange(0, depth)
    y_at = directions + row.to(tl.int64)[:, None] * width + axis[None, :]
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    if width == depth:
        y = tl.load(y_at)
        for t in range(first, last):
            column = (t * tile + tl.arange(0, tile)).to(tl.int64)
            x = tl.load(points + column[None, :] * width + axis[:, None])
            scores = tl.dot(y, x)
            tl.store(maxima + t.to(tl.int64) * rows + row, tl.max(scores, 1))
    else:
        for t in range(first, last):
            column = (t * tile + tl.arange(0, tile)).to(tl.int64)
            x_at = points + column[None, :] * width + axis[:, None]
            scores = tl.zeros((block, tile), dtype=tl.float32)
            for k in range(0, width, depth):
                scores = tl.dot(tl.load(y_at + k), tl.load(x_at + k), scores)
            tl.store(maxima + t.to(tl.int64) * rows + row, tl.max(scores, 1))


@jit
def pick_tiles(
    maxima,
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
    best = tl.full((block,), float("-inf"), dtype=tl.float32)
    for first in range(0, tiles, step):
        t = first + tl.arange(0, step)
        at = maxima + t.to(tl.int64)[:, None] * rows + row[None, :]
        best = tl.maximum(best, tl.max(tl.load(at, mask=(t < tiles)[:, None], other=float("-inf")), 0))
    floor = best - tl.load(margins + row)
    count = tl.zeros((block,), dtype=tl.int32)
    for first in range(0, tiles, step):
        t = first + tl.arange(0, step)
        there = (t < tiles)[:, None]
        at = maxima + t.to(tl.int64)[:, None] * rows + row[None, :]
        hit = there & (tl.load(at, mask=there, other=float("-inf")) >= floor[None, :])
        hits = hit.to(tl.int32)
        place = count[None, :] + tl.cumsum(hits, 0) - 1
        number = tl.broadcast_to(t[:, None], (step, block))
        tl.store(picked + row[None, :] * most + place, number, mask=hit & (place < most))
        count += tl.sum(hits, 0)
    tl.store(floors + row, floor)
    tl.store(counts + row, count)


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
    clear,
    count,
    d: tl.constexpr,
    width: tl.constexpr,
    depth: tl.constexpr,
    tile: tl.constexpr,
    most: tl.constexpr,
):
    """One row: float64 scores of the points above its floor, the first best, its lead, and whether that is clear."""
    row = tl.program_id(0).to(tl.int64)
    tiles = tl.load(counts + row)
    floor = tl.load(floors + row)
    axis = tl.arange(0, depth)
    best = tl.full((), float("-inf"), dtype=tl.float64)
    second = tl.full((), float("-inf"), dtype=tl.float64)
    winner = tl.full((), 0, dtype=tl.int64)
    seen = tl.full((), 0, dtype=tl.int32)
    few = tiles <= most
    tiles = tl.where(few, tiles, 0)
    for place in range(0, tiles):
        column = tl.load(picked + row * most + place).to(tl.int64) * tile + tl.arange(0, tile)
        rough = tl.zeros((tile,), dtype=tl.float32)
        for k in range(0, width, depth):
            y = tl.load(rough_directions + row * width + k + axis).to(tl.float32)
            x = tl.load(rough_points + column[:, None] * width + k + axis[None, :]).to(tl.float32)
            rough += tl.sum(x * y[None, :], 1)
        near = (rough >= floor) & (column < count)
        fine = tl.zeros((tile,), dtype=tl.float64)
        for k in range(0, width, depth):
            here = k + axis < d
            y = tl.load(directions + row * d + k + axis, mask=here, other=0.0)
            at = points + column[:, None] * d + k + axis[None, :]
            fine += tl.sum(tl.load(at, mask=near[:, None] & here[None, :], other=0.0) * y[None, :], 1)
        fine = tl.where(near, fine, float("-inf"))
        top = tl.max(fine, 0)
        at_top = tl.min(tl.where(near & (fine == top), column, 2**62), 0)
        rest = tl.max(tl.where(column == at_top, float("-inf"), fine), 0)
        # Tiles come in order, so that an equal score further on does not replace the first best.
        better = top > best
        second = tl.maximum(tl.maximum(second, rest), tl.where(better, best, top))
        winner = tl.where(better, at_top, winner)
        best = tl.maximum(best, top)
        seen += tl.sum(near.to(tl.int32), 0)
    lead = best - second
    tl.store(winners + row, winner)
    tl.store(clear + row, (few & (lead > tl.load(slack + row))).to(tl.int8))
    tl.store(gaps + row, tl.where(seen == count, lead, tl.minimum(lead, tl.load(reaches + row))))
