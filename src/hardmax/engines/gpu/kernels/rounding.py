"""Points and directions for the filter on a GPU: about their centre, scaled by powers of two, rounded to fp16.

How much that loses is measured on the way: `hardmax.engines.gpu.filter` says what follows.
"""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.language import jit, tl


@jit
def scale_of(top):
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
    x *= scale_of(tl.load(frame))
    half = x.to(tl.float32).to(tl.float16)
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=(row < padded)[:, None])
    lost = half.to(tl.float64) - x
    # Numbers that are not negative are in the order of their bits.
    tl.atomic_max(squares, tl.max(tl.cast(tl.sum(x * x, 1), tl.int64, bitcast=True), 0))
    tl.atomic_max(squares + 1, tl.max(tl.cast(tl.sum(lost * lost, 1), tl.int64, bitcast=True), 0))


@jit
def _filter_bound(norm, lost_norm, frame, point_scale, accumulation, rounding):
    """B of `gpu_filter` for directions of these norms, which lost so much: how far a filter score can be off."""
    point = tl.sqrt(tl.load(frame + 2))
    point_lost = tl.sqrt(tl.load(frame + 3))
    away = tl.load(frame + 1) * point_scale + point
    bound = norm * point_lost + lost_norm * (point + point_lost)
    bound += accumulation * (norm + lost_norm) * (point + point_lost)
    bound += rounding * norm * away
    return bound * 1.001 + 1e-30


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
    own = scale_of(tl.max(tl.abs(y), 1))
    y *= own[:, None]
    half = y.to(tl.float32).to(tl.float16)
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=(row < padded)[:, None])
    lost = half.to(tl.float64) - y
    norm = tl.sqrt(tl.sum(y * y, 1))
    lost_norm = tl.sqrt(tl.sum(lost * lost, 1))
    point_scale = scale_of(tl.load(frame))
    bound = _filter_bound(norm, lost_norm, frame, point_scale, accumulation, rounding)
    allowed = tl.load(slack + row, mask=inside, other=0.0)
    margin = 3 * bound + allowed * own * point_scale
    # A slack beyond fp32 makes every tile a candidate.
    tl.store(margins + row, tl.minimum(margin * 1.000001, 3e38).to(tl.float32), mask=row < padded)
    tl.store(best + row, tl.full((block,), float("-inf"), dtype=tl.float32), mask=row < padded)
    tl.store(reaches + row, allowed + bound / own / point_scale, mask=row < padded)
