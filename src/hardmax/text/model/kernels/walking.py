"""Many texts at once: each cloud of words walked through the layers, and what mass each word has in the mean.

Where floats do not prove a choice, the text is left to integers.
"""

import math
from typing import NamedTuple

import numpy as np

from hardmax._batch import UNDECIDED, make_room, walk
from hardmax._compile import njit, njit_parallel

TEXTS = 64  # a task for a thread
ROWS_AT_MOST = 64  # layers that a text may take until it settles; one that takes more is left to the engines


class Said(NamedTuple):
    """Text t has the words `ids[offsets[t]:offsets[t + 1]]`, each counted so often; none has more than `longest`."""

    ids: np.ndarray
    counts: np.ndarray
    offsets: np.ndarray
    longest: int


class Vectors(NamedTuple):
    """The vectors of words; the longest are on level 0, and no word on a level, or a later one, is longer than its
    reach."""

    table: np.ndarray
    level_of: np.ndarray
    reach_of_level: np.ndarray


class Depth(NamedTuple):
    """What a word keeps of its way to a leader in 0, 1, … further layers, up to all of them; of infinitely many, which
    are walked until a text has settled, it keeps nothing."""

    powers: np.ndarray
    endless: bool


class Weights(NamedTuple):
    """Of each word its mass in the mean of the last layer, since which layer it leads, or -1, the place in its text of
    the leader that it is with at the last layer, or -1, and, where there is room for it, where it ends (d numbers)."""

    masses: np.ndarray
    since: np.ndarray
    follows: np.ndarray
    ends: np.ndarray


@njit
def _sort(words, vectors, places, order, room):
    """Bring the words of a text into the order of their lengths, and their vectors into columns."""
    level_of = vectors.level_of
    places[:] = 0
    for token in words:
        places[level_of[token] + 1] += 1
    for level in range(1, len(places)):
        places[level] += places[level - 1]
    for t in range(len(words)):
        token = words[t]
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


@njit
def _hand_back_all(room, count, rows, share, keep, mass):
    """All layers backwards, from those after the last that was walked, in which points keep a share."""
    before = room.scores
    if share < 1.0:
        _hand_back(mass, share, room.chosen[rows - 1], count, before)
    for row in range(rows - 2, -1, -1):
        _hand_back(mass, keep, room.chosen[row], count, before)


@njit
def _write_down(room, count, chosen, share, order, start, weights):
    """Since when each point leads, whom it follows and where it ends: it keeps a share of its way to whom it chose."""
    points, since = room.points, room.since
    for p in range(count):
        word = start + order[p]
        weights.since[word] = since[p]
        weights.follows[word] = order[chosen[p]] if since[chosen[p]] >= 0 else -1
        if len(weights.ends):
            for axis in range(len(points)):
                target = points[axis, chosen[p]]
                weights.ends[word, axis] = target + share * (points[axis, p] - target)


@njit_parallel(lambda said, *_: -(-(len(said.offsets) - 1) // TEXTS))
def walk_texts(first, last, said, vectors, rules, depth, weights):
    """The mass of each word of each text in the final mean, and since when it leads.

    A text that floats do not decide gets UNDECIDED in the place of its first word's `since`.
    """
    order, mass = np.empty(said.longest, np.int64), np.empty(said.longest)
    places = np.empty(len(vectors.reach_of_level) + 1, np.int64)
    room = make_room(said.longest, vectors.table.shape[1], min(rules.layers + 1, ROWS_AT_MOST))
    for text in range(first * TEXTS, min(last * TEXTS, len(said.offsets) - 1)):
        start, end = said.offsets[text], said.offsets[text + 1]
        if start == end:
            continue
        _sort(said.ids[start:end], vectors, places, order, room)
        reached, settled, _, _ = walk(room, end - start, rules)
        rows = reached + 1
        if reached == UNDECIDED or rows > len(room.chosen) or (depth.endless and not settled):
            weights.since[start] = UNDECIDED
            continue
        # Divided by their sum at the end: those who follow a leader then are counted exactly.
        total = 0.0
        for p in range(end - start):
            mass[p] = said.counts[start + order[p]]
            total += mass[p]
        share = depth.powers[rules.layers - reached] if settled else 1.0
        _hand_back_all(room, end - start, rows, share, rules.keep, mass)
        for p in range(end - start):
            weights.masses[start + order[p]] = mass[p] / total
        _write_down(room, end - start, room.chosen[rows - 1], share, order, start, weights)


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
    """The logits `bias + sum of mass * score` of each text, added in the order of its words, and the probabilities."""
    for text in range(len(offsets) - 1):
        for row in range(len(bias)):
            total = 0.0
            for t in range(offsets[text], offsets[text + 1]):
                total += masses[t] * scores[ids[t], row]
            logits[text, row] = bias[row] + total
        _probabilities(logits[text], probabilities[text])
