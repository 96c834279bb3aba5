"""Who is furthest along each direction, in floats: winners, how clearly they win, and who comes close."""

from dataclasses import dataclass, replace

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.floats.kernels.scoring import find_leads

# Scores are made a block of rows at a time, about 1 MB so that it stays in the cache, never an n by n table.
_BLOCK = 2**17
_FEWEST_ROWS = 64  # below that a matrix product is no faster than its rows
_SMALL = 2**15  # so many products are made sooner than numpy is called


@dataclass(frozen=True, eq=False)
class Contest:
    """For each row the first best point; for contested rows all points within the slack of the best."""

    winners: np.ndarray
    contested: np.ndarray  # rows, increasing
    contenders: Choices  # of the contested rows
    gap: float  # the smallest lead of a row's best score over the best outside its slack; inf if nobody is outside
    by: tuple[str, ...]  # the searches that decided

    @classmethod
    def clear(cls, winners: np.ndarray, gap: float, by: str) -> "Contest":
        """A contest in which nobody comes close."""
        return cls(winners, np.empty(0, dtype=np.int64), _NOBODY, gap, (by,))

    def with_rows(self, rows: np.ndarray, other: "Contest") -> "Contest":
        """The same contest with some rows, increasing, taken from another one that was held for them alone."""
        if not len(rows):
            return self
        winners = self.winners.copy()
        winners[rows] = other.winners
        mine = ~np.isin(self.contested, rows)
        contested = np.concatenate([self.contested[mine], rows[other.contested]])
        order = np.argsort(contested)
        contenders = joined([self.contenders.of_rows(np.flatnonzero(mine)), other.contenders]).of_rows(order)
        by = (*self.by, *(name for name in other.by if name not in self.by))
        if len(rows) == len(self.winners):
            by = other.by
        return Contest(winners, contested[order], contenders, min(self.gap, other.gap), by)

    def among(self, points: np.ndarray, gap: float) -> "Contest":
        """The same contest where its points are some of all, `points`, and nobody else leads by less than `gap`."""
        contenders = Choices(points[self.contenders.indices], self.contenders.offsets)
        return replace(self, winners=points[self.winners], contenders=contenders, gap=min(self.gap, gap))

    def choices(self) -> Choices:
        """All who come close attend: the choices of every row."""
        if not len(self.contested):
            return Choices.of_single(self.winners)
        return Choices.of_single(self.winners).with_rows(self.contested, self.contenders)


_NOBODY = Choices(np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))


def joined(parts: list[Choices]) -> Choices:
    """The choices of several groups of rows, one after the other."""
    sizes = np.concatenate([part.sizes for part in parts])
    return Choices(np.concatenate([part.indices for part in parts]), np.concatenate([[0], np.cumsum(sizes)]))


def score_all(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> Contest:
    """Score every point along every direction; a row is contested where a second point is within its slack."""
    winners = np.empty(len(directions), dtype=np.int64)
    if directions.size * len(points) <= _SMALL:
        leads = np.empty(len(directions))
        find_leads(directions, points, winners, leads)
        if (leads > slack).all():
            return Contest.clear(winners, float(leads.min(initial=np.inf)), "all")
    smallest = np.inf
    contested: list[int] = []
    contenders: list[np.ndarray] = []
    block = max(_FEWEST_ROWS, _BLOCK // len(points))
    for start in range(0, len(directions), block):
        rows = slice(start, start + block)
        scores = directions[rows] @ points.T
        every = np.arange(len(scores))
        winners[rows] = best_at = scores.argmax(axis=1)
        best = scores[every, best_at]
        scores[every, best_at] = -np.inf
        gap = best - scores.max(axis=1)
        for row in np.flatnonzero(gap <= slack[rows]):
            scores[row, best_at[row]] = best[row]
            within = scores[row] >= best[row] - slack[start + row]
            contested.append(start + int(row))
            contenders.append(np.flatnonzero(within))
            gap[row] = best[row] - scores[row][~within].max(initial=-np.inf)
        smallest = min(smallest, float(gap.min()))
    if not contested:
        return Contest.clear(winners, smallest, "all")
    return Contest(winners, np.array(contested, dtype=np.int64), Choices.of_arrays(contenders), smallest, ("all",))
