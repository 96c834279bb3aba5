"""Many small clouds at once, each walked until it settles, one thread a cloud (`one_cloud`).

Repeated tokens are merged first. A cloud in which floats do not prove some choice is given up, and left to integers.
"""

from typing import NamedTuple

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.cpu.kernels.one_cloud import UNDECIDED, make_room, move, walk
from hardmax.tokens.kernels.merging import find_equal_rows

LEVELS = 32  # of length
WALKED = -1  # to the layer asked for, and not settled


class Clouds(NamedTuple):
    """Cloud b is `tokens[offsets[b]:offsets[b + 1]]`; `bits` are the same numbers as integers, no -0.0 among them. None
    has more tokens than `longest`, and so many `slots` are enough for a table of them. A task for a thread is so many
    clouds."""

    tokens: np.ndarray
    bits: np.ndarray
    offsets: np.ndarray
    longest: int
    slots: int
    task: int


class Outcome(NamedTuple):
    """Of each token where it is, since when it leads (-1: it does not), and the first token, counted in its cloud, at
    the leader that it follows (-1: not settled); of each cloud the layer at which it settled, WALKED or UNDECIDED, and
    how far its tokens can be from the truth."""

    tokens: np.ndarray
    leader_since: np.ndarray
    leader_of: np.ndarray
    settled: np.ndarray
    errors: np.ndarray


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


@spread(lambda clouds, *_: -(-(len(clouds.offsets) - 1) // clouds.task))
def walk_clouds(first, last, clouds, rules, powers, outcome):
    """Walk the clouds that have not settled yet as the rules say, from the beginning. One that settles goes on by the
    power for the layers that are then left."""
    tokens, offsets, longest = clouds.tokens, clouds.offsets, clouds.longest
    d = tokens.shape[1]
    table, places, lengths = np.empty(clouds.slots, np.int64), np.empty(LEVELS + 1, np.int64), np.empty(longest)
    of_token, firsts, order = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    first_at = np.empty(longest, np.int64)  # the first token of the point in a column
    room = make_room(longest, d, 1)
    for b in range(first * clouds.task, min(last * clouds.task, len(offsets) - 1)):
        if outcome.settled[b] != WALKED:
            continue
        start, end = offsets[b], offsets[b + 1]
        count = find_equal_rows(tokens[start:end], clouds.bits[start:end], table, of_token, firsts)
        _enter(tokens[start:end], firsts, count, lengths, places, order, room.points, room.reach)
        layer, for_ever, error, more = walk(room, count, rules)
        share = powers[rules.layers - layer] if for_ever else 1.0
        if share != 1.0:
            move(room.points, room.moved, count, room.chosen[0], share)
        if for_ever:  # also where the share is 1 by rounding: the true tokens have moved
            error += more
        outcome.settled[b] = layer if for_ever or layer == UNDECIDED else WALKED
        outcome.errors[b] = error
        for p in range(count):
            first_at[order[p]] = firsts[p]
        for t in range(end - start):
            column = order[of_token[t]]
            outcome.leader_of[start + t] = first_at[room.chosen[0, column]] if for_ever else -1
            outcome.leader_since[start + t] = room.since[column]
            for axis in range(d):
                outcome.tokens[start + t, axis] = room.points[axis, column]
