"""Search among balls: where points lie at all distances alike, as on a sphere, those near one another stand together
(see `kernels.balls`)."""

from dataclasses import dataclass, replace

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.cpu.kernels.balls import (
    GROUP,
    WIDTH,
    count_close_in_balls,
    enclose,
    find_best_in_balls,
    list_close_in_balls,
    sort_by_place,
)
from hardmax.engines.floats.bounds import norms_above
from hardmax.engines.floats.contest import Contest

# Far above the rounding in a bound on scores, far below what matters to the time.
_ROUNDING = 2.0**-40


@dataclass(frozen=True, eq=False)
class Balls:
    """Points by place, in blocks; a ball around each block, and around each group of blocks."""

    order: np.ndarray
    blocks: np.ndarray  # (blocks, d, WIDTH)
    narrow: tuple[np.ndarray, np.ndarray]  # centres (d, blocks), radii
    wide: tuple[np.ndarray, np.ndarray]  # of the groups

    @classmethod
    def around(cls, points: np.ndarray) -> "Balls":
        order = np.arange(len(points))
        sort_by_place(points, order)
        places = points[order]
        narrow, wide = (_enclosed(places, size) for size in (WIDTH, WIDTH * GROUP))
        return cls(order, in_blocks(places), narrow, wide)

    def hold(self, directions: np.ndarray, slack: np.ndarray) -> Contest:
        """The contest of these directions among all points."""
        rows, lengths = len(directions), norms_above(directions)
        winners, best, second = np.empty(rows, dtype=np.int64), np.empty(rows), np.empty(rows)
        common = (self.blocks, len(self.order), *self.narrow)
        find_best_in_balls(directions, lengths, slack, *common, *self.wide, winners, best, second)
        contested = np.flatnonzero(best - second <= slack)
        clear = np.ones(rows, dtype=bool)
        clear[contested] = False
        gap = float((best - second)[clear].min(initial=np.inf))
        contest = Contest.clear(self.order[winners], gap, "balls")
        if len(contested):
            asked = (directions[contested], lengths[contested], (best - slack)[contested])
            contenders, outside = self._close(*asked)
            gap = min(gap, float((best[contested] - outside).min()))
            contest = replace(contest, contested=contested, contenders=contenders, gap=gap)
        return contest

    def _close(self, directions: np.ndarray, lengths: np.ndarray, floor: np.ndarray) -> tuple[Choices, np.ndarray]:
        """Who comes up to the floor along each direction, and the best score below it."""
        counts, outside = np.empty(len(floor), dtype=np.int64), np.empty(len(floor))
        common = (directions, lengths, floor, self.blocks, len(self.order), *self.narrow)
        count_close_in_balls(*common, counts, outside)
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.empty(starts[-1], dtype=np.int64)
        list_close_in_balls(*common, starts, places)
        return sorted_within(self.order[places], starts), outside


def sorted_within(points: np.ndarray, offsets: np.ndarray) -> Choices:
    """Groups of points, each brought into increasing order."""
    group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return Choices(points[np.lexsort((points, group))], offsets)


def in_blocks(places: np.ndarray) -> np.ndarray:
    """Points in order as (blocks, d, WIDTH), zeros after the last one: a block's scores are one vector loop."""
    blocks = -(-len(places) // WIDTH)
    padded = np.zeros((blocks * WIDTH, places.shape[1]))
    padded[: len(places)] = places
    return np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))


def _enclosed(places: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    balls = -(-len(places) // size)
    centres, radii = np.empty((places.shape[1], balls)), np.empty(balls)
    enclose(places, size, centres, radii)
    return centres, radii * (1 + _ROUNDING) + _ROUNDING * float(np.abs(places).max())
