"""Search among balls: where points lie at all distances alike, as on a sphere, those near one another stand together
(see `kernels.balls`)."""

from dataclasses import dataclass, replace

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.cpu.kernels.balls import (
    GROUP,
    WIDTH,
    Enclosing,
    InBalls,
    count_close_in_balls,
    enclose,
    find_best_in_balls,
    list_close_in_balls,
    sort_by_place,
)
from hardmax.engines.cpu.kernels.outward import Directions, Found
from hardmax.engines.floats.bounds import norms_above, search_rounding
from hardmax.engines.floats.contest import Contest


@dataclass(frozen=True, eq=False)
class Balls:
    """Points by place: who they are, and where; a ball around each block of them, and around each group of blocks."""

    order: np.ndarray
    places: InBalls

    @classmethod
    def around(cls, points: np.ndarray) -> "Balls":
        order = np.arange(len(points))
        sort_by_place(points, order)
        places = points[order]
        narrow, wide = (_enclosed(places, size) for size in (WIDTH, WIDTH * GROUP))
        return cls(order, InBalls(in_blocks(places), len(order), narrow, wide))

    def hold(self, vectors: np.ndarray, slack: np.ndarray) -> Contest:
        """The contest of these directions among all points."""
        directions, found = Directions(vectors, norms_above(vectors), slack), Found.empty(len(vectors))
        find_best_in_balls(directions, self.places, found)
        leads = found.best - found.second
        contested = np.flatnonzero(leads <= slack)
        clear = np.ones(len(vectors), dtype=bool)
        clear[contested] = False
        gap = float(leads[clear].min(initial=np.inf))
        contest = Contest.clear(self.order[found.winners], gap, "balls")
        if len(contested):
            contenders, gap_outside = self._close(directions.rows(contested), found.best[contested])
            contest = replace(contest, contested=contested, contenders=contenders, gap=min(gap, gap_outside))
        return contest

    def _close(self, directions: Directions, best: np.ndarray) -> tuple[Choices, float]:
        """Who comes close to the best along each direction, and the smallest lead over those who do not."""
        counts, outside = np.empty(len(best), dtype=np.int64), np.empty(len(best))
        asked = (directions, best - directions.slack, self.places)
        count_close_in_balls(*asked, counts, outside)
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.empty(starts[-1], dtype=np.int64)
        list_close_in_balls(*asked, starts, places)
        return sorted_within(self.order[places], starts), float((best - outside).min())


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


def _enclosed(places: np.ndarray, size: int) -> Enclosing:
    balls = -(-len(places) // size)
    tight = Enclosing(np.empty((places.shape[1], balls)), np.empty(balls))
    enclose(places, size, tight)
    rounding = search_rounding(places.shape[1])
    return tight._replace(radii=tight.radii * (1 + rounding) + rounding * float(np.abs(places).max()))
