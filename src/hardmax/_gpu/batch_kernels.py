"""Kernels for many small clouds on a GPU: one program a cloud, walked until it settles, nothing n
by n stored.

The arithmetic is that of `hardmax._float.batch` in its order,
without fused operations: the same choices and the same bits.
Who is furthest is looked for in float32 among the long points, then among all, then in float64.

Equal tokens are not merged but recognised: most are left out by a glance at a table, and of those
left in, one that comes close to the winner and was equal to it at the start is the winner. The
start is what counts: followers become equal to their leader in floats, and are not.

A program shares two arrays among its functions. `lists`, int32, has four parts of `room` numbers
for the tokens of a cloud, and a table: ORDER, the tokens as they are scored, the long ones first;
ASKED, who still has to choose; CHOSEN, whom each token attends to; TWINS, 1 for a token that is not
scored because an equal one is; TABLE, in which these are found. `roughs`, float32, has two parts of
`d` axes with `room` numbers each: the points, in ORDER, and where the tokens look, in their own
order."""

from hardmax._float import batch
from hardmax._gpu.argmax_kernels import constexpr, jit, norm, scale_of, slack_of, tl

# pyright: reportInvalidTypeForm=false

# Parts of `lists`, in units of `room`.
ORDER, ASKED, CHOSEN, TWINS, TABLE = (constexpr(part) for part in range(5))

# Places in `factors`: behind the three of `slack_of` the others of `bounds.kernel_factors`, then
# those of `batch`.
STEP, SMALLEST, LARGEST, KEEP, FILTER, REACH, LONG = (constexpr(place) for place in range(3, 10))

# A program is one warp; it asks as many tokens at once, and has room for a multiple of them.
WARP = 32
ROWS = constexpr(WARP)
# What else it does at a time: tokens, coordinates, and columns of scores, of which more would take
# registers from all.
TOKENS, FLAT, COLUMNS = constexpr(64), constexpr(256), constexpr(4)


@jit
def squares(points, token, d: constexpr):
    """The squared norm of each of these tokens, summed axis after axis."""
    square = tl.zeros(token.shape, dtype=tl.float64)
    for k in range(d):
        x = tl.load(points + token * d + k)
        square += x * x
    return square


@jit
def arrive(ahead, points, count, d: constexpr):
    """The points move to where they are ahead."""
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        tl.store(points + at, tl.load(ahead + at))
    tl.debug_barrier()


@jit
def step_ahead(points, ahead, chosen, count, share, d: constexpr):
    """Ahead, every point has gone towards the one that it chose, and keeps this share of the
    way."""
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        target = tl.load(points + tl.load(chosen + at // d) * d + at % d)
        tl.store(ahead + at, target + share * (tl.load(points + at) - target))
    tl.debug_barrier()


@jit
def largest_square(points, count, d: constexpr):
    """The largest square of a norm."""
    largest = tl.zeros((TOKENS,), dtype=tl.float64)
    for first in range(0, count, TOKENS):
        largest = tl.maximum(
            largest, squares(points, tl.minimum(first + tl.arange(0, TOKENS), count - 1), d)
        )
    return tl.max(largest, 0)


@jit
def arrange(points, roughs, lists, count, kept, limit, scale, room: constexpr, d: constexpr):
    """Round those to float32 that are scored, long ones first: how many these are, and the largest
    square of others."""
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
    points,
    directions,
    roughs,
    row,
    metric,
    scale,
    has_metric: constexpr,
    room: constexpr,
    d: constexpr,
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


@jit
def enter(tokens, ahead, leader_since, lists, count, room: constexpr, d: constexpr):
    """Copy a cloud, with 0.0 for -0.0: nobody leads yet, all are asked, and all are scored. Its
    largest coordinate."""
    for first in range(0, count, TOKENS):
        token = tl.minimum(first + tl.arange(0, TOKENS), count - 1)
        tl.store(leader_since + token, tl.full((TOKENS,), -1, dtype=tl.int64))
        tl.store(lists + ASKED * room + token, token)
        tl.store(lists + TWINS * room + token, tl.zeros((TOKENS,), dtype=tl.int32))
    reach = tl.zeros((FLAT,), dtype=tl.float64)
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        x = tl.load(tokens + at) + 0.0
        tl.store(ahead + at, x)
        reach = tl.maximum(reach, tl.abs(x))
    tl.debug_barrier()
    return tl.max(reach, 0)


@jit
def were_equal(tokens, one, other, d: constexpr):
    """Which tokens were equal to others at the start."""
    different = tl.zeros(one.shape, dtype=tl.int32)
    for k in range(d):
        different |= (tl.load(tokens + one * d + k) != tl.load(tokens + other * d + k)).to(tl.int32)
    return different == 0


@jit
def _slots(tokens, token, slots: constexpr, d: constexpr):
    """A place for each token in a table, the same for equal tokens."""
    key = tl.zeros(token.shape, dtype=tl.int64)
    for k in range(d):
        key = (
            key ^ (tl.load(tokens + token * d + k) + 0.0).to(tl.int64, bitcast=True)
        ) * 0x9E3779B97F4A7C1
        key ^= key >> 31
    return ((key >> 20) & (slots - 1)).to(tl.int32)


@jit
def find_twins(tokens, lists, count, room: constexpr, slots: constexpr, d: constexpr):
    """Mark tokens that need not be scored because an equal one is; how many are not marked.

    Whoever comes last into a place of the table is scored, and so is everybody who meets a stranger
    there."""
    twins, table = lists + TWINS * room, lists + TABLE * room
    for first in range(0, count, TOKENS):
        token = tl.minimum(first + tl.arange(0, TOKENS), count - 1)
        tl.store(table + _slots(tokens, token, slots, d), token)
    tl.debug_barrier()
    kept = count
    for first in range(0, count, TOKENS):
        token = first + tl.arange(0, TOKENS)
        source = tl.minimum(token, count - 1)
        other = tl.load(table + _slots(tokens, source, slots, d))
        twin = (token < count) & (other != token) & were_equal(tokens, source, other, d)
        tl.store(twins + token, twin.to(tl.int32), mask=token < count)
        kept -= tl.sum(twin.to(tl.int32), 0)
    tl.debug_barrier()
    return kept


@jit
def _fine_scores(points, directions, column, row, d: constexpr):
    scores = tl.zeros((column.shape[0], row.shape[0]), dtype=tl.float64)
    for k in range(d):
        scores += (
            tl.load(points + column * d + k)[:, None] * tl.load(directions + row * d + k)[None, :]
        )
    return scores


@jit
def _best_two(points, directions, row, count, rounded: constexpr, room: constexpr, d: constexpr):
    """The best score of each row among the first `count` points, the first that has it, and the
    best of the others."""
    best = tl.full(
        (COLUMNS, row.shape[0]), float("-inf"), dtype=tl.float32 if rounded else tl.float64
    )
    second = best
    at = tl.zeros(best.shape, dtype=tl.int32)
    for first in range(0, count, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        if rounded:
            scores = tl.zeros(best.shape, dtype=tl.float32)
            for k in range(d):
                x = tl.load(points + k * room + column)[:, None]
                y = tl.load(directions + k * room + row)[None, :]
                scores = tl.fma(
                    tl.broadcast_to(x, best.shape), tl.broadcast_to(y, best.shape), scores
                )
        else:
            scores = _fine_scores(points, directions, tl.minimum(column, count - 1), row, d)
        scores = tl.where((column < count)[:, None], scores, float("-inf"))
        second = tl.maximum(second, tl.minimum(best, scores))
        at = tl.where(scores > best, column[:, None], at)
        best = tl.maximum(best, scores)
    # Every COLUMNS-th point was compared with its like; no point is in two columns, so that the
    # winner names its own.
    top = tl.max(best, 0)
    winner = tl.min(tl.where(best == top[None, :], at, 2**30), 0)
    own = (best == top[None, :]) & (at == winner[None, :])
    return top, winner, tl.max(tl.where(own, second, best), 0)


@jit
def _rivals(tokens, points, directions, row, winner, floor, count, d: constexpr):
    """How many points reach the floor of each row that were not equal to its winner at the
    start."""
    rivals = tl.zeros(row.shape, dtype=tl.int32)
    for first in range(0, count, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        source = tl.minimum(column, count - 1)
        scores = _fine_scores(points, directions, source, row, d)
        other = tl.zeros(scores.shape, dtype=tl.int32)
        for k in range(d):
            x = tl.load(tokens + source * d + k)
            other |= (x[:, None] != tl.load(tokens + winner * d + k)[None, :]).to(tl.int32)
        rivals += tl.sum(
            tl.where((column < count)[:, None] & (scores >= floor[None, :]), other, 0), 0
        )
    return rivals


@jit
def _any(rows):
    return tl.max(rows.to(tl.int32), 0) > 0


@jit
def _by_float64(tokens, points, directions, row, slack, count, d: constexpr):
    """The point that each row attends to, and whether that is proved for all."""
    best, winner, second = _best_two(points, directions, row, count, False, 0, d)
    floor = best - slack
    unclear = second >= floor
    if _any(unclear):
        unclear = _rivals(tokens, points, directions, row, winner, floor, count, d) > 0
    return winner, _any(unclear) == 0


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
    has_metric: constexpr,
    room: constexpr,
    slots: constexpr,
    d: constexpr,
):
    """Fill in what those who are asked choose, and who leads from this layer on.

    Give back whether every choice is proved, and how many points are scored: -1 means that nobody
    looked for equal ones yet. That is done when float32 cannot tell who wins, because then they are
    often the reason."""
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
        slack = slack_of(size, longest, error, factors)
        # By how much a rounded score must lead, and what the short points score at most: see
        # `batch`.
        margin = (slack + tl.load(factors + FILTER) * size * longest) * scale * scale + 1e-30
        others = tl.load(factors + REACH) * size * norm(short_square) * scale * scale
        others = tl.where(long_count < scored, others, float("-inf"))
        top, place, rest = _best_two(roughs, roughs + d * room, row, long_count, True, room, d)
        close = top.to(tl.float64) - tl.maximum(rest.to(tl.float64), others) <= margin
        if _any(close):
            top, place, rest = _best_two(roughs, roughs + d * room, row, scored, True, room, d)
            close = top.to(tl.float64) - rest.to(tl.float64) <= margin
        winner, unclear = tl.load(lists + ORDER * room + place), _any(close)
        if unclear & (kept < 0):
            kept = find_twins(tokens, lists, count, room, slots, d)
            scored = kept
            long_count, short_square = arrange(
                points, roughs, lists, count, kept, limit, scale, room, d
            )
        else:
            if unclear:
                winner, proved = _by_float64(tokens, points, directions, row, slack, count, d)
            tl.store(lists + CHOSEN * room + row, winner)
            # Whoever chose itself, or its equal, leads from this layer on.
            since = tl.zeros(row.shape, dtype=tl.int64) + layer
            tl.store(leader_since + row, since, mask=were_equal(tokens, row, winner, d))
            first += ROWS
    tl.debug_barrier()
    return proved, kept


@jit
def leave(lists, leader_since, asked, room: constexpr):
    """Those who follow a leader are not asked again; how many still are."""
    left = 0
    for first in range(0, asked, ROWS):
        place = first + tl.arange(0, ROWS)
        row = tl.load(lists + ASKED * room + tl.minimum(place, asked - 1))
        choice = tl.load(lists + CHOSEN * room + row)
        stays = (place < asked) & (tl.load(leader_since + choice) < 0)
        tl.debug_barrier()
        tl.store(
            lists + ASKED * room + left + tl.cumsum(stays.to(tl.int32), 0) - 1, row, mask=stays
        )
        left += tl.sum(stays.to(tl.int32), 0)
    tl.debug_barrier()
    return left


UNDECIDED, WALKED = constexpr(batch.UNDECIDED), constexpr(batch.WALKED)


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
    has_metric: constexpr,
    room: constexpr,
    slots: constexpr,
    d: constexpr,
):
    """Walk all clouds to layer `layers`: `points` are the tokens there, `settled` the layer, WALKED
    or UNDECIDED.

    For the cloud it is at, of at most `room` tokens, a program has: `fines`, float64, where tokens
    are a layer ahead, and their directions; `roughs` and `lists`. `queue` holds the number of the
    next cloud: clouds settle sooner or later, and no program waits for a slow one."""
    program = tl.program_id(0).to(tl.int64)
    ahead = fines + program * 2 * room * d
    rough = roughs + program * 2 * room * d
    mine = lists + program * (TABLE * room + slots)
    cloud = tl.atomic_add(queue, 1)
    while cloud < clouds:
        start = tl.load(offsets + cloud)
        count = (tl.load(offsets + cloud + 1) - start).to(tl.int32)
        given, here, since = tokens + start * d, points + start * d, leader_since + start
        directions = ahead + room * d if has_metric else here
        reach = enter(given, ahead, since, mine, count, room, d)
        scale = scale_of(reach)
        error = tl.full((), 0.0, dtype=tl.float64)
        layer, asked, kept = 0, count, -1
        going = (reach >= tl.load(factors + SMALLEST)) & (reach <= tl.load(factors + LARGEST))
        state = tl.where(going, tl.full((), WALKED, dtype=tl.int64), UNDECIDED)
        while going:
            arrive(ahead, here, count, d)
            square = largest_square(here, count, d)
            going, kept = ask(
                given, here, directions, rough, mine, since, metric, factors, asked, count, kept,
                square, error, scale, layer, has_metric, room, slots, d,
            )  # fmt: skip
            state = tl.where(going, state, UNDECIDED)
            if going:
                asked = leave(mine, since, asked, room)
                state = tl.where(asked == 0, layer, state)
                share = tl.load(factors + KEEP)
                if asked == 0:  # for ever: all layers that are left at once
                    share = tl.load(powers + layers - layer)
                going = (asked > 0) & (layer < layers)
                if going | (asked == 0):
                    if share != 1.0:
                        step_ahead(here, ahead, mine + CHOSEN * room, count, share, d)
                    # Also where the share is 1 by rounding: the true tokens have moved.
                    error += tl.load(factors + STEP) * norm(square)
                layer += 1
        arrive(ahead, here, count, d)
        tl.store(settled + cloud, state)
        tl.store(errors + cloud, error)
        cloud = tl.atomic_add(queue, 1)
