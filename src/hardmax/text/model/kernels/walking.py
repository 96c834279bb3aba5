"""Many texts at once: each cloud of words walked through the layers, and what mass each word has in the mean.

Where floats do not prove a choice, the text is left to integers.
"""

import math

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.cpu.kernels.one_cloud import UNDECIDED, WIDTH, walk

TEXTS = 64  # a task for a thread
ROWS_AT_MOST = 64  # layers that a text may take until it settles; one that takes more is left to the engines


@njit
def _sort(ids, start, count, level_of, reach_of_level, table, places, order, points, reach):
    """Bring the words of a text into the order of their lengths, and their vectors into columns."""
    places[:] = 0
    for t in range(count):
        places[level_of[ids[start + t]] + 1] += 1
    for level in range(1, len(places)):
        places[level] += places[level - 1]
    for t in range(count):
        token = ids[start + t]
        level = level_of[token]
        p = places[level]
        places[level] += 1
        order[p], reach[p] = t, reach_of_level[level]
        for axis in range(len(points)):
            points[axis, p] = table[token, axis]


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
def _weigh(counts, start, count, order, rows, settled, powers, layers, keep, chosen, mass, before):
    """The mass of each point in the mean of the last layer, handed back layer by layer to the first."""
    total = 0.0
    for t in range(count):
        total += counts[start + t]
    for p in range(count):
        mass[p] = counts[start + order[p]] / total
    if settled:
        _hand_back(mass, powers[layers - rows + 1], chosen[rows - 1], count, before)
    for row in range(rows - 2, -1, -1):
        _hand_back(mass, keep, chosen[row], count, before)


@spread(lambda ids, counts, offsets, *_: -(-(len(offsets) - 1) // TEXTS))
def walk_texts(
    first, last, ids, counts, offsets, table, level_of, reach_of_level, metric, keep, powers, layers, factors, longest,
    masses, since,
):  # fmt: skip
    """The mass of each word of each text in the final mean; `since` says since which layer it leads, or -1.

    A text that floats do not decide gets UNDECIDED in the place of its first word's `since`.
    """
    d = table.shape[1]
    room = longest + WIDTH
    places = np.empty(len(reach_of_level) + 1, np.int64)
    order, led, final = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.bool_)
    points, moved, reach = np.zeros((d, room)), np.empty((d, room)), np.empty(room)
    chosen = np.empty((min(layers + 1, ROWS_AT_MOST), longest), np.int32)
    look, scores = np.empty(d), np.empty(room)
    mass, before = np.empty(longest), np.empty(longest)
    for text in range(first * TEXTS, min(last * TEXTS, len(offsets) - 1)):
        start, count = offsets[text], offsets[text + 1] - offsets[text]
        if count == 0:
            continue
        _sort(ids, start, count, level_of, reach_of_level, table, places, order, points, reach)
        reached, settled, _, _ = walk(
            points, moved, count, reach, metric, keep, layers, factors, look, scores, chosen, led, final
        )
        rows = reached + 1
        if reached == UNDECIDED or rows > len(chosen):
            since[start] = UNDECIDED
            continue
        _weigh(counts, start, count, order, rows, settled, powers, layers, keep, chosen, mass, before)
        for p in range(count):
            masses[start + order[p]], since[start + order[p]] = mass[p], led[p]


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
