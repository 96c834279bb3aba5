"""Many texts at once: each cloud of words walked through the layers, and what mass each word has in the mean.

Proved floats, as in `hardmax.engines.kernels.small_clouds`: where a choice is not proved, the text is left to integers.
Words come sorted from the longest to the shortest, so that the furthest one along a direction is found among the first
few: <y, x> is at most |y||x|.
"""

import math

import numpy as np
from numba import njit, prange

TEXTS = 64  # a task for a thread
ROWS_AT_MOST = 64  # layers that a text may take until it settles; one that takes more is left to the engines
UNDECIDED = -2
WIDTH = 8  # points scored at a time
_ROUNDING = 1 + 1e-9  # more than a product of norms and a dot product can differ by


@njit(cache=True, nogil=True)
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
    # Whole blocks are scored: a zero beyond the last word wins against nobody who has won.
    for p in range(count, (count + WIDTH - 1) // WIDTH * WIDTH):
        for axis in range(len(points)):
            points[axis, p] = 0.0


@njit(cache=True, nogil=True, inline="always")
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _walk(points, moved, count, reach, metric, keep, layers, factors, look, scores, chosen, since, final):
    """Walk until all follow leaders: how many rows of `chosen` there are, and whether the last one is for ever."""
    error = 0.0
    since[:count] = -1
    final[:count] = False
    for layer in range(layers + 1):
        if layer == len(chosen):
            return UNDECIDED, False
        for i in range(count if layer > 0 else 0):
            chosen[layer, i] = chosen[layer - 1, i]
        proved, largest = _choose_all(points, count, reach, metric, final, error, factors, look, scores, chosen[layer])
        if not proved or (layer == 0 and not factors[4] <= largest <= factors[5]):
            return UNDECIDED, False
        pending = False
        for i in range(count):
            if chosen[layer, i] == i and since[i] < 0:
                since[i] = layer
        for i in range(count):
            final[i] = since[chosen[layer, i]] >= 0
            pending |= not final[i]
        if not pending:
            return layer + 1, True
        if layer < layers:
            for axis in range(len(points)):
                for i in range(count):
                    target = points[axis, chosen[layer, i]]
                    moved[axis, i] = target + keep * (points[axis, i] - target)
            for axis in range(len(points)):
                for i in range(count):
                    points[axis, i] = moved[axis, i]
            reach[:count] = np.inf  # the points are no longer in order
            error += factors[3] * largest
    return layers + 1, False


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _walk_some(
    ids, counts, offsets, first, last, table, level_of, reach_of_level, metric, keep, powers, layers, factors, longest,
    masses, since,
):  # fmt: skip
    """The texts from `first` up to but not including `last`, one after the other, in the same memory."""
    d = table.shape[1]
    room = (longest + WIDTH - 1) // WIDTH * WIDTH
    places = np.empty(len(reach_of_level) + 1, np.int64)
    order, led, final = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.bool_)
    points, moved, reach = np.zeros((d, room)), np.empty((d, room)), np.empty(room)
    chosen = np.empty((min(layers + 1, ROWS_AT_MOST), longest), np.int32)
    look, scores = np.empty(d), np.empty(room)
    mass, before = np.empty(longest), np.empty(longest)
    for text in range(first, last):
        start, count = offsets[text], offsets[text + 1] - offsets[text]
        if count == 0:
            continue
        _sort(ids, start, count, level_of, reach_of_level, table, places, order, points, reach)
        rows, settled = _walk(
            points, moved, count, reach, metric, keep, layers, factors, look, scores, chosen, led, final
        )
        if rows == UNDECIDED:
            since[start] = UNDECIDED
            continue
        _weigh(counts, start, count, order, rows, settled, powers, layers, keep, chosen, mass, before)
        for p in range(count):
            masses[start + order[p]], since[start + order[p]] = mass[p], led[p]


@njit(parallel=True, cache=True, nogil=True)
def walk_texts(
    ids, counts, offsets, table, level_of, reach_of_level, metric, keep, powers, layers, factors, longest, masses, since
):
    """The mass of each word of each text in the final mean; `since` says since which layer it leads, or -1.

    A text that floats do not decide gets UNDECIDED in the place of its first word's `since`.
    """
    texts = len(offsets) - 1
    for task in prange((texts + TEXTS - 1) // TEXTS):
        _walk_some(
            ids, counts, offsets, task * TEXTS, min((task + 1) * TEXTS, texts), table, level_of, reach_of_level, metric,
            keep, powers, layers, factors, longest, masses, since,
        )  # fmt: skip


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def decode_texts(ids, offsets, masses, scores, bias, logits, probabilities):
    """The logits `bias + sum of mass * score` of each text, added in the order of its words, and the probabilities."""
    for text in range(len(offsets) - 1):
        for row in range(len(bias)):
            total = 0.0
            for t in range(offsets[text], offsets[text + 1]):
                total += masses[t] * scores[ids[t], row]
            logits[text, row] = bias[row] + total
        _probabilities(logits[text], probabilities[text])
