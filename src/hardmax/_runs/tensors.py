"""Clouds that came as tensors: read, merged and walked on their device; by the processor where
floats fail to prove."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from hardmax._common.cached import cached_property
from hardmax._float.solver import Undecided
from hardmax._gpu.solver import GpuPhase, move_once
from hardmax._runs.run import Plan, keep, run_points
from hardmax._runs.trajectory import Trajectory
from hardmax._tokens.batches import Cloud, Form, Layout, Packed, Ragged, kind_of
from hardmax._tokens.points import Points, merge
from hardmax._tokens.tensors import TensorKind, concatenate, is_tensor, to_float64, to_numpy
from hardmax.dynamics import Dynamics

# Clouds and points hold tensors here, where they hold arrays elsewhere.
# pyright: reportMissingImports=false, reportIncompatibleVariableOverride=false, reportArgumentType=false


def read_there(tokens: Any, device: str) -> tuple[Sequence[Cloud], Form] | None:
    """What `read_batch` gives, in tensors on a device; None where it has to say what is wrong, or
    to read rationals."""
    kind, counts = kind_of(tokens), None
    if kind is None:
        return None
    if isinstance(tokens, Ragged):
        layout, table, offsets, counts = (
            Layout.RAGGED,
            tokens.tokens,
            tokens.offsets,
            tokens.multiplicities,
        )
    elif not is_tensor(tokens):
        if any(
            cloud.ndim != 2 or cloud.shape[1] != tokens[0].shape[1] or not len(cloud)
            for cloud in tokens
        ):
            return None
        layout, table, offsets = Layout.LIST, concatenate(tokens), np.cumsum([0, *map(len, tokens)])
    elif tokens.ndim in (2, 3) and tokens.numel():
        layout, table = Layout.CLOUD if tokens.ndim == 2 else Layout.STACK, tokens.flatten(0, -2)
        offsets = np.arange(0, len(table) + 1, tokens.shape[-2])
    else:
        return None
    there = to_float64(table, device)
    if there is None:
        return None
    return [Cloud(there)] if layout is Layout.CLOUD else Packed(there, offsets, counts), Form(
        layout, kind
    )


def merge_there(cloud: Cloud) -> Points:
    """The points of a cloud in tensors: `merge`, on their device.

    Equal tokens have equal keys: one sort of n numbers, where sorting rows would compare d of them
    at a time. Should different tokens ever share a key, the processor merges them: `Undecided`."""
    tokens: Any = cloud.tokens
    everybody = torch.arange(len(tokens), device=tokens.device)
    counts = torch.ones_like(everybody)
    if cloud.multiplicities is not None:
        counts = torch.from_numpy(cloud.multiplicities).to(tokens.device)
    keys, labels = torch.unique(keys_of(tokens), return_inverse=True)
    if len(keys) == len(tokens):
        return Points(tokens, counts, everybody)
    firsts = torch.full_like(keys, len(tokens)).scatter_reduce_(0, labels, everybody, "amin")
    if not torch.equal(tokens[firsts[labels]], tokens):
        raise Undecided
    order = firsts.argsort()  # points in order of first appearance
    of_token = order.argsort()[labels]
    return Points(
        tokens[firsts[order]], torch.zeros_like(keys).index_add_(0, of_token, counts), of_token
    )


def keys_of(tokens: torch.Tensor) -> torch.Tensor:
    """A whole number for each token: the same for equal ones, hardly ever for others."""
    bits = tokens.contiguous().view(torch.int64)
    # Short floats differ in their high bits alone: moved down, these make all bits of a product. Whole numbers add up
    # to the same in any order.
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, tokens.shape[1]) * 2 + 1
    return ((bits ^ (bits >> 29)) * torch.from_numpy(odd).to(tokens.device)).sum(dim=1)


class GpuTrajectory(Trajectory):
    """A `Trajectory` whose tokens stay on their device; whatever else is asked for is fetched
    then."""

    there: Points
    """The points, in tensors."""
    phases: tuple[GpuPhase, ...]
    tensor_kind: TensorKind

    def __init__(self, **fields: Any) -> None:
        vars(self).update(
            fields
        )  # of a frozen dataclass; those that are fetched are properties below

    @cached_property
    def points(self) -> Points:
        parts: Any = (self.there.coordinates, self.there.multiplicities, self.there.of_token)
        return Points(*(part.cpu().numpy() for part in parts))

    @cached_property
    def leader_since(self) -> np.ndarray:
        return self.phases[-1].since.cpu().numpy()

    def at(self, layer: int) -> Any:
        return self._of_tokens(self.phase_at(layer).tensor_at(layer))

    @cached_property
    def tokens(self) -> torch.Tensor:
        return torch.stack([self.at(layer) for layer in self.recorded])

    def ends(self) -> Any:
        return self._of_tokens(self._last_phase().target_tensor())

    def _of_tokens(self, table: torch.Tensor) -> torch.Tensor:
        return self.tensor_kind.tensor(table[self.there.of_token])

    def _walk_to(self, layer: int) -> GpuPhase:
        phases: Any = self.solver.walk(self.there, self.dynamics)
        return next(phase for phase in phases if phase.until is None or layer < phase.until)


def run_there(cloud: Cloud, plan: Plan, kind: TensorKind | None) -> Trajectory:
    """The run of a cloud on its device, or by the processor; its tokens are given back as they
    came."""
    solver, *others = plan.solvers
    try:
        points = merge_there(cloud)
        kept = keep(solver.walk(points, plan.dynamics), points, plan)
    except Undecided:
        here = merge(Cloud(to_numpy(cloud.tokens, "`tokens`"), cloud.multiplicities))
        return replace(run_points(here, replace(plan, solvers=tuple(others))), tensor_kind=kind)
    return GpuTrajectory(
        there=points, dynamics=plan.dynamics, solver=solver, tensor_kind=kind, **kept
    )


def step_table(tokens: torch.Tensor, dynamics: Dynamics) -> torch.Tensor | None:
    """A table of floats one layer later; None if it is none, or floats cannot prove a choice.

    Nothing leaves the device before the choices are made: the search itself finds numbers that are
    not finite."""
    is_table = tokens.ndim == 2 and tokens.layout is torch.strided and tokens.numel()
    if not is_table or not tokens.dtype.is_floating_point or tokens.requires_grad:
        return None
    dynamics.check_dimension(tokens.shape[1])
    try:
        return move_once(tokens.double(), dynamics).to(tokens.dtype)
    except Undecided:
        return None
