"""Simulation of tokens that came as tensors on a GPU, and stay there.

The run of one cloud on a device: tokens are given back there, and all else is fetched when somebody asks for it.

One cloud on a device: walked there, or by the processor where floats cannot prove a choice.

The runs of many small clouds on a device: tokens are given back there, and all else is fetched when asked for.

`simulate` for tokens that came as tensors, on their device. What floats cannot prove there goes to the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from hardmax._batch import WALKED, Then
from hardmax._batch_runs import Batch, OneByOne, Runs, Together
from hardmax._exact.vectors import power
from hardmax._float.search import CPU
from hardmax._float.solver import Undecided
from hardmax._gpu.batch import GpuBatchOutcome, suits, walk_batch_gpu
from hardmax._gpu.clouds import DeviceClouds
from hardmax._gpu.solver import GpuStretch, move_once
from hardmax._gpu.tensors import GpuPoints, merge_there
from hardmax._run import DEEPEST_KERNEL, Kept, Plan, Run, keep, run_points
from hardmax._tokens.batches import Cloud, Packed
from hardmax._tokens.points import merge
from hardmax._tokens.tensors import TensorKind
from hardmax._validation import InputError, check_int, shorten
from hardmax.dynamics import Dynamics
from hardmax.engines import Solver, solvers_for
from hardmax.stops import Stop, check_recording
from hardmax.trajectory import Trajectories, Trajectory

# pyright: reportMissingImports=false


class DeviceTrajectory(Trajectory):
    """A `Trajectory` whose tokens stay on their device."""

    points: GpuPoints  # pyright: ignore[reportIncompatibleVariableOverride]
    phases: tuple[GpuStretch, ...]  # pyright: ignore[reportIncompatibleVariableOverride]
    tensor_kind: TensorKind  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self, points: GpuPoints, dynamics: Dynamics, solver: Solver, kept: Kept, tensor_kind: TensorKind
    ) -> None:
        # Fields of a frozen dataclass; `leader_since` is fetched below.
        given = {"points": points, "dynamics": dynamics, "solver": solver, "tensor_kind": tensor_kind}
        vars(self).update(given | vars(kept))

    @cached_property
    def leader_since(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.phases[-1].there.since.cpu().numpy()

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


# pyright: reportMissingImports=false


def run_there(cloud: DeviceClouds, plan: Plan) -> Run:
    """The run of a cloud, on its device if it can be proved there. The first of the solvers is that of the GPU."""
    points = merge_there(cloud.tokens, cloud.multiplicities)
    solver = plan.solvers[0]
    try:
        kept = keep(solver.walk(points, plan.dynamics), points, plan)
    except Undecided:
        return run_here(cloud, plan)
    return DeviceTrajectory(points, plan.dynamics, solver, kept, cloud.kind)


def run_here(cloud: DeviceClouds, plan: Plan) -> Run:
    """The run of a cloud that floats cannot decide, by the processor; its tokens are still given back as they came."""
    points = merge(Cloud(cloud.tokens.cpu().numpy(), cloud.multiplicities))
    run = run_points(points, replace(plan, solvers=plan.solvers[1:]))
    return replace(run, tensor_kind=cloud.kind)


# pyright: reportMissingImports=false


@dataclass(frozen=True, eq=False)
class BatchThere:
    """Many clouds on a device that one kernel walks, and how."""

    clouds: DeviceClouds
    plan: Plan

    def walk(self, layer: int, then: Then) -> GpuBatchOutcome:
        return walk_batch_gpu(self.clouds.tokens, self.clouds.offsets_there, self.plan.dynamics, layer, then=then)

    def fetched(self) -> Batch:
        """The same for the processor."""
        clouds = self.clouds
        packed = Packed(clouds.tokens.cpu().numpy(), clouds.offsets, clouds.multiplicities)
        return Batch(packed, replace(self.plan, solvers=solvers_for("certified", CPU)), CPU)

    def run(self, cloud: int) -> Run:
        """The run of one cloud."""
        return run_there(self.clouds.cloud(cloud), self.plan)


class TogetherThere(Runs):
    """The runs of many clouds that a kernel walked on their device.

    Clouds that floats cannot decide have their `exact` runs. The run of any other cloud is made when it is asked for.
    """

    def __init__(self, batch: BatchThere, outcome: GpuBatchOutcome, exact: dict[int, Run]) -> None:
        self.batch = batch
        self.form = batch.clouds.form
        self.multiplicities = batch.clouds.multiplicities
        self.outcome = outcome
        self.exact = exact

    def __len__(self) -> int:
        return len(self.batch.clouds)

    def run(self, cloud: int) -> Run:
        return self.exact.get(cloud) or self.batch.run(cloud)

    def at(self, layer: int) -> Any:
        layer, stop = check_int(layer, "`layer`", at_least=0), self.batch.plan.stop
        if layer == stop.last_layer and not stop.when_settled:
            tokens = self.outcome.tokens.clone()
        elif self._all_settled and layer > self._latest:
            tokens = self._beyond(layer)
        elif layer <= stop.last_layer:
            tokens = self.batch.walk(layer, Then.GO_ON).tokens
        else:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {shorten(layer)} lies beyond this run, in which cloud {cloud} has not settled.")
        return self.batch.clouds.restore(tokens, {cloud: run.floats_at(layer) for cloud, run in self.exact.items()})

    def ends(self) -> Any:
        if not self._all_settled:
            raise InputError(f"Cloud {self.settled_at.index(None)} has not settled: where its tokens end is not known.")
        arrived = self.batch.walk(self._latest, Then.ARRIVE).tokens
        return self.batch.clouds.restore(arrived, {cloud: run.float_ends() for cloud, run in self.exact.items()})

    @property
    def leaders(self) -> list[np.ndarray]:
        return self._fetched.leaders

    @property
    def settled_at(self) -> list[int | None]:
        return self._fetched.settled_at

    @property
    def certified(self) -> bool:
        return True

    @property
    def error(self) -> float:
        return self._fetched.error

    @property
    def decided_by_integers(self) -> int:
        return len(self.exact)

    def here(self) -> Together:
        return self._fetched

    @cached_property
    def _fetched(self) -> Together:
        """The same runs off the device."""
        return Together(self.batch.fetched(), self.form, self.outcome.to_numpy(), self.exact)

    @cached_property
    def _all_settled(self) -> bool:
        walking = bool((self.outcome.settled == WALKED).any())
        return not walking and all(run.settled_at is not None for run in self.exact.values())

    @cached_property
    def _latest(self) -> int:
        """The last layer at which a cloud settled that floats decided."""
        return max(0, int(self.outcome.settled.max()))

    def _beyond(self, layer: int) -> torch.Tensor:
        """The tokens at a layer after the last at which a cloud settled: z(s + m) = w + g^m (z(s) - w)."""
        ends, starts = (self.batch.walk(self._latest, then).tokens for then in (Then.ARRIVE, Then.STAY))
        layers, which = self.outcome.settled.clamp(min=0).unique(return_inverse=True)
        shares = [float(power(self.batch.plan.dynamics.contraction, layer - settled)) for settled in layers.tolist()]
        of_cloud = torch.tensor(shares, dtype=torch.float64, device=ends.device)[which]
        of_token = of_cloud.repeat_interleave(self.batch.clouds.offsets_there.diff(), output_size=len(ends))
        return ends + of_token[:, None] * (starts - ends)


# pyright: reportMissingImports=false


def simulate_there(
    clouds: DeviceClouds, plan: Plan, progress: Callable[[int, int], None] | None
) -> Trajectory | Trajectories:
    """The run of a cloud, or the runs of many."""
    plan.dynamics.check_dimension(clouds.dimension)
    if not plan.stop.when_settled:
        check_recording(plan.record, plan.stop.last_layer, len(clouds.tokens), clouds.dimension)
    if not clouds.form.is_single and _suits_kernel(clouds, plan.stop):
        return Trajectories(_walk_together(clouds, plan, progress))
    runs = []
    for number in range(len(clouds)):
        runs.append(run_there(clouds.cloud(number), plan))
        if progress is not None:
            progress(len(runs), len(clouds))
    if clouds.form.is_single:
        return Trajectory.of(runs[0])
    return Trajectories(OneByOne(runs, clouds.form, clouds.multiplicities))


def step_table(tokens: torch.Tensor, dynamics: Dynamics) -> torch.Tensor | None:
    """A table of floats one layer later; None if it is none, or floats cannot prove a choice.

    Nothing leaves the device before the choices are made: the search itself tells numbers that are not finite.
    """
    is_table = tokens.ndim == 2 and tokens.layout is torch.strided and tokens.numel()
    if not is_table or not tokens.dtype.is_floating_point or tokens.requires_grad:
        return None
    dynamics.check_dimension(tokens.shape[1])
    try:
        return move_once(tokens.double(), dynamics).to(tokens.dtype)
    except Undecided:
        return None


def step_there(clouds: DeviceClouds, plan: Plan) -> Any:
    """The tokens one layer later, in the form in which they came."""
    plan.dynamics.check_dimension(clouds.dimension)
    if not clouds.form.is_single and _suits_kernel(clouds, plan.stop):
        outcome = walk_batch_gpu(clouds.tokens, clouds.offsets_there, plan.dynamics, 1)
        undecided = outcome.undecided.tolist()
        exact = {cloud: run_here(clouds.cloud(cloud), plan).floats_at(1) for cloud in undecided}
        return clouds.restore(outcome.tokens, exact)
    return clouds.restore(torch.cat([_moved(clouds.cloud(number), plan) for number in range(len(clouds))]), {})


def _moved(cloud: DeviceClouds, plan: Plan) -> torch.Tensor:
    """The tokens of one cloud a layer later."""
    try:
        return move_once(cloud.tokens, plan.dynamics)
    except Undecided:
        # It may have been for a token that is repeated: those are one.
        points = merge_there(cloud.tokens)
    try:
        return points.spread(move_once(points.there, plan.dynamics))
    except Undecided:
        return cloud.tokens.new_tensor(run_here(cloud, plan).floats_at(1))


def _suits_kernel(clouds: DeviceClouds, stop: Stop) -> bool:
    return stop.last_layer <= DEEPEST_KERNEL and suits(clouds.offsets, clouds.dimension)


def _walk_together(clouds: DeviceClouds, plan: Plan, progress: Callable[[int, int], None] | None) -> TogetherThere:
    batch = BatchThere(clouds, plan)
    outcome = batch.walk(plan.stop.last_layer, Then.STAY if plan.stop.when_settled else Then.GO_ON)
    exact = {cloud: run_here(clouds.cloud(cloud), plan) for cloud in outcome.undecided.tolist()}
    if progress is not None:
        progress(len(clouds), len(clouds))
    return TogetherThere(batch, outcome, exact)
