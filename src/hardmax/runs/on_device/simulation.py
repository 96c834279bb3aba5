"""`simulate` for tokens that came as tensors, on their device. What floats cannot prove there goes to the processor."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.batch import Then
from hardmax.engines.engine import Engine
from hardmax.engines.gpu.batch import suits, walk_batch_gpu
from hardmax.engines.gpu.device import move_once
from hardmax.engines.gpu.points import merge_there
from hardmax.engines.judging.walking import Undecided
from hardmax.runs.on_device.trajectories import DeviceBatch, DeviceTrajectories
from hardmax.runs.on_device.trajectory import DeviceTrajectory
from hardmax.runs.records import Record, check_recording
from hardmax.runs.simulation import DEEPEST_KERNEL, keep, run_points
from hardmax.runs.stops import Stop
from hardmax.runs.trajectories import ListedTrajectories, Trajectories
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.batches import Cloud
from hardmax.tokens.device_clouds import DeviceClouds
from hardmax.tokens.points import merge


@dataclass(frozen=True)
class Plan:
    """How clouds are to be walked. The first of the engines is that of the GPU."""

    dynamics: Dynamics
    engines: tuple[Engine, ...]
    stop: Stop
    record: Record
    memory_limit: int


def simulate_there(
    clouds: DeviceClouds, plan: Plan, progress: Callable[[int, int], None] | None
) -> Trajectory | Trajectories:
    """The run of a cloud, or the runs of many."""
    plan.dynamics.check_dimension(clouds.dimension)
    if not plan.stop.when_settled:
        check_recording(plan.record, plan.stop.last_layer, len(clouds.tokens), clouds.dimension, plan.memory_limit)
    if not clouds.form.is_single and _suits_kernel(clouds, plan.stop):
        return _walk_together(clouds, plan, progress)
    runs = []
    for number in range(len(clouds)):
        runs.append(_run_cloud(clouds.cloud(number), plan))
        if progress is not None:
            progress(len(runs), len(clouds))
    return runs[0] if clouds.form.is_single else ListedTrajectories(runs, clouds.form, clouds.multiplicities)


def step_there(clouds: DeviceClouds, plan: Plan) -> Any:
    """The tokens one layer later, in the form in which they came."""
    plan.dynamics.check_dimension(clouds.dimension)
    if not clouds.form.is_single and _suits_kernel(clouds, plan.stop):
        outcome = walk_batch_gpu(clouds.tokens, clouds.offsets_there, plan.dynamics, 1)
        undecided = outcome.undecided.tolist()
        exact = {cloud: _run_here(clouds.cloud(cloud), plan).floats_at(1) for cloud in undecided}
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
        return cloud.tokens.new_tensor(_run_here(cloud, plan).floats_at(1))


def _suits_kernel(clouds: DeviceClouds, stop: Stop) -> bool:
    return stop.last_layer <= DEEPEST_KERNEL and suits(clouds.offsets, clouds.dimension)


def _walk_together(clouds: DeviceClouds, plan: Plan, progress: Callable[[int, int], None] | None) -> DeviceTrajectories:
    batch = DeviceBatch(clouds, plan.dynamics, plan.stop, plan.record)
    outcome = batch.walk(plan.stop.last_layer, Then.STAY if plan.stop.when_settled else Then.GO_ON)
    exact = {cloud: _run_here(clouds.cloud(cloud), plan) for cloud in outcome.undecided.tolist()}
    if progress is not None:
        progress(len(clouds), len(clouds))
    return DeviceTrajectories(batch, lambda cloud: _run_cloud(clouds.cloud(cloud), plan), outcome, exact)


def _run_cloud(cloud: DeviceClouds, plan: Plan) -> Trajectory:
    points = merge_there(cloud.tokens, cloud.multiplicities)
    engine = plan.engines[0]
    try:
        kept = keep(engine.walk(points, plan.dynamics), points, plan.stop, plan.record, plan.memory_limit)
    except Undecided:
        return _run_here(cloud, plan)
    return DeviceTrajectory(points, plan.dynamics, engine, kept, cloud.kind)


def _run_here(cloud: DeviceClouds, plan: Plan) -> Trajectory:
    """The run of a cloud that floats cannot decide, by the processor; its tokens are still given back as they came."""
    points = merge(Cloud(cloud.tokens.cpu().numpy(), cloud.multiplicities))
    run = run_points(points, plan.dynamics, plan.engines[1:], plan.stop, plan.record, plan.memory_limit)
    return replace(run, tensor_kind=cloud.kind)
