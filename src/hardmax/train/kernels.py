"""Votes on bags of tokens: what all say as they are, what their leaders say, and what words say
after others."""

import numpy as np

from hardmax._kernels.compiling import njit, njit_parallel

TEXTS = 64  # a task for a thread


@njit_parallel(lambda ids, factors, offsets, *_: -(-(len(offsets) - 1) // TEXTS))
def gather(first, last, ids, factors, offsets, weights, gates, own, lead, active):
    """For each gate and text the sum of the weights of the active tokens, of those of their
    leaders, and their number.

    A token is active if its largest |vote|, weight times factor, is more than the gate's share of
    the largest in its text; with one row its leader is the largest vote of its sign, else itself.
    """
    rows = weights.shape[1]
    for text in range(first * TEXTS, min(last * TEXTS, len(offsets) - 1)):
        start, end = offsets[text], offsets[text + 1]
        strengths, largest, high, low = np.zeros(end - start), 0.0, 0.0, 0.0
        for t in range(start, end):
            for row in range(rows):
                vote = weights[ids[t], row] * factors[t]
                strengths[t - start] = max(strengths[t - start], abs(vote))
                high, low = max(high, vote), min(low, vote)
            largest = max(largest, strengths[t - start])
        for g in range(len(gates)):
            for t in range(start, end):
                if strengths[t - start] <= gates[g] * largest:
                    continue
                active[g, text] += 1
                for row in range(rows):
                    vote = weights[ids[t], row] * factors[t]
                    own[g, text, row] += vote
                    leading = high if vote > 0.0 else low
                    lead[g, text, row] += leading if rows == 1 else vote


@njit
def sum_scopes(stream, offsets, votes, folds, of_word, strengths, scope, only_strongest):
    """(texts, candidates, sums): for each text and candidate in it the sum of the votes of the
    words in its scopes.

    With `only_strongest`, a word counts for the strongest candidate in whose scope it is, the
    nearest of equals, and a word that is a candidate for none."""
    rows = votes.shape[2]
    room = 3 * len(stream)
    texts, which, sums = np.empty(room, np.int64), np.empty(room, np.int64), np.zeros((room, rows))
    candidates = len(strengths)
    at = np.full(candidates, -1)  # where a candidate's sum is
    counted_for = np.full(candidates, -1)  # the last word that was counted for it
    used = 0
    for text in range(len(offsets) - 1):
        first, clause, weights = used, offsets[text], votes[folds[text]]
        for place in range(offsets[text], offsets[text + 1]):
            word = stream[place]
            if word < 0:
                clause = place + 1
                continue
            best = -1
            for before in range(place - 1, max(clause, place - scope) - 1, -1):
                for form in range(3 if only_strongest else 0):
                    candidate = of_word[stream[before], form]
                    if candidate >= 0 and (best < 0 or strengths[candidate] > strengths[best]):
                        best = candidate
            if only_strongest and (best < 0 or of_word[word].max() >= 0):
                continue
            for before in range(place - 1, max(clause, place - scope) - 1, -1):
                for form in range(3):
                    candidate = of_word[stream[before], form]
                    if (
                        candidate < 0
                        or counted_for[candidate] == place
                        or (only_strongest and candidate != best)
                    ):
                        continue
                    counted_for[candidate] = place
                    if at[candidate] < first:
                        at[candidate], texts[used], which[used] = used, text, candidate
                        used += 1
                    for row in range(rows):
                        sums[at[candidate], row] += weights[word, row]
    return texts[:used], which[:used], sums[:used]
