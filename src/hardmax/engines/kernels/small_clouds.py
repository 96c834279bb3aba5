"""Many small clouds at once, each walked until it settles: one thread a cloud, everything in cache.

A kernel of proved floats (`hardmax.engines.bounds`): a cloud in which some choice is not proved is given up, and left
to integers. Repeated tokens are merged first. Tokens that follow a leader have chosen for ever and are not asked again.
"""

import numpy as np
from numba import njit, prange

from hardmax.tokens.merging import find_equal_rows

CLOUDS = 32  # a task for a thread
UNDECIDED, WALKED = -2, -1


@njit(cache=True, nogil=True)
def _choose(points, count, i, metric, look, scores, size, largest, error, rounding, spread, tiny):
    """The point that point i attends to, if floats prove it; else -1."""
    d = len(points)
    for row in range(d):
        if len(metric) == 0:
            look[row] = points[row, i]
        else:
            look[row] = 0.0
            for axis in range(d):
                look[row] += metric[row, axis] * points[axis, i]
    first = look[0]
    for j in range(count):
        scores[j] = first * points[0, j]
    for axis in range(1, d):
        along = look[axis]
        for j in range(count):
            scores[j] += along * points[axis, j]
    a = b = c = e = -np.inf
    whole = count // 4 * 4
    for j in range(0, whole, 4):
        a = scores[j] if scores[j] > a else a
        b = scores[j + 1] if scores[j + 1] > b else b
        c = scores[j + 2] if scores[j + 2] > c else c
        e = scores[j + 3] if scores[j + 3] > e else e
    for j in range(whole, count):
        a = scores[j] if scores[j] > a else a
    best = max(max(a, b), max(c, e))
    slack = rounding * size * largest + spread * (size * error + largest * error + error * error) + tiny
    floor = best - slack
    found = -1
    close = 0
    for j in range(count):
        if scores[j] >= floor:
            found = j
            close += 1
    return found if close == 1 else -1


@njit(cache=True, nogil=True)
def _norm(points, i):
    square = 0.0
    for axis in range(len(points)):
        square += points[axis, i] * points[axis, i]
    return np.sqrt(square) + 2.0**-500


@njit(cache=True, nogil=True)
def _walk(points, moved, count, metric, keep, powers, layers, chosen, since, final, look, scores, factors):
    """Walk one cloud in place to layer `layers`. Give back (settled at, or WALKED, or UNDECIDED; the running error)."""
    rounding, spread, tiny, step, error = factors[0], factors[1], factors[2], factors[3], 0.0
    d = len(points)
    reach = 0.0
    for axis in range(d):
        for i in range(count):
            reach = max(reach, abs(points[axis, i]))
    if not factors[4] <= reach <= factors[5]:
        return UNDECIDED, error
    since[:count] = -1
    final[:count] = False
    for layer in range(layers + 1):
        largest = 0.0
        for i in range(count):
            largest = max(largest, _norm(points, i))
        for i in range(count):
            if not final[i]:
                c = _choose(
                    points, count, i, metric, look, scores, _norm(points, i), largest, error, rounding, spread, tiny
                )
                if c < 0:
                    return UNDECIDED, error
                chosen[i] = c
        for i in range(count):
            if chosen[i] == i and since[i] < 0:
                since[i] = layer
        pending = False
        for i in range(count):
            final[i] = since[chosen[i]] >= 0
            pending |= not final[i]
        if pending and layer == layers:
            return WALKED, error
        share = keep if pending else powers[layers - layer]
        if share != 1.0:
            for axis in range(d):
                for i in range(count):
                    target = points[axis, chosen[i]]
                    moved[axis, i] = target + share * (points[axis, i] - target)
            points[:, :count] = moved[:, :count]
            error += step * largest
        if not pending:
            return layer, error
    return WALKED, error


@njit(parallel=True, cache=True, nogil=True)
def walk_clouds(
    tokens, bits, offsets, metric, keep, powers, layers, factors, longest, slots, out, settled, leader_since, errors
):
    """Walk all clouds to layer `layers`; `out` gets the tokens there, `settled` the layer, WALKED or UNDECIDED."""
    clouds = len(offsets) - 1
    d = tokens.shape[1]
    for task in prange((clouds + CLOUDS - 1) // CLOUDS):
        table = np.empty(slots, np.int64)
        of_token, first = np.empty(longest, np.int64), np.empty(longest, np.int64)
        points, moved = np.empty((d, longest)), np.empty((d, longest))
        chosen, since = np.empty(longest, np.int64), np.empty(longest, np.int64)
        final = np.empty(longest, np.bool_)
        look, scores = np.empty(d), np.empty(longest)
        for b in range(task * CLOUDS, min((task + 1) * CLOUDS, clouds)):
            start, end = offsets[b], offsets[b + 1]
            count = find_equal_rows(tokens[start:end], bits[start:end], table, of_token, first)
            for axis in range(d):
                for p in range(count):
                    points[axis, p] = tokens[start + first[p], axis]
            settled[b], errors[b] = _walk(
                points, moved, count, metric, keep, powers, layers, chosen, since, final, look, scores, factors
            )
            for t in range(end - start):
                leader_since[start + t] = since[of_token[t]]
                for axis in range(d):
                    out[start + t, axis] = points[axis, of_token[t]]
