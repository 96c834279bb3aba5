"""Search in cones of directions, which share the few points that can be furthest along them (see `kernels.cones`)."""

from dataclasses import replace

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.cpu.kernels.cones import (
    BEST,
    COUNT,
    LIST,
    Blocks,
    Close,
    Cones,
    search,
    sort_into_cones,
)
from hardmax.engines.cpu.kernels.outward import WIDTH, Found
from hardmax.engines.floats.bounds import norms_above
from hardmax.engines.floats.contest import Contest

# Directions that are scored in full, half of them short, to learn about how small the smallest lead is.
_SAMPLED = 8
# Cones that threads share, and no fewer directions in one than this.
_TASKS, _FEWEST_ROWS = 16, 64


def cones(directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None) -> Contest:
    """The contest, cone by cone. Guesses are not needed."""
    directions = np.ascontiguousarray(directions)
    blocks = Blocks(in_blocks(points), len(points), float(norms_above(points).max()))
    some = sample_of(norms_above(directions))
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no further.
    known = _hold(directions[some], blocks, slack[some], np.inf).gap
    return _hold(directions, blocks, slack, known)


def _hold(directions: np.ndarray, blocks: Blocks, slack: np.ndarray, known: float) -> Contest:
    """The contest, if nobody need look for a lead beyond one that is known."""
    found = Found.empty(len(directions))
    search(BEST, _cones(directions, slack), blocks, known, found, _NOBODY)
    leads = found.best - found.second
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    contest = Contest.clear(found.winners, smallest, "cones")
    if not len(contested):
        return contest
    best, some = found.best[contested], _cones(directions[contested], slack[contested])
    counts, outside = np.empty(len(best), dtype=np.int64), np.empty(len(best))
    close = Close(best - some.slack, counts, outside, counts[:0], counts[:0])
    search(COUNT, some, blocks, smallest, found, close)
    starts = np.concatenate([[0], np.cumsum(counts)])
    close = close._replace(starts=starts, places=np.empty(starts[-1], dtype=np.int64))
    search(LIST, some, blocks, 0.0, found, close)
    gap = min(smallest, float((best - outside).min()))
    return replace(contest, contested=contested, contenders=Choices(close.places, starts), gap=gap)


_NONE = np.empty(0, dtype=np.int64)
_NOBODY = Close(np.empty(0), _NONE, np.empty(0), _NONE, _NONE)


def sample_of(lengths: np.ndarray) -> np.ndarray:
    """Some of the rows: the shortest, which tend to have the smallest leads, and others here and there."""
    shortest = np.argpartition(lengths, min(_SAMPLED, len(lengths) - 1))[:_SAMPLED]
    return np.union1d(shortest, np.arange(0, len(lengths), -(-len(lengths) // _SAMPLED)))


def _cones(directions: np.ndarray, slack: np.ndarray) -> Cones:
    lengths, order = norms_above(directions), np.arange(len(directions))
    units = np.column_stack([directions / lengths[:, None], slack / lengths, 1 / lengths])
    starts = sort_into_cones(units, order, max(_FEWEST_ROWS, -(-len(order) // _TASKS)))
    return Cones(directions, slack, order, units, starts)


def in_blocks(points: np.ndarray) -> np.ndarray:
    """Points in order as (blocks, d, WIDTH), zeros after the last one: a block's scores are one vector loop."""
    blocks = -(-len(points) // WIDTH)
    padded = np.zeros((blocks * WIDTH, points.shape[1]))
    padded[: len(points)] = points
    return np.ascontiguousarray(padded.reshape(blocks, WIDTH, -1).transpose(0, 2, 1))
