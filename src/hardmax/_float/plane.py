"""Search in the plane: the hull once, then every direction finds its corner by angle. O(n log n).

The furthest point is a corner of the hull; the next furthest is a neighbour of that corner or a
corner of the hull of all other points. So two polygons, one inside the other, give the winner and
its lead.

Turns are decided exactly, so the polygons are those of the floats given, strictly convex. Angles
are rounded: that of a direction is off by less than 10 u, that of an edge, made to increase, by
less than 20 u. So the corner found is the furthest for a direction within 30 u of the one given,
and scores at most 30 u |y| D less than the best, D the diameter. All corners between it and the
best score as much as that, so a neighbour does: directions whose lead is not beyond the slack by 64
u |y| D are searched again, in the tree.

Few points make the polygons. A corner of the inner polygon of a sample lies in the hull of others,
so it is no corner of the hull of all; a point inside that polygon is therefore a corner of
neither. Only the others are sorted."""

import numpy as np

from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import UNIT, norms_above
from hardmax._float.hull import shell_of
from hardmax._float.kernels import add_product, leading_part
from hardmax._float.tree import search_tree
from hardmax._kernels.compiling import njit, njit_parallel

ROWS = 1024  # a task for a thread
_SURE = (
    3 + 16 * UNIT
) * UNIT  # Shewchuk, Discrete & Computational Geometry 18 (1997), the first bound for a turn
_SMALLEST = 2.0**-1074
_SAMPLED, _MOST_EDGES = 2**12, 32


@njit
def _exact_turn(ax, ay, bx, by, cx, cy):
    """The sign of a x b + b x c + c x a, from a sum of floats that loses nothing."""
    parts = np.empty(12)
    lefts, rights = (ax, -ay, bx, -by, cx, -cy), (by, bx, cy, cx, ay, ax)
    count = 0
    for term in range(6):
        count = add_product(lefts[term], rights[term], parts, count)
    return np.sign(leading_part(parts, count))


@njit(inline="always")
def _turn(points, a, b, c):
    """Positive if a, b, c turn to the left, negative to the right, 0 if they are in line: decided
    exactly."""
    ax, ay, bx, by, cx, cy = (
        points[a, 0],
        points[a, 1],
        points[b, 0],
        points[b, 1],
        points[c, 0],
        points[c, 1],
    )
    left = (bx - ax) * (cy - ay)
    right = (by - ay) * (cx - ax)
    if abs(left - right) > _SURE * (abs(left) + abs(right)):
        return left - right
    return _exact_turn(ax, ay, bx, by, cx, cy)


@njit
def _polygon(points, order):
    """The corners of the hull, counter-clockwise, none of them in line; `order` sorts points by x,
    then y."""
    corners = np.empty(2 * len(order) + 1, np.int64)
    count = 0
    for way in range(2):
        kept = count
        for place in range(len(order)):
            j = order[place] if way == 0 else order[len(order) - 1 - place]
            while (
                count - kept >= 2 and _turn(points, corners[count - 2], corners[count - 1], j) <= 0
            ):
                count -= 1
            corners[count] = j
            count += 1
        count -= 1  # the end of one chain is the start of the other
    return corners[: max(count, 1)]


@njit(inline="always")
def _diamond_angle(x, y):
    """Grows with the angle of (x, y), from 0 to 4, at the price of one division; 1 for (0, 0)."""
    along = x / max(abs(x) + abs(y), _SMALLEST)
    return 1.0 - along if y >= 0.0 else 3.0 + along


@njit(inline="always")
def _count_up_to(angle, angles):
    """How many of some increasing angles are at most this one."""
    low, high = 0, len(angles)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if angles[middle] <= angle else (low, middle)
    return low


@njit
def _leaving_angles(corners):
    """For each corner the angle from which on the next one is the furthest."""
    count = len(corners)
    angles = np.empty(count)
    for k in range(count):
        after = corners[(k + 1) % count]
        angles[k] = _diamond_angle(after[1] - corners[k][1], corners[k][0] - after[0])
    return angles


@njit_parallel(lambda directions, *_: -(-len(directions) // ROWS))
def _find_winners(
    first_task,
    last_task,
    directions,
    slack,
    unsure,
    angles,
    places,
    furthest,
    winners,
    leads,
):
    """For each direction the furthest point, or -1 where others may come within its slack; the
    smallest leads."""
    for task in range(first_task, last_task):
        smallest = np.inf
        for i in range(task * ROWS, min((task + 1) * ROWS, len(directions))):
            x, y = directions[i, 0], directions[i, 1]
            number = _count_up_to(_diamond_angle(x, y), angles)
            scene = places[number]
            best, within = x * scene[0] + y * scene[1], x * scene[6] + y * scene[7]
            earlier, later = x * scene[2] + y * scene[3], x * scene[4] + y * scene[5]
            second = earlier if earlier > later else later
            second = second if second > within else within
            if best - second > slack[i] + unsure * (abs(x) + abs(y)):
                winners[i] = furthest[number]
                smallest = best - second if best - second < smallest else smallest
            else:
                winners[i] = -1
        leads[task] = smallest


def search_plane(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Search by hull and angle."""
    directions = np.ascontiguousarray(directions)
    outer, inner = _two_polygons(points)
    winners, leads = (
        np.zeros(len(directions), dtype=np.int64),
        np.full(-(-len(directions) // ROWS), np.inf),
    )
    if len(outer) > 1:
        unsure = 128 * UNIT * float(norms_above(points[outer]).max())
        _find_winners(directions, slack, unsure, *_scenes(points, outer, inner), winners, leads)
    result = ArgmaxResult.clear(winners, float(leads.min()), "plane")
    close = np.flatnonzero(winners < 0)
    return result.left_to(search_tree, close, directions, points, slack)


def _scenes(points: np.ndarray, outer: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, ...]:
    """Angles between which the scene is the same; of each scene the places of the furthest point,
    its neighbours and the furthest inside (none: a neighbour again), and who is the furthest."""
    # The angles increase in truth; where rounding has them fall, they stay as they were.
    angles = [np.maximum.accumulate(_leaving_angles(points[corners])) for corners in (outer, inner)]
    both = np.concatenate(angles)
    order = np.argsort(both, kind="stable")
    of_outer = order < len(outer)
    number, within = (np.append(0, np.cumsum(which)) for which in (of_outer, ~of_outer))
    furthest, earlier, later = (outer.take(number + step, mode="wrap") for step in (0, -1, 1))
    inside = inner.take(within, mode="wrap") if len(inner) else earlier
    places = np.hstack([points[several] for several in (furthest, earlier, later, inside)])
    return both[order], places, furthest


def _two_polygons(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the hull, and of the hull of all points that are not corners of it."""
    some = np.arange(0, len(points), max(1, len(points) // _SAMPLED))
    outer, inner = _nested(points, some)
    if len(some) == len(points):
        return outer, inner
    return _nested(points, np.flatnonzero(~_surely_inside(points, points[inner])))


def _nested(points: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    outer = _polygon_around(points, some)
    return outer, _polygon_around(points, np.setdiff1d(some, outer, assume_unique=True))


def _polygon_around(points: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Corners, counter-clockwise, from the furthest along (1, 0) on, of two the lower one: so the
    angles at which they are left increase from 0."""
    if not len(some):
        return some
    corners = _polygon(points, some[np.lexsort((points[some, 1], points[some, 0]))])
    # Found by comparing coordinates: among angles rounding could make another corner the first.
    x, y = points[corners].T
    return np.roll(corners, -int(np.lexsort((y, -x))[0]))


def _surely_inside(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Which points are strictly inside a convex polygon."""
    # Some of many corners make a smaller polygon that is nearly as good.
    shell = shell_of(corners[:: max(1, -(-len(corners) // _MOST_EDGES))])
    inside = np.full(len(points), shell is not None)
    if shell is not None:
        shell.keep_inside(points, 2 * shell.off, inside)
    return inside
