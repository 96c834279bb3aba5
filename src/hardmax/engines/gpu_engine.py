"""The walk on a GPU as an engine: stretches whose numbers leave the device when somebody asks for them."""

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
from hardmax.engines.bounds import norms_above, rounding_error, step_error
from hardmax.engines.gpu import GpuLayer, walk_layers
from hardmax.engines.gpu_tensors import INSTALLED, check_installed
from hardmax.engines.stretch import FloatStretch
from hardmax.tokens.points import Points

if INSTALLED:
    import torch


@dataclass(frozen=True, eq=False)
class OnDevice:
    """Places that are fetched when asked for."""

    positions: torch.Tensor
    multiplicities: np.ndarray

    def everybody(self) -> np.ndarray:
        return self.positions.cpu().numpy()


class GpuStretch(FloatStretch):
    """A stretch that was walked on a device. What it tells is the same; places and choices are fetched once."""

    def __init__(self, walked: GpuLayer, keep: Fraction, multiplicities: np.ndarray) -> None:
        # Fields of a frozen dataclass; those that are fetched are properties below.
        told: dict[str, Any] = {
            "layer": walked.layer,
            "until": None if walked.settled else walked.layer + 1,
            "margin": walked.margin,
            "keep": keep,
            "error": walked.error + step_error(walked.largest),
            "decided_by": "gpu",
            "places": OnDevice(walked.positions, multiplicities),
            "on_device": walked,
        }
        vars(self).update(told)

    @cached_property
    def choices(self) -> Choices:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Choices.of_single(vars(self)["on_device"].chosen.cpu().numpy())

    @cached_property
    def alone(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return vars(self)["on_device"].leads.cpu().numpy()


@dataclass(frozen=True)
class GpuEngine:
    """Proved floats on a device. Between layers nothing but a few numbers leaves it."""

    arithmetic: str = "certified"
    device: str = "cuda"

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[GpuStretch]:
        """The stretches from layer 0 on; `Undecided` is raised where floats cannot prove a choice."""
        check_installed()
        error = 0.0 if points.floats_are_exact else rounding_error(float(norms_above(points.floats).max()))
        positions = torch.from_numpy(points.floats).to(self.device)
        for walked in walk_layers(positions, dynamics, error):
            yield GpuStretch(walked, dynamics.keep, points.multiplicities)
