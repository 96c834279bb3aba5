"""Many small clouds at once on a GPU, each walked until it settles: one program a cloud, nothing of size n by n stored.

The arithmetic of `small_clouds` in its order, without fused operations: the same choices and the same bits. What a
program works with (see `walk_clouds`) is small enough to stay in the cache.

Equal tokens are not merged but recognised: most are left out by a glance at a table, and of those left in, one that
comes close to the winner and was equal to it at the start is the winner. The start is what counts: followers become
equal to their leader in floats, and are not.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

from typing import Any

from hardmax.engines.kernels.gpu_arranging import arrange, arrive, largest_square, look_out, norm, squares
from hardmax.engines.kernels.gpu_entering import begin, enter, equal, find_twins
from hardmax.engines.kernels.gpu_furthest import by_filter, by_float64
from hardmax.engines.kernels.gpu_rounding import scale_of

jit: Any
try:
    import triton
    import triton.language as tl

    from hardmax.engines.kernels.gpu_entering import FLAT

    jit = triton.jit
    UNDECIDED, WALKED = tl.constexpr(-2), tl.constexpr(-1)  # as in `small_clouds`
    # Where a number is in `factors`.
    ROUNDING, SPREAD, TINY, STEP = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2), tl.constexpr(3)
    SMALLEST, LARGEST, KEEP = tl.constexpr(4), tl.constexpr(5), tl.constexpr(6)
    FILTER, REACH, LONG = tl.constexpr(7), tl.constexpr(8), tl.constexpr(9)
except ImportError:  # the file can be read without triton; `hardmax.engines.gpu_tensors` says what is missing
    jit = staticmethod


@jit
def _ask(
    tokens,
    points,
    looks,
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
    rows: tl.constexpr,
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
    many, short = arrange(points, roughs, lists, count, scored, limit, scale, room, d)
    proved = asked > 0
    first = 0
    while proved & (first < asked):
        row = tl.load(lists + room + tl.minimum(first + tl.arange(0, rows), asked - 1))
        look_out(points, looks, roughs, row, metric, scale, has_metric, room, d)
        tl.debug_barrier()
        size = norm(squares(points, row, d))
        slack = _slack(size, longest, error, factors)
        margin = (slack + tl.load(factors + FILTER) * size * longest) * scale * scale + 1e-30
        others = tl.load(factors + REACH) * size * norm(short) * scale * scale
        others = tl.where(many < scored, others, float("-inf"))
        winner, unclear = by_filter(roughs, lists, row, margin, others, many, scored, room, d)
        if unclear & (kept < 0):
            kept = find_twins(tokens, lists, count, room, slots, d)
            scored = kept
            many, short = arrange(points, roughs, lists, count, kept, limit, scale, room, d)
        else:
            if unclear:
                winner, proved = by_float64(tokens, points, looks, row, slack, count, d)
            tl.store(lists + 2 * room + row, winner)
            since = tl.zeros((rows,), dtype=tl.int64) + layer
            tl.store(leader_since + row, since, mask=equal(tokens, row, winner, d))
            first += rows
    tl.debug_barrier()
    return proved, kept


@jit
def _slack(size, longest, error, factors):
    """By how much a choice must lead, as in `small_clouds`."""
    rounding, spread, tiny = tl.load(factors + ROUNDING), tl.load(factors + SPREAD), tl.load(factors + TINY)
    return rounding * size * longest + spread * (size * error + longest * error + error * error) + tiny


@jit
def _leave(lists, leader_since, asked, rows: tl.constexpr, room: tl.constexpr):
    """Those who follow a leader are not asked again; how many are."""
    left = 0
    for first in range(0, asked, rows):
        place = first + tl.arange(0, rows)
        row = tl.load(lists + room + tl.minimum(place, asked - 1))
        choice = tl.load(lists + 2 * room + row)
        stays = (place < asked) & (tl.load(leader_since + choice) < 0)
        tl.debug_barrier()
        tl.store(lists + room + left + tl.cumsum(stays.to(tl.int32), 0) - 1, row, mask=stays)
        left += tl.sum(stays.to(tl.int32), 0)
    tl.debug_barrier()
    return left


@jit
def _move(points, ahead, chosen, count, share, d: tl.constexpr):
    """Ahead, every point has gone towards the one that it chose, and keeps a share of the way."""
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        target = tl.load(points + tl.load(chosen + at // d) * d + at % d)
        tl.store(ahead + at, target + share * (tl.load(points + at) - target))
    tl.debug_barrier()


@jit
def _walk(
    tokens,
    points,
    ahead,
    looks,
    roughs,
    lists,
    leader_since,
    metric,
    powers,
    factors,
    count,
    layers,
    has_metric: tl.constexpr,
    rows: tl.constexpr,
    room: tl.constexpr,
    slots: tl.constexpr,
    d: tl.constexpr,
):
    """Walk one cloud. Give back (settled at, or WALKED, or UNDECIDED; the running error)."""
    reach = enter(tokens, ahead, count, d)
    begin(leader_since, lists, count, room)
    tl.debug_barrier()
    scale = scale_of(reach)
    error = tl.full((), 0.0, dtype=tl.float64)
    layer, asked, kept = 0, count, -1
    going = (reach >= tl.load(factors + SMALLEST)) & (reach <= tl.load(factors + LARGEST))
    state = tl.where(going, tl.full((), WALKED, dtype=tl.int64), UNDECIDED)
    while going:
        arrive(ahead, points, count, d)
        square = largest_square(points, count, d)
        going, kept = _ask(
            tokens,
            points,
            looks,
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
            has_metric,
            rows,
            room,
            slots,
            d,
        )
        state = tl.where(going, state, UNDECIDED)
        if going:
            asked = _leave(lists, leader_since, asked, rows, room)
            state = tl.where(asked == 0, layer, state)
            share = tl.load(factors + KEEP)
            if asked == 0:
                share = tl.load(powers + layers - layer)
            going = (asked > 0) & (layer < layers)
            if (going | (asked == 0)) & (share != 1.0):
                _move(points, ahead, lists + 2 * room, count, share, d)
                error += tl.load(factors + STEP) * norm(square)
            layer += 1
    arrive(ahead, points, count, d)
    return state, error


@jit
def walk_clouds(
    tokens,
    offsets,
    metric,
    powers,
    factors,
    points,
    leader_since,
    settled,
    errors,
    fines,
    roughs,
    lists,
    queue,
    clouds,
    layers,
    has_metric: tl.constexpr,
    rows: tl.constexpr,
    room: tl.constexpr,
    slots: tl.constexpr,
    d: tl.constexpr,
):
    """Walk all clouds to layer `layers`: `points` are the tokens there, `settled` the layer, WALKED or UNDECIDED.

    For the cloud it is at, of at most `room` tokens, a program has: `fines`, float64, where tokens are a layer ahead,
    and where they look; `roughs`, float32, the same two for the filter, of this layer, axis by axis; `lists`, the order
    in which it has them, who is asked, what everybody has chosen, who is not scored, and a table. `queue` says which
    cloud is next: clouds settle sooner or later, and nobody has to wait for a slow one.
    """
    program = tl.program_id(0).to(tl.int64)
    ahead = fines + program * 2 * room * d
    cloud = tl.atomic_add(queue, 1)
    while cloud < clouds:
        start = tl.load(offsets + cloud)
        count = (tl.load(offsets + cloud + 1) - start).to(tl.int32)
        here = points + start * d
        state, error = _walk(
            tokens + start * d,
            here,
            ahead,
            ahead + room * d if has_metric else here,
            roughs + program * 2 * room * d,
            lists + program * (4 * room + slots),
            leader_since + start,
            metric,
            powers,
            factors,
            count,
            layers,
            has_metric,
            rows,
            room,
            slots,
            d,
        )
        tl.store(settled + cloud, state)
        tl.store(errors + cloud, error)
        cloud = tl.atomic_add(queue, 1)
