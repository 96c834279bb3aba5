"""The layers, for many texts at once: each cloud of tokens goes through them, and each token gets its mass in the mean.

Where floats do not prove a choice, the text is left to exact arithmetic.
"""

import math
from typing import NamedTuple

import numpy as np

from hardmax._batch import UNDECIDED, make_room, walk
from hardmax._compile import njit, njit_parallel

TEXTS = 64  # a task for a thread
ROWS_AT_MOST = 64  # layers that a text may take until it settles; one that takes more is left to the engines


class Said(NamedTuple):
    """Text t has the tokens `ids[offsets[t]:offsets[t + 1]]`, each counted so often; none has more than `longest`."""

    ids: np.ndarray
    counts: np.ndarray
    offsets: np.ndarray
    longest: int


class Vectors(NamedTuple):
    """The vectors of tokens; the longest are on level 0, and no token on a level, or a later one, is longer than its
    reach."""

    table: np.ndarray
    level_of: np.ndarray
    reach_of_level: np.ndarray


class Depth(NamedTuple):
    """What a token keeps of its way to a leader in 0, 1, … further layers, up to all of them; of infinitely many, which
    are computed until a text has settled, it keeps nothing."""

    powers: np.ndarray
    endless: bool


class Weights(NamedTuple):
    """Of each token its mass in the mean of the last layer, since which layer it leads, or -1, the place in its text of
    the leader that it follows at the last layer, or -1, and, where there is room for it, where it ends (d numbers)."""

    masses: np.ndarray
    since: np.ndarray
    follows: np.ndarray
    ends: np.ndarray


@njit
def _sort(tokens, vectors, places, order, room):
    """Bring the tokens of a text into the order of their lengths, and their vectors into columns."""
    level_of = vectors.level_of
    places[:] = 0
    for token in tokens:
        places[level_of[token] + 1] += 1
    for level in range(1, len(places)):
        places[level] += places[level - 1]
    for t in range(len(tokens)):
        token = tokens[t]
        level = level_of[token]
        p = places[level]
        places[level] += 1
        order[p], room.reach[p] = t, vectors.reach_of_level[level]
        for axis in range(len(room.points)):
            room.points[axis, p] = vectors.table[token, axis]


@njit
def _hand_back(mass, share, chosen, count, before):
    """One layer, or several with the same choices, backwards: what each point keeps of its mass, and gives on."""
    before[:count] = 0.0
    for i in range(count):
        if chosen[i] == i:
            before[i] += mass[i]
        else:
            before[i] += share * mass[i]
            before[chosen[i]] += (1.0 - share) * mass[i]
    mass[:count] = before[:count]


@njit_parallel(lambda said, *_: -(-(len(said.offsets) - 1) // TEXTS))
def walk_texts(first, last, said, vectors, rules, depth, weights):
    """The weights of each token of each text.

    A text that floats do not decide gets UNDECIDED in the place of its first token's `since`.
    """
    order, mass = np.empty(said.longest, np.int64), np.empty(said.longest)
    places = np.empty(len(vectors.reach_of_level) + 1, np.int64)
    room = make_room(said.longest, vectors.table.shape[1], min(rules.layers + 1, ROWS_AT_MOST))
    for text in range(first * TEXTS, min(last * TEXTS, len(said.offsets) - 1)):
        start, count = said.offsets[text], said.offsets[text + 1] - said.offsets[text]
        if not count:
            continue
        _sort(said.ids[start : start + count], vectors, places, order, room)
        reached, settled, _, _ = walk(room, count, rules)
        rows = reached + 1
        if reached == UNDECIDED or rows > len(room.chosen) or (depth.endless and not settled):
            weights.since[start] = UNDECIDED
            continue
        # Divided by their sum at the end: those who follow a leader then are counted exactly.
        total = 0.0
        for p in range(count):
            mass[p] = said.counts[start + order[p]]
            total += mass[p]
        share = depth.powers[rules.layers - reached] if settled else 1.0
        if share < 1.0:
            _hand_back(mass, share, room.chosen[rows - 1], count, room.scores)
        for row in range(rows - 2, -1, -1):
            _hand_back(mass, rules.keep, room.chosen[row], count, room.scores)
        chosen, points = room.chosen[rows - 1], room.points
        for p in range(count):
            word = start + order[p]
            weights.masses[word] = mass[p] / total
            weights.since[word] = room.since[p]
            weights.follows[word] = order[chosen[p]] if room.since[chosen[p]] >= 0 else -1
            if len(weights.ends):
                for axis in range(len(points)):
                    target = points[axis, chosen[p]]
                    weights.ends[word, axis] = target + share * (points[axis, p] - target)


@njit
def _probabilities(logits, probabilities):
    rows = len(logits)
    if rows == 1:
        # Both from the smaller exponential, so that neither is rounded to nothing.
        small = math.exp(-abs(logits[0]))
        more = 1 if logits[0] >= 0.0 else 0
        probabilities[more], probabilities[1 - more] = 1.0 / (1.0 + small), small / (1.0 + small)
        return
    top, whole = -np.inf, 0.0
    for row in range(rows):
        top = max(top, logits[row])
    for row in range(rows):
        probabilities[row] = math.exp(logits[row] - top)
        whole += probabilities[row]
    for row in range(rows):
        probabilities[row] /= whole


@njit
def decode_texts(ids, offsets, masses, scores, bias, logits, probabilities):
    """The logits `bias + sum of mass * score` of each text, added in the order of its tokens, and the probabilities."""
    for text in range(len(offsets) - 1):
        for row in range(len(bias)):
            total = 0.0
            for t in range(offsets[text], offsets[text + 1]):
                total += masses[t] * scores[ids[t], row]
            logits[text, row] = bias[row] + total
        _probabilities(logits[text], probabilities[text])
