"""Search through bytes: in many dimensions, and for many points.

Take the centre c out of the points, x = p - c: that changes all scores of a direction alike. Round to bytes:
x = s q + e for the points, with one scale s for a tile of points at similar distance from the centre, and y = t r + f
for a direction. Bytes reach up to 127, or less where d is so large that 32 bits would not hold d products of these. So
products are summed exactly, and

    |<y, x> - s t <r, q>| = |<f, x> + <y - f, e>| <= |f| X + (|y| + |f|) E        (X >= |x|, E >= |e| in the tile),

where |f|, X and E are measured, not estimated. A tile's largest product therefore says what somebody in it is sure to
reach, and what nobody in it exceeds. Only groups of points that can come within the slack of what is sure to be reached
are scored in float64. Tiles go from the outside in; where X |y| is below what is sure, the rest cannot matter.

The float64 scores that are stood in for are off by rounding: u |y| X from taking the centre out, gamma_d |y| |p| each
from two ways of summing; (2 d + 8) u |y| (X + |c|) covers them.
"""

from dataclasses import dataclass

import numpy as np

from hardmax.engines.cpu.kernels.outward import Found
from hardmax.engines.cpu.kernels.rounded import (
    TILE,
    RoundedDirections,
    RoundedPoints,
    find_floors,
    round_directions,
    round_points,
    search,
)
from hardmax.engines.cpu.kernels.tiles import GROUP, ROWS, STEP
from hardmax.engines.floats.bounds import UNIT, norms_above
from hardmax.engines.floats.contest import Contest, score_all

# More than a length or an error can lose where squares underflow, in fewer than 2^40 dimensions.
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
    asked = _Directions.of(directions, np.arange(len(directions)), tiles, sure)
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no further.
    sample = _sample(asked.rounded.lengths)
    known = score_all(directions[sample], points, slack[sample]).gap
    found = _search(asked.sorted_by_need(tiles), tiles, np.maximum(slack, known))
    leads = found.best - found.second
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    clear = Contest.clear(found.winners, smallest, "rounded")
    return clear.with_rows(contested, score_all(directions[contested], points, slack[contested]))


def _above(dimension: int) -> float:
    """A factor far above the rounding in the bounds themselves, far below what matters to the time."""
    return 1 + 2.0**-40 + dimension * UNIT


def _sample(lengths: np.ndarray) -> np.ndarray:
    """Some of the rows: the shortest, which tend to have the smallest leads, and others here and there."""
    shortest = np.argpartition(lengths, min(_SAMPLED, len(lengths) - 1))[:_SAMPLED]
    return np.union1d(shortest, np.arange(0, len(lengths), -(-len(lengths) // _SAMPLED)))


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Points as bytes, outermost first; no tile reaches further than one before it."""

    rounded: RoundedPoints
    centre: np.ndarray
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
        measured = RoundedPoints(points, order, packed, np.empty(count), np.empty(count), np.empty(count))
        round_points(measured, centre)
        above = _above(points.shape[1])
        reaches = np.maximum.accumulate(measured.reaches[::-1])[::-1] * above + _TINY
        errors = measured.errors * above + reaches * 2.0**-45 + _TINY
        size = float(reaches[0] + norms_above(centre[None])[0])
        return cls(measured._replace(reaches=reaches, errors=errors), centre, size)

    def outermost(self, count: int) -> RoundedPoints:
        """The first so many tiles."""
        points, order, *of_tiles = self.rounded
        return RoundedPoints(points, order, *(values[:count] for values in of_tiles))


@dataclass(frozen=True, eq=False)
class _Directions:
    """Directions as bytes, in an order that puts together those that have to look equally far in."""

    rounded: RoundedDirections
    floors: np.ndarray  # what each is sure to reach, with the centre taken out; up to `rounding`
    rounding: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, order: np.ndarray, tiles: _Tiles, sure: np.ndarray) -> "_Directions":
        count, steps = len(order), tiles.rounded.packed.shape[2]
        packed = np.zeros((-(-count // ROWS), steps, ROWS, STEP), dtype=np.int8)
        measured = RoundedDirections(vectors, order, packed, np.empty(count), np.empty(count), np.empty(count))
        round_directions(measured)
        above = _above(vectors.shape[1])
        lengths = measured.lengths * above + _TINY
        errors = measured.errors * above + lengths * 2.0**-45 + _TINY
        rounding = (2 * vectors.shape[1] + 8) * UNIT * lengths * tiles.size
        return cls(measured._replace(lengths=lengths, errors=errors), sure - rounding, rounding)

    def sorted_by_need(self, tiles: _Tiles) -> "_Directions":
        """The same, those first that need to look least far; the outermost tiles tell."""
        floors, lengths = self.floors, self.rounded.lengths
        find_floors(self.rounded, tiles.outermost(_FIRST_TILES), floors)
        need = np.divide(floors, lengths, out=np.zeros_like(floors), where=lengths > 0)
        order = np.argsort(-need, kind="stable")
        return _Directions.of(self.rounded.vectors, self.rounded.order[order], tiles, floors[order])


def _search(directions: _Directions, tiles: _Tiles, within: np.ndarray) -> Found:
    """Look at all who can come so close to the best of their row."""
    found = Found.empty(len(within))
    margins = within[directions.rounded.order] + 2 * directions.rounding
    search(directions.rounded, tiles.rounded, directions.floors, margins, found)
    return found
