"""Many small clouds at once on a GPU, each walked until it settles: one program a cloud, nothing of size n by n stored.

The arithmetic of `small_clouds` in its order, without fused operations: the same choices and the same bits. What a
program works with (see `walk_clouds`) is small enough to stay in the cache.

Equal tokens are not merged but recognised: most are left out by a glance at a table, and of those left in, one that
comes close to the winner and was equal to it at the start is the winner. The start is what counts: followers become
equal to their leader in floats, and are not.
"""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.cpu.kernels import small_clouds
from hardmax.engines.gpu.kernels.arranging import arrive, largest_square, norm, step_ahead
from hardmax.engines.gpu.kernels.asking import ask, leave
from hardmax.engines.gpu.kernels.entering import begin, enter
from hardmax.engines.gpu.kernels.language import jit, tl
from hardmax.engines.gpu.kernels.layout import CHOSEN, KEEP, LARGEST, SMALLEST, STEP, TABLE
from hardmax.engines.gpu.kernels.rounding import scale_of

UNDECIDED, WALKED = tl.constexpr(small_clouds.UNDECIDED), tl.constexpr(small_clouds.WALKED)


@jit
def _share_kept(powers, factors, asked, layer, layers):
    """The share of its way that a token keeps: in one layer, or where the cloud has settled, in all that are left."""
    share = tl.load(factors + KEEP)
    if asked == 0:
        share = tl.load(powers + layers - layer)
    return share


@jit
def _walk(
    tokens,
    points,
    ahead,
    directions,
    roughs,
    lists,
    leader_since,
    metric,
    powers,
    factors,
    count,
    layers,
    has_metric: tl.constexpr,
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
        going, kept = ask(
            tokens, points, directions, roughs, lists, leader_since, metric, factors, asked, count, kept, square, error,
            scale, layer, has_metric, room, slots, d,
        )  # fmt: skip
        state = tl.where(going, state, UNDECIDED)
        if going:
            asked = leave(lists, leader_since, asked, room)
            state = tl.where(asked == 0, layer, state)
            share = _share_kept(powers, factors, asked, layer, layers)
            going = (asked > 0) & (layer < layers)
            if going | (asked == 0):
                if share != 1.0:
                    step_ahead(points, ahead, lists + CHOSEN * room, count, share, d)
                # Also where the share is 1 by rounding: the true tokens have moved.
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
    room: tl.constexpr,
    slots: tl.constexpr,
    d: tl.constexpr,
):
    """Walk all clouds to layer `layers`: `points` are the tokens there, `settled` the layer, WALKED or UNDECIDED.

    For the cloud it is at, of at most `room` tokens, a program has: `fines`, float64, where tokens are a layer ahead,
    and their directions; `roughs` and `lists` as in `layout`. `queue` says which cloud is next: clouds settle sooner
    or later, and nobody has to wait for a slow one.
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
            lists + program * (TABLE * room + slots),
            leader_since + start,
            metric,
            powers,
            factors,
            count,
            layers,
            has_metric,
            room,
            slots,
            d,
        )
        tl.store(settled + cloud, state)
        tl.store(errors + cloud, error)
        cloud = tl.atomic_add(queue, 1)
