"""Kernels of the argmax search on a GPU: one pass in fp16 on tensor cores names a few tiles,
float64 decides there.

A filter score is the dot product of a direction and a point, both centred, scaled by powers of two
and rounded to fp16, accumulated in fp32. How far it can be from the float64 score is derived in
`hardmax._gpu.argmax`. Nothing of size n by n is stored: only the largest filter score of each row
in each tile of TILE points."""

from typing import Any

import triton
import triton.language

# pyright: reportMissingImports=false, reportInvalidTypeForm=false
# pyright: reportPossiblyUnboundVariable=false

jit: Any = triton.jit
tl: Any = triton.language
constexpr: Any = tl.constexpr

TILE = constexpr(128)  # points whose scores are kept as one maximum
ROWS = constexpr(128)  # directions of a program of the filter; they are padded to a multiple
MOST_TILES = constexpr(16)  # a row for which more tiles could matter is scored in full
BLOCK = constexpr(32)  # rows of a program that picks tiles
AT_ONCE = constexpr(64)  # tiles that it looks at at once
HEIGHTS = constexpr(1024)  # tiles whose heights are compared at once
# Places in `state`: the largest norm, how many rows are not proved, the reach about the centre, the
# norm of the centre, the largest squares of a scaled point and of what it lost by rounding, how
# many rows are to be scored again; and HEADER further the centre.
REACH, CENTRE_NORM, SQUARES, AGAIN, HEADER = (constexpr(place) for place in (2, 3, 4, 6, 8))
# Places in `constants`; the first three are those of `bounds.kernel_factors`.
ROUNDING, SPREAD, UNDERFLOW, ERROR, KEEP, ACCUMULATION, SUMMATION = (
    constexpr(place) for place in range(7)
)
# Parts of `rows`: the best filter score so far, that of the asker itself, 3 B + slack in units of
# the filter; B + slack in those of scores, the slack; and the norm that a point must have to be
# near the best, which is RISE times the best score, plus BASE.
BEST, ITSELF, MARGIN, LEAD, SLACK, RISE, BASE = (constexpr(place) for place in range(7))


@jit
def scale_of(top):
    """A power of two that brings numbers of size `top` to between 1/2 and 1, clear of overflow."""
    exponent = (top.to(tl.int64, bitcast=True) >> 52) & 2047
    exponent = tl.minimum(tl.maximum(exponent, 23), 2023)
    return ((2045 - exponent) << 52).to(tl.float64, bitcast=True)


@jit
def norm(square):
    """Upper bounds, even where squares underflow."""
    return tl.sqrt(square) + 2.0**-500


@jit
def slack_of(size, largest, error, constants):
    """By how much the choice of a point of this norm must lead: 2 E_i of `bounds`, summed as the
    processor does."""
    rounding, spread = tl.load(constants + ROUNDING), tl.load(constants + SPREAD)
    slack = rounding * size * largest + spread * (size * error + largest * error + error * error)
    return slack + tl.load(constants + UNDERFLOW)


@jit
def frame_points(low, high, longest, state, d: constexpr, width: constexpr):
    """From the smallest and largest coordinates and the largest norm: the centre, and the reach
    about it."""
    axis = tl.arange(0, width)
    lowest = tl.load(low + axis, mask=axis < d, other=0.0)
    highest = tl.load(high + axis, mask=axis < d, other=0.0)
    centre = lowest + (highest - lowest) * 0.5
    reach = tl.max(highest - centre, 0)
    largest = tl.load(longest)
    tl.store(state, largest + 2.0**-500)
    tl.store(state + 1, 0.0)
    # Less than this is rounding: a cloud in one place is not blown up to a cloud of noise.
    tl.store(state + REACH, tl.maximum(reach, largest * 2.0**-40))
    # A sum of absolute values is no less than the norm, and does not underflow.
    tl.store(state + CENTRE_NORM, tl.sum(tl.abs(centre), 0))
    tl.store(state + SQUARES + tl.arange(0, 2), tl.zeros((2,), dtype=tl.float64))
    tl.store(state + HEADER + axis, centre)


@jit
def round_points(
    points,
    order,
    state,
    rounded,
    count,
    padded,
    d: constexpr,
    width: constexpr,
    block: constexpr,
):
    """Points in their order about the centre, scaled, in fp16; the last one repeated as padding."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    source = tl.load(order + tl.minimum(row, count - 1))
    axis = tl.arange(0, width)
    x = tl.load(points + source[:, None] * d + axis[None, :], mask=(axis < d)[None, :], other=0.0)
    x -= tl.load(state + HEADER + axis)[None, :]
    x *= scale_of(tl.load(state + REACH))
    half = x.to(tl.float32).to(tl.float16)
    tl.store(
        rounded + row.to(tl.int64)[:, None] * width + axis[None, :],
        half,
        mask=(row < padded)[:, None],
    )
    lost = half.to(tl.float64) - x
    tl.atomic_max(state + SQUARES, tl.max(tl.sum(x * x, 1), 0))
    tl.atomic_max(state + SQUARES + 1, tl.max(tl.sum(lost * lost, 1), 0))


@jit
def _filter_bound(size, lost, state, constants, point_scale):
    """B of `argmax` for directions of these norms, which lost so much: how far a filter score can
    be off."""
    point = tl.sqrt(tl.load(state + SQUARES))
    point_lost = tl.sqrt(tl.load(state + SQUARES + 1))
    away = tl.load(state + CENTRE_NORM) * point_scale + point
    bound = size * point_lost + lost * (point + point_lost)
    bound += tl.load(constants + ACCUMULATION) * (size + lost) * (point + point_lost)
    bound += tl.load(constants + SUMMATION) * size * away
    return bound * 1.001 + 1e-30


@jit
def round_directions(
    askers,
    directions,
    source,
    own,
    state,
    constants,
    rounded,
    rows,
    count,
    room,
    d: constexpr,
    width: constexpr,
    block: constexpr,
):
    """Directions of the askers in `source`, each with a scale of its own, in fp16, and the parts of
    `rows`. Askers are points, in the places `own`."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = row < count
    padding = row < room
    axis = tl.arange(0, width)
    here = inside[:, None] & (axis < d)[None, :]
    at = tl.load(source + row, mask=inside, other=0)[:, None] * d + axis[None, :]
    asker = tl.load(askers + at, mask=here, other=0.0)
    slack = slack_of(
        norm(tl.sum(asker * asker, 1)), tl.load(state), tl.load(constants + ERROR), constants
    )
    y = tl.load(directions + at, mask=here, other=0.0)
    scale = scale_of(tl.max(tl.abs(y), 1))
    y = y * scale[:, None]
    half = y.to(tl.float32).to(tl.float16)
    tl.store(
        rounded + row.to(tl.int64)[:, None] * width + axis[None, :], half, mask=padding[:, None]
    )
    lost = half.to(tl.float64) - y
    point_scale = scale_of(tl.load(state + REACH))
    size = tl.sqrt(tl.sum(y * y, 1))
    bound = _filter_bound(size, tl.sqrt(tl.sum(lost * lost, 1)), state, constants, point_scale)
    centre = tl.load(state + HEADER + axis)[None, :]
    itself = tl.sum(y * ((asker - centre) * point_scale), 1)
    itself = tl.where(inside, itself, float("inf"))  # padding needs no tile
    tl.store(rows + BEST * room + row, itself, mask=padding)
    tl.store(rows + ITSELF * room + row, itself, mask=padding)
    # A slack beyond fp32 makes every tile a candidate.
    margin = tl.minimum((3 * bound + slack * scale * point_scale) * 1.000001, 3e38)
    tl.store(rows + MARGIN * room + row, margin, mask=padding)
    tl.store(rows + LEAD * room + row, slack + bound / scale / point_scale, mask=padding)
    tl.store(rows + SLACK * room + row, slack, mask=padding)
    size += 2.0**-500
    base = tl.sum(y * centre, 1) - margin / point_scale
    tl.store(rows + RISE * room + row, 1.0 / point_scale / size, mask=padding)
    tl.store(rows + BASE * room + row, base / size, mask=padding)
    if tl.program_id(0) == 0:
        tl.store(state + AGAIN, 0.0)


@jit
def _needed_norm(rows, room, row):
    """The norm that a point must have to be near the best of its row so far."""
    best = tl.load(rows + BEST * room + row)
    return best * tl.load(rows + RISE * room + row) + tl.load(rows + BASE * room + row)


@jit
def _heights(lengths, tile, tiles):
    """At least the norms of the points from these tiles on, if points are in order of their norms;
    a norm in float32 is off by 2^-24 of itself, or by less than 2^-126."""
    first = tl.load(lengths + tile.to(tl.int64) * TILE, mask=tile < tiles, other=0.0)
    height = first.to(tl.float64) * (1 + 2.0**-22) + 2.0**-125
    return tl.where(tile < tiles, height, float("-inf"))


@jit
def tile_maxima(
    directions,
    points,
    own,
    rows,
    lengths,
    maxima,
    count,
    room,
    tiles,
    width: constexpr,
    depth: constexpr,
    span: constexpr,
    descending: constexpr,
    causal: constexpr,
):
    """The largest filter score of each row in each tile, `maxima[tile, row]`, and in all.

    A program does `span` tiles, and takes `depth` of the `width` axes at once; directions no wider
    stay in registers. No point is compared with itself. If points come in order of descending
    norms, tiles of which no point is long enough are left out; with a causal mask, those behind."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    axis = tl.arange(0, depth)
    y_at = directions + row.to(tl.int64)[:, None] * width + axis[None, :]
    itself = tl.load(own + row, mask=row < count, other=-1).to(tl.int32)
    final = tl.max(itself, 0)
    begin = tl.min(tl.where(row < count, itself, final), 0)
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    if descending:
        needed = tl.min(_needed_norm(rows, room, row), 0)
        enough = _heights(lengths, first + tl.arange(0, span), tiles) >= needed
        last = tl.minimum(last, first + tl.sum(enough.to(tl.int32), 0))
    if causal:
        last = tl.minimum(last, final // TILE + 1)
    out = maxima + first.to(tl.int64) * room + row
    highest = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    y = tl.load(y_at)
    # Tiles before the askers of these rows, those that hold them, and those behind: in loops of
    # their own, because a branch in the loop would keep tensor cores waiting.
    low = tl.minimum(tl.maximum(begin // TILE, first), last)
    high = tl.maximum(tl.minimum(final // TILE + 1, last), low)
    for part in tl.static_range(3):
        if part == 0:
            start, stop = first, low
        elif part == 1:
            start, stop = low, high
        else:
            start, stop = high, last
        for t in range(start, stop):
            column = tl.arange(0, TILE) + t * TILE
            x_at = points + column.to(tl.int64)[None, :] * width + axis[:, None]
            if width == depth:
                scores = tl.dot(y, tl.load(x_at))
            else:
                scores = tl.zeros((ROWS, TILE), dtype=tl.float32)
                for k in range(0, width, depth):
                    scores = tl.dot(tl.load(y_at + k), tl.load(x_at + k), scores)
            if part == 1 and causal:
                scores = tl.where(column[None, :] < itself[:, None], scores, float("-inf"))
            elif part == 1:
                scores = tl.where(column[None, :] != itself[:, None], scores, float("-inf"))
            top = tl.max(scores, 1)
            tl.store(out, top)
            highest = tl.maximum(highest, top)
            out += room
    tl.atomic_max(rows + BEST * room + row, highest.to(tl.float64))


@jit
def pick_tiles(
    order,
    source,
    own,
    lengths,
    maxima,
    rows,
    picked,
    again,
    state,
    winners,
    gaps,
    count,
    asked,
    room,
    tiles,
    descending: constexpr,
    causal: constexpr,
):
    """Tiles whose maximum is within the margin of the row's best: `picked[row]` has how many, and
    the first few.

    A row without any is near no point but itself, and stays. The others are listed in `again`."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = row < asked
    best = tl.load(rows + BEST * room + row)
    floor = (best - tl.load(rows + MARGIN * room + row)).to(tl.float32)
    itself = tl.load(own + row, mask=inside, other=-1)
    out = picked + row.to(tl.int64) * (MOST_TILES + 1)
    hit = tl.zeros((BLOCK,), dtype=tl.int32)
    last = tiles
    if descending:
        needed = _needed_norm(rows, room, row)
        lowest = tl.min(needed, 0)
        last = 0
        for first in range(0, tiles, HEIGHTS):
            enough = _heights(lengths, first + tl.arange(0, HEIGHTS), tiles) >= lowest
            last += tl.sum(enough.to(tl.int32), 0)
    if causal:
        last = tl.max(itself, 0).to(tl.int32) // TILE + 1
    for first in range(0, last, AT_ONCE):
        t = first + tl.arange(0, AT_ONCE)
        there = (t < last)[:, None] & inside[None, :]
        # What the filter has left out is left out here, too: the best score has only risen since.
        if descending:
            there = there & (_heights(lengths, t, tiles)[:, None] >= needed[None, :])
        if causal:
            there = there & (t[:, None] * TILE < itself[None, :])
        at = maxima + t.to(tl.int64)[:, None] * room + row[None, :]
        top = tl.load(at, mask=there, other=float("-inf"))
        hits = (there & (top >= floor[None, :])).to(tl.int32)
        these = tl.sum(hits, 0)
        if tl.max(these, 0) > 0:
            place = hit[None, :] + tl.cumsum(hits, 0)
            number = tl.broadcast_to(t[:, None], (AT_ONCE, BLOCK))
            tl.store(out[None, :] + place, number, mask=(hits > 0) & (place <= MOST_TILES))
        hit += these
    tl.store(out, hit)
    stays = inside & (hit == 0)
    goes = (inside & (hit > 0)).to(tl.int32)
    at = tl.load(source + row, mask=inside, other=0)
    lead = tl.load(rows + LEAD * room + row)
    tl.store(winners + at, tl.load(order + itself, mask=stays, other=0), mask=stays)
    tl.store(gaps + at, tl.where(count == 1, float("inf"), lead), mask=stays)
    before = tl.atomic_add(state + AGAIN, tl.sum(goes, 0).to(tl.float64)).to(tl.int32)
    tl.store(again + before + tl.cumsum(goes, 0) - 1, row, mask=goes > 0)


@jit
def _near(
    direction,
    points,
    column,
    count,
    itself,
    floor,
    width: constexpr,
    depth: constexpr,
    causal: constexpr,
):
    """Which points of a tile, but the asker itself, have a filter score of at least `floor`;
    direction and points are the rounded ones."""
    axis = tl.arange(0, depth)
    rough = tl.zeros((TILE,), dtype=tl.float32)
    for k in range(0, width, depth):
        x = tl.load(points + column[:, None] * width + k + axis[None, :]).to(tl.float32)
        rough += tl.sum(x * tl.load(direction + k + axis).to(tl.float32)[None, :], 1)
    near = (rough >= floor) & (column < count) & (column != itself)
    if causal:
        near = near & (column < itself)
    return near


@jit
def _fine_scores(direction, points, at, near, d: constexpr, width: constexpr, depth: constexpr):
    """Float64 scores of the points `at` these numbers that are near; -inf for the others."""
    axis = tl.arange(0, depth)
    fine = tl.zeros((TILE,), dtype=tl.float64)
    for k in range(0, width, depth):
        here = k + axis < d
        y = tl.load(direction + k + axis, mask=here, other=0.0)
        x = tl.load(
            points + at[:, None] * d + k + axis[None, :],
            mask=near[:, None] & here[None, :],
            other=0.0,
        )
        fine += tl.sum(x * y[None, :], 1)
    return tl.where(near, fine, float("-inf"))


@jit
def rescore(
    askers,
    directions,
    points,
    order,
    source,
    own,
    rough_directions,
    rough_points,
    rows,
    picked,
    again,
    state,
    constants,
    winners,
    gaps,
    moved,
    count,
    room,
    programs,
    d: constexpr,
    width: constexpr,
    depth: constexpr,
    causal: constexpr,
    moves: constexpr,
):
    """Rows that are not alone: the best of the points above the floor, and its lead; -inf if the
    row is to be scored in full. With `moves` the point of the row moves one layer on."""
    axis = tl.arange(0, width)
    for number in range(tl.program_id(0), tl.load(state + AGAIN).to(tl.int32), programs):
        place = tl.load(again + number).to(tl.int64)
        row = tl.load(source + place)
        itself = tl.load(own + place)
        mine = picked + place * (MOST_TILES + 1)  # how many tiles can win, and their numbers
        tiles = tl.load(mine)
        tiles = tl.where(tiles <= MOST_TILES, tiles, 0)
        floor = tl.load(rows + BEST * room + place) - tl.load(rows + MARGIN * room + place)
        floor = floor.to(tl.float32)
        direction, rough = directions + row * d, rough_directions + place * width
        stays = (tl.load(rows + ITSELF * room + place) >= floor) & (tiles > 0)
        winner = tl.where(stays, itself, 2**62)
        seen = stays.to(tl.int32)
        for t in range(0, tiles):
            column = tl.load(mine + 1 + t).to(tl.int64) * TILE + tl.arange(0, TILE)
            near = _near(rough, rough_points, column, count, itself, floor, width, depth, causal)
            winner = tl.minimum(winner, tl.min(tl.where(near, column, 2**62), 0))
            seen += tl.sum(near.to(tl.int32), 0)
        # All points below the floor trail by the lead: a point that is alone above it has won.
        gap = tl.where(seen > 0, tl.load(rows + LEAD * room + place), float("-inf"))
        gap = tl.where(seen == count, float("inf"), gap)
        if seen > 1:
            here = axis < d
            y = tl.load(direction + axis, mask=here, other=0.0)
            alone = tl.sum(y * tl.load(askers + row * d + axis, mask=here, other=0.0), 0)
            winner = tl.where(stays, itself, winner)
            top = tl.where(stays, alone, float("-inf"))
            second = tl.full((), float("-inf"), dtype=tl.float64)
            for t in range(0, tiles):
                column = tl.load(mine + 1 + t).to(tl.int64) * TILE + tl.arange(0, TILE)
                near = _near(
                    rough, rough_points, column, count, itself, floor, width, depth, causal
                )
                at = tl.load(order + column, mask=near, other=0)
                fine = _fine_scores(direction, points, at, near, d, width, depth)
                best = tl.max(fine, 0)
                best_at = tl.min(tl.where(near & (fine == best), column, 2**62), 0)
                rest = tl.max(tl.where(column == best_at, float("-inf"), fine), 0)
                second = tl.maximum(tl.maximum(second, rest), tl.minimum(best, top))
                winner = tl.where(best > top, best_at, winner)
                top = tl.maximum(top, best)
            leads = top - second > tl.load(rows + SLACK * room + place)
            gap = tl.where(leads, tl.minimum(gap, top - second), float("-inf"))
        if gap == float("-inf"):
            tl.atomic_add(state + 1, 1.0)
            tl.store(winners + row, -1)
        else:
            chosen = tl.load(order + winner)
            tl.store(winners + row, chosen)
            if moves:
                here = axis < d
                target = tl.load(points + chosen * d + axis, mask=here, other=0.0)
                way = tl.load(points + row * d + axis, mask=here, other=0.0) - target
                moves_to = target + tl.load(constants + KEEP) * way
                tl.store(moved + row * d + axis, moves_to, mask=here)
        tl.store(gaps + row, gap)
