"""The contest and the walk on a GPU, in torch tensors that stay there. Needs the extra `gpu`.

Tensor cores name candidates, float64 decides among them: winners and ties are those of float64, at the speed of fp16.

**How wrong the filter can be.** Centre the points and scale by powers of two: x = s (p - c), y = t q with the largest
coordinate of all x, and of each y, between 1/2 and 1. Subtracting c changes all scores of a row alike, so it changes no
contest; it makes shifted clouds as easy as centred ones. Round to fp16: x~ = x + e, y~ = y + f. A coordinate loses at
most 2^-11 of itself, or 2^-25 where fp16 is subnormal, so |e| <= 2^-11 |x| + 2^-25 sqrt(d); but e and f are known
exactly in float64, so their norms are measured instead, which is about half as much. With X >= |x_j|, E >= |e_j|, all j,

    |<y~, x~> - <y, x>| = |<y, e> + <f, x~>| <= |y| E + |f| (X + E).

Products of fp16 numbers are exact in fp32. Tensor cores align the terms of a partial sum to the largest one and cut
them off there, each at no less than 23 bits, and so do the partial sums: at most (d + 16) 2^-23 times sum |y~_k x~_k|.
Four times that is counted, (d + 16) 2^-21 (|y| + |f|) (X + E), which also covers subtracting the margin in fp32.
The float64 scores that are stood in for are off themselves: u |y| X from rounding p - c, and gamma_d |y| s |p| each from
two ways of summing a dot product; (2 d + 8) u |y| (X + s |c|) covers them. The sum of these terms, and 1/1000 of it for
evaluating it in floats, is B.

**What follows.** Let b be the best filter score of a row. Whoever has a float64 score within the slack of the best one
has a filter score of at least b - 2 B - slack. Points in tiles with a maximum above b - 3 B - slack are scored in
float64; the third B makes everybody else known to trail by more than B + slack, which is what `gap` says of them.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.engines.bounds import LARGEST, SMALLEST, UNIT, score_slack, step_error
from hardmax.engines.contest import Contest
from hardmax.engines.floating import Undecided, float_metric, relative_margin
from hardmax.engines.kernels import gpu_contest as kernels
from hardmax.errors import InputError, MissingExtra

INSTALLED = find_spec("torch") is not None and find_spec("triton") is not None
if INSTALLED:
    import torch

# Maxima of tiles are kept for as many rows at a time as fit into this many numbers; scores in full, into that many.
_MAXIMA = 2**27
_SCORES = 2**26
# Tiles that a program of the filter does in turn, and how wide a dot product is taken at once.
_SPAN = 64
_DEEPEST = 128


@dataclass(frozen=True, eq=False)
class GpuContest:
    """A `Contest` in tensors: contested row number r has `contenders[offsets[r]:offsets[r + 1]]`, increasing."""

    winners: torch.Tensor
    contested: torch.Tensor  # rows, increasing
    contenders: torch.Tensor
    offsets: torch.Tensor
    gap: float  # at most the smallest lead of a row's best score over the best outside its slack

    def to_numpy(self) -> Contest:
        """The same contest, off the device."""
        flat, ends = self.contenders.cpu().numpy(), self.offsets.cpu().numpy()[1:-1]
        several = np.split(flat, ends) if len(self.contested) else []
        return Contest(self.winners.cpu().numpy(), self.contested.cpu().numpy(), several, self.gap)


@dataclass(frozen=True, eq=False)
class GpuWalk:
    """Where a cloud settles: token i follows `leaders[i]` for ever, z_i(settled + m) = l + g^m (z_i(settled) - l)."""

    tokens: torch.Tensor  # (n, d) at the layer `settled`
    leaders: torch.Tensor  # (n,) the token at the limit of each token; of equal tokens, the first
    leader_since: torch.Tensor  # (n,) -1: not a leader
    settled: int
    margin: float  # at most the smallest lead, as a share of |A| R^2
    error: float  # how far `tokens` can be from the truth

    @property
    def limits(self) -> torch.Tensor:
        """The limit of every token."""
        return self.tokens[self.leaders]


def hold_gpu(directions: torch.Tensor, points: torch.Tensor, slack: torch.Tensor) -> GpuContest:
    """Who is furthest along each direction, and who is within the slack: `score_all`, in float64 tensors on a device.

    >>> from hardmax.engines.gpu import hold_gpu  # doctest: +SKIP
    >>> hold_gpu(tokens, tokens, slack).winners  # doctest: +SKIP
    """
    _check(directions, points)
    directions, points = directions.contiguous(), points.contiguous()
    cloud = _Rounded.of_points(points)
    winners = torch.empty(len(directions), dtype=torch.int64, device=points.device)
    gaps = torch.empty(len(directions), dtype=torch.float64, device=points.device)
    clear = torch.empty(len(directions), dtype=torch.int8, device=points.device)
    at_once = max(1, _MAXIMA // cloud.tiles // kernels.ROWS) * kernels.ROWS
    for start in range(0, len(directions), at_once):
        rows = slice(start, start + at_once)
        cloud.hold(directions[rows], slack[rows], winners[rows], gaps[rows], clear[rows])
    left = torch.nonzero(clear == 0).flatten()
    if not len(left):
        none = left.new_zeros(0)
        return GpuContest(winners, left, none, left.new_zeros(1), float(gaps.min()))
    gaps[left] = torch.inf
    contested, contenders, sizes = [], [], []
    block = max(1, _SCORES // len(points))
    for rows in left.split(block):
        scores = directions[rows] @ points.T
        best_at = scores.argmax(dim=1)
        best = scores.gather(1, best_at[:, None])
        winners[rows] = best_at
        within = scores >= best - slack[rows, None]
        gaps[rows] = best[:, 0] - scores.masked_fill_(within, -torch.inf).amax(dim=1)
        several = within.sum(dim=1)
        within &= (several > 1)[:, None]
        contested.append(rows[several > 1])
        contenders.append(torch.nonzero(within)[:, 1])
        sizes.append(several[several > 1])
    offsets = torch.cat([left.new_zeros(1), torch.cat(sizes).cumsum(0)])
    return GpuContest(winners, torch.cat(contested), torch.cat(contenders), offsets, float(gaps.min()))


def walk_gpu(points: torch.Tensor, dynamics: Dynamics) -> GpuWalk:
    """Walk a cloud on its device until it settles; every choice is proved as by `Proof`, or `Undecided` is raised.

    Equal tokens stay equal for ever: they are merged, where there are any.
    """
    _check(points, points)
    dynamics.check_dimension(points.shape[1])
    tokens = points + 0.0  # -0.0 becomes 0.0
    try:
        return _walk_distinct(tokens, dynamics)
    except Undecided:
        distinct, of_token = torch.unique(tokens, dim=0, return_inverse=True)
        if len(distinct) == len(tokens):
            raise
    walk = _walk_distinct(distinct, dynamics)
    first = torch.full((len(distinct),), len(tokens), dtype=torch.int64, device=tokens.device)
    first.scatter_reduce_(0, of_token, torch.arange(len(tokens), device=tokens.device), "amin")
    return GpuWalk(
        walk.tokens[of_token],
        first[walk.leaders[of_token]],
        walk.leader_since[of_token],
        walk.settled,
        walk.margin,
        walk.error,
    )


def _walk_distinct(positions: torch.Tensor, dynamics: Dynamics) -> GpuWalk:
    metric = float_metric(dynamics)
    matrix = None if metric.matrix is None else torch.from_numpy(metric.matrix).to(positions.device)
    if not SMALLEST <= float(positions.abs().max()) <= LARGEST:
        raise Undecided
    keep, error, margin, layer = float(dynamics.keep), 0.0, np.inf, 0
    everybody = torch.arange(len(positions), device=positions.device)
    chosen, pending = everybody.clone(), everybody
    since = torch.full_like(everybody, -1)
    while True:
        norms = torch.linalg.vector_norm(positions, dim=1) + 2.0**-500
        largest = float(norms.max())
        asking = positions[pending]
        # The bounds are plain arithmetic on norms: they take tensors as they take arrays.
        slack = score_slack(norms[pending], largest, positions.shape[1], metric.norm, metric.error, error)  # pyright: ignore[reportArgumentType]
        contest = hold_gpu(asking if matrix is None else asking @ matrix.T, positions, slack)  # pyright: ignore[reportArgumentType]
        if len(contest.contested):
            raise Undecided
        margin = min(margin, relative_margin(contest.gap, metric.norm, largest))
        chosen[pending] = contest.winners
        alone = chosen == everybody
        since[alone & (since < 0)] = layer
        pending = torch.nonzero(~alone[chosen]).flatten()
        if not len(pending):
            return GpuWalk(positions, chosen, since, layer, margin, error)
        targets = positions[chosen]
        positions = targets + keep * (positions - targets)
        error += step_error(largest)
        layer += 1


@dataclass(frozen=True, eq=False)
class _Rounded:
    """Points in float64, and centred, scaled and rounded to fp16 for the filter."""

    points: torch.Tensor
    rough: torch.Tensor  # (padded, width), float16
    top: torch.Tensor  # the largest coordinate about the centre
    shift: torch.Tensor  # the norm of the centre
    sizes: torch.Tensor  # the largest norm of a scaled point, and of what it lost

    @classmethod
    def of_points(cls, points: torch.Tensor) -> _Rounded:
        count, d = points.shape
        low, high = torch.aminmax(points, dim=0)
        centre = low + (high - low) / 2
        top = torch.maximum(high - centre, centre - low).amax()
        width = max(16, 1 << (d - 1).bit_length())
        padded = -(-count // kernels.TILE) * kernels.TILE
        rough = torch.empty((padded, width), dtype=torch.float16, device=points.device)
        squares = torch.empty((2, padded), dtype=torch.float64, device=points.device)
        block = _rows_of(width)
        kernels.round_points[(-(-padded // block),)](
            points, centre, top, rough, squares, count, padded, d=d, width=width, block=block
        )
        return cls(points, rough, top, torch.linalg.vector_norm(centre), squares.amax(dim=1).sqrt_())

    @property
    def tiles(self) -> int:
        return len(self.rough) // kernels.TILE

    def hold(
        self,
        directions: torch.Tensor,
        slack: torch.Tensor,
        winners: torch.Tensor,
        gaps: torch.Tensor,
        clear: torch.Tensor,
    ) -> None:
        """Fill in winners and gaps, and which rows are clear; the others are to be scored in full."""
        count, d = directions.shape
        width, tiles, device = self.rough.shape[1], self.tiles, directions.device
        padded = -(-count // kernels.ROWS) * kernels.ROWS
        rough = torch.empty((padded, width), dtype=torch.float16, device=device)
        margins = torch.empty(padded, dtype=torch.float32, device=device)
        reaches = torch.empty(padded, dtype=torch.float64, device=device)
        block = _rows_of(width)
        kernels.round_directions[(-(-padded // block),)](
            directions,
            slack,
            self.sizes,
            self.shift,
            self.top,
            rough,
            margins,
            reaches,
            count,
            padded,
            (d + 16) * 2.0**-21,
            (2 * d + 8) * UNIT,
            d=d,
            width=width,
            block=block,
        )
        maxima = torch.empty((tiles, padded), dtype=torch.float32, device=device)
        kernels.tile_maxima[(padded // kernels.ROWS, -(-tiles // _SPAN))](
            rough,
            self.rough,
            maxima,
            padded,
            tiles,
            _SPAN,
            width=width,
            depth=min(width, _DEEPEST),
            block=kernels.ROWS,
            tile=kernels.TILE,
            num_warps=8,
            num_stages=3,
        )
        floors = torch.empty(padded, dtype=torch.float32, device=device)
        counts = torch.empty(padded, dtype=torch.int32, device=device)
        picked = torch.empty((padded, kernels.MOST_TILES), dtype=torch.int32, device=device)
        kernels.pick_tiles[(padded // 32,)](
            maxima, margins, floors, counts, picked, padded, tiles, block=32, step=64, most=kernels.MOST_TILES
        )
        kernels.rescore[(count,)](
            directions,
            self.points,
            rough,
            self.rough,
            floors,
            reaches,
            counts,
            picked,
            slack,
            winners,
            gaps,
            clear,
            len(self.points),
            d=d,
            width=width,
            depth=min(width, 32),
            tile=kernels.TILE,
            most=kernels.MOST_TILES,
        )


def _rows_of(width: int) -> int:
    """Rows that a program rounds at once."""
    return max(1, 2048 // width)


def _check(directions: torch.Tensor, points: torch.Tensor) -> None:
    if not INSTALLED:
        raise MissingExtra("The GPU engine", "gpu")
    for name, given in (("directions", directions), ("points", points)):
        if given.dtype != torch.float64 or given.ndim != 2 or not len(given):
            shape = tuple(given.shape)
            raise InputError(f"`{name}` must be a float64 tensor of shape (n, d), n > 0, not {given.dtype}, {shape}.")
