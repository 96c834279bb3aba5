"""Who is furthest along each direction, on a GPU: tensor cores name candidates, float64 decides among them.

Winners and ties are those of float64, at the speed of fp16.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hardmax.attended_sets import Choices
from hardmax.engines.floats.contest import Contest
from hardmax.engines.gpu.filter import RoundedPoints
from hardmax.engines.gpu.kernels import contest as kernels
from hardmax.engines.gpu.tensors import INSTALLED, check_table
from hardmax.engines.judging.walking import Undecided

if INSTALLED:
    import torch

# Rows are done as many at a time as have so many maxima of tiles; those that are scored in full, so many scores.
_MAXIMA = 2**27
_SCORES = 2**26


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
        contenders = Choices(self.contenders.cpu().numpy(), self.offsets.cpu().numpy())
        return Contest(self.winners.cpu().numpy(), self.contested.cpu().numpy(), contenders, self.gap, ("gpu",))


def hold_gpu(directions: torch.Tensor, points: torch.Tensor, slack: torch.Tensor) -> GpuContest:
    """Who is furthest along each direction, and who is within the slack: `score_all`, in float64 on a device."""
    check_table("directions", directions)
    check_table("points", points)
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


def prove_gpu(directions: torch.Tensor, points: torch.Tensor, slack: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Winners and the smallest gap, if no row is contested; `Undecided` at the first that is."""
    winners, gaps, gap = _filtered(directions, points, slack)
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
    # Kernels count on rows that lie one behind the other.
    directions, points, slack = directions.contiguous(), points.contiguous(), slack.contiguous()
    cloud = RoundedPoints.of(points)
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
