"""Many small clouds in one kernel, one thread a cloud, everything in cache, in proved floats.

Repeated tokens are merged first. Points come as columns, from the longest to the shortest or nearly
so: `reach[p]` is at least the length of point p and of all after it. As <y, x> is at most |y||x|,
the furthest one along a direction is found among the first few. Once they have moved they are
nearly in that order still, and most have chosen for ever and are not searched again. A cloud in
which floats do not prove some choice is left to integers."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hardmax._common.progress import Reporting
from hardmax._exact.vectors import power
from hardmax._float.bounds import float_metric, kernel_factors
from hardmax._float.search import CPU, Cpu
from hardmax._kernels.compiling import interpreted, njit, njit_parallel
from hardmax._tokens.points import find_equal_rows, table_size
from hardmax.dynamics import Dynamics

# Products of coordinates of one cloud, up to a nanosecond each: a kernel cannot be interrupted.
_MOST = 5 * 10**8
WIDTH = 8  # points scored at a time: columns are that many more than there are points
WALKED, UNDECIDED = -1, -2
ROUNDING = 1 + 1e-9  # more than a product of norms and a dot product can differ by


class Rules(NamedTuple):
    """How a cloud is walked, and how far. The metric is empty for the identity; factors:
    `bounds.kernel_factors`."""

    metric: np.ndarray
    contraction: float
    layers: int
    factors: np.ndarray


class Room(NamedTuple):
    """Memory for one cloud. Points are columns; `chosen` gets what each point attends to at the
    layer that is walked, `since` the layer since which it leads, or -1."""

    points: np.ndarray
    moved: np.ndarray
    reach: np.ndarray
    direction: np.ndarray
    scores: np.ndarray
    chosen: np.ndarray
    since: np.ndarray
    final: np.ndarray


@njit(inline="always")
def make_room(longest, dimension):
    """Room for clouds of up to `longest` points."""
    wide = longest + WIDTH
    points, moved = np.zeros((dimension, wide)), np.empty((dimension, wide))
    reach, direction, scores = np.empty(wide), np.empty(dimension), np.empty(wide)
    chosen, since = np.empty(longest, np.int32), np.empty(longest, np.int64)
    return Room(points, moved, reach, direction, scores, chosen, since, np.empty(longest, np.bool_))


@njit(inline="always")
def _find_winner(room, count, along, slack):
    """The one point whose score along the direction is the largest by more than the slack, or
    -1."""
    points, reach, direction, scores = room.points, room.reach, room.direction, room.scores
    best, scored = -np.inf, 0
    while scored < count and along * reach[scored] >= best - slack:
        first = direction[0]
        for j in range(scored, scored + WIDTH):
            scores[j] = first * points[0, j]
        for axis in range(1, len(points)):
            further = direction[axis]
            for j in range(scored, scored + WIDTH):
                scores[j] += further * points[axis, j]
        for j in range(count, scored + WIDTH):
            scores[j] = -np.inf
        # Four chains side by side: one chain would wait for itself.
        a = b = c = e = best
        for j in range(scored, scored + WIDTH, 4):
            a = scores[j] if scores[j] > a else a
            b = scores[j + 1] if scores[j + 1] > b else b
            c = scores[j + 2] if scores[j + 2] > c else c
            e = scores[j + 3] if scores[j + 3] > e else e
        best = max(max(a, b), max(c, e))
        scored += WIDTH
    floor, close, winner = best - slack, 0, -1
    for j in range(scored):
        close += scores[j] >= floor
        winner = j if scores[j] >= floor else winner
    return winner if close == 1 else -1


@njit
def _choose_all(room, count, rules, error):
    """What every point attends to that has not chosen for ever; False where floats do not prove
    it."""
    points, final, direction, metric = room.points, room.final, room.direction, rules.metric
    d = len(points)
    rounding, spread, tiny = rules.factors[0], rules.factors[1], rules.factors[2]
    largest = room.reach[0]
    for i in range(count):
        if final[i]:
            continue
        square, along = 0.0, 0.0
        for row in range(d):
            square += points[row, i] * points[row, i]
            if len(metric) == 0:
                direction[row] = points[row, i]
            else:
                direction[row] = 0.0
                for axis in range(d):
                    direction[row] += metric[row, axis] * points[axis, i]
            along += direction[row] * direction[row]
        size, along = np.sqrt(square) + 2.0**-500, (np.sqrt(along) + 2.0**-500) * ROUNDING
        slack = (
            rounding * size * largest
            + spread * (size * error + largest * error + error * error)
            + tiny
        )
        winner = _find_winner(room, count, along, slack)
        if winner < 0:
            return False
        room.chosen[i] = winner
    return True


@njit
def _move(points, moved, count, chosen, share):
    """Every point moves towards the one that it attends to; `share` is what it keeps of the way."""
    for axis in range(len(points)):
        for i in range(count):
            target = points[axis, chosen[i]]
            moved[axis, i] = target + share * (points[axis, i] - target)
    for axis in range(len(points)):
        for i in range(count):
            points[axis, i] = moved[axis, i]


@njit
def _set_reach(points, reach, count):
    longest = 0.0
    for i in range(count - 1, -1, -1):
        square = 0.0
        for axis in range(len(points)):
            square += points[axis, i] * points[axis, i]
        longest = max(longest, square)
        reach[i] = np.sqrt(longest) + 2.0**-500


@njit(inline="always")
def _walk(room, count, rules):
    """Walk until all follow leaders, at most as far as the rules say: the layer at which they do,
    WALKED or UNDECIDED, and the error of the points from there on."""
    points, chosen, since, final = room.points, room.chosen, room.since, room.final
    factors, deepest = rules.factors, _MOST // (count * count * len(points))
    layer, error = 0, 0.0
    for i in range(count):
        since[i], final[i] = -1, False
    while True:
        largest, proved = room.reach[0], _choose_all(room, count, rules, error)
        is_measured = layer > 0 or factors[4] <= largest <= factors[5]
        if not proved or not is_measured or layer > deepest:
            return UNDECIDED, error
        for i in range(count):
            if chosen[i] == i and since[i] < 0:
                since[i] = layer
        pending = False
        for i in range(count):
            final[i] = since[chosen[i]] >= 0
            pending |= not final[i]
        if not pending:
            return layer, error + factors[3] * largest  # of a step of any length, all to leaders
        if layer == rules.layers:
            return WALKED, error
        _move(points, room.moved, count, chosen, rules.contraction)
        _set_reach(points, room.reach, count)
        error += factors[3] * largest
        layer += 1


class BatchOutcome(NamedTuple):
    """What the kernel found, token by token and cloud by cloud."""

    tokens: np.ndarray  # (total, d) where the cloud settled, or else at the last layer
    leader_since: np.ndarray  # (total,) -1: not a leader
    # (total,) the first token, counted in its cloud, at the leader that each follows; -1 where it
    # has not settled
    leader_of: np.ndarray
    # (clouds,) the layer; WALKED: not until the last; UNDECIDED: floats could not prove a choice,
    # or it would take long
    settled: np.ndarray
    errors: np.ndarray  # (clouds,) how far tokens can be from the truth, there and later


@njit
def _enter(tokens, firsts, count, room, column_of):
    """Bring the distinct tokens `firsts` into columns, from the longest to the shortest."""
    points, reach, chosen = room.points, room.reach, room.chosen
    for p in range(count):
        square = 0.0
        for axis in range(len(points)):
            square += tokens[firsts[p], axis] * tokens[firsts[p], axis]
        reach[p], chosen[p] = np.sqrt(square) + 2.0**-500, p
    gap = count
    while gap > 1:  # Shell's sort
        gap = max(1, 5 * gap // 11)
        for p in range(gap, count):
            length, point, column = reach[p], chosen[p], p
            while column >= gap and reach[column - gap] < length:
                reach[column], chosen[column] = reach[column - gap], chosen[column - gap]
                column -= gap
            reach[column], chosen[column] = length, point
    for column in range(count):
        p = chosen[column]
        column_of[p] = column
        for axis in range(len(points)):
            points[axis, column] = tokens[firsts[p], axis]


@njit_parallel(lambda offsets, *_: len(offsets) - 1)
def walk_clouds(first, last, offsets, tokens, bits, longest, slots, rules, outcome):
    """Walk clouds from the beginning to where they settle."""
    d = tokens.shape[1]
    table, of_token = np.empty(slots, np.int64), np.empty(longest, np.int64)
    firsts, column_of = np.empty(longest, np.int64), np.empty(longest, np.int64)
    room = make_room(longest, d)
    for b in range(first, last):
        start, end = offsets[b], offsets[b + 1]
        count = find_equal_rows(bits[start:end], table, of_token, firsts)
        _enter(tokens[start:end], firsts, count, room, column_of)
        settled, error = _walk(room, count, rules)
        outcome.settled[b], outcome.errors[b] = settled, error
        first_at = room.scores  # the first token of the point in a column
        for p in range(count):
            first_at[column_of[p]] = firsts[p]
        for t in range(end - start):
            column = column_of[of_token[t]]
            leader = np.int64(first_at[room.chosen[column]])
            outcome.leader_of[start + t] = leader if settled >= 0 else -1
            outcome.leader_since[start + t] = room.since[column]
            for axis in range(d):
                outcome.tokens[start + t, axis] = room.points[axis, column]


@njit_parallel(lambda offsets, *_: len(offsets) - 1)
def _approach(first, last, offsets, shares, leader_of, tokens):
    """Move tokens towards their leaders; the share of a cloud is what they keep of the way."""
    for b in range(first, last):
        start, share = offsets[b], shares[b]
        if share == 1.0:
            continue
        for t in range(start, offsets[b + 1]):
            leader = start + leader_of[t]
            for axis in range(tokens.shape[1]):
                target = tokens[leader, axis]
                tokens[t, axis] = target + share * (tokens[t, axis] - target)


_AT_ONCE = 4096  # clouds between two reports of progress
_SMALL = 2**14  # products of coordinates


def walk_batch(
    tokens: np.ndarray,
    offsets: np.ndarray,
    dynamics: Dynamics,
    layers: int,
    *,
    cpu: Cpu = CPU,
) -> BatchOutcome:
    """Walk every cloud `tokens[offsets[b]:offsets[b + 1]]` to where it settles, or to the last
    layer asked for."""
    tokens = tokens + 0.0  # -0.0 becomes 0.0: the same number must have the same bits
    sizes, count, dimension = np.diff(offsets), len(offsets) - 1, tokens.shape[1]
    since, leader_of = np.empty((2, len(tokens)), dtype=np.int64)
    settled, errors = np.empty(count, dtype=np.int64), np.empty(count)
    outcome = BatchOutcome(np.empty_like(tokens), since, leader_of, settled, errors)
    longest, metric = int(sizes.max()), float_metric(dynamics)
    clouds = (tokens, tokens.view(np.int64), longest, table_size(longest))
    matrix = np.empty((0, 0)) if metric.matrix is None else metric.matrix
    factors = np.array(kernel_factors(dimension, metric))
    rules = Rules(matrix, float(dynamics.contraction), layers, factors)
    report = Reporting("clouds")
    is_small = (sizes**2).sum() * dimension <= _SMALL
    for first in range(0, count, _AT_ONCE):
        last = min(first + _AT_ONCE, count)
        some = outcome._replace(settled=settled[first:last], errors=errors[first:last])
        with cpu.limited(), interpreted(walk_clouds, if_small=is_small):
            walk_clouds(offsets[first : last + 1], *clouds, rules, some)
        report(last, count)
    return outcome


def tokens_at(
    outcome: BatchOutcome, offsets: np.ndarray, contraction: Fraction, layer: int | None
) -> np.ndarray:
    """All tokens at a layer at which clouds have settled, or (None) at their limits; clouds that
    have not settled stay where they are."""
    shares, tokens = np.ones(len(offsets) - 1), outcome.tokens.copy()
    for settled in np.unique(outcome.settled[outcome.settled >= 0]).tolist():
        share = 0.0 if layer is None else power(contraction, layer - settled)
        shares[outcome.settled == settled] = float(share)
    with interpreted(walk_clouds, if_small=tokens.size <= _SMALL):
        _approach(offsets, shares, outcome.leader_of, tokens)
    return tokens
