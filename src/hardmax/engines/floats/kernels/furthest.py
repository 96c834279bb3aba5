"""Who of a few contenders lies furthest along a direction: decided without error, for directions and points that are
exactly the floats they are."""

import numpy as np

from hardmax.compiling import njit, spread
from hardmax.engines.floats.kernels.expansions import add_product, leading_part

_UNIT = 2.0**-53


@njit
def _lead(y, a, b, parts):
    """<y, a> - <y, b>: its sign is the true one, its size is that up to rounding."""
    lead, size = 0.0, 0.0
    for axis in range(len(y)):
        product = y[axis] * (a[axis] - b[axis])
        lead += product
        size += abs(product)
    # Each difference and each product has one rounding, each sum one more. Neighbours, too, are told apart so: it is
    # their distance that counts, not how far out they are.
    if abs(lead) > (len(y) + 3) * 2.0 * _UNIT * size:
        return lead
    count = 0
    for axis in range(len(y)):
        count = add_product(y[axis], a[axis], parts, count)
        count = add_product(-y[axis], b[axis], parts, count)
    return leading_part(parts, count)


@spread(lambda directions, *_: len(directions))
def mark_furthest(first, last, directions, points, contenders, offsets, furthest, leads):
    """Mark the furthest contenders along each direction, all that tie, and tell their lead over the next (inf: none).

    Direction r has the contenders from `offsets[r]` up to `offsets[r + 1]`.
    """
    parts = np.empty(4 * directions.shape[1])
    for row in range(first, last):
        start, best, lead = offsets[row], contenders[offsets[row]], np.inf
        if not directions[row].any():  # nobody is further than others
            furthest[start : offsets[row + 1]], leads[row] = True, lead
            continue
        furthest[start] = True
        for place in range(start + 1, offsets[row + 1]):
            ahead = _lead(directions[row], points[contenders[place]], points[best], parts)
            furthest[place] = ahead >= 0.0
            if ahead > 0.0:
                furthest[start:place] = False
                best, lead = contenders[place], ahead
            elif ahead < 0.0:
                lead = min(lead, -ahead)
        leads[row] = lead
