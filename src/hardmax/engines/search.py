"""Ways to hold a contest, with one answer: who wins along each direction, who comes close, and the smallest lead.

`score_all` scores everybody: the reference. `outward` looks at points from the outside in and stops early; in few
dimensions it sees few of them. `filtered` makes all scores in single precision, and the close ones again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hardmax.engines.bounds import norms_above
from hardmax.engines.contest import Contest, score_all
from hardmax.engines.kernels.outward import WIDTH, count_close, find_best, list_close
from hardmax.engines.kernels.wide import MOST_CANDIDATES, read_scores, rescore

Search: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], Contest]

# Fewer scores than this are made sooner than a layout; in more dimensions the outermost points are too many.
_FEW_SCORES = 2**15
_HIGHEST_DIMENSION = 10
_MANY_SCORES = 2**27
# The outermost points are sorted first; the others only if some direction asks for them.
_FIRST_SORTED = 4096
# The table of single-precision scores that is made and read at once: 1 MB, which stays in the cache.
_ROWS, _COLUMNS = 256, 1024
# Far above the rounding in a bound on scores, far below what matters to the time.
_ROUNDING = 2.0**-40


def hold(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> Contest:
    """The contest, by the way that suits its size."""
    return search_for(len(directions), *points.shape)(directions, points, slack)


def search_for(directions: int, points: int, dimension: int) -> Search:
    """The way that suits a size."""
    if directions * points <= _FEW_SCORES:
        return score_all
    if dimension <= _HIGHEST_DIMENSION:
        return outward
    return filtered if directions * points >= _MANY_SCORES else score_all


def outward(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> Contest:
    """From the outside in (see `kernels.outward`): the outermost points first, then, where they do not suffice, all."""
    directions = np.ascontiguousarray(directions)
    centre = points.mean(axis=0)
    radii = norms_above(points - centre)
    looks = _Looks(directions, directions @ centre, norms_above(directions), slack)
    top = _Shells.outermost(points, radii, min(len(points), _FIRST_SORTED))
    contest, left = top.hold(looks)
    if len(left):
        rest, none = _Shells.outermost(points, radii, len(points)).hold(looks.rows(left))
        assert not len(none)
        contest = contest.with_rows(left, rest)
    return contest


def filtered(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> Contest:
    """A filter in single precision, at the speed of matrix products, then the candidates again in double precision.

    Scaled to sizes of at most 1, a single-precision score is off by at most e = (d + 4) 2^-24 |y| R: two roundings of
    the data and those of a dot product of length d, in any order. Whoever is more than 2 e + slack behind in the filter
    is out of the contest. Points come from the outside in; a row stops where nobody further in can reach its best.
    """
    table = _SingleScores.of(directions, points, slack)
    table.read(np.arange(len(directions)), 0, _COLUMNS)
    last = table.last_column_needed()
    by_need = np.argsort(last, kind="stable")
    for start in range(0, len(by_need), _ROWS):
        rows = by_need[start : start + _ROWS]
        table.read(rows, _COLUMNS, int(last[rows[-1]]))
    return table.contest()


@dataclass(frozen=True, eq=False)
class _SingleScores:
    """What the filter knows of each direction."""

    directions: np.ndarray
    points: np.ndarray
    slack: np.ndarray
    order: np.ndarray  # the points, outermost first
    radii: np.ndarray  # their distances from the centre
    base: np.ndarray  # scores of the centre
    lengths: np.ndarray
    scale: float  # of a score in the filter to a score
    single_directions: np.ndarray
    single_points: np.ndarray  # (d, n), outermost first
    tolerance: np.ndarray
    best: np.ndarray
    second: np.ndarray
    candidates: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> "_SingleScores":
        centre = points.mean(axis=0)
        radii = norms_above(points - centre)
        order = np.argsort(-radii, kind="stable")
        lengths, largest = norms_above(directions), float(norms_above(points).max())
        # Powers of two: scaling rounds nothing.
        units = [2.0 ** np.ceil(np.log2(size)) if size > 2.0**-200 else 1.0 for size in (lengths.max(), largest)]
        scale = units[0] * units[1]
        error = 1.01 * (points.shape[1] + 4) * 2.0**-24 * lengths * largest + scale * 2.0**-100
        rows, single = len(directions), np.float32
        return cls(
            np.ascontiguousarray(directions),
            points,
            slack,
            order,
            radii[order],
            directions @ centre,
            lengths,
            scale,
            (directions / units[0]).astype(single),
            np.ascontiguousarray((points[order] / units[1]).astype(single).T),
            ((2 * error + slack) / scale * 1.01).astype(single),
            np.full(rows, -np.inf, dtype=single),
            np.full(rows, -np.inf, dtype=single),
            np.empty((rows, MOST_CANDIDATES), dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
        )

    def read(self, rows: np.ndarray, first: int, last: int) -> None:
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS]
            looks = self.single_directions[some]
            for column in range(first, min(last, len(self.points)), _COLUMNS):
                block = self.single_points[:, column : min(column + _COLUMNS, last)]
                read_scores(
                    looks @ block, some, column, self.tolerance, self.best, self.second, self.candidates, self.counts
                )

    def last_column_needed(self) -> np.ndarray:
        """For each row how many of the outermost points could reach what it has found, or come next."""
        found = np.minimum(self.second, self.best - self.tolerance).astype(np.float64) * self.scale
        least = (found - self.tolerance * self.scale - self.base) / self.lengths - _ROUNDING * self.radii[0]
        return len(self.radii) - np.searchsorted(self.radii[::-1], least)

    def contest(self) -> Contest:
        rows = len(self.directions)
        best, second, winners = np.empty(rows), np.empty(rows), np.empty(rows, dtype=np.int64)
        rescore(self.directions, self.points, self.order, self.candidates, self.counts, best, second, winners)
        # Rows with too many candidates, with a close second, or with what may be the smallest lead are scored in full.
        lead = (self.best - self.second).astype(np.float64)
        sure = self.tolerance.astype(np.float64)
        again = (self.counts > MOST_CANDIDATES) | (best - second <= self.slack)
        again |= lead - sure <= (lead + sure)[~again].min(initial=np.inf)
        again = np.flatnonzero(again)
        clear = Contest(winners, np.empty(0, dtype=np.int64), [], np.inf)
        return clear.with_rows(again, score_all(self.directions[again], self.points, self.slack[again]))


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
        blocks = -(-count // WIDTH)
        padded = np.zeros((blocks * WIDTH, points.shape[1]))
        padded[:count] = points[order]
        layout = np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))
        size = float(np.abs(points).max())
        reach = np.append(radii[order[::WIDTH]], beyond) * (1 + _ROUNDING) + _ROUNDING * size
        return cls(layout, order, reach)

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
        contenders: list[np.ndarray] = []
        if len(contested):
            contenders, gap_outside = self._close(
                looks.rows(contested), (best - looks.slack)[contested], best[contested]
            )
            gap = min(gap, gap_outside)
        return Contest(self.order[winners], contested, contenders, gap), np.flatnonzero(~resolved)

    def _close(self, looks: _Looks, floor: np.ndarray, best: np.ndarray) -> tuple[list[np.ndarray], float]:
        rows = len(floor)
        counts, outside = np.empty(rows, dtype=np.int64), np.empty(rows)
        common = (looks.directions, self.blocks, len(self.order), self.reach, looks.base, looks.lengths, floor)
        count_close(*common, counts, outside)
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.empty(starts[-1], dtype=np.int64)
        list_close(*common, starts, places)
        lists = [np.sort(several) for several in np.split(self.order[places], starts[1:-1])]
        return lists, float((best - outside).min())
