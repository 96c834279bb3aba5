"""`simulate` for tokens that came as tensors, on their device. What floats cannot prove there goes to the processor."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.batch import Then
from hardmax.engines.gpu.batch import suits, walk_batch_gpu
from hardmax.engines.gpu.device import move_once
from hardmax.engines.gpu.points import merge_there
from hardmax.engines.judging.walking import Undecided
from hardmax.runs.batch.one_by_one import OneByOne
from hardmax.runs.on_device.running import run_here, run_there
from hardmax.runs.on_device.together import BatchThere, TogetherThere
from hardmax.runs.plan import DEEPEST_KERNEL, Plan
from hardmax.runs.records import check_recording
from hardmax.runs.stops import Stop
from hardmax.runs.trajectories import Trajectories
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.device_clouds import DeviceClouds


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
