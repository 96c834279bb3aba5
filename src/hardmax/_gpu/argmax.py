"""Argmax of dot products on a GPU: tensor cores name the few candidates, float64 decides among
them.

**How wrong the filter can be.** Centre the points and scale by powers of two: x = s (p - c), y = t
q with the largest coordinate of all x, and of each y, between 1/2 and 1. Subtracting c changes all
scores of a row alike, so it changes no winner; it makes shifted clouds as easy as centred ones.
Round to fp16: x~ = x + e, y~ = y + f. A coordinate loses at most 2^-11 of itself, or 2^-25 where
fp16 is subnormal, so |e| <= 2^-11 |x| + 2^-25 sqrt(d); but e and f are known exactly in float64, so
their norms are measured instead, which is about half as much. With X >= |x_j|, E >= |e_j|,

    |<y~, x~> - <y, x>| = |<y, e> + <f, x~>| <= |y| E + |f| (X + E).

Products of fp16 numbers are exact in fp32. Tensor cores are not IEEE adders: they align the terms
of a partial sum to the largest one and cut them off there. This is not documented but measured
(Fasi et al., PeerJ CS 7:e330; Khattak and Mikaitis, arXiv 2512.07004), so it is an assumption here,
tested on the device: a term loses at most 2^-23 of the largest, the d terms with the partial sums
at most (d + 16) 2^-23 times sum |y~_k x~_k|. Four times that is counted, (d + 16) 2^-21 (|y| + |f|)
(X + E), which also covers subtracting the margin in fp32. The float64 scores themselves are off: u
|y| X from rounding p - c, and gamma_d |y| s |p| each from two ways of summing a dot product; (2 d +
8) u |y| (X + s |c|) covers them. The sum of these terms, and 1/1000 of it for evaluating it in
floats, is B.

**What follows.** Let b be the best filter score of a row. Whoever has a float64 score within the
slack of the best one has a filter score of at least b - 2 B - slack. Points in tiles with a maximum
above b - 3 B - slack are scored in float64 where they are above it too; the third B proves that all
others trail by more than B + slack, which goes into `gaps`, and a point that is alone above has
won. Rows that more than MOST_TILES tiles could win, and rows with ties, are scored in full."""

import math
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import torch

from hardmax._float.bounds import UNDERFLOW, UNIT, SlackFactors
from hardmax._float.solver import Undecided
from hardmax._gpu import argmax_kernels as kernels

# pyright: reportMissingImports=false, reportIndexIssue=false

# Rows are searched as many at a time as have so many maxima of tiles; those that are scored in
# full, so many scores.
_MAXIMA, _SCORES = 2**27, 2**26
_SPAN = 32  # tiles that a program of the filter does in turn
_RECORDED, _LOCK = (
    2**14,
    Lock(),
)  # points up to which a search is recorded; a recording is played by one at a time
_PROGRAMS = 256  # that look for the extents of a cloud
# Axes of a dot product that are taken at once: by the filter, and when its candidates are scored.
_DEEPEST, _DEEPEST_FINE = 128, 32
# In more dimensions than this a row does not fit into the registers of a program.
_WIDEST = 2**13
# The bound holds for sums fused or not. Given to every kernel, because triton's default changes.
_FUSED = {"enable_fp_fusion": True}
_TILE, _ROWS, _BLOCK = kernels.TILE.value, kernels.ROWS.value, kernels.BLOCK.value


@dataclass(eq=False)
class Argmax:
    """The point furthest along each direction, alone and proved."""

    winners: torch.Tensor
    gaps: torch.Tensor
    """At most the lead of each winner."""
    moved: torch.Tensor | None
    """Every point one layer later, if asked for."""
    largest: float = math.nan
    """The largest norm of a point."""


def find_furthest(
    points: torch.Tensor,
    factors: SlackFactors,
    *,
    error: float = 0.0,
    askers: torch.Tensor | None = None,
    directions: torch.Tensor | None = None,
    contraction: float | None = None,
) -> Argmax:
    """The point furthest along the direction of each asker; `Undecided` if one does not lead by its
    slack.

    Askers are all points, if not given, and directions the askers themselves. With `contraction`,
    all points move a layer on."""
    points = points.contiguous()  # kernels count on rows that lie one behind the other
    askers = points if askers is None else askers.contiguous()
    directions = askers if directions is None else directions.contiguous()
    if points.shape[1] > _WIDEST:
        raise Undecided
    if directions is points and points.is_cuda and len(points) <= _RECORDED:
        with _LOCK:
            found, unproved = _recorder(
                points.shape, factors, error, contraction, points.device
            ).search(points)
    else:
        constants = _constants(factors, error, contraction or 0.0, points.shape[1], points.device)
        found, unproved = _fetched(
            *_filter(points, askers, directions, constants, moves=contraction is not None)
        )
    if not found.largest < torch.inf:
        raise Undecided
    if not unproved:
        return found
    for rows in (
        torch.nonzero(found.gaps == -torch.inf).flatten().split(max(1, _SCORES // len(points)))
    ):
        # The bounds are plain arithmetic on norms: they take tensors as they take arrays.
        norms: Any = torch.linalg.vector_norm(askers[rows], dim=1) + 2.0**-500
        slack = factors.slack(norms, error, found.largest, error)
        scores = directions[rows] @ points.T
        best_at = scores.argmax(dim=1, keepdim=True)
        best = scores.gather(1, best_at)
        leads = (best - scores.scatter_(1, best_at, -torch.inf).amax(dim=1, keepdim=True)).flatten()
        if not bool((leads > slack).all()):
            raise Undecided
        found.winners[rows], found.gaps[rows] = best_at.flatten(), leads
    if contraction is not None:
        targets = points[found.winners]
        found.moved = targets + contraction * (points - targets)
    return found


class _Recorder:
    """Searches among so many points; from the second on a CUDA graph starts all kernels at once: if
    points are few, to start them one by one takes longer than to run them."""

    graph: torch.cuda.CUDAGraph | None = None

    def __init__(self, constants: torch.Tensor, *, moves: bool) -> None:
        self.constants, self.moves, self.points = constants, moves, None

    def search(self, points: torch.Tensor) -> tuple[Argmax, float]:
        if self.points is None:  # kernels are compiled
            self.points = torch.empty_like(points)
            return _fetched(*_filter(points, points, points, self.constants, moves=self.moves))
        self.points.copy_(points)
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.found = _filter(
                    self.points, self.points, self.points, self.constants, moves=self.moves
                )
        self.graph.replay()
        found, state = self.found
        moved = None if found.moved is None else found.moved.clone()
        return _fetched(Argmax(found.winners.clone(), found.gaps.clone(), moved), state)


@lru_cache(maxsize=8)
def _recorder(
    shape: torch.Size,
    factors: SlackFactors,
    error: float,
    contraction: float | None,
    device: torch.device,
) -> _Recorder:
    return _Recorder(
        _constants(factors, error, contraction or 0.0, shape[1], device),
        moves=contraction is not None,
    )


def _fetched(found: Argmax, state: torch.Tensor) -> tuple[Argmax, float]:
    """The numbers that are needed here; once they have come, everything before is done."""
    found.largest, unproved = state.tolist()
    return found, unproved


@lru_cache(maxsize=64)
def _constants(
    factors: SlackFactors, error: float, contraction: float, d: int, device: torch.device
) -> torch.Tensor:
    """What kernels count with, in float64: numbers that are handed to a kernel come as float32."""
    of_filter = [(d + 16) * 2.0**-21, (2 * d + 8) * UNIT]
    constants = [factors.rounding, factors.spread, UNDERFLOW, error, contraction, *of_filter]
    return torch.tensor(constants, dtype=torch.float64, device=device)


def _filter(
    points: torch.Tensor,
    askers: torch.Tensor,
    directions: torch.Tensor,
    constants: torch.Tensor,
    *,
    moves: bool,
) -> tuple[Argmax, torch.Tensor]:
    """Winners and gaps, -inf where a row has to be scored in full; the largest norm, and how many
    such rows."""
    (count, d), device, asked = points.shape, points.device, len(askers)
    width = max(16, 1 << (d - 1).bit_length())
    block = max(1, 2048 // width)
    sizes = {"d": d, "width": width, "block": block} | _FUSED
    tiles, programs = -(-count // _TILE), min(-(-count // block), _PROGRAMS)
    padded = tiles * _TILE
    length = kernels.HEADER.value + width + programs * (2 * width + 1)
    state = torch.empty(length, dtype=torch.float64, device=device)
    kernels.extents[(programs,)](points, state, count, programs, **sizes)
    kernels.frame_points[(1,)](state, programs, width=width, block=block, **_FUSED)
    rough = torch.empty((padded, width), dtype=torch.float16, device=device)
    kernels.round_points[(-(-padded // block),)](points, state, rough, count, padded, **sizes)

    room = min(-(-asked // _ROWS), max(1, _MAXIMA // tiles // _ROWS)) * _ROWS
    rough_rows = torch.empty((room, width), dtype=torch.float16, device=device)
    rows = torch.empty(
        (4, room), dtype=torch.float64, device=device
    )  # best scores, margins, reaches, slack
    maxima = torch.empty((tiles, room), dtype=torch.float32, device=device)
    picked = torch.empty((room, 1 + kernels.MOST_TILES.value), dtype=torch.int32, device=device)
    winners = torch.empty(asked, dtype=torch.int64, device=device)
    gaps = torch.empty(asked, dtype=torch.float64, device=device)
    moved = torch.empty_like(points) if moves else None
    warps = {"num_warps": 4, "num_stages": 3} if width < 128 else {"num_warps": 8, "num_stages": 2}
    for first in range(0, asked, room):
        here = min(room, asked - first)
        rounded = (rough_rows, rows, first, here, room)
        kernels.round_directions[(-(-room // block),)](
            askers, directions, state, constants, *rounded, **sizes
        )
        grid, depth = (room // _ROWS, -(-tiles // _SPAN)), min(width, _DEEPEST)
        scores = (rough_rows, rough, maxima, rows, room, tiles, _SPAN)
        kernels.tile_maxima[grid](*scores, width=width, depth=depth, **warps, **_FUSED)
        kernels.pick_tiles[(room // _BLOCK,)](
            maxima, rows, picked, room, tiles, num_warps=2, **_FUSED
        )
        read = (directions, points, rough_rows, rough, rows, picked, state, constants)
        written = (winners, gaps, gaps if moved is None else moved)
        fixed = {"d": d, "width": width, "depth": min(width, _DEEPEST_FINE), "moves": moves}
        kernels.rescore[(here,)](
            *read, *written, count, first, room, **fixed, num_warps=2, **_FUSED
        )
    return Argmax(winners, gaps, moved), state[:2]
