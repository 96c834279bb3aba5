"""Who is furthest along each direction, in floats: winners, how clearly they win, and who comes close."""

from dataclasses import dataclass

import numpy as np

from hardmax.attended_sets import Choices

# Scores are made a block of rows at a time, about 1 MB so that it stays in the cache, never an n by n table.
_BLOCK = 2**17
_FEWEST_ROWS = 64  # below that a matrix product is no faster than its rows


@dataclass(frozen=True, eq=False)
class Contest:
    """For each row the first best point; for contested rows all points within the slack of the best."""

    winners: np.ndarray
    contested: np.ndarray  # rows, increasing
    contenders: list[np.ndarray]  # one for each contested row, increasing
    gap: float  # the smallest lead of a row's best score over the best outside its slack; inf if nobody is outside

    def with_rows(self, rows: np.ndarray, other: "Contest") -> "Contest":
        """The same contest with some rows, increasing, taken from another one that was held for them alone."""
        if not len(rows):
            return self
        contenders = dict(zip(self.contested.tolist(), self.contenders, strict=True))
        for row in rows.tolist():
            contenders.pop(row, None)
        contenders |= zip(rows[other.contested].tolist(), other.contenders, strict=True)
        winners = self.winners.copy()
        winners[rows] = other.winners
        contested = sorted(contenders)
        lists = [contenders[i] for i in contested]
        return Contest(winners, np.array(contested, dtype=np.int64), lists, min(self.gap, other.gap))

    def choices(self) -> Choices:
        if not len(self.contested):
            return Choices.of_single(self.winners)
        sizes = np.ones(len(self.winners), dtype=np.int64)
        sizes[self.contested] = [len(several) for several in self.contenders]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        indices = np.repeat(self.winners, sizes)
        for row, several in zip(self.contested, self.contenders, strict=True):
            indices[offsets[row] : offsets[row + 1]] = several
        return Choices(indices, offsets)


def score_all(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> Contest:
    """Score every point along every direction; a row is contested where a second point is within its slack."""
    winners = np.empty(len(directions), dtype=np.int64)
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
    return Contest(winners, np.array(contested, dtype=np.int64), contenders, smallest)
