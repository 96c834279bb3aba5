"""The walk on a GPU as an engine: stretches that answer there, and whose numbers leave it when asked for."""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.exact.powers import power
from hardmax.engines.floats.bounds import norms_above, rounding_error, step_error
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.engines.gpu.device import GpuLayer, walk_layers
from hardmax.engines.gpu.machine import Gpu
from hardmax.engines.gpu.points import GpuPoints
from hardmax.engines.gpu.tensors import INSTALLED, check_installed
from hardmax.tokens.points import Points

if INSTALLED:
    import torch


class GpuStretch(FloatStretch):
    """A stretch that was walked on a device. It answers there; arrays are fetched when somebody asks for them."""

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
class GpuWalker:
    """Proved floats on a device. Between layers nothing but a few numbers leaves it."""

    machine: Gpu
    arithmetic: str = "certified"

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[GpuStretch]:
        """The stretches from layer 0 on; `Undecided` is raised where floats cannot prove a choice."""
        check_installed()
        error = 0.0 if points.floats_are_exact else rounding_error(float(norms_above(points.floats).max()))
        there = (
            points.there if isinstance(points, GpuPoints) else torch.from_numpy(points.floats).to(self.machine.device)
        )
        for walked in walk_layers(there, dynamics, error):
            yield GpuStretch(walked, dynamics.keep)
