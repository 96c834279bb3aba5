"""Search in the plane: the hull once, then every direction finds its corner by bisection. O(n log n).

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

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.cpu.kernels.plane import (
    BESIDE,
    INSIDE,
    ROWS,
    Scenes,
    Winners,
    corners_above,
    find_winners,
    leaving_angles,
    mark_inside,
    polygon,
    sort_into_bins,
)
from hardmax.engines.cpu.searches.outward import outward
from hardmax.engines.floats.bounds import UNIT, norms_above
from hardmax.engines.floats.contest import Contest, score_all

_SAMPLED = 2**12
# Scores that are made sooner than points are laid out for a search.
_FEW_SCORES = 2**28
# Scores that are made sooner than points are told apart by where they lie.
_VERY_FEW_SCORES = 2**20
_SHRUNK = 2**-8  # more than a row of a lattice of a hundred, less than costs time


def plane(directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None) -> Contest:
    """The contest in the plane. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    outer, inner = _two_polygons(points)
    rows = len(directions)
    if len(outer.corners) == 1:  # one point
        return Contest.clear(np.zeros(rows, dtype=np.int64), np.inf, "plane")
    found = Winners(np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int8), np.empty(-(-rows // ROWS)))
    unsure = 128 * UNIT * float(norms_above(points[outer.corners]).max())
    find_winners(directions, slack, unsure, _scenes(outer, inner, points), found)
    contest = Contest.clear(found.points, float(found.leads.min()), "plane")
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
) -> Contest:
    """The contest of directions for which all who come close are corners in a row on the outer polygon."""
    places, inside = points[outer.corners], points[inner.corners]
    floors = np.einsum("ij,ij->i", directions, places[corners]) - slack - unsure * norms_above(directions)
    count, smallest = len(places), np.inf
    winners, contested, contenders = np.empty(len(directions), dtype=np.int64), [], []
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
            contenders.append(some[close])
    contenders = Choices.of_arrays(contenders)
    return Contest(winners, np.array(contested, dtype=np.int64), contenders, smallest, ("plane",))


def _near_the_edge(
    inner: "_Polygon", points: np.ndarray, unsure: float, directions: np.ndarray, slack: np.ndarray
) -> Contest:
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


def _among_all(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> Contest:
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
