"""One small cloud of distinct points walked by one thread, everything in cache, in proved floats.

Points come as columns, from the longest to the shortest or nearly so: `reach[p]` is at least the length of point p and
of all after it. As <y, x> is at most |y||x|, the furthest one along a direction is found among the first few. Once they
have moved they are in no order any more, but most have then chosen for ever and are not asked again.
"""

import numpy as np

from hardmax.compiling import njit

WIDTH = 8  # points scored at a time: columns are that many more than there are points
UNDECIDED = -2
_ROUNDING = 1 + 1e-9  # more than a product of norms and a dot product can differ by


@njit(inline="always")
def _find_winner(points, count, reach, look, along, slack, scores):
    """The one point whose score along `look` is the largest by more than the slack; -1 if there is no such point."""
    best, scored = -np.inf, 0
    while scored < count and along * reach[scored] >= best - slack:
        first = look[0]
        for j in range(scored, scored + WIDTH):
            scores[j] = first * points[0, j]
        for axis in range(1, len(points)):
            further = look[axis]
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
def _choose_all(points, count, reach, metric, final, error, factors, look, scores, chosen):
    """Whom every point attends to that has not chosen for ever; False where floats do not prove it."""
    d = len(points)
    rounding, spread, tiny = factors[0], factors[1], factors[2]
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
                look[row] = points[row, i]
            else:
                look[row] = 0.0
                for axis in range(d):
                    look[row] += metric[row, axis] * points[axis, i]
            along += look[row] * look[row]
        size, along = np.sqrt(square) + 2.0**-500, (np.sqrt(along) + 2.0**-500) * _ROUNDING
        slack = rounding * size * largest + spread * (size * error + largest * error + error * error) + tiny
        winner = _find_winner(points, count, reach, look, along, slack, scores)
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
def walk(points, moved, count, reach, metric, keep, layers, factors, look, scores, chosen, since, final):
    """Walk until all follow leaders, at most to layer `layers`: (last layer or UNDECIDED, whether it is for ever, the
    error of the points there, what the next step would add to it).

    Row k of `chosen` gets the choices of layer k; its last row, where there are no more, those of all later layers.
    `since` gets the layer since which each point leads, or -1. The factors are those of `bounds.kernel_factors`.
    """
    layer, error = 0, 0.0
    since[:count] = -1
    final[:count] = False
    while True:
        row = min(layer, len(chosen) - 1)
        for i in range(count if row > 0 else 0):
            chosen[row, i] = chosen[min(layer - 1, len(chosen) - 1), i]
        proved, largest = _choose_all(points, count, reach, metric, final, error, factors, look, scores, chosen[row])
        if not proved or (layer == 0 and not factors[4] <= largest <= factors[5]):
            return UNDECIDED, False, error, 0.0
        for i in range(count):
            if chosen[row, i] == i and since[i] < 0:
                since[i] = layer
        pending = False
        for i in range(count):
            final[i] = since[chosen[row, i]] >= 0
            pending |= not final[i]
        if not pending or layer == layers:
            return layer, not pending, error, factors[3] * largest
        move(points, moved, count, chosen[row], keep)
        reach[:count] = np.inf
        error += factors[3] * largest
        layer += 1
