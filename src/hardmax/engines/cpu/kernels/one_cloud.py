"""One small cloud of distinct points walked by one thread, everything in cache, in proved floats.

Points come as columns, from the longest to the shortest or nearly so: `reach[p]` is at least the length of point p and
of all after it. As <y, x> is at most |y||x|, the furthest one along a direction is found among the first few. Once they
have moved they are in no order any more, but most have then chosen for ever and are not asked again.
"""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit

WIDTH = 8  # points scored at a time: columns are that many more than there are points
UNDECIDED = -2
_ROUNDING = 1 + 1e-9  # more than a product of norms and a dot product can differ by


class Rules(NamedTuple):
    """How a cloud is walked, and how far. The metric is empty for the identity; factors: `bounds.kernel_factors`."""

    metric: np.ndarray
    keep: float
    layers: int
    factors: np.ndarray


class Room(NamedTuple):
    """Memory for one cloud. Points are columns; row k of `chosen` gets the choices of layer k, its last row, where
    there are no more, those of all later layers; `since` gets the layer since which each point leads, or -1."""

    points: np.ndarray
    moved: np.ndarray
    reach: np.ndarray
    direction: np.ndarray
    scores: np.ndarray
    chosen: np.ndarray
    since: np.ndarray
    final: np.ndarray


@njit
def make_room(longest, dimension, layers):
    """Room for clouds of up to `longest` points, and for the choices of so many layers."""
    wide = longest + WIDTH
    return Room(
        np.zeros((dimension, wide)),
        np.empty((dimension, wide)),
        np.empty(wide),
        np.empty(dimension),
        np.empty(wide),
        np.empty((layers, longest), np.int32),
        np.empty(longest, np.int64),
        np.empty(longest, np.bool_),
    )


@njit(inline="always")
def _find_winner(room, count, along, slack):
    """The one point whose score along the direction is the largest by more than the slack, or -1."""
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
def _choose_all(room, count, rules, error, chosen):
    """Whom every point attends to that has not chosen for ever; False where floats do not prove it."""
    points, final, direction, metric = room.points, room.final, room.direction, rules.metric
    d = len(points)
    rounding, spread, tiny = rules.factors[0], rules.factors[1], rules.factors[2]
    largest = 0.0
    for i in range(count):
        square = 0.0
        for axis in range(d):
            square += points[axis, i] * points[axis, i]
        largest = max(largest, square)
    largest = np.sqrt(largest) + 2.0**-500
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
        size, along = np.sqrt(square) + 2.0**-500, (np.sqrt(along) + 2.0**-500) * _ROUNDING
        slack = rounding * size * largest + spread * (size * error + largest * error + error * error) + tiny
        winner = _find_winner(room, count, along, slack)
        if winner < 0:
            return False, largest
        chosen[i] = winner
    return True, largest


@njit
def move(points, moved, count, chosen, share):
    """Every point moves towards the one that it attends to; `share` is what it keeps of the way."""
    for axis in range(len(points)):
        for i in range(count):
            target = points[axis, chosen[i]]
            moved[axis, i] = target + share * (points[axis, i] - target)
    for axis in range(len(points)):
        for i in range(count):
            points[axis, i] = moved[axis, i]


@njit
def walk(room, count, rules):
    """Walk until all follow leaders, at most as far as the rules say: (last layer or UNDECIDED, whether it is for ever,
    the error of the points there, what the next step would add to it)."""
    points, chosen, since, final, factors = room.points, room.chosen, room.since, room.final, rules.factors
    layer, error = 0, 0.0
    since[:count] = -1
    final[:count] = False
    while True:
        row = min(layer, len(chosen) - 1)
        for i in range(count if row > 0 else 0):
            chosen[row, i] = chosen[min(layer - 1, len(chosen) - 1), i]
        proved, largest = _choose_all(room, count, rules, error, chosen[row])
        if not proved or (layer == 0 and not factors[4] <= largest <= factors[5]):
            return UNDECIDED, False, error, 0.0
        for i in range(count):
            if chosen[row, i] == i and since[i] < 0:
                since[i] = layer
        pending = False
        for i in range(count):
            final[i] = since[chosen[row, i]] >= 0
            pending |= not final[i]
        if not pending or layer == rules.layers:
            return layer, not pending, error, factors[3] * largest
        move(points, room.moved, count, chosen[row], rules.keep)
        room.reach[:count] = np.inf
        error += factors[3] * largest
        layer += 1
