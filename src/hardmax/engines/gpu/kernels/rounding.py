"""Points and directions for the filter on a GPU: about their centre, scaled by powers of two, rounded to fp16.

How much that loses is measured on the way: `hardmax.engines.gpu.argmax` says what follows.
"""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.language import jit, tl

# Places in `state`, which holds the largest norm and how many rows are not proved before them, and the centre behind.
BEFORE_CENTRE = 8
REACH, CENTRE_NORM, SQUARES, HEADER = (tl.constexpr(place) for place in (2, 3, 4, BEFORE_CENTRE))
# Places in `constants`.
ROUNDING, SPREAD, UNDERFLOW, ERROR, KEEP, ACCUMULATION, SUMMATION = (tl.constexpr(place) for place in range(7))


@jit
def scale_of(top):
    """A power of two that brings numbers of size `top` to between 1/2 and 1, clear of overflow."""
    exponent = (top.to(tl.int64, bitcast=True) >> 52) & 2047
    exponent = tl.minimum(tl.maximum(exponent, 23), 2023)
    return ((2045 - exponent) << 52).to(tl.float64, bitcast=True)


@jit
def extents(points, state, count, programs, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr):
    """Smallest and largest coordinates of a share of the points, and the largest squared norm: inf, if not finite.

    They are written behind the centre in `state`: all the smallest, then all the largest, then the squares.
    """
    program = tl.program_id(0)
    axis = tl.arange(0, width)
    low = tl.full((block, width), float("inf"), dtype=tl.float64)
    high = tl.full((block, width), float("-inf"), dtype=tl.float64)
    square = tl.zeros((block,), dtype=tl.float64)
    for first in range(program * block, count, programs * block):
        source = tl.minimum(first + tl.arange(0, block), count - 1).to(tl.int64)
        x = tl.load(points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0)
        low = tl.minimum(low, x)
        high = tl.maximum(high, x)
        here = tl.sum(x * x, 1)
        square = tl.maximum(square, tl.where(here < float("inf"), here, float("inf")))  # nan is not below inf
    parts = state + HEADER + width
    tl.store(parts + program * width + axis, tl.min(low, 0))
    tl.store(parts + (programs + program) * width + axis, tl.max(high, 0))
    tl.store(parts + 2 * programs * width + program, tl.max(square, 0))


@jit
def frame_points(state, programs, width: tl.constexpr, block: tl.constexpr):
    """Put the parts together: `state` begins with the largest norm, how many rows are not proved, the reach about the
    centre, the centre's norm, the largest squares of a rounded point and of what it lost; HEADER further is the centre.
    """
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
    # None too small even where squares underflow.
    tl.store(state, tl.sqrt(tl.max(square, 0)) + 2.0**-500)
    tl.store(state + 1, 0.0)
    tl.store(state + REACH, tl.max(reach, 0))
    # A sum of absolute values is no less than the norm, and does not underflow.
    tl.store(state + CENTRE_NORM, tl.sum(tl.abs(centre), 0))
    tl.store(state + SQUARES + tl.arange(0, 2), tl.zeros((2,), dtype=tl.float64))
    tl.store(state + HEADER + axis, centre)


@jit
def round_points(points, state, rounded, count, padded, d: tl.constexpr, width: tl.constexpr, block: tl.constexpr):
    """Points about the centre, scaled, in fp16; the last one repeated as padding."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    source = tl.minimum(row, count - 1).to(tl.int64)
    axis = tl.arange(0, width)
    x = tl.load(points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0)
    x -= tl.load(state + HEADER + axis)[None, :]
    x *= scale_of(tl.load(state + REACH))
    half = x.to(tl.float32).to(tl.float16)
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=(row < padded)[:, None])
    lost = half.to(tl.float64) - x
    tl.atomic_max(state + SQUARES, tl.max(tl.sum(x * x, 1), 0))
    tl.atomic_max(state + SQUARES + 1, tl.max(tl.sum(lost * lost, 1), 0))


@jit
def _filter_bound(norm, lost_norm, state, constants, point_scale):
    """B of `argmax` for directions of these norms, which lost so much: how far a filter score can be off."""
    point = tl.sqrt(tl.load(state + SQUARES))
    point_lost = tl.sqrt(tl.load(state + SQUARES + 1))
    away = tl.load(state + CENTRE_NORM) * point_scale + point
    bound = norm * point_lost + lost_norm * (point + point_lost)
    bound += tl.load(constants + ACCUMULATION) * (norm + lost_norm) * (point + point_lost)
    bound += tl.load(constants + SUMMATION) * norm * away
    return bound * 1.001 + 1e-30


@jit
def _slack(size, largest, constants):
    """By how much a choice must lead: 2 E_i of `bounds`, for a point of this norm."""
    rounding, spread = tl.load(constants + ROUNDING), tl.load(constants + SPREAD)
    error = tl.load(constants + ERROR)
    slack = size * (rounding * largest + spread * error)
    return slack + spread * (largest + error) * error + tl.load(constants + UNDERFLOW)


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
    """Directions from `first` on, each with a scale of its own, in fp16, and how far the filter can be trusted.

    `rows` has four parts: the best score so far, -inf; 3 B + slack in units of the filter; B + slack in those of
    scores; and the slack.
    """
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = row < count
    padding = row < room
    axis = tl.arange(0, width)
    here = inside[:, None] & (axis < d)[None, :]
    at = (first + row).to(tl.int64)[:, None] * d + axis[None, :]
    asker = tl.load(askers + at, mask=here, other=0.0)
    slack = _slack(tl.sqrt(tl.sum(asker * asker, 1)) + 2.0**-500, tl.load(state), constants)
    y = tl.load(directions + at, mask=here, other=0.0)
    own = scale_of(tl.max(tl.abs(y), 1))
    y *= own[:, None]
    half = y.to(tl.float32).to(tl.float16)
    tl.store(rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=padding[:, None])
    lost = half.to(tl.float64) - y
    norm = tl.sqrt(tl.sum(y * y, 1))
    lost_norm = tl.sqrt(tl.sum(lost * lost, 1))
    point_scale = scale_of(tl.load(state + REACH))
    bound = _filter_bound(norm, lost_norm, state, constants, point_scale)
    margin = 3 * bound + slack * own * point_scale
    tl.store(rows + row, tl.full((block,), float("-inf"), dtype=tl.float64), mask=padding)
    # A slack beyond fp32 makes every tile a candidate.
    tl.store(rows + room + row, tl.minimum(margin * 1.000001, 3e38), mask=padding)
    tl.store(rows + 2 * room + row, slack + bound / own / point_scale, mask=padding)
    tl.store(rows + 3 * room + row, slack, mask=padding)
