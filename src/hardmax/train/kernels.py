"""The loops of training in numba. No checks, no fastmath.

Only who attends to whom is worth several threads, a cloud to each, so that they change no bit. The rest is over sooner
than threads are awake.
"""

import numpy as np

from hardmax._compile import njit, njit_parallel

TIED = -1


@njit_parallel(lambda directions, points, offsets, *_: len(offsets) - 1)
def choose(first, last, directions, points, offsets, pending, slack, chosen):
    """Whom every pending token attends to: `chosen[i]`, or TIED. `directions` and `points` are (d, tokens) float64."""
    for b in range(first, last):
        start, end = offsets[b], offsets[b + 1]
        scores = np.empty(end - start)
        largest = _largest(points, start, end)
        for i in range(start, end):
            if pending[i]:
                best, size = _score(directions, points, i, start, end, scores)
                floor = best - slack * size * largest
                close, found = 0, -1
                for j in range(end - start):
                    if scores[j] >= floor:
                        close, found = close + 1, j
                chosen[i] = start + found if close == 1 else TIED


@njit
def list_attended(directions, points, offsets, chosen, slack, starts, members):
    """Write the attended sets one after the other, `starts` saying where each begins; those chosen alone are known."""
    for b in range(len(offsets) - 1):
        start, end = offsets[b], offsets[b + 1]
        scores = np.empty(end - start)
        largest = _largest(points, start, end)
        for i in range(start, end):
            if chosen[i] != TIED:
                members[starts[i]] = chosen[i]
                continue
            best, size = _score(directions, points, i, start, end, scores)
            place = starts[i]
            for j in range(end - start):
                if scores[j] >= best - slack * size * largest:
                    members[place] = start + j
                    place += 1


@njit
def count_attended(directions, points, offsets, chosen, slack, sizes):
    """How many tokens each token attends to."""
    for b in range(len(offsets) - 1):
        start, end = offsets[b], offsets[b + 1]
        scores = np.empty(end - start)
        largest = _largest(points, start, end)
        for i in range(start, end):
            sizes[i] = 1
            if chosen[i] == TIED:
                best, size = _score(directions, points, i, start, end, scores)
                sizes[i] = 0
                for j in range(end - start):
                    sizes[i] += scores[j] >= best - slack * size * largest


@njit
def _score(directions, points, i, start, end, scores):
    """Fill `scores` with <look_i, z_j>; give back the largest and |look_i|."""
    first = directions[0, i]
    size = first * first
    for j in range(end - start):
        scores[j] = first * points[0, start + j]
    for axis in range(1, len(points)):
        along = directions[axis, i]
        size += along * along
        for j in range(end - start):
            scores[j] += along * points[axis, start + j]
    best = -np.inf
    for j in range(end - start):
        best = scores[j] if scores[j] > best else best
    return best, np.sqrt(size)


@njit
def _largest(points, start, end):
    largest = 0.0
    for j in range(start, end):
        square = 0.0
        for axis in range(len(points)):
            square += points[axis, j] * points[axis, j]
        largest = max(largest, square)
    return np.sqrt(largest)


@njit
def gather_means(points, offsets, starts, members, shares, means):
    """means[i] = the mean of the tokens that token i attends to, by their shares."""
    for b in range(len(offsets) - 1):
        for i in range(offsets[b], offsets[b + 1]):
            for axis in range(points.shape[1]):
                means[i, axis] = 0.0
            for place in range(starts[i], starts[i + 1]):
                for axis in range(points.shape[1]):
                    means[i, axis] += shares[place] * points[members[place], axis]


@njit
def scatter_back(grads, offsets, starts, members, shares, back):
    """The transpose of `gather_means`: what a token's mean is given goes to those it attends to."""
    for b in range(len(offsets) - 1):
        back[offsets[b] : offsets[b + 1]] = 0.0
        for i in range(offsets[b], offsets[b + 1]):
            for place in range(starts[i], starts[i + 1]):
                for axis in range(grads.shape[1]):
                    back[members[place], axis] += shares[place] * grads[i, axis]


@njit
def add_rows(ids, grads, table):
    """table[ids[i]] += grads[i], one after the other: the order of additions decides the last bit."""
    for i in range(len(ids)):
        for axis in range(table.shape[1]):
            table[ids[i], axis] += grads[i, axis]


@njit
def pool_clouds(points, counts, offsets, means):
    """The mean of each cloud, counted with multiplicity; zero for an empty one."""
    for b in range(len(offsets) - 1):
        total = 0.0
        means[b] = 0.0
        for i in range(offsets[b], offsets[b + 1]):
            total += counts[i]
            for axis in range(points.shape[1]):
                means[b, axis] += counts[i] * points[i, axis]
        if total > 0.0:
            for axis in range(points.shape[1]):
                means[b, axis] /= total


@njit
def spread_grads(grads, counts, offsets, back):
    """The transpose of `pool_clouds`."""
    for b in range(len(offsets) - 1):
        total = 0.0
        for i in range(offsets[b], offsets[b + 1]):
            total += counts[i]
        for i in range(offsets[b], offsets[b + 1]):
            for axis in range(grads.shape[1]):
                back[i, axis] = grads[b, axis] * (counts[i] / total)
