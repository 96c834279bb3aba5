"""Whom the tokens of a small cloud attend to at a layer, on a GPU: float32 where it can tell, else float64."""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.arranging import arrange, find_directions, norm, squares
from hardmax.engines.gpu.kernels.entering import find_twins, were_equal
from hardmax.engines.gpu.kernels.furthest import by_filter, by_float64
from hardmax.engines.gpu.kernels.language import jit, tl
from hardmax.engines.gpu.kernels.layout import ASKED, CHOSEN, FILTER, LONG, REACH, ROUNDING, ROWS, SPREAD, TINY


@jit
def _slack(size, longest, error, factors):
    """By how much a choice must lead: 2 E_i of `bounds`, counted in the order in which the processor does."""
    rounding, spread, tiny = tl.load(factors + ROUNDING), tl.load(factors + SPREAD), tl.load(factors + TINY)
    return rounding * size * longest + spread * (size * error + longest * error + error * error) + tiny


@jit
def _filter_bounds(size, slack, longest, short_square, scale, factors):
    """By how much a rounded score must lead, and what the short points score at most: see `gpu_batch`."""
    margin = (slack + tl.load(factors + FILTER) * size * longest) * scale * scale + 1e-30
    return margin, tl.load(factors + REACH) * size * norm(short_square) * scale * scale


@jit
def _note(tokens, lists, leader_since, row, winner, layer, room: tl.constexpr, d: tl.constexpr):
    """Write down what these tokens have chosen; whoever chose itself, or its equal, leads from this layer on."""
    tl.store(lists + CHOSEN * room + row, winner)
    since = tl.zeros(row.shape, dtype=tl.int64) + layer
    tl.store(leader_since + row, since, mask=were_equal(tokens, row, winner, d))


@jit
def ask(
    tokens,
    points,
    directions,
    roughs,
    lists,
    leader_since,
    metric,
    factors,
    asked,
    count,
    kept,
    square,
    error,
    scale,
    layer,
    has_metric: tl.constexpr,
    room: tl.constexpr,
    slots: tl.constexpr,
    d: tl.constexpr,
):
    """Fill in what those who are asked choose, and who leads from this layer on.

    Give back whether every choice is proved, and how many points are scored: -1 means that nobody looked for equal ones
    yet. That is done when float32 cannot tell who wins, because then they are often the reason.
    """
    longest, limit = norm(square), square * tl.load(factors + LONG)
    scored = tl.where(kept < 0, count, kept)
    long_count, short_square = arrange(points, roughs, lists, count, scored, limit, scale, room, d)
    proved = asked > 0  # true so far, in a form that the loop can change
    first = 0
    while proved & (first < asked):
        row = tl.load(lists + ASKED * room + tl.minimum(first + tl.arange(0, ROWS), asked - 1))
        find_directions(points, directions, roughs, row, metric, scale, has_metric, room, d)
        tl.debug_barrier()
        size = norm(squares(points, row, d))
        slack = _slack(size, longest, error, factors)
        margin, others = _filter_bounds(size, slack, longest, short_square, scale, factors)
        others = tl.where(long_count < scored, others, float("-inf"))
        winner, unclear = by_filter(roughs, lists, row, margin, others, long_count, scored, room, d)
        if unclear & (kept < 0):
            kept = find_twins(tokens, lists, count, room, slots, d)
            scored = kept
            long_count, short_square = arrange(points, roughs, lists, count, kept, limit, scale, room, d)
        else:
            if unclear:
                winner, proved = by_float64(tokens, points, directions, row, slack, count, d)
            _note(tokens, lists, leader_since, row, winner, layer, room, d)
            first += ROWS
    tl.debug_barrier()
    return proved, kept


@jit
def leave(lists, leader_since, asked, room: tl.constexpr):
    """Those who follow a leader are not asked again; how many still are."""
    left = 0
    for first in range(0, asked, ROWS):
        place = first + tl.arange(0, ROWS)
        row = tl.load(lists + ASKED * room + tl.minimum(place, asked - 1))
        choice = tl.load(lists + CHOSEN * room + row)
        stays = (place < asked) & (tl.load(leader_since + choice) < 0)
        tl.debug_barrier()
        tl.store(lists + ASKED * room + left + tl.cumsum(stays.to(tl.int32), 0) - 1, row, mask=stays)
        left += tl.sum(stays.to(tl.int32), 0)
    tl.debug_barrier()
    return left
