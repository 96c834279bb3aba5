"""Layers of one cloud that stays on its device: every choice proved, as by the processor.

`argmax` finds who is furthest along each direction, `hardmax._float.bounds` says by how much it
must lead."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
import torch

from hardmax._common.cached import cached_property
from hardmax._exact.vectors import power
from hardmax._float.bounds import (
    LARGEST,
    SMALLEST,
    FloatMetric,
    SlackFactors,
    float_metric,
    relative_margin,
    step_error,
)
from hardmax._float.solver import FloatPhase, FloatSolver, Undecided
from hardmax._gpu import Gpu
from hardmax._gpu.argmax import Argmax, Search, find_furthest
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics

# pyright: reportMissingImports=false, reportIncompatibleVariableOverride=false


class GpuPhase(FloatPhase):
    """A phase that was walked on a device. Arrays are fetched when they are asked for."""

    there: torch.Tensor
    """Where the points are at the first layer, (p, d)."""
    chosen: torch.Tensor
    """The point that each point attends to, alone, (p,)."""
    since: torch.Tensor
    """The layer since which each point leads; -1: it does not, (p,)."""

    def __init__(self, **fields: Any) -> None:
        # Those of a frozen dataclass; what is fetched are properties below.
        vars(self).update(fields)

    exactly = None  # pyright: ignore[reportAssignmentType]
    unchanged = False

    def leading_since(self, before: Any) -> Any:
        return self.since

    def table_at(self, layer: int) -> Any:
        if layer == self.layer:
            return self.there
        targets = self.ends()
        return targets + float(power(self.contraction, layer - self.layer)) * (self.there - targets)

    def ends(self) -> Any:
        return self.there[self.chosen]

    @cached_property
    def positions(self) -> np.ndarray:
        return self.there.cpu().numpy()

    @cached_property
    def choices(self) -> AttendedIndices:
        return AttendedIndices.of_single(self.chosen.cpu().numpy())

    @property
    def targets(self) -> np.ndarray:
        return self.positions[self.choices.indices]

    @property
    def is_leader(self) -> np.ndarray:
        return self.choices.is_leader


@dataclass(frozen=True)
class GpuSolver:
    """Proved floats on a device. Between layers nothing but a few numbers leaves it."""

    engine: Gpu
    arithmetic: str = "certified"

    @property
    def exact(self) -> FloatSolver:
        """A solver whose phases have exact positions."""
        return FloatSolver()

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[GpuPhase]:
        """The phases from layer 0 on, of points in arrays or tensors; `Undecided` where floats
        prove no choice."""
        there = getattr(points, "there", points)
        if not there.floats_are_exact:
            raise Undecided
        positions = torch.as_tensor(
            there.coordinates, dtype=torch.float64, device=self.engine.device
        )
        everybody = torch.arange(len(positions), device=positions.device)
        chosen, pending, since, error = everybody, None, torch.full_like(everybody, -1), 0.0
        search, metric = _search(dynamics, positions.shape[1]), float_metric(dynamics)
        for layer in count():
            found = _choose(positions, metric, pending, search)
            chosen = (
                found.winners if pending is None else chosen.index_copy(0, pending, found.winners)
            )
            leads = chosen == everybody
            since = torch.where(leads & (since < 0), layer, since)
            pending = torch.nonzero(~leads[chosen]).flatten()
            settled = not len(pending)  # all points follow a leader, for ever
            error_ahead = error + step_error(found.largest)
            yield GpuPhase(
                layer=layer,
                until=None if settled else layer + 1,
                margin=relative_margin(float(found.gaps.min()), metric.norm, found.largest),
                contraction=dynamics.contraction,
                error=error_ahead,
                decided_by="gpu",
                there=positions,
                chosen=chosen,
                since=since,
            )
            if settled:
                return
            targets = positions[chosen]
            positions = targets + float(dynamics.contraction) * (positions - targets)
            error = error_ahead
            search = Search(search.factors, error)


def move_once(positions: torch.Tensor, dynamics: Dynamics) -> torch.Tensor:
    """Points one layer later, of the paper's layer or one with a causal mask; `Undecided` where
    floats prove no choice."""
    search = _search(dynamics, positions.shape[1], moves=True)
    found = _choose(positions, float_metric(dynamics), None, search)
    assert found.moved is not None
    return found.moved


def _choose(
    positions: torch.Tensor, metric: FloatMetric, rows: torch.Tensor | None, search: Search
) -> Argmax:
    """What the points of these rows (None: of all) attend to."""
    directions = None
    if metric.matrix is not None:
        matrix = torch.from_numpy(metric.matrix).to(positions.device)
        directions = (positions if rows is None else positions[rows]) @ matrix.T
    with torch.cuda.device_of(positions):  # of several GPUs, kernels run on that of the tokens
        found = find_furthest(positions, search, asking=rows, directions=directions)
    # Given up where the largest coordinate may lie outside the sizes for which the bounds hold.
    if not SMALLEST * positions.shape[1] <= found.largest <= LARGEST:
        raise Undecided
    return found


@lru_cache(maxsize=64)
def _search(dynamics: Dynamics, dimension: int, *, moves: bool = False) -> Search:
    """What is looked for at layer 0: the same object each time, because by it recordings are
    found."""
    factors = SlackFactors.of(dimension, float_metric(dynamics))
    contraction = float(dynamics.contraction) if moves else None
    return Search(factors, contraction=contraction, causal=dynamics.mask is not None)
