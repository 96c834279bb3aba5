"""Who is furthest, in a small cloud on a GPU: first in float32 among the long points, then among all, then in float64.

In float64 scores are made as `small_clouds` makes them, axis after axis and without fused operations: the same choices.
"""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.language import jit, tl
from hardmax.engines.gpu.kernels.layout import COLUMNS


@jit
def _rough_scores(points, directions, column, row, room: tl.constexpr, d: tl.constexpr):
    scores = tl.zeros((column.shape[0], row.shape[0]), dtype=tl.float32)
    for k in range(d):
        x = tl.load(points + k * room + column)[:, None]
        y = tl.load(directions + k * room + row)[None, :]
        scores = tl.fma(tl.broadcast_to(x, scores.shape), tl.broadcast_to(y, scores.shape), scores)
    return scores


@jit
def _fine_scores(points, directions, column, row, d: tl.constexpr):
    scores = tl.zeros((column.shape[0], row.shape[0]), dtype=tl.float64)
    for k in range(d):
        scores += tl.load(points + column * d + k)[:, None] * tl.load(directions + row * d + k)[None, :]
    return scores


@jit
def _compete(scores, column, count, best, second, at):
    """Let some more points compete, each for its own place side by side."""
    scores = tl.where((column < count)[:, None], scores, float("-inf"))
    second = tl.maximum(second, tl.minimum(best, scores))
    at = tl.where(scores > best, column[:, None], at)
    return tl.maximum(best, scores), second, at


@jit
def _joined(best, second, at):
    """The best of contests held side by side, the first point that has it, and the best of the others."""
    top = tl.max(best, 0)
    winner = tl.min(tl.where(best == top[None, :], at, 2**30), 0)
    # No point is in two contests, so that the winner names its own.
    own = (best == top[None, :]) & (at == winner[None, :])
    return top, winner, tl.max(tl.where(own, second, best), 0)


@jit
def _rough_contest(points, directions, row, count, room: tl.constexpr, d: tl.constexpr):
    """The best score of each row among the first `count` rounded points, who has it, and the best of the others."""
    best = tl.full((COLUMNS, row.shape[0]), float("-inf"), dtype=tl.float32)
    second = best
    at = tl.zeros(best.shape, dtype=tl.int32)
    for first in range(0, count, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        scores = _rough_scores(points, directions, column, row, room, d)
        best, second, at = _compete(scores, column, count, best, second, at)
    return _joined(best, second, at)


@jit
def _fine_contest(points, directions, row, count, d: tl.constexpr):
    """The same in float64."""
    best = tl.full((COLUMNS, row.shape[0]), float("-inf"), dtype=tl.float64)
    second = best
    at = tl.zeros(best.shape, dtype=tl.int32)
    for first in range(0, count, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        scores = _fine_scores(points, directions, tl.minimum(column, count - 1), row, d)
        best, second, at = _compete(scores, column, count, best, second, at)
    return _joined(best, second, at)


@jit
def _rivals(tokens, points, directions, row, winner, floor, count, d: tl.constexpr):
    """How many points reach the floor of each row that were not equal to its winner at the start."""
    rivals = tl.zeros(row.shape, dtype=tl.int32)
    for first in range(0, count, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        source = tl.minimum(column, count - 1)
        scores = _fine_scores(points, directions, source, row, d)
        other = tl.zeros(scores.shape, dtype=tl.int32)
        for k in range(d):
            x = tl.load(tokens + source * d + k)
            other |= (x[:, None] != tl.load(tokens + winner * d + k)[None, :]).to(tl.int32)
        rivals += tl.sum(tl.where((column < count)[:, None] & (scores >= floor[None, :]), other, 0), 0)
    return rivals


@jit
def _any(rows):
    return tl.max(rows.to(tl.int32), 0) > 0


@jit
def by_filter(roughs, order, row, margin, others, long_count, kept, room: tl.constexpr, d: tl.constexpr):
    """The point that each row attends to, if float32 can tell; whether it can not, for some.

    `roughs` are the `kept` rounded points, `long_count` long ones first, in this `order`, and the rows' directions.
    A rounded score that leads by more than `margin` has won; the points that are not long score at most `others`.
    """
    top, place, rest = _rough_contest(roughs, roughs + d * room, row, long_count, room, d)
    unclear = top.to(tl.float64) - tl.maximum(rest.to(tl.float64), others) <= margin
    if _any(unclear):
        top, place, rest = _rough_contest(roughs, roughs + d * room, row, kept, room, d)
        unclear = top.to(tl.float64) - rest.to(tl.float64) <= margin
    return tl.load(order + place), _any(unclear)


@jit
def by_float64(tokens, points, directions, row, slack, count, d: tl.constexpr):
    """The point that each row attends to, and whether that is proved for all."""
    best, winner, second = _fine_contest(points, directions, row, count, d)
    floor = best - slack
    unclear = second >= floor
    if _any(unclear):
        unclear = _rivals(tokens, points, directions, row, winner, floor, count, d) > 0
    return winner, _any(unclear) == 0
