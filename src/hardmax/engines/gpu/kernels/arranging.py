"""A cloud at a layer, and a step ahead: the points in float64, and rounded to float32, the long ones first."""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.language import jit, tl
from hardmax.engines.gpu.kernels.layout import FLAT, ORDER, TOKENS, TWINS


@jit
def norm(square):
    """None too small even where squares underflow; as the processor counts it, like all that is in float64 here."""
    return tl.sqrt(square) + 2.0**-500


@jit
def squares(points, token, d: tl.constexpr):
    """The squared norm of each of these tokens, summed axis after axis."""
    square = tl.zeros(token.shape, dtype=tl.float64)
    for k in range(d):
        x = tl.load(points + token * d + k)
        square += x * x
    return square


@jit
def arrive(ahead, points, count, d: tl.constexpr):
    """The points move to where they are ahead."""
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        tl.store(points + at, tl.load(ahead + at))
    tl.debug_barrier()


@jit
def step_ahead(points, ahead, chosen, count, share, d: tl.constexpr):
    """Ahead, every point has gone towards the one that it chose, and keeps this share of the way."""
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        target = tl.load(points + tl.load(chosen + at // d) * d + at % d)
        tl.store(ahead + at, target + share * (tl.load(points + at) - target))
    tl.debug_barrier()


@jit
def largest_square(points, count, d: tl.constexpr):
    """The largest square of a norm."""
    largest = tl.zeros((TOKENS,), dtype=tl.float64)
    for first in range(0, count, TOKENS):
        largest = tl.maximum(largest, squares(points, tl.minimum(first + tl.arange(0, TOKENS), count - 1), d))
    return tl.max(largest, 0)


@jit
def arrange(points, roughs, lists, count, kept, limit, scale, room: tl.constexpr, d: tl.constexpr):
    """Round those to float32 that are scored, long ones first: how many these are, and the largest square of others."""
    placed = 0  # of the long ones; and, 2^16 for each, of the others
    shorter = tl.zeros((TOKENS,), dtype=tl.float64)
    for first in range(0, count, TOKENS):
        token = first + tl.arange(0, TOKENS)
        source = tl.minimum(token, count - 1)
        scored = (token < count) & (tl.load(lists + TWINS * room + source) == 0)
        square = squares(points, source, d)
        long, short = scored & (square >= limit), scored & (square < limit)
        so_far = placed + tl.cumsum(long.to(tl.int32) + (short.to(tl.int32) << 16), 0)
        # The long ones from the front, the others from the end.
        place = tl.where(long, (so_far & 0xFFFF) - 1, kept - (so_far >> 16))
        tl.store(lists + ORDER * room + place, token, mask=scored)
        for k in range(d):
            x = tl.load(points + source * d + k) * scale
            tl.store(roughs + k * room + place, x.to(tl.float32), mask=scored)
        placed = tl.max(so_far, 0)
        shorter = tl.maximum(shorter, tl.where(short, square, 0.0))
    tl.debug_barrier()
    return placed & 0xFFFF, tl.max(shorter, 0)


@jit
def find_directions(
    points, directions, roughs, row, metric, scale, has_metric: tl.constexpr, room: tl.constexpr, d: tl.constexpr
):
    """The directions of some points: A times the point, and the same rounded."""
    for axis in range(d):
        if has_metric:
            direction = tl.zeros(row.shape, dtype=tl.float64)
            for k in range(d):
                direction += tl.load(metric + axis * d + k) * tl.load(points + row * d + k)
            tl.store(directions + row * d + axis, direction)
        else:
            direction = tl.load(points + row * d + axis)
        tl.store(roughs + (d + axis) * room + row, (direction * scale).to(tl.float32))
