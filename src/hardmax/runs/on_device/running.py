"""One cloud on a device: walked there, or by the processor where floats cannot prove a choice."""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import replace

from hardmax.engines.gpu.points import merge_there
from hardmax.engines.judging.walking import Undecided
from hardmax.runs.on_device.trajectory import DeviceTrajectory
from hardmax.runs.plan import Plan
from hardmax.runs.run import Run
from hardmax.runs.walking import keep, run_points
from hardmax.tokens.batches import Cloud
from hardmax.tokens.device_clouds import DeviceClouds
from hardmax.tokens.points import merge


def run_there(cloud: DeviceClouds, plan: Plan) -> Run:
    """The run of a cloud, on its device if it can be proved there. The first of the walkers is that of the GPU."""
    points = merge_there(cloud.tokens, cloud.multiplicities)
    walker = plan.walkers[0]
    try:
        kept = keep(walker.walk(points, plan.dynamics), points, plan)
    except Undecided:
        return run_here(cloud, plan)
    return DeviceTrajectory(points, plan.dynamics, walker, kept, cloud.kind)


def run_here(cloud: DeviceClouds, plan: Plan) -> Run:
    """The run of a cloud that floats cannot decide, by the processor; its tokens are still given back as they came."""
    points = merge(Cloud(cloud.tokens.cpu().numpy(), cloud.multiplicities))
    run = run_points(points, replace(plan, walkers=plan.walkers[1:]))
    return replace(run, tensor_kind=cloud.kind)
