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

**What follows.** Let b be the best filter score of a row. A point with a float64 score within the
slack of the best one has a filter score of at least b - 2 B - slack. Points in tiles with a maximum
above b - 3 B - slack are scored in float64 where they are above it too; the third B proves that all
others trail by more than B + slack, which goes into `gaps`, and a point that is alone above has
won. Rows that more than MOST_TILES tiles could win, and rows with ties, are scored in full.

**What is left out.** A direction y that belongs to a point p scores it at <y, p>: its filter score
is taken from float64, which is within B, and tiles are searched for others. As <y, q> <= |y| |q|,
points with |y| (|q| - <y, c> / |y|) s t below b - 3 B - slack trail by as much as those that the
filter drops; the third B, of which (2 d + 8) u |y| (X + s |c|) is a part, covers the rounding of
the norms. With the metric I no point shorter than p itself can win, so that among points in
descending order of their norms half of the tiles are never looked at, or more."""

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

# At most this many maxima of tiles are kept at a time, which limits the rows; of those scored in
# full, at most this many scores.
_MAXIMA, _SCORES = 2**27, 2**26
# Points up to which a search is recorded, and beyond which they are put in order of their norms.
_RECORDED, _UNSORTED = 2**16, 2**14
_LOCK = Lock()  # a recording is played by one at a time
_PROGRAMS, _SPAN = 256, 64  # that keep a GPU busy; tiles that one of them does at most
_SCORERS = 132 * 16  # programs that score rows again
_RIVALS = 2**20  # scores within the slack of the best that are compared, coordinate by coordinate
# Axes of a dot product that are taken at once: by the filter, and when its candidates are scored.
_DEEPEST, _DEEPEST_FINE = 128, 32
# In more dimensions than this a row does not fit into the registers of a program.
_WIDEST = 2**13
# The bound holds for sums fused or not. Given to every kernel, because triton's default changes.
_FUSED = {"enable_fp_fusion": True}
_TILE, _ROWS, _BLOCK = kernels.TILE.value, kernels.ROWS.value, kernels.BLOCK.value
_PARTS = kernels.BASE.value + 1


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


@dataclass(eq=False)
class Search:
    """What is looked for: the slack, by how much points are off, how far they move (None: they do
    not), and whether each looks at itself and those before it alone."""

    factors: SlackFactors
    error: float = 0.0
    contraction: float | None = None
    causal: bool = False


def find_furthest(
    points: torch.Tensor,
    search: Search,
    *,
    asking: torch.Tensor | None = None,
    directions: torch.Tensor | None = None,
) -> Argmax:
    """The point furthest along the direction of each asker; `Undecided` if one does not lead by its
    slack.

    Askers are all points, or these, and directions the askers themselves, if not given. Where
    points move, or look at those before them, all of them ask."""
    if points.shape[1] > _WIDEST:
        raise Undecided
    points = points.contiguous()  # kernels count on rows that lie one behind the other
    if asking is None and directions is None and points.is_cuda and len(points) <= _RECORDED:
        with _LOCK:
            found, unproved = _recorder(points.shape, search, points.device).search(points)
    else:
        numbers_there = _numbers_there(points, search)
        found, state = _filter(points, asking, directions, search, numbers_there)
        found.largest, unproved = state.tolist()
    if not found.largest < torch.inf:
        raise Undecided
    if unproved:
        askers = points if asking is None else points[asking]
        _score_in_full(found, points, askers, directions, search)
    return found


def _score_in_full(
    found: Argmax,
    points: torch.Tensor,
    askers: torch.Tensor,
    directions: torch.Tensor | None,
    search: Search,
) -> None:
    """Decide the rows that are not proved, by the float64 scores of all points.

    Where points move once, those equal to the best are no rivals: a token that attends to several
    of them goes to where they are. Later, equal floats may stand for points that differ."""
    most = 0 if search.contraction is None else _RIVALS
    directions = askers if directions is None else directions
    everybody = torch.arange(len(points), device=points.device)
    unproved = torch.nonzero(found.gaps == -torch.inf).flatten()
    for rows in unproved.split(max(1, _SCORES // len(points))):
        # The bounds are plain arithmetic on norms: they take tensors as they take arrays.
        norms: Any = torch.linalg.vector_norm(askers[rows], dim=1) + 2.0**-500
        slack: Any = search.factors.slack(norms, search.error, found.largest, search.error)
        scores = directions[rows] @ points.T
        if search.causal:
            scores.masked_fill_(everybody > rows[:, None], -torch.inf)
        best, best_at = scores.max(dim=1)
        row, rival = torch.nonzero(scores >= (best - slack)[:, None], as_tuple=True)
        if len(row) > len(rows) + most or not torch.equal(points[rival], points[best_at[row]]):
            raise Undecided
        scores[row, rival] = -torch.inf
        found.winners[rows], found.gaps[rows] = best_at, best - scores.amax(dim=1)
    if search.contraction is not None:
        targets = points[found.winners]
        found.moved = targets + search.contraction * (points - targets)


class _Recorder:
    """Searches among a fixed number of points; from the second on a CUDA graph starts all kernels
    at once: if points are few, to start them one by one takes longer than to run them."""

    graph: torch.cuda.CUDAGraph | None = None

    def __init__(self, shape: torch.Size, search: Search, device: torch.device) -> None:
        self.points = torch.empty(shape, dtype=torch.float64, device=device)
        self.numbers_there = _numbers_there(self.points, search)  # a recording does not keep them
        self.numbers = torch.empty(2, dtype=torch.float64, pin_memory=True)
        self.search_for, self.is_compiled = search, False

    def search(self, points: torch.Tensor) -> tuple[Argmax, float]:
        self.points.copy_(points)
        if not self.is_compiled:
            self.is_compiled = True
            found, state = self._filter()
            found.largest, unproved = state.tolist()
            return found, unproved
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            how: Any = {"pool": _pool(), "capture_error_mode": "thread_local"}
            with torch.cuda.graph(self.graph, **how):
                self.found, state = self._filter()
                self.numbers.copy_(state, non_blocking=True)
        self.graph.replay()
        kept = Argmax(self.found.winners, self.found.gaps, self.found.moved)
        if kept.moved is None:
            kept.winners, kept.gaps = kept.winners.clone(), kept.gaps.clone()
        else:
            kept.moved = kept.moved.clone()
        torch.cuda.current_stream().synchronize()
        kept.largest, unproved = self.numbers.tolist()
        if unproved:
            kept.winners, kept.gaps = kept.winners.clone(), kept.gaps.clone()
        return kept, unproved

    def _filter(self) -> tuple[Argmax, torch.Tensor]:
        return _filter(self.points, None, None, self.search_for, self.numbers_there)


@lru_cache(maxsize=1)
def _pool() -> Any:
    """The memory that all recordings share: of each, its input and what it finds are kept apart."""
    return torch.cuda.graph_pool_handle()


@lru_cache(maxsize=8)
def _recorder(shape: torch.Size, search: Search, device: torch.device) -> _Recorder:
    return _Recorder(shape, search, device)


def _numbers_there(points: torch.Tensor, search: Search) -> tuple[torch.Tensor, torch.Tensor]:
    """On the device: what kernels count with, and the numbers of the points."""
    (count, d), device = points.shape, points.device
    constants = _constants(search.factors, search.error, search.contraction or 0.0, d, device)
    return constants, torch.arange(count, device=device)


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
    asking: torch.Tensor | None,
    directions: torch.Tensor | None,
    search: Search,
    numbers_there: tuple[torch.Tensor, torch.Tensor],
) -> tuple[Argmax, torch.Tensor]:
    """Winners and gaps, -inf where a row has to be scored in full; the largest norm, and how many
    such rows."""
    askers = points if asking is None else points[asking]
    (count, d), device, asked = points.shape, points.device, len(askers)
    directions = askers if directions is None else directions.contiguous()
    moves = search.contraction is not None
    constants, everybody = numbers_there
    width = max(16, 1 << (d - 1).bit_length())
    block = max(1, 2048 // width)
    sizes = {"d": d, "width": width, "block": block} | _FUSED
    tiles = -(-count // _TILE)
    padded = tiles * _TILE
    state = torch.empty(kernels.HEADER.value + width, dtype=torch.float64, device=device)
    norms = torch.linalg.vector_norm(points, dim=1)
    low, high = torch.aminmax(points, dim=0)
    kernels.frame_points[(1,)](low, high, norms.amax(), state, d=d, width=width, **_FUSED)
    lengths = norms.float()
    descending = count > _UNSORTED and not search.causal
    lengths, order, source, own = _in_order(lengths, everybody, asking, descending=descending)
    rough = torch.empty((padded, width), dtype=torch.float16, device=device)
    kernels.round_points[(-(-padded // block),)](
        points, order, state, rough, count, padded, **sizes
    )

    room = min(-(-asked // _ROWS), max(1, _MAXIMA // tiles // _ROWS)) * _ROWS
    rough_rows = torch.empty((room, width), dtype=torch.float16, device=device)
    rows = torch.empty((_PARTS, room), dtype=torch.float64, device=device)
    maxima = torch.empty((tiles, room), dtype=torch.float32, device=device)
    picked = torch.empty((room, 1 + kernels.MOST_TILES.value), dtype=torch.int32, device=device)
    again = torch.empty(room, dtype=torch.int32, device=device)
    winners = torch.empty(asked, dtype=torch.int64, device=device)
    gaps = torch.empty(asked, dtype=torch.float64, device=device)
    moved = points.clone() if moves else None  # most stay
    written = (winners, gaps, gaps if moved is None else moved)
    warps = {"num_warps": 4, "num_stages": 3} if width < 128 else {"num_warps": 8, "num_stages": 2}
    warps, depth = warps | _FUSED, min(width, _DEEPEST)
    # Tiles that a program of the filter does in turn: few, where there would be too few programs.
    span = min(_SPAN, 1 << (tiles * (room // _ROWS) // _PROGRAMS).bit_length())
    kind = {"descending": descending, "causal": search.causal}
    fixed = {"d": d, "width": width, "depth": min(width, _DEEPEST_FINE), "moves": moves} | _FUSED
    for first in range(0, asked, room):
        here = min(room, asked - first)
        who = (source[first : first + here], own[first : first + here])
        rounded = (rough_rows, rows, here, room)
        kernels.round_directions[(-(-room // block),)](
            *(askers, directions, *who, state, constants, *rounded),
            **sizes,
        )
        grid = (room // _ROWS, -(-tiles // span))
        scores = (rough_rows, rough, who[1], rows, lengths, maxima, here, room, tiles)
        kernels.tile_maxima[grid](*scores, width=width, depth=depth, span=span, **kind, **warps)
        read = (order, *who, lengths, maxima, rows, picked, again, state, winners, gaps)
        kernels.pick_tiles[(room // _BLOCK,)](
            *read, count, here, room, tiles, **kind, **_FUSED, num_warps=2
        )
        read = (askers, directions, points, order, *who, rough_rows, rough, rows, picked, again)
        scorers = min(here, _SCORERS)
        kernels.rescore[(scorers,)](
            *read,
            *(state, constants, *written, count, room, scorers),
            **fixed,
            causal=search.causal,
            num_warps=2,
        )
    return Argmax(winners, gaps, moved), state[:2]


def _in_order(
    lengths: torch.Tensor, everybody: torch.Tensor, asking: torch.Tensor | None, *, descending: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Norms of the points and which points these are, in order; which asker each row is, and in
    which place of the order it is. Askers are all points, or these."""
    order = everybody
    if descending:
        lengths, order = lengths.sort(descending=True)
    if asking is None:
        return lengths, order, order, everybody
    if not descending:
        return lengths, order, torch.arange(len(asking), device=asking.device), asking
    rank = torch.empty_like(order)
    rank[order] = everybody
    places, source = rank[asking].sort()
    return lengths, order, source, places
