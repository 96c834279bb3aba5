"""Search from the outside in, and on a line.

Search from the outside in: in few dimensions few points are ever looked at (see `kernels.outward`).

Where that does not help, because too many lie far out, directions are searched in cones.

Search on a line: the furthest along y is at one of the ends. O(n).

Products of floats with one number are rounded, but never change order, so the two outermost points at an end have the
two highest scores there is. Rows in which the second comes within the slack are few, and held by another search; so are
directions of length 0, along which nobody is further than others.
"""

from dataclasses import dataclass, replace

import numpy as np

from hardmax._attended import Choices
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import norms_above, search_rounding
from hardmax._float.cones import cones, in_blocks
from hardmax._float.kernels import WIDTH, Directions, Found, Shells, count_close, find_best, list_close

# The outermost points are sorted first; the others only if some direction asks for them.
_FIRST_SORTED = 4096
# Directions that are tried first: if the outermost points settle fewer of them than this share, all go into cones.
_TRIED, _MOST, _MOST_IN_MANY_DIMENSIONS = 256, 0.9, 0.7
# In more dimensions than this, cones are worth it only where points are at all distances alike.
_FEW_DIMENSIONS = 4


def outward(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """The outermost points first, then, where they do not suffice, all. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    along, base = Directions(directions, norms_above(directions), slack), directions @ centre
    few = points.shape[1] <= _FEW_DIMENSIONS
    top = _Outermost.of(points, radii, min(len(points), _FIRST_SORTED))
    most = _MOST if few else _MOST_IN_MANY_DIMENSIONS
    if len(points) > _FIRST_SORTED and top.share_settled(along, base) < most:
        return cones(directions, points, slack)
    contest, left = top.hold(along, base)
    if not len(left):
        return contest
    if few:
        return contest.with_rows(left, cones(directions[left], points, slack[left]))
    rest, none = _Outermost.of(points, radii, len(points)).hold(along.rows(left), base[left])
    assert not len(none)
    return contest.with_rows(left, rest)


@dataclass(frozen=True, eq=False)
class _Outermost:
    """Points from the outside in: who they are, and where."""

    order: np.ndarray
    shells: Shells

    @classmethod
    def of(cls, points: np.ndarray, radii: np.ndarray, count: int) -> "_Outermost":
        order = np.arange(len(points)) if count == len(points) else np.argpartition(radii, -count)[-count:]
        beyond = -np.inf
        if count < len(points):
            inner = np.ones(len(points), dtype=bool)
            inner[order] = False
            beyond = float(radii[inner].max())
        order = order[np.argsort(-radii[order], kind="stable")]
        size, rounding = float(np.abs(points).max()), search_rounding(points.shape[1])
        reach = np.append(radii[order[::WIDTH]], beyond) * (1 + rounding) + rounding * size
        return cls(order, Shells(in_blocks(points[order]), count, reach))

    def share_settled(self, directions: Directions, base: np.ndarray) -> float:
        """How many of a sample of the directions these points settle."""
        tried = np.arange(0, len(base), max(1, len(base) // _TRIED))
        return 1 - len(self.hold(directions.rows(tried), base[tried])[1]) / len(tried)

    def hold(self, directions: Directions, base: np.ndarray) -> tuple[ArgmaxResult, np.ndarray]:
        """The contest among these points, and the directions for which points that are not among them might matter.
        `base` are the scores of the centre."""
        found, resolved = Found.empty(len(base)), np.empty(len(base), dtype=bool)
        find_best(directions, base, self.shells, found, resolved)
        leads = found.best - found.second
        contested = np.flatnonzero(resolved & (leads <= directions.slack))
        clear = resolved.copy()
        clear[contested] = False
        gap = float(leads[clear].min(initial=np.inf))
        contest = ArgmaxResult.clear(self.order[found.winners], gap, "outward")
        if len(contested):
            best = found.best[contested]
            candidates, gap_outside = self._close(directions.rows(contested), base[contested], best)
            contest = replace(contest, contested=contested, candidates=candidates, gap=min(gap, gap_outside))
        return contest, np.flatnonzero(~resolved)

    def _close(self, directions: Directions, base: np.ndarray, best: np.ndarray) -> tuple[Choices, float]:
        """Who comes close to the best along each direction, and the smallest lead over those who do not."""
        counts, outside = np.empty(len(best), dtype=np.int64), np.empty(len(best))
        asked = (directions, base, best - directions.slack, self.shells)
        count_close(*asked, counts, outside)
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.empty(starts[-1], dtype=np.int64)
        list_close(*asked, starts, places)
        return _sorted_within(self.order[places], starts), float((best - outside).min())


def _sorted_within(points: np.ndarray, offsets: np.ndarray) -> Choices:
    """Groups of points, each brought into increasing order."""
    group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return Choices(points[np.lexsort((points, group))], offsets)


def line(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """The contest on a line. Guesses are not needed."""
    if len(points) == 1:
        return ArgmaxResult.clear(np.zeros(len(directions), dtype=np.int64), np.inf, "line")
    ends = np.argpartition(points[:, 0], [0, 1, -2, -1])
    along = directions[:, 0]
    winners, seconds = (np.where(along > 0, ends[-rank], ends[rank - 1]) for rank in (1, 2))
    leads = along * points[winners, 0] - along * points[seconds, 0]
    close = np.flatnonzero(~(leads > slack))
    contest = ArgmaxResult.clear(winners, float(np.delete(leads, close).min(initial=np.inf)), "line")
    return contest.with_rows(close, outward(directions[close], points, slack[close])) if len(close) else contest
