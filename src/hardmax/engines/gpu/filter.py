"""A filter on tensor cores: it names, for each direction, the few points that can be furthest; float64 decides.

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

from dataclasses import dataclass

from hardmax.engines.floats.bounds import UNIT
from hardmax.engines.gpu.kernels import contest as kernels
from hardmax.engines.gpu.kernels import rounding as gpu_rounding
from hardmax.engines.gpu.tensors import INSTALLED

if INSTALLED:
    import torch

_SPAN = 64  # tiles that a program of the filter does in turn
_PROGRAMS = 256  # that look for the extents of a cloud
# Axes of a dot product that are taken at once: by the filter, and when its candidates are scored.
_DEEPEST, _DEEPEST_FINE = 128, 32
# The bound holds for sums fused or not. Said to every kernel, because what triton takes for granted changes.
_FUSED = {"enable_fp_fusion": True}


@dataclass(frozen=True, eq=False)
class RoundedPoints:
    """Points in float64, and centred, scaled and rounded to fp16 for the filter."""

    points: torch.Tensor
    rough: torch.Tensor  # (padded, width), float16
    frame: torch.Tensor  # see `gpu_rounding.frame_points` and `gpu_rounding.round_points`

    @classmethod
    def of(cls, points: torch.Tensor) -> RoundedPoints:
        count, d = points.shape
        width = max(16, 1 << (d - 1).bit_length())
        block = _rows_of(width)
        padded = -(-count // kernels.TILE) * kernels.TILE
        programs = min(-(-count // block), _PROGRAMS)
        rough = torch.empty((padded, width), dtype=torch.float16, device=points.device)
        parts = torch.empty((2, programs, width), dtype=torch.float64, device=points.device)
        frame = torch.empty(4 + width, dtype=torch.float64, device=points.device)
        squares = frame.view(torch.int64)[2:]
        sizes = {"width": width, "block": block} | _FUSED
        gpu_rounding.extents[(programs,)](points, parts, count, programs, d=d, **sizes)
        gpu_rounding.frame_points[(1,)](parts, frame, programs, **sizes)
        grid = (-(-padded // block),)
        gpu_rounding.round_points[grid](points, frame, squares, rough, count, padded, d=d, **sizes)
        return cls(points, rough, frame)

    @property
    def tiles(self) -> int:
        return len(self.rough) // kernels.TILE

    @property
    def width(self) -> int:
        return self.rough.shape[1]

    def hold(self, directions: torch.Tensor, slack: torch.Tensor, winners: torch.Tensor, gaps: torch.Tensor) -> None:
        """Fill in winners and gaps; a gap of -inf marks a row to be scored in full."""
        asked = _RoundedDirections.of(directions, slack, self)
        picked = self._pick(asked, self._maxima(asked))
        kernels.rescore[(len(directions),)](
            directions,
            self.points,
            asked.rough,
            self.rough,
            asked.best,
            asked.margins,
            asked.reaches,
            picked,
            slack,
            winners,
            gaps,
            len(self.points),
            d=directions.shape[1],
            width=self.width,
            depth=min(self.width, _DEEPEST_FINE),
            tile=kernels.TILE,
            most=kernels.MOST_TILES,
            **_FUSED,
        )

    def _maxima(self, asked: _RoundedDirections) -> torch.Tensor:
        """The largest filter score of each row in each tile, (tiles, rows); also fills in the best of all."""
        padded = len(asked.rough)
        maxima = torch.empty((self.tiles, padded), dtype=torch.float32, device=asked.rough.device)
        kernels.tile_maxima[(padded // kernels.ROWS, -(-self.tiles // _SPAN))](
            asked.rough,
            self.rough,
            maxima,
            asked.best,
            padded,
            self.tiles,
            _SPAN,
            width=self.width,
            depth=min(self.width, _DEEPEST),
            block=kernels.ROWS,
            tile=kernels.TILE,
            num_warps=4,
            num_stages=3 if self.width < 64 else 2,
            **_FUSED,
        )
        return maxima

    def _pick(self, asked: _RoundedDirections, maxima: torch.Tensor) -> torch.Tensor:
        """For each row how many tiles can win, and which."""
        tiles, padded = maxima.shape
        picked = torch.empty((padded, 1 + kernels.MOST_TILES), dtype=torch.int32, device=maxima.device)
        sizes = {"block": 32, "step": 32, "most": kernels.MOST_TILES, "num_warps": 2} | _FUSED
        kernels.pick_tiles[(padded // 32,)](maxima, asked.best, asked.margins, picked, padded, tiles, **sizes)
        return picked


@dataclass(frozen=True, eq=False)
class _RoundedDirections:
    """Directions scaled and rounded to fp16, padded to whole blocks, and how far the filter can be trusted."""

    rough: torch.Tensor  # (padded, width), float16
    best: torch.Tensor  # the best filter score so far
    margins: torch.Tensor  # 3 B + slack, in units of the filter
    reaches: torch.Tensor  # B + slack, in those of scores

    @classmethod
    def of(cls, directions: torch.Tensor, slack: torch.Tensor, cloud: RoundedPoints) -> _RoundedDirections:
        (count, d), width, device = directions.shape, cloud.width, directions.device
        padded = -(-count // kernels.ROWS) * kernels.ROWS
        asked = cls(
            torch.empty((padded, width), dtype=torch.float16, device=device),
            torch.empty(padded, dtype=torch.float32, device=device),
            torch.empty(padded, dtype=torch.float32, device=device),
            torch.empty(padded, dtype=torch.float64, device=device),
        )
        block = _rows_of(width)
        gpu_rounding.round_directions[(-(-padded // block),)](
            directions,
            slack,
            cloud.frame,
            asked.rough,
            asked.best,
            asked.margins,
            asked.reaches,
            count,
            padded,
            (d + 16) * 2.0**-21,
            (2 * d + 8) * UNIT,
            d=d,
            width=width,
            block=block,
            **_FUSED,
        )
        return asked


def _rows_of(width: int) -> int:
    """Rows that a program rounds at once."""
    return max(1, 2048 // width)
