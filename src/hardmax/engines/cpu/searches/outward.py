"""Search from the outside in: in few dimensions few points are ever looked at (see `kernels.outward`).

Where that does not help, because too many lie far out, points are looked for among balls.
"""

from dataclasses import dataclass, replace

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.cpu.kernels.outward import WIDTH, count_close, find_best, list_close
from hardmax.engines.cpu.searches.balls import Balls, in_blocks, sorted_within
from hardmax.engines.floats.bounds import norms_above
from hardmax.engines.floats.contest import Contest

# The outermost points are sorted first; the others only if some direction asks for them.
_FIRST_SORTED = 4096
# Up to so many dimensions, points are found sooner among balls than in shells, if not among the outermost.
_BALLS_ARE_SOONER = 4
# Directions that are tried first: if the outermost points settle few of them, all points are put into balls.
_TRIED = 256
# Far above the rounding in a bound on scores, far below what matters to the time.
_ROUNDING = 2.0**-40


def outward(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> Contest:
    """The outermost points first, then, where they do not suffice, all. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    looks = _Looks(directions, directions @ centre, norms_above(directions), slack)
    top = _Shells.outermost(points, radii, min(len(points), _FIRST_SORTED))
    if len(points) > _FIRST_SORTED and top.settles_few(looks):
        return Balls.around(points).hold(directions, slack)
    contest, left = top.hold(looks)
    if not len(left):
        return contest
    if points.shape[1] <= _BALLS_ARE_SOONER:
        return contest.with_rows(left, Balls.around(points).hold(directions[left], slack[left]))
    rest, none = _Shells.outermost(points, radii, len(points)).hold(looks.rows(left))
    assert not len(none)
    return contest.with_rows(left, rest)


@dataclass(frozen=True, eq=False)
class _Looks:
    """Directions, their scores with the centre, their lengths, and how close counts as close."""

    directions: np.ndarray
    base: np.ndarray
    lengths: np.ndarray
    slack: np.ndarray

    def rows(self, rows: np.ndarray) -> "_Looks":
        return _Looks(self.directions[rows], self.base[rows], self.lengths[rows], self.slack[rows])


@dataclass(frozen=True, eq=False)
class _Shells:
    """Points from the outside in, in blocks."""

    blocks: np.ndarray  # (blocks, d, WIDTH)
    order: np.ndarray  # the points, outermost first
    reach: np.ndarray  # how far from the centre points from each block on can be; the last for those in no block

    @classmethod
    def outermost(cls, points: np.ndarray, radii: np.ndarray, count: int) -> "_Shells":
        order = np.arange(len(points)) if count == len(points) else np.argpartition(radii, -count)[-count:]
        beyond = -np.inf
        if count < len(points):
            inner = np.ones(len(points), dtype=bool)
            inner[order] = False
            beyond = float(radii[inner].max())
        order = order[np.argsort(-radii[order], kind="stable")]
        size = float(np.abs(points).max())
        reach = np.append(radii[order[::WIDTH]], beyond) * (1 + _ROUNDING) + _ROUNDING * size
        return cls(in_blocks(points[order]), order, reach)

    def settles_few(self, looks: _Looks) -> bool:
        """Whether these points settle fewer than half of a sample of the directions."""
        tried = np.arange(0, len(looks.directions), max(1, len(looks.directions) // _TRIED))
        return 2 * len(self.hold(looks.rows(tried))[1]) > len(tried)

    def hold(self, looks: _Looks) -> tuple[Contest, np.ndarray]:
        """The contest among these points, and the directions for which points that are not among them might matter."""
        rows = len(looks.directions)
        winners, resolved = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=bool)
        best, second = np.empty(rows), np.empty(rows)
        common = (self.blocks, len(self.order), self.reach)
        find_best(looks.directions, *common, looks.base, looks.lengths, looks.slack, winners, best, second, resolved)
        contested = np.flatnonzero(resolved & (best - second <= looks.slack))
        clear = resolved.copy()
        clear[contested] = False
        gap = float((best - second)[clear].min(initial=np.inf))
        contest = Contest.clear(self.order[winners], gap, "outward")
        if len(contested):
            floor = (best - looks.slack)[contested]
            contenders, gap_outside = self._close(looks.rows(contested), floor, best[contested])
            contest = replace(contest, contested=contested, contenders=contenders, gap=min(gap, gap_outside))
        return contest, np.flatnonzero(~resolved)

    def _close(self, looks: _Looks, floor: np.ndarray, best: np.ndarray) -> tuple[Choices, float]:
        rows = len(floor)
        counts, outside = np.empty(rows, dtype=np.int64), np.empty(rows)
        common = (looks.directions, self.blocks, len(self.order), self.reach, looks.base, looks.lengths, floor)
        count_close(*common, counts, outside)
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.empty(starts[-1], dtype=np.int64)
        list_close(*common, starts, places)
        return sorted_within(self.order[places], starts), float((best - outside).min())
