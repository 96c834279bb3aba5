"""Layers of a cloud that stays on its device.

Walking on a GPU, in torch tensors that stay there between the layers. Needs the extra `gpu`.

Every choice is proved as by `judges.Proof`: `argmax` finds who is furthest, and `bounds` says by how much it must lead.

The walk on a GPU as an engine: phases that answer there, and whose numbers leave it when asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.vectors import power
from hardmax._float.bounds import (
    LARGEST,
    SMALLEST,
    SlackFactors,
    float_metric,
    norms_above,
    relative_margin,
    rounding_error,
    step_error,
)
from hardmax._float.phase import FloatPhase
from hardmax._float.solver import Undecided
from hardmax._gpu import Gpu
from hardmax._gpu.argmax import Argmax, find_furthest
from hardmax._gpu.tensors import INSTALLED, GpuPoints, check_installed
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false


if INSTALLED:
    import torch


@dataclass(frozen=True, eq=False)
class GpuLayer:
    """A layer of a walk: where the points are, and whom each attends to."""

    layer: int
    positions: torch.Tensor  # (p, d)
    chosen: torch.Tensor  # (p,) the point that each point attends to, alone
    since: torch.Tensor  # (p,) the layer since which each leads; -1: it does not
    settled: bool  # whether everybody follows a leader, for ever
    margin: float
    largest: float  # norm
    error: float  # how far positions can be from the truth


def move_once(positions: torch.Tensor, dynamics: Dynamics) -> torch.Tensor:
    """Points one layer later; `Undecided` may be raised, as where one that is attended to is repeated."""
    found = _choose(positions, None, dynamics, 0.0, moves=True)
    _check_range(found.largest, positions.shape[1])
    assert found.moved is not None
    return found.moved


def walk_layers(positions: torch.Tensor, dynamics: Dynamics, error: float = 0.0) -> Iterator[GpuLayer]:
    """The layers of a walk of distinct points, known up to `error`, to where it settles; `Undecided` may be raised."""
    everybody = torch.arange(len(positions), device=positions.device)
    chosen, pending, since = everybody, None, torch.full_like(everybody, -1)
    for number in count():
        found = _choose(positions, pending, dynamics, error)
        if number == 0:
            _check_range(found.largest, positions.shape[1])
        chosen = found.winners if pending is None else chosen.index_copy(0, pending, found.winners)
        leads = chosen == everybody
        since = torch.where(leads & (since < 0), number, since)
        pending = torch.nonzero(~leads[chosen]).flatten()
        margin = relative_margin(float(found.gaps.min()), float_metric(dynamics).norm, found.largest)
        yield GpuLayer(number, positions, chosen, since, not len(pending), margin, found.largest, error)
        if not len(pending):
            return
        targets = positions[chosen]
        positions = targets + float(dynamics.contraction) * (positions - targets)
        error += step_error(found.largest)


def _check_range(largest: float, dimension: int) -> None:
    """Refuse points whose largest coordinate may lie outside the sizes for which the bounds hold."""
    if not SMALLEST * dimension <= largest <= LARGEST:
        raise Undecided


def _choose(
    positions: torch.Tensor, rows: torch.Tensor | None, dynamics: Dynamics, error: float, *, moves: bool = False
) -> Argmax:
    """Whom the points of these rows attend to (None: of all)."""
    metric = float_metric(dynamics)
    askers, directions = None if rows is None else positions[rows], None
    if metric.matrix is not None:
        matrix = torch.from_numpy(metric.matrix).to(positions.device)
        directions = (positions if askers is None else askers) @ matrix.T
    factors = SlackFactors.of(positions.shape[1], metric)
    keep = float(dynamics.contraction) if moves else None
    with torch.cuda.device_of(positions):  # of several GPUs, kernels run on that of the tokens
        return find_furthest(positions, factors, error=error, askers=askers, directions=directions, keep=keep)


# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false


if INSTALLED:
    import torch


class GpuStretch(FloatPhase):
    """A phase that was walked on a device. It answers there; arrays are fetched when somebody asks for them."""

    def __init__(self, walked: GpuLayer, keep: Fraction) -> None:
        # Fields of a frozen dataclass; those that are fetched are properties below.
        told: dict[str, Any] = {
            "layer": walked.layer,
            "until": None if walked.settled else walked.layer + 1,
            "margin": walked.margin,
            "keep": keep,
            "error": walked.error + step_error(walked.largest),
            "decided_by": "gpu",
            "there": walked,
        }
        vars(self).update(told)

    there: GpuLayer

    def tensor_at(self, layer: int) -> torch.Tensor:
        """Where the points are at a layer, (p, d), in a tensor of its own on the device."""
        positions = self.there.positions
        if layer == self.layer:
            return positions.clone()
        targets, shrink = self.target_tensor(), float(power(self.keep, layer - self.layer))
        return targets + shrink * (positions - targets)

    def target_tensor(self) -> torch.Tensor:
        """Where each point goes, (p, d), in a tensor of its own on the device."""
        return self.there.positions[self.there.chosen]

    def floats_at(self, layer: int) -> np.ndarray:
        return self.tensor_at(layer).cpu().numpy()

    @cached_property
    def positions(self) -> np.ndarray:
        return self.there.positions.cpu().numpy()

    @cached_property
    def targets(self) -> np.ndarray:
        return self.target_tensor().cpu().numpy()

    @cached_property
    def choices(self) -> Choices:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Choices.of_single(self.there.chosen.cpu().numpy())

    @property
    def is_leader(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.choices.is_leader


@dataclass(frozen=True)
class GpuSolver:
    """Proved floats on a device. Between layers nothing but a few numbers leaves it."""

    machine: Gpu
    arithmetic: str = "certified"

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[GpuStretch]:
        """The phases from layer 0 on; `Undecided` is raised where floats cannot prove a choice."""
        check_installed()
        error = 0.0 if points.floats_are_exact else rounding_error(float(norms_above(points.floats).max()))
        there = (
            points.there if isinstance(points, GpuPoints) else torch.from_numpy(points.floats).to(self.machine.device)
        )
        for walked in walk_layers(there, dynamics, error):
            yield GpuStretch(walked, dynamics.contraction)
