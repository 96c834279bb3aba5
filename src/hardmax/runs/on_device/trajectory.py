"""The run of one cloud on a device: tokens are given back there, and all else is fetched when somebody asks for it."""

# pyright: reportMissingImports=false
from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from hardmax.dynamics import Dynamics
from hardmax.engines.gpu.points import GpuPoints
from hardmax.engines.gpu.walking import GpuStretch
from hardmax.engines.walker import Walker
from hardmax.runs.trajectory import Trajectory
from hardmax.runs.walking import Kept
from hardmax.tokens.tensors import TensorKind


class DeviceTrajectory(Trajectory):
    """A `Trajectory` whose tokens stay on their device."""

    points: GpuPoints  # pyright: ignore[reportIncompatibleVariableOverride]
    stretches: tuple[GpuStretch, ...]  # pyright: ignore[reportIncompatibleVariableOverride]
    tensor_kind: TensorKind  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self, points: GpuPoints, dynamics: Dynamics, walker: Walker, kept: Kept, tensor_kind: TensorKind
    ) -> None:
        # Fields of a frozen dataclass; `leader_since` is fetched below.
        given = {"points": points, "dynamics": dynamics, "walker": walker, "tensor_kind": tensor_kind}
        vars(self).update(given | vars(kept))

    @cached_property
    def leader_since(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.stretches[-1].there.since.cpu().numpy()

    def at(self, layer: int) -> torch.Tensor:
        return self._of_tokens(self.stretch_at(layer).tensor_at(layer))

    @cached_property
    def tokens(self) -> torch.Tensor:
        first = self.at(self.recorded[0])
        path = first.new_empty((len(self.recorded), *first.shape))
        for row, layer in enumerate(self.recorded):
            path[row] = self.at(layer)
        return path

    def ends(self) -> torch.Tensor:
        return self._of_tokens(self._settled_stretch().target_tensor())

    def _of_tokens(self, table: torch.Tensor) -> torch.Tensor:
        return self.tensor_kind.tensor(self.points.spread(table))
