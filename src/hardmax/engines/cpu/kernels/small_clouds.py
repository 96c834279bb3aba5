"""Many small clouds at once, each walked until it settles, one thread a cloud (`one_cloud`).

Repeated tokens are merged first. A cloud in which floats do not prove some choice is given up, and left to integers.
"""

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.cpu.kernels.one_cloud import UNDECIDED, WIDTH, move, walk
from hardmax.tokens.kernels.merging import find_equal_rows

CLOUDS = 32  # a task for a thread
LEVELS = 32  # of length
WALKED = -1  # to the layer asked for, and not settled


@njit
def _enter(tokens, first, count, lengths, places, order, points, reach):
    """Bring the distinct tokens `first` into columns, from the longest to the shortest, as far as LEVELS tell."""
    d = len(points)
    longest = 0.0
    for p in range(count):
        square = 0.0
        for axis in range(d):
            square += tokens[first[p], axis] * tokens[first[p], axis]
        lengths[p] = np.sqrt(square) + 2.0**-500
        longest = max(longest, lengths[p])
    places[:] = 0
    for p in range(count):
        places[_level(lengths[p], longest) + 1] += 1
    for level in range(1, LEVELS + 1):
        places[level] += places[level - 1]
    for p in range(count):
        level = _level(lengths[p], longest)
        column = places[level]
        places[level] += 1
        order[p], reach[column] = column, longest * (1.0 - level / LEVELS)
        for axis in range(d):
            points[axis, column] = tokens[first[p], axis]


@njit(inline="always")
def _level(length, longest):
    share = length / longest
    # Lengths may have overflown; `walk` then gives the cloud up.
    return min(LEVELS - 1, np.int64((1.0 - share) * LEVELS)) if share <= 1.0 else 0


@spread(lambda tokens, bits, offsets, *_: -(-(len(offsets) - 1) // CLOUDS))
def walk_clouds(
    first_task,
    last_task,
    tokens,
    bits,
    offsets,
    metric,
    keep,
    powers,
    layers,
    factors,
    longest,
    slots,
    out,
    settled,
    leader_since,
    errors,
):
    """Walk all clouds to layer `layers`; `out` gets the tokens there, `settled` the layer, WALKED or UNDECIDED."""
    clouds = len(offsets) - 1
    d = tokens.shape[1]
    room = longest + WIDTH
    for task in range(first_task, last_task):
        table, places = np.empty(slots, np.int64), np.empty(LEVELS + 1, np.int64)
        of_token, first, order = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
        points, moved, reach, lengths = np.zeros((d, room)), np.empty((d, room)), np.empty(room), np.empty(longest)
        chosen, since = np.empty((1, longest), np.int64), np.empty(longest, np.int64)
        final = np.empty(longest, np.bool_)
        look, scores = np.empty(d), np.empty(room)
        for b in range(task * CLOUDS, min((task + 1) * CLOUDS, clouds)):
            start, end = offsets[b], offsets[b + 1]
            count = find_equal_rows(tokens[start:end], bits[start:end], table, of_token, first)
            _enter(tokens[start:end], first, count, lengths, places, order, points, reach)
            layer, for_ever, error, more = walk(
                points, moved, count, reach, metric, keep, layers, factors, look, scores, chosen, since, final
            )
            share = powers[layers - layer] if for_ever else 1.0
            if share != 1.0:
                move(points, moved, count, chosen[0], share)
                error += more
            settled[b] = layer if for_ever or layer == UNDECIDED else WALKED
            errors[b] = error
            for t in range(end - start):
                column = order[of_token[t]]
                leader_since[start + t] = since[column]
                for axis in range(d):
                    out[start + t, axis] = points[axis, column]
