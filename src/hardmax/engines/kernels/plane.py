"""The plane: convex polygons with exact turns, and who on them lies furthest along a direction, by angle."""

import numpy as np
from numba import njit, prange

ROWS = 4096  # a task for a thread
NOWHERE, BESIDE, INSIDE = 0, 1, 2
_UNIT = 2.0**-53
_SURE = (3 + 16 * _UNIT) * _UNIT  # Shewchuk, Discrete & Computational Geometry 18 (1997), the first bound for a turn
_SPLIT = 2.0**27 + 1
_TINY = 2.0**-500  # what a length can lose where squares underflow


@njit(cache=True, nogil=True, inline="always")
def _add(a, b):
    """The sum and what rounding took from it (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@njit(cache=True, nogil=True, inline="always")
def _multiply(a, b):
    """The product and what rounding took from it (Dekker)."""
    product = a * b
    shifted = _SPLIT * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = _SPLIT * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit(cache=True, nogil=True)
def _exact_turn(ax, ay, bx, by, cx, cy):
    """The sign of a x b + b x c + c x a, from a sum of floats that loses nothing."""
    parts = np.zeros(12)
    lefts, rights = (ax, -ay, bx, -by, cx, -cy), (by, bx, cy, cx, ay, ax)
    count = 0
    for term in range(6):
        for part in _multiply(lefts[term], rights[term]):
            carried = part
            for i in range(count):
                carried, parts[i] = _add(carried, parts[i])
            parts[count] = carried
            count += 1
    for i in range(11, -1, -1):
        if parts[i] != 0.0:
            return np.sign(parts[i])
    return 0.0


@njit(cache=True, nogil=True, inline="always")
def _turn(points, a, b, c):
    """Positive if a, b, c turn to the left, negative to the right, 0 if they are in line: decided exactly."""
    ax, ay, bx, by, cx, cy = points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1]
    left = (bx - ax) * (cy - ay)
    right = (by - ay) * (cx - ax)
    if abs(left - right) > _SURE * (abs(left) + abs(right)):
        return left - right
    return _exact_turn(ax, ay, bx, by, cx, cy)


@njit(cache=True, nogil=True)
def polygon(points, order):
    """The corners of the hull, counter-clockwise, none of them in line; `order` sorts points by x, then y."""
    corners = np.empty(2 * len(order) + 1, np.int64)
    count = 0
    for way in range(2):
        kept = count
        for place in range(len(order)):
            j = order[place] if way == 0 else order[len(order) - 1 - place]
            while count - kept >= 2 and _turn(points, corners[count - 2], corners[count - 1], j) <= 0:
                count -= 1
            corners[count] = j
            count += 1
        count -= 1  # the end of one chain is the start of the other
    return corners[: max(count, 1)]


@njit(cache=True, nogil=True, inline="always")
def diamond_angle(x, y):
    """Grows with the angle of (x, y), from 0 up to 4, at the price of one division."""
    if y >= 0.0:
        return y / (x + y) if x > 0.0 else (1.0 - x / (y - x) if x < 0.0 or y > 0.0 else 0.0)
    return 2.0 - y / (-x - y) if x < 0.0 else 3.0 + x / (x - y)


@njit(cache=True, nogil=True, inline="always")
def _furthest(angle, angles, start):
    """The corner furthest along a direction of this angle: the one after the last that is left before it."""
    low, high = 0, len(angles)
    while low < high:
        middle = (low + high) // 2
        if angles[middle] <= angle:
            low = middle + 1
        else:
            high = middle
    return (low + start) % len(angles)


@njit(parallel=True, cache=True, nogil=True)
def mark_inside(points, corners, outside):
    """Clear the mark of points that are surely inside a polygon. Seen from its middle, each lies before one edge."""
    count = len(corners)
    x, y = corners[:, 0].mean(), corners[:, 1].mean()
    reach = max(np.abs(corners[:, 0]).max(), np.abs(corners[:, 1]).max())
    angles = np.empty(count)
    for k in range(count):
        angles[k] = diamond_angle(corners[k, 0] - x, corners[k, 1] - y)
    first = np.argmin(angles)
    angles = np.roll(angles, -first)
    edges = np.empty((count, 3))  # a x + b y > c is inside
    disk = np.inf
    for k in range(count):
        a, b = corners[(k + first - 1) % count], corners[(k + first) % count]
        across, along = a[1] - b[1], b[0] - a[0]
        length = np.sqrt(across * across + along * along)
        edges[k] = across / length, along / length, (across * a[0] + along * a[1]) / length + 2.0**-40 * reach
        disk = min(disk, edges[k, 0] * x + edges[k, 1] * y - edges[k, 2])
    disk = disk * disk * (1 - 2.0**-40) if disk > 0.0 else -1.0
    for task in prange((len(points) + ROWS - 1) // ROWS):
        for j in range(task * ROWS, min((task + 1) * ROWS, len(points))):
            dx, dy = points[j, 0] - x, points[j, 1] - y
            if dx * dx + dy * dy < disk:
                outside[j] = False
            else:
                edge = edges[_furthest(diamond_angle(dx, dy), angles, 0)]
                outside[j] = edge[0] * points[j, 0] + edge[1] * points[j, 1] <= edge[2]


@njit(cache=True, nogil=True)
def leaving_angles(corners):
    """For each corner the angle from which on the next one is the furthest, increasing; and where to start counting."""
    count = len(corners)
    angles = np.empty(count)
    for k in range(count):
        after = corners[(k + 1) % count]
        angles[k] = diamond_angle(after[1] - corners[k][1], corners[k][0] - after[0])
    start = np.argmin(angles)
    return np.roll(angles, -start), start


@njit(parallel=True, cache=True, nogil=True)
def find_corners(
    directions,
    slack,
    unsure,
    outer,
    outer_angles,
    outer_start,
    inner,
    inner_angles,
    inner_start,
    corners,
    rivals,
    leads,
):
    """For each direction the furthest corner of the outer polygon, and who comes within its slack, or who may.

    `unsure` times the length of a direction is added to its slack. `rivals` says where those are who come close:
    NOWHERE, BESIDE the corner on the outer polygon alone, or INSIDE. `leads` gets the smallest lead of a task over
    those who do not come close.
    """
    count = len(outer)
    for task in prange((len(directions) + ROWS - 1) // ROWS):
        smallest = np.inf
        for i in range(task * ROWS, min((task + 1) * ROWS, len(directions))):
            x, y = directions[i, 0], directions[i, 1]
            angle = diamond_angle(x, y)
            k = _furthest(angle, outer_angles, outer_start)
            best, beside, within = x * outer[k, 0] + y * outer[k, 1], -np.inf, -np.inf
            if count > 1:
                before, after = k - 1, k + 1 if k + 1 < count else 0
                beside = max(x * outer[before, 0] + y * outer[before, 1], x * outer[after, 0] + y * outer[after, 1])
            if len(inner):
                inside = _furthest(angle, inner_angles, inner_start)
                within = x * inner[inside, 0] + y * inner[inside, 1]
            floor = best - slack[i] - unsure * (np.sqrt(x * x + y * y) + _TINY)
            corners[i] = k
            rivals[i] = INSIDE if within >= floor else (BESIDE if beside >= floor else NOWHERE)
            if rivals[i] == NOWHERE:
                smallest = min(smallest, best - max(beside, within))
        leads[task] = smallest


@njit(cache=True, nogil=True)
def corners_above(direction, outer, corner, floor):
    """How many corners in a row before this one, and how many after it, score at least `floor`."""
    x, y = direction
    count = len(outer)
    before, after = 0, 0
    while before + 1 < count:
        k = (corner - before - 1) % count
        if x * outer[k, 0] + y * outer[k, 1] < floor:
            break
        before += 1
    while before + after + 1 < count:
        k = (corner + after + 1) % count
        if x * outer[k, 0] + y * outer[k, 1] < floor:
            break
        after += 1
    return before, after
