"""Who of a few contenders lies furthest along a direction: decided without error, for directions and points that are
exactly the floats they are."""

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.floats.kernels.expansions import add_product, leading_part

_UNIT = 2.0**-53


@njit
def _exact_lead(directions, row, points, a, b, parts):
    """The sign of <y, a> - <y, b>, and nearly its size."""
    count = 0
    for axis in range(directions.shape[1]):
        count = add_product(directions[row, axis], points[a, axis], parts, count)
        count = add_product(-directions[row, axis], points[b, axis], parts, count)
    return leading_part(parts, count)


@spread(lambda directions, *_: len(directions))
def mark_furthest(first, last, directions, points, contenders, offsets, furthest, leads):
    """Mark the furthest contenders along each direction, all that tie, and tell their lead over the next (inf: none).

    Direction r has the contenders from `offsets[r]` up to `offsets[r + 1]`.
    """
    d = directions.shape[1]
    parts = np.empty(4 * d)
    for row in range(first, last):
        start, best, lead = offsets[row], contenders[offsets[row]], np.inf
        if not directions[row].any():  # nobody is further than others
            furthest[start : offsets[row + 1]], leads[row] = True, lead
            continue
        furthest[start] = True
        for place in range(start + 1, offsets[row + 1]):
            other = contenders[place]
            ahead, size = 0.0, 0.0
            for axis in range(d):
                product = directions[row, axis] * (points[other, axis] - points[best, axis])
                ahead += product
                size += abs(product)
            # Each difference and each product has one rounding, each sum one more. Neighbours, too, are told apart so:
            # it is their distance that counts, not how far out they are.
            if not abs(ahead) > (d + 3) * 2.0 * _UNIT * size:
                ahead = _exact_lead(directions, row, points, other, best, parts)
            furthest[place] = ahead >= 0.0
            if ahead > 0.0:
                furthest[start:place] = False
                best, lead = other, ahead
            elif ahead < 0.0:
                lead = min(lead, -ahead)
        leads[row] = lead


@spread(lambda directions, *_: len(directions))
def mark_first_or_second(first, last, directions, columns, share, least, close):
    """Mark for each direction the columns that can be among the two furthest along it: a score is off by less than a
    share of the sizes of its products, and `least`."""
    d, count = columns.shape
    scores, off = np.empty(count), np.empty(count)
    for row in range(first, last):
        scores[:], off[:] = 0.0, 0.0
        for axis in range(d):
            along = directions[row, axis]
            for j in range(count):
                product = along * columns[axis, j]
                scores[j] += product
                off[j] += abs(product)
        top, second = -np.inf, -np.inf
        for j in range(count):
            off[j] = share * off[j] + least
            sure = scores[j] - off[j]
            if sure > second:
                top, second = max(top, sure), min(top, sure)
        for j in range(count):
            close[row, j] = scores[j] + off[j] >= second
