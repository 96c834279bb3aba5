"""Search through bytes: in many dimensions, and for many points.

Take the centre c out of the points, x = p - c: that changes all scores of a direction alike. Round to bytes:
x = s q + e for the points, with one scale s for a tile of points at similar distance from the centre, and y = t r + f
for a direction. Products of bytes are summed exactly, and

    |<y, x> - s t <r, q>| = |<f, x> + <y - f, e>| <= |f| X + (|y| + |f|) E        (X >= |x|, E >= |e| in the tile),

where |f|, X and E are measured, not estimated. A tile's largest product therefore says what somebody in it is sure to
reach, and what nobody in it exceeds. Only groups of points that can come within the slack of what is sure to be reached
are scored in float64. Tiles go from the outside in; where X |y| is below what is sure, the rest cannot matter.

The float64 scores that are stood in for are off by rounding: u |y| X from taking the centre out, gamma_d |y| |p| each
from two ways of summing; (2 d + 8) u |y| (X + |c|) covers them.
"""

from dataclasses import dataclass

import numpy as np

from hardmax.engines.cpu.kernels.rounded import TILE, find_floors, round_directions, round_points, search
from hardmax.engines.cpu.kernels.tiles import GROUP, ROWS, STEP
from hardmax.engines.floats.bounds import UNIT, norms_above
from hardmax.engines.floats.contest import Contest, score_all

# Far above the rounding in the bounds themselves, far below what matters to the time.
_ABOVE = 1 + 2.0**-40
# More than a length or an error can lose where squares underflow, in fewer than 2^20 dimensions.
_TINY = 2.0**-480
# The outermost tiles give a first idea of how far in each direction has to look.
_FIRST_TILES = 4
# Rows that are scored in full, half of them short, to learn about how small the smallest lead is.
_SAMPLED = 32


def rounded(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> Contest:
    """The contest: bytes name groups of points, float64 decides among them. A good guess for each row saves time."""
    directions = np.ascontiguousarray(directions)
    tiles = _Tiles.of(points)
    sure = np.full(len(directions), -np.inf)
    if guesses is not None:
        sure = np.einsum("ij,ij->i", directions, points[guesses] - tiles.centre)
    looks = _Looks.of(directions, np.arange(len(directions)), tiles, sure)
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no further.
    sample = _sample(looks.lengths)
    known = score_all(directions[sample], points, slack[sample]).gap
    found = _search(looks.sorted_by_need(tiles), tiles, np.maximum(slack, known))
    leads = found.best - found.second
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    clear = Contest.clear(found.winners, smallest, "rounded")
    return clear.with_rows(contested, score_all(directions[contested], points, slack[contested]))


def _sample(lengths: np.ndarray) -> np.ndarray:
    """Some of the rows: the shortest, which tend to have the smallest leads, and others here and there."""
    shortest = np.argpartition(lengths, min(_SAMPLED, len(lengths) - 1))[:_SAMPLED]
    return np.union1d(shortest, np.arange(0, len(lengths), -(-len(lengths) // _SAMPLED)))


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Points as bytes, outermost first."""

    points: np.ndarray
    centre: np.ndarray
    order: np.ndarray
    packed: np.ndarray  # (tiles, groups, steps, GROUP, STEP) int8
    scales: np.ndarray
    reaches: np.ndarray  # never growing from tile to tile
    errors: np.ndarray
    size: float  # at least |p - c| + |c| for every point p

    @classmethod
    def of(cls, points: np.ndarray) -> "_Tiles":
        points = np.ascontiguousarray(points)
        centre = points.mean(axis=0)
        order = np.argsort(-norms_above(points - centre), kind="stable")
        count = -(-len(points) // TILE)
        # Copies of the last point fill the last tile: they can win nothing that it does not win.
        order = np.concatenate([order, np.repeat(order[-1:], count * TILE - len(order))])
        steps = -(-points.shape[1] // STEP)
        packed = np.zeros((count, TILE // GROUP, steps, GROUP, STEP), dtype=np.int8)
        scales, reaches, errors = np.empty(count), np.empty(count), np.empty(count)
        round_points(points, centre, order, packed, scales, reaches, errors)
        reaches = np.maximum.accumulate(reaches[::-1])[::-1] * _ABOVE + _TINY
        size = float(reaches[0] + norms_above(centre[None])[0])
        return cls(points, centre, order, packed, scales, reaches, errors * _ABOVE + reaches * 2.0**-45 + _TINY, size)


@dataclass(frozen=True, eq=False)
class _Looks:
    """Directions as bytes, in an order that puts together those that have to look equally far in."""

    directions: np.ndarray
    rows: np.ndarray
    packed: np.ndarray  # (blocks, steps, ROWS, STEP) int8
    scales: np.ndarray
    lengths: np.ndarray
    errors: np.ndarray
    floors: np.ndarray  # what each is sure to reach, with the centre taken out; up to `rounding`
    rounding: np.ndarray

    @classmethod
    def of(cls, directions: np.ndarray, rows: np.ndarray, tiles: _Tiles, sure: np.ndarray) -> "_Looks":
        count, steps = len(rows), tiles.packed.shape[2]
        packed = np.zeros((-(-count // ROWS), steps, ROWS, STEP), dtype=np.int8)
        scales, lengths, errors = np.empty(count), np.empty(count), np.empty(count)
        round_directions(directions, rows, packed, scales, lengths, errors)
        lengths = lengths * _ABOVE + _TINY
        errors = errors * _ABOVE + lengths * 2.0**-45 + _TINY
        rounding = (2 * directions.shape[1] + 8) * UNIT * lengths * tiles.size
        return cls(directions, rows, packed, scales, lengths, errors, sure - rounding, rounding)

    def sorted_by_need(self, tiles: _Tiles) -> "_Looks":
        """The same, those first that need to look least far; the outermost tiles tell."""
        floors, first = self.floors, slice(_FIRST_TILES)
        bounds = (tiles.scales[first], tiles.reaches[first], tiles.errors[first])
        find_floors(self.packed, self.scales, self.lengths, self.errors, tiles.packed[first], *bounds, floors)
        need = np.divide(floors, self.lengths, out=np.zeros_like(floors), where=self.lengths > 0)
        order = np.argsort(-need, kind="stable")
        return _Looks.of(self.directions, self.rows[order], tiles, floors[order])


@dataclass(frozen=True, eq=False)
class _Found:
    """For each row the best score, the next and the winner, among those looked at."""

    best: np.ndarray
    second: np.ndarray
    winners: np.ndarray


def _search(looks: _Looks, tiles: _Tiles, within: np.ndarray) -> _Found:
    """Look at all who can come so close to the best of their row."""
    rows = looks.rows
    found = _Found(np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows), dtype=np.int64))
    search(
        looks.directions,
        tiles.points,
        rows,
        tiles.order,
        looks.packed,
        looks.scales,
        looks.lengths,
        looks.errors,
        tiles.packed,
        tiles.scales,
        tiles.reaches,
        tiles.errors,
        looks.floors,
        within[rows] + 2 * looks.rounding,
        found.best,
        found.second,
        found.winners,
    )
    return found
