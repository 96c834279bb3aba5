"""One layer with a gate, on bags of tokens: what all tokens say as they are, and what their leaders say."""

import numpy as np

from hardmax._compile import njit_parallel

TEXTS = 64  # a task for a thread


@njit_parallel(lambda ids, offsets, *_: -(-(len(offsets) - 1) // TEXTS))
def gather(first, last, ids, offsets, weights, gates, own, lead, active):
    """For each gate and text the sum of the weights of the active tokens, of those of their leaders, and their number.

    A token is active if its largest |weight| is more than the gate's share of the largest in its text; it attends to
    the active token with the largest inner product, the last of several.
    """
    rows = weights.shape[1]
    for text in range(first * TEXTS, min(last * TEXTS, len(offsets) - 1)):
        start, end = offsets[text], offsets[text + 1]
        strengths = np.zeros(end - start)
        for t in range(end - start):
            for row in range(rows):
                strengths[t] = max(strengths[t], abs(weights[ids[start + t], row]))
        largest = 0.0
        for t in range(end - start):
            largest = max(largest, strengths[t])
        for g in range(len(gates)):
            chosen = np.empty(end - start, np.int64)
            count = 0
            high, low = 0.0, 0.0
            for t in range(end - start):
                if strengths[t] > gates[g] * largest:
                    chosen[count] = ids[start + t]
                    count += 1
                    high, low = max(high, weights[ids[start + t], 0]), min(low, weights[ids[start + t], 0])
            active[g, text] = count
            for i in range(count):
                token, best, furthest = chosen[i], -1.0, chosen[i]
                if rows > 1:
                    for j in range(count):
                        score = 0.0
                        for row in range(rows):
                            score += weights[token, row] * weights[chosen[j], row]
                        if score > best:
                            best, furthest = score, chosen[j]
                for row in range(rows):
                    own[g, text, row] += weights[token, row]
                    if rows > 1:
                        lead[g, text, row] += weights[furthest, row]
                    else:
                        lead[g, text, row] += high if weights[token, 0] > 0.0 else low
