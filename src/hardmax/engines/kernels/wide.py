"""Reading a table of single-precision scores: the best of each row, the next, and all who may be the best in truth."""

import numpy as np
from numba import njit, prange

MOST_CANDIDATES = 16
ROWS = 32  # a task for a thread


@njit(cache=True, nogil=True, inline="always")
def _largest(scores):
    # Eight chains side by side: one chain would wait for itself.
    low = np.float32(-np.inf)
    a = b = c = d = e = f = g = h = low
    whole = len(scores) // 8 * 8
    for j in range(0, whole, 8):
        a = scores[j] if scores[j] > a else a
        b = scores[j + 1] if scores[j + 1] > b else b
        c = scores[j + 2] if scores[j + 2] > c else c
        d = scores[j + 3] if scores[j + 3] > d else d
        e = scores[j + 4] if scores[j + 4] > e else e
        f = scores[j + 5] if scores[j + 5] > f else f
        g = scores[j + 6] if scores[j + 6] > g else g
        h = scores[j + 7] if scores[j + 7] > h else h
    for j in range(whole, len(scores)):
        a = scores[j] if scores[j] > a else a
    return max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))


@njit(parallel=True, cache=True, nogil=True)
def read_scores(table, rows, first_place, tolerance, best, second, candidates, counts):
    """Take in the scores of a block of points, which stand at `first_place` and after, for some rows.

    `candidates[row]` collects the places whose score comes within the tolerance of the best seen so far. A row with
    more than MOST_CANDIDATES goes on counting but keeps no more.
    """
    for task in prange((len(table) + ROWS - 1) // ROWS):
        for r in range(task * ROWS, min((task + 1) * ROWS, len(table))):
            row = rows[r]
            scores = table[r]
            near = tolerance[row]
            top, next_best = best[row], second[row]
            if _largest(scores) <= min(next_best, top - near):
                continue
            for j in range(len(scores)):
                score = scores[j]
                if score > top:
                    next_best, top = top, score
                elif score > next_best:
                    next_best = score
                if score >= top - near:
                    if counts[row] < MOST_CANDIDATES:
                        candidates[row, counts[row]] = first_place + j
                    counts[row] += 1
            best[row], second[row] = top, next_best


@njit(parallel=True, cache=True, nogil=True)
def rescore(directions, points, order, candidates, counts, best, second, winners):
    """The candidates again in double precision: the best, the next, and the winner's place in `points`."""
    for i in prange(len(directions)):
        top, next_best, winner = -np.inf, -np.inf, -1
        for slot in range(min(counts[i], MOST_CANDIDATES)):
            j = order[candidates[i, slot]]
            score = 0.0
            for axis in range(directions.shape[1]):
                score += directions[i, axis] * points[j, axis]
            if score > top:
                next_best, top, winner = top, score, j
            elif score > next_best:
                next_best = score
        best[i], second[i], winners[i] = top, next_best, winner
