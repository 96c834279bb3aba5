"""The run of one cloud that came as a tensor: on its device, or by the processor where floats prove no choice."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from hardmax._float.solver import Undecided
from hardmax._gpu.clouds import merge_there
from hardmax._gpu.solver import GpuPhase, move_once
from hardmax._run import Plan, Run, keep, run_points
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge
from hardmax._tokens.tensors import TensorKind, to_numpy
from hardmax.dynamics import Dynamics
from hardmax.trajectory import Trajectory

# pyright: reportMissingImports=false, reportIncompatibleVariableOverride=false


class GpuTrajectory(Trajectory):
    """A `Trajectory` whose tokens stay on their device; whatever else is asked for is fetched then."""

    there: Points
    """The points, in tensors."""
    phases: tuple[GpuPhase, ...]
    tensor_kind: TensorKind

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)  # of a frozen dataclass; those that are fetched are properties below

    @cached_property
    def points(self) -> Points:
        parts: Any = (self.there.coordinates, self.there.multiplicities, self.there.of_token)
        return Points(*(part.cpu().numpy() for part in parts))

    @cached_property
    def leader_since(self) -> np.ndarray:
        return self.phases[-1].since.cpu().numpy()

    def at(self, layer: int) -> torch.Tensor:
        return self._of_tokens(self.stretch_at(layer).tensor_at(layer))

    @cached_property
    def tokens(self) -> torch.Tensor:
        return torch.stack([self.at(layer) for layer in self.recorded])

    def ends(self) -> torch.Tensor:
        return self._of_tokens(self._settled_stretch().target_tensor())

    def _of_tokens(self, table: torch.Tensor) -> torch.Tensor:
        return self.tensor_kind.tensor(table[self.there.of_token])

    def _walk_to(self, layer: int) -> GpuPhase:
        phases: Any = self.solver.walk(self.there, self.dynamics)
        return next(phase for phase in phases if phase.until is None or layer < phase.until)


def run_there(cloud: Cloud, plan: Plan, kind: TensorKind | None) -> Run:
    """The run of a cloud on its device, or by the processor; its tokens are given back as they came."""
    solver, *others = plan.solvers
    try:
        points = merge_there(cloud)
        kept = keep(solver.walk(points, plan.dynamics), points, plan)
    except Undecided:
        here = merge(Cloud(to_numpy(cloud.tokens, "`tokens`"), cloud.multiplicities))
        return replace(run_points(here, replace(plan, solvers=tuple(others))), tensor_kind=kind)
    return GpuTrajectory(there=points, dynamics=plan.dynamics, solver=solver, tensor_kind=kind, **vars(kept))


def step_table(tokens: torch.Tensor, dynamics: Dynamics) -> torch.Tensor | None:
    """A table of floats one layer later; None if it is none, or floats cannot prove a choice.

    Nothing leaves the device before the choices are made: the search itself finds numbers that are not finite.
    """
    is_table = tokens.ndim == 2 and tokens.layout is torch.strided and tokens.numel()
    if not is_table or not tokens.dtype.is_floating_point or tokens.requires_grad:
        return None
    dynamics.check_dimension(tokens.shape[1])
    try:
        return move_once(tokens.double(), dynamics).to(tokens.dtype)
    except Undecided:
        return None
