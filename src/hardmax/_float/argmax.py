"""Who is furthest along each direction: what a search returns, and all scores in floats."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hardmax._float.bounds import SAFETY, UNDERFLOW, UNIT
from hardmax._layer.attended import AttendedIndices

# Scores are made a block of rows at a time, about 1 MB so that it stays in the cache, never an n by
# n table.
_BLOCK = 2**17
_FEWEST_ROWS = 64  # below that a matrix product is no faster than its rows


@dataclass(frozen=True, eq=False)
class ArgmaxResult:
    """For each row a best point; for contested rows all points within the slack of the best."""

    winners: np.ndarray
    contested: np.ndarray  # rows, increasing
    candidates: AttendedIndices  # of the contested rows
    # the smallest lead of a row's best score over the best outside its slack; inf if no point is
    # outside
    gap: float
    by: tuple[str, ...]  # the searches that decided

    @classmethod
    def clear(cls, winners: np.ndarray, gap: float, by: str) -> "ArgmaxResult":
        """A result in which no second point comes within the slack."""
        return cls(winners, np.empty(0, dtype=np.int64), AttendedIndices.of_sets([]), gap, (by,))

    def left_to(
        self,
        search: Callable[..., "ArgmaxResult"],
        rows: np.ndarray,
        directions: np.ndarray,
        points: np.ndarray,
        slack: np.ndarray,
    ) -> "ArgmaxResult":
        """The same result with some rows, increasing, left to another search."""
        if not len(rows):
            return self
        other = search(directions[rows], points, slack[rows])
        if len(rows) == len(self.winners):
            return other
        winners, choices = self.winners.copy(), self.choices().with_rows(rows, other.choices())
        winners[rows] = other.winners
        contested = np.flatnonzero(choices.sizes > 1)
        by = tuple(dict.fromkeys(self.by + other.by))
        return ArgmaxResult(
            winners, contested, choices.of_rows(contested), min(self.gap, other.gap), by
        )

    def among(self, points: np.ndarray, gap: float) -> "ArgmaxResult":
        """The same result where the points searched are some of all, `points`, and all others lag
        by `gap` or more."""
        candidates = AttendedIndices(points[self.candidates.indices], self.candidates.offsets)
        return replace(
            self, winners=points[self.winners], candidates=candidates, gap=min(self.gap, gap)
        )

    def choices(self) -> AttendedIndices:
        """The choices of every row: all points within its slack."""
        return AttendedIndices.of_single(self.winners).with_rows(self.contested, self.candidates)


def sample_rows(lengths: np.ndarray, count: int) -> np.ndarray:
    """Some of the rows: the shortest, which tend to have the smallest leads, and others here and
    there."""
    shortest = np.argpartition(lengths, min(count, len(lengths) - 1))[:count]
    return np.union1d(shortest, np.arange(0, len(lengths), -(-len(lengths) // count)))


def search_dense(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Score every point along every direction; a row is contested where a second point is within
    its slack."""
    winners = np.empty(len(directions), dtype=np.int64)
    smallest = np.inf
    contested: list[int] = []
    candidates: list[np.ndarray] = []
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
            candidates.append(np.flatnonzero(within))
            gap[row] = best[row] - scores[row][~within].max(initial=-np.inf)
        smallest = min(smallest, float(gap.min()))
    return ArgmaxResult(
        winners,
        np.array(contested, dtype=np.int64),
        AttendedIndices.of_sets(candidates),
        smallest,
        ("dense",),
    )


def nearest(integers: np.ndarray) -> np.ndarray:
    """Integers divided by the largest, as the nearest floats."""
    largest = max(map(abs, integers.flat), default=0)
    return (integers / (largest or 1)).astype(np.float64)


def first_or_second(directions: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Which of two offsets or more, a column each, can be among the two furthest along a direction.

    Coordinates are up to 1 in size and off by one rounding. So a score is off by less than
    (d + 4) u times the sum of the sizes of its products, and by what underflow takes."""
    off = np.abs(directions) @ np.abs(offsets).T
    off *= (directions.shape[1] + 4) * UNIT * SAFETY
    off += UNDERFLOW
    scores = directions @ offsets.T
    sure = scores - off
    sure[np.arange(len(sure)), sure.argmax(axis=1)] = -np.inf
    scores += off
    return scores >= sure.max(axis=1, keepdims=True)
