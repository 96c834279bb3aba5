"""Search in the plane.

The plane: convex polygons with exact turns, and who on them lies furthest along a direction, by angle.

Search in the plane: the hull once, then every direction finds its corner by bisection. O(n log n).

The furthest point is a corner of the hull; the next furthest is a neighbour of that corner or a corner of the hull of
all other points. So two polygons, one inside the other, tell the winner and its lead.

Turns are decided exactly, so the polygons are those of the floats given, strictly convex. Angles are rounded: that of
a direction is off by less than 10 u, that of an edge, made to increase, by less than 20 u. So the corner found is the
furthest for a direction within 30 u of the one asked for, and scores at most 30 u |y| D less than the best, D the
diameter. All corners between it and the best score as much as that, so a neighbour does: rows whose lead is not beyond
the slack by 64 u |y| D are held again by another search.

Few points make the polygons. A corner of the inner polygon of a sample lies in the hull of others, so it is no corner
of the hull of all; whoever lies inside that polygon is therefore a corner of neither. Only the others are sorted.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hardmax._attended import Choices
from hardmax._compile import njit, njit_parallel
from hardmax._float.argmax import ArgmaxResult, score_all
from hardmax._float.bounds import UNIT, norms_above
from hardmax._float.kernels import add_product, leading_part
from hardmax._float.shells import outward

ROWS = 1024  # a task for a thread
NOWHERE, BESIDE, INSIDE = 0, 1, 2
_UNIT = 2.0**-53
_SURE = (3 + 16 * _UNIT) * _UNIT  # Shewchuk, Discrete & Computational Geometry 18 (1997), the first bound for a turn
_MOST_BINS = 2**14
_SMALLEST = 2.0**-1074
_TINY, _ROOT_OF_TINY = 2.0**-1000, 2.0**-500  # more than underflow can take from a product; from a square's root


class Wedges(NamedTuple):
    """A convex polygon, cut into triangles from its middle to its edges.

    Edge k ends at the corner `first + k`, counted round; what has a x + b y > c is inside it.
    """

    corners: np.ndarray  # (corners, 2), counter-clockwise
    first: int  # the corner of the smallest angle
    middle: tuple[float, float]
    disk: float  # the square of how far around the middle everything is inside
    angles: np.ndarray  # of the corners, seen from the middle, from the first on
    before: np.ndarray  # the same in bins
    edges: np.ndarray  # (corners, 3): a, b, c


class Scenes(NamedTuple):
    """Between two of the angles the scene is the same: who is the furthest, and the places of that point, of its
    neighbours on the outer polygon, and of the furthest on the inner one (where there is none, of a neighbour again).
    """

    angles: np.ndarray
    before: np.ndarray  # the same in bins
    places: np.ndarray  # (angles + 1, 8)
    furthest: np.ndarray
    inside: bool  # whether there is an inner polygon


class Winners(NamedTuple):
    """Of each direction the furthest point, and where those are who come close: NOWHERE, BESIDE it alone, or INSIDE; of
    each task the smallest lead over those who do not come close."""

    points: np.ndarray
    rivals: np.ndarray  # int8
    leads: np.ndarray


@njit
def _exact_turn(ax, ay, bx, by, cx, cy):
    """The sign of a x b + b x c + c x a, from a sum of floats that loses nothing."""
    parts = np.zeros(12)
    lefts, rights = (ax, -ay, bx, -by, cx, -cy), (by, bx, cy, cx, ay, ax)
    count = 0
    for term in range(6):
        count = add_product(lefts[term], rights[term], parts, count)
    return np.sign(leading_part(parts, count))


@njit(inline="always")
def _turn(points, a, b, c):
    """Positive if a, b, c turn to the left, negative to the right, 0 if they are in line: decided exactly."""
    ax, ay, bx, by, cx, cy = points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1]
    left = (bx - ax) * (cy - ay)
    right = (by - ay) * (cx - ax)
    if abs(left - right) > _SURE * (abs(left) + abs(right)):
        return left - right
    return _exact_turn(ax, ay, bx, by, cx, cy)


@njit
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


@njit(inline="always")
def diamond_angle(x, y):
    """Grows with the angle of (x, y), from 0 to 4, at the price of one division; 1 for (0, 0)."""
    along = x / max(abs(x) + abs(y), _SMALLEST)
    return 1.0 - along if y >= 0.0 else 3.0 + along


@njit
def sort_into_bins(angles):
    """How many of some increasing angles lie in bins before each of many equal ones: where a search can start."""
    bins = 2048
    while bins < min(4 * len(angles), _MOST_BINS):
        bins *= 2
    before = np.zeros(bins + 2, np.int64)
    for angle in angles:
        before[np.int64(angle * (bins / 4.0)) + 1] += 1
    for number in range(1, len(before)):
        before[number] += before[number - 1]
    return before


@njit(inline="always")
def _count_up_to(angle, angles, before):
    """How many of the angles are at most this one.

    Rounding keeps order, so an angle in a lower bin is smaller; only those in the same bin are compared.
    """
    here = np.int64(angle * ((len(before) - 2) / 4.0))
    low, high = before[here], before[here + 1]
    while low < high:
        middle = (low + high) // 2
        if angles[middle] <= angle:
            low = middle + 1
        else:
            high = middle
    return low


@njit(inline="always")
def _left_of(ax, ay, bx, by, x, y):
    """Whether (x, y) lies to the left of the way from a to b, beyond doubt; where rounding leaves a doubt, no."""
    left = (bx - ax) * (y - ay)
    right = (by - ay) * (x - ax)
    return left - right > _SURE * (abs(left) + abs(right)) + _TINY


@njit
def _inner_disk(edges, x, y):
    """The square of how far around (x, y) everything is surely inside all edges; -1 where nothing is."""
    radius = np.inf
    for k in range(len(edges)):
        radius = min(radius, edges[k, 0] * x + edges[k, 1] * y - edges[k, 2])
    return radius * radius * (1 - 2.0**-40) if radius > _ROOT_OF_TINY else -1.0


@njit
def _edges(corners, first, reach):
    """For each edge a unit normal (a, b) and c: what has a x + b y > c is inside it, by 2^-40 of the reach or more.

    An edge too short to have a normal in floats gets one that nothing is inside of.
    """
    count = len(corners)
    edges = np.empty((count, 3))
    for k in range(count):
        a, b = corners[(k + first - 1) % count], corners[(k + first) % count]
        across, along = a[1] - b[1], b[0] - a[0]
        length = np.sqrt(across * across + along * along)
        if length > _ROOT_OF_TINY:
            edges[k] = across / length, along / length, (across * a[0] + along * a[1]) / length + 2.0**-40 * reach
        else:
            edges[k] = 0.0, 0.0, np.inf
    return edges


@njit
def _angles_around(corners, x, y):
    angles = np.empty(len(corners))
    for k in range(len(corners)):
        angles[k] = diamond_angle(corners[k, 0] - x, corners[k, 1] - y)
    return angles


def mark_inside(points: np.ndarray, corners: np.ndarray, outside: np.ndarray) -> None:
    """Clear the mark of points that are surely inside a convex polygon.

    Its middle m is inside if it is on the inner side of every edge by more than rounding; if it is not, because the
    polygon is too thin, nobody is marked. A point is inside if it lies in a triangle of m and an edge: to the left of
    the way from m to the first end, to the right of that to the second, and on the inner side of the edge. Which edge
    to try is looked up by angle: a wrong one costs time, never a wrong mark, since each triangle lies in the polygon.
    """
    x, y = corners.mean(axis=0).tolist()
    angles = _angles_around(corners, x, y)
    first = int(np.argmin(angles))
    angles, edges = np.roll(angles, -first), _edges(corners, first, float(np.abs(corners).max()))
    disk = _inner_disk(edges, x, y)
    if disk >= 0.0:
        _mark_in_wedges(points, Wedges(corners, first, (x, y), disk, angles, sort_into_bins(angles), edges), outside)


@njit_parallel(lambda points, *_: -(-len(points) // ROWS))
def _mark_in_wedges(first, last, points, wedges, outside):
    corners, first_corner, (x, y), disk = wedges.corners, wedges.first, wedges.middle, wedges.disk
    angles, before, edges = wedges.angles, wedges.before, wedges.edges
    count = len(corners)
    for j in range(first * ROWS, min(last * ROWS, len(points))):
        px, py = points[j, 0], points[j, 1]
        dx, dy = px - x, py - y
        if dx * dx + dy * dy < disk:
            outside[j] = False
        else:
            k = _count_up_to(diamond_angle(dx, dy), angles, before) % count
            edge, a, b = edges[k], corners[(k + first_corner - 1) % count], corners[(k + first_corner) % count]
            outside[j] = not (
                edge[0] * px + edge[1] * py > edge[2]
                and _left_of(x, y, a[0], a[1], px, py)
                and _left_of(b[0], b[1], x, y, px, py)
            )


@njit
def leaving_angles(corners):
    """For each corner the angle from which on the next one is the furthest."""
    count = len(corners)
    angles = np.empty(count)
    for k in range(count):
        after = corners[(k + 1) % count]
        angles[k] = diamond_angle(after[1] - corners[k][1], corners[k][0] - after[0])
    return angles


@njit_parallel(lambda directions, *_: -(-len(directions) // ROWS))
def find_winners(first_task, last_task, directions, slack, unsure, scenes, winners):
    """For each direction the furthest point, and where those are who come within its slack, or may.

    `unsure` times the length of a direction, or more, is added to its slack.
    """
    angles, before, places, furthest = scenes.angles, scenes.before, scenes.places, scenes.furthest
    chosen, rivals = winners.points, winners.rivals
    numbers = np.empty(ROWS, np.int64)
    for task in range(first_task, last_task):
        first, last = task * ROWS, min((task + 1) * ROWS, len(directions))
        # A loop of its own, so that what a wrong guess of the processor costs is not paid for the scores too.
        for i in range(first, last):
            numbers[i - first] = _count_up_to(diamond_angle(directions[i, 0], directions[i, 1]), angles, before)
        smallest = np.inf
        for i in range(first, last):
            x, y = directions[i, 0], directions[i, 1]
            number = numbers[i - first]
            scene = places[number]
            best, within = x * scene[0] + y * scene[1], x * scene[6] + y * scene[7]
            earlier, later = x * scene[2] + y * scene[3], x * scene[4] + y * scene[5]
            second = earlier if earlier > later else later
            second = second if second > within else within
            near = slack[i] + unsure * (abs(x) + abs(y))
            chosen[i] = furthest[number]
            if best - second > near:
                rivals[i] = NOWHERE
                smallest = best - second if best - second < smallest else smallest
            else:
                rivals[i] = INSIDE if scenes.inside and best - within <= near else BESIDE
        winners.leads[task] = smallest


@njit
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


_SAMPLED = 2**12
# Scores that are made sooner than points are laid out for a search.
_FEW_SCORES = 2**28
# Scores that are made sooner than points are told apart by where they lie.
_VERY_FEW_SCORES = 2**20
_SHRUNK = 2**-8  # more than a row of a lattice of a hundred, less than costs time


def plane(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """The contest in the plane. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    outer, inner = _two_polygons(points)
    rows = len(directions)
    if len(outer.corners) == 1:  # one point
        return ArgmaxResult.clear(np.zeros(rows, dtype=np.int64), np.inf, "plane")
    found = Winners(np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int8), np.empty(-(-rows // ROWS)))
    unsure = 128 * UNIT * float(norms_above(points[outer.corners]).max())
    find_winners(directions, slack, unsure, _scenes(outer, inner, points), found)
    contest = ArgmaxResult.clear(found.points, float(found.leads.min()), "plane")
    if not found.rivals.any():
        return contest
    beside, inside = np.flatnonzero(found.rivals == BESIDE), np.flatnonzero(found.rivals == INSIDE)
    if len(beside):
        some = (directions[beside], outer.numbers_of(found.points[beside]), slack[beside])
        contest = contest.with_rows(beside, _among_neighbours(outer, inner, points, unsure, *some))
    return contest.with_rows(inside, _near_the_edge(inner, points, unsure, directions[inside], slack[inside]))


def _scenes(outer: "_Polygon", inner: "_Polygon", points: np.ndarray) -> Scenes:
    """What is seen of both polygons at once, so that an angle is looked up once."""
    angles = [polygon.leaving_angles(points) for polygon in (outer, inner)]
    both = np.concatenate(angles)
    order = np.argsort(both, kind="stable")
    of_outer = order < len(angles[0])
    number, within = (np.concatenate([[0], np.cumsum(which)]) for which in (of_outer, ~of_outer))
    furthest, earlier, later = (outer.corners.take(number + step, mode="wrap") for step in (0, -1, 1))
    inside = inner.corners.take(within, mode="wrap") if len(inner.corners) else earlier
    places = np.hstack([points[several] for several in (furthest, earlier, later, inside)])
    both = both[order]
    return Scenes(both, sort_into_bins(both), places, furthest, len(inner.corners) > 0)


def _among_neighbours(
    outer: "_Polygon",
    inner: "_Polygon",
    points: np.ndarray,
    unsure: float,
    directions: np.ndarray,
    corners: np.ndarray,
    slack: np.ndarray,
) -> ArgmaxResult:
    """The contest of directions for which all who come close are corners in a row on the outer polygon."""
    places, inside = points[outer.corners], points[inner.corners]
    floors = np.einsum("ij,ij->i", directions, places[corners]) - slack - unsure * norms_above(directions)
    count, smallest = len(places), np.inf
    winners, contested, candidates = np.empty(len(directions), dtype=np.int64), [], []
    for row, direction in enumerate(directions):
        before, after = corners_above(direction, places, corners[row], floors[row])
        # One more on either side: the best of those who do not come close.
        span = np.arange(corners[row] - before - 1, corners[row] + after + 2)[:count] % count
        some = np.sort(outer.corners[span])
        scores = points[some] @ direction
        winners[row] = some[scores.argmax()]
        close = scores >= scores.max() - slack[row]
        others = max((inside @ direction).max(initial=-np.inf), scores[~close].max(initial=-np.inf))
        smallest = min(smallest, float(scores.max() - others))
        if close.sum() > 1:
            contested.append(row)
            candidates.append(some[close])
    candidates = Choices.of_sets(candidates)
    return ArgmaxResult(winners, np.array(contested, dtype=np.int64), candidates, smallest, ("plane",))


def _near_the_edge(
    inner: "_Polygon", points: np.ndarray, unsure: float, directions: np.ndarray, slack: np.ndarray
) -> ArgmaxResult:
    """The contest of directions along which points off the outer polygon come close: edges full of points.

    Whoever lies in a slightly smaller copy of the inner polygon scores no more than a corner of that copy. So where
    those corners are out of reach, and lag by more than the smallest lead, the points around the copy decide. The other
    rows, if any, meet all points.
    """
    if len(inner.corners) < 3 or len(directions) * len(points) <= _VERY_FEW_SCORES:
        return _among_all(directions, points, slack)
    corners = points[inner.corners]
    middle = corners.mean(axis=0)
    corners = middle + (1 - _SHRUNK) * (corners - middle)
    around = np.ones(len(points), dtype=bool)
    mark_inside(points, np.ascontiguousarray(corners), around)
    around = np.flatnonzero(around)
    contest = score_all(directions, points[around], slack)
    best = np.einsum("ij,ij->i", directions, points[around[contest.winners]])
    lead = best - _furthest(directions, corners)
    unclear = (lead <= slack + unsure * norms_above(directions)) | (lead < contest.gap)
    contest = contest.among(around, np.inf)
    return contest.with_rows(np.flatnonzero(unclear), _among_all(directions[unclear], points, slack[unclear]))


def _furthest(directions: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The score of the best of few points along each direction."""
    best = np.full(len(directions), -np.inf)
    for corner in corners:
        np.maximum(best, directions @ corner, out=best)
    return best


def _among_all(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    hold = score_all if len(directions) * len(points) <= _FEW_SCORES else outward
    return hold(directions, points, slack)


@dataclass(frozen=True, eq=False)
class _Polygon:
    """Corners, counter-clockwise, from the one that is the furthest along (1, 0) on, of two the lower one, so that the
    angles at which they are left increase from 0 on; perhaps two corners, one or none."""

    corners: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray, some: np.ndarray) -> "_Polygon":
        if not len(some):
            return cls(some)
        order = some[np.lexsort((points[some, 1], points[some, 0]))]
        corners = polygon(points, order)
        # Found by comparing coordinates: among angles rounding could make another corner the first.
        x, y = points[corners].T
        return cls(np.roll(corners, -int(np.lexsort((y, -x))[0])))

    def leaving_angles(self, points: np.ndarray) -> np.ndarray:
        """For each corner the angle from which on the next one is the furthest. They increase in truth; where rounding
        has them fall, they stay as they were."""
        return np.maximum.accumulate(leaving_angles(points[self.corners]))

    def numbers_of(self, corners: np.ndarray) -> np.ndarray:
        """Which corner each of these points is."""
        order = np.argsort(self.corners)
        return order[np.searchsorted(self.corners, corners, sorter=order)]


def _two_polygons(points: np.ndarray) -> tuple[_Polygon, _Polygon]:
    """The hull, and the hull of all points that are not corners of it."""
    some = np.arange(0, len(points), max(1, len(points) // _SAMPLED))
    outer, inner = _nested(points, some)
    if len(some) == len(points):
        return outer, inner
    outside = np.ones(len(points), dtype=bool)
    if len(inner.corners) > 2:
        mark_inside(points, np.ascontiguousarray(points[inner.corners]), outside)
    return _nested(points, np.flatnonzero(outside))


def _nested(points: np.ndarray, some: np.ndarray) -> tuple[_Polygon, _Polygon]:
    outer = _Polygon.around(points, some)
    return outer, _Polygon.around(points, np.setdiff1d(some, outer.corners, assume_unique=True))
