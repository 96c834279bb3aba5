"""The contest and the walk on a GPU, in torch tensors that stay there. Needs the extra `gpu`.

Tensor cores name candidates, float64 decides among them: winners and ties are those of float64, at the speed of fp16.

**How wrong the filter can be.** Centre the points and scale by powers of two: x = s (p - c), y = t q with the largest
coordinate of all x, and of each y, between 1/2 and 1. Subtracting c changes all scores of a row alike, so it changes no
contest; it makes shifted clouds as easy as centred ones. Round to fp16: x~ = x + e, y~ = y + f. A coordinate loses at
most 2^-11 of itself, or 2^-25 where fp16 is subnormal, so |e| <= 2^-11 |x| + 2^-25 sqrt(d); but e and f are known
exactly in float64, so their norms are measured instead, which is about half as much. With X >= |x_j|, E >= |e_j|,

    |<y~, x~> - <y, x>| = |<y, e> + <f, x~>| <= |y| E + |f| (X + E).

Products of fp16 numbers are exact in fp32. Tensor cores are not IEEE adders: they align the terms of a partial sum to
the largest one and cut them off there. This is not documented but measured (Fasi et al., PeerJ CS 7:e330; Khattak and
Mikaitis, arXiv 2512.07004), so it is an assumption here, tested on the device: a term loses at most 2^-23 of the
largest, the d terms with the partial sums at most (d + 16) 2^-23 times sum |y~_k x~_k|. Four times that is counted,
(d + 16) 2^-21 (|y| + |f|) (X + E), which also covers subtracting the margin in fp32.
The float64 scores that are stood in for are off themselves: u |y| X from rounding p - c, and gamma_d |y| s |p| each
from two ways of summing a dot product; (2 d + 8) u |y| (X + s |c|) covers them. The sum of these terms, and 1/1000 of
it for evaluating it in floats, is B.

**What follows.** Let b be the best filter score of a row. Whoever has a float64 score within the slack of the best one
has a filter score of at least b - 2 B - slack. Points in tiles with a maximum above b - 3 B - slack are scored in
float64 where they are above it too; the third B makes everybody else known to trail by more than B + slack, which is
what `gap` says of them, and who is alone above has won. Rows that more than MOST_TILES tiles could win, and rows with
ties, are scored in full.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false
from __future__ import annotations

from collections.abc import Iterator
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
_PROGRAMS = 256  # that look for the extents of a cloud
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
    """Who is furthest along each direction, and who is within the slack: `score_all`, in float64 on a device."""
    _check(directions, points)
    directions, points = directions.contiguous(), points.contiguous()
    winners, gaps, gap = _filtered(directions, points, slack)
    if gap > -torch.inf:
        none = winners.new_empty(0)
        return GpuContest(winners, none, none, winners.new_zeros(1), gap)
    contested, contenders, sizes = [], [], [winners.new_zeros(1)]
    for rows, within in _scored_in_full(directions, points, slack, winners, gaps):
        several = within.sum(dim=1)
        within &= (several > 1)[:, None]
        contested.append(rows[several > 1])
        contenders.append(torch.nonzero(within)[:, 1])
        sizes.append(several[several > 1])
    offsets = torch.cat(sizes).cumsum(0)
    return GpuContest(winners, torch.cat(contested), torch.cat(contenders), offsets, float(gaps.min()))


def _prove(directions: torch.Tensor, points: torch.Tensor, slack: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Winners and the smallest gap, if no row is contested; `Undecided` at the first that is."""
    winners, gaps, gap = _filtered(directions.contiguous(), points, slack)
    if gap == -torch.inf:
        for _, within in _scored_in_full(directions, points, slack, winners, gaps):
            if int(within.sum()) > len(within):
                raise Undecided
        gap = float(gaps.min())
    return winners, gap


def _filtered(
    directions: torch.Tensor, points: torch.Tensor, slack: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Winners, gaps and the smallest gap; a gap of -inf marks a row that is still to be scored in full."""
    cloud = _Rounded.of_points(points)
    winners = torch.empty(len(directions), dtype=torch.int64, device=points.device)
    gaps = torch.empty(len(directions), dtype=torch.float64, device=points.device)
    at_once = max(1, _MAXIMA // cloud.tiles // kernels.ROWS) * kernels.ROWS
    for start in range(0, len(directions), at_once):
        rows = slice(start, start + at_once)
        cloud.hold(directions[rows], slack[rows], winners[rows], gaps[rows])
    return winners, gaps, float(gaps.min())


def _scored_in_full(
    directions: torch.Tensor, points: torch.Tensor, slack: torch.Tensor, winners: torch.Tensor, gaps: torch.Tensor
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Fill in the rows with a gap of -inf; rows, a block of them at a time, and who is within their slack."""
    for rows in torch.nonzero(gaps == -torch.inf).flatten().split(max(1, _SCORES // len(points))):
        scores = directions[rows] @ points.T
        best_at = scores.argmax(dim=1)
        best = scores.gather(1, best_at[:, None])
        within = scores >= best - slack[rows, None]
        winners[rows] = best_at
        gaps[rows] = best[:, 0] - scores.masked_fill_(within, -torch.inf).amax(dim=1)
        yield rows, within


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
        winners, gap = _prove(asking if matrix is None else asking @ matrix.T, positions, slack)  # pyright: ignore[reportArgumentType]
        margin = min(margin, relative_margin(gap, metric.norm, largest))
        chosen[pending] = winners
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
    frame: torch.Tensor  # see `kernels.frame_points` and `kernels.round_points`

    @classmethod
    def of_points(cls, points: torch.Tensor) -> _Rounded:
        count, d = points.shape
        width = max(16, 1 << (d - 1).bit_length())
        block = _rows_of(width)
        padded = -(-count // kernels.TILE) * kernels.TILE
        programs = min(-(-count // block), _PROGRAMS)
        rough = torch.empty((padded, width), dtype=torch.float16, device=points.device)
        parts = torch.empty((2, programs, width), dtype=torch.float64, device=points.device)
        frame = torch.empty(4 + width, dtype=torch.float64, device=points.device)
        squares = frame.view(torch.int64)[2:]
        kernels.extents[(programs,)](points, parts, count, programs, d=d, width=width, block=block)
        kernels.frame_points[(1,)](parts, frame, programs, width=width, block=block)
        grid = (-(-padded // block),)
        kernels.round_points[grid](points, frame, squares, rough, count, padded, d=d, width=width, block=block)
        return cls(points, rough, frame)

    @property
    def tiles(self) -> int:
        return len(self.rough) // kernels.TILE

    def hold(
        self,
        directions: torch.Tensor,
        slack: torch.Tensor,
        winners: torch.Tensor,
        gaps: torch.Tensor,
    ) -> None:
        """Fill in winners and gaps; a gap of -inf marks a row to be scored in full."""
        count, d = directions.shape
        width, tiles, device = self.rough.shape[1], self.tiles, directions.device
        padded = -(-count // kernels.ROWS) * kernels.ROWS
        rough = torch.empty((padded, width), dtype=torch.float16, device=device)
        best = torch.empty(padded, dtype=torch.float32, device=device)
        margins = torch.empty(padded, dtype=torch.float32, device=device)
        reaches = torch.empty(padded, dtype=torch.float64, device=device)
        block = _rows_of(width)
        kernels.round_directions[(-(-padded // block),)](
            directions,
            slack,
            self.frame,
            rough,
            best,
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
            best,
            padded,
            tiles,
            _SPAN,
            width=width,
            depth=min(width, _DEEPEST),
            block=kernels.ROWS,
            tile=kernels.TILE,
            num_warps=4,
            num_stages=3 if width < 64 else 2,
        )
        floors = torch.empty(padded, dtype=torch.float32, device=device)
        counts = torch.empty(padded, dtype=torch.int32, device=device)
        picked = torch.empty((padded, kernels.MOST_TILES), dtype=torch.int32, device=device)
        kernels.pick_tiles[(padded // 32,)](
            maxima,
            best,
            margins,
            floors,
            counts,
            picked,
            padded,
            tiles,
            block=32,
            step=32,
            most=kernels.MOST_TILES,
            num_warps=2,
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
            len(self.points),
            d=d,
            width=width,
            depth=min(width, 32),
            fine_depth=min(width, 32),
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
