"""The runs of many small clouds on a device: tokens are given back there, and all else is fetched when asked for."""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from hardmax.checking import short, whole_number
from hardmax.engines.arithmetics import walkers_for
from hardmax.engines.cpu.batch import Then
from hardmax.engines.cpu.kernels.small_clouds import WALKED
from hardmax.engines.cpu.machine import CPU
from hardmax.engines.exact.powers import power
from hardmax.engines.gpu.batch import GpuBatchOutcome, walk_batch_gpu
from hardmax.errors import InputError
from hardmax.runs.batch.runs import Runs
from hardmax.runs.batch.together import Batch, Together
from hardmax.runs.on_device.running import run_there
from hardmax.runs.plan import Plan
from hardmax.runs.run import Run
from hardmax.tokens.batches import Packed
from hardmax.tokens.device_clouds import DeviceClouds


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
        return Batch(packed, replace(self.plan, walkers=walkers_for("certified", CPU)), CPU)

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
        layer, stop = whole_number(layer, "`layer`", at_least=0), self.batch.plan.stop
        if layer == stop.last_layer and not stop.when_settled:
            tokens = self.outcome.tokens.clone()
        elif self._all_settled and layer > self._latest:
            tokens = self._beyond(layer)
        elif layer <= stop.last_layer:
            tokens = self.batch.walk(layer, Then.GO_ON).tokens
        else:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {short(layer)} lies beyond this run, in which cloud {cloud} has not settled.")
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
        shares = [float(power(self.batch.plan.dynamics.keep, layer - settled)) for settled in layers.tolist()]
        of_cloud = torch.tensor(shares, dtype=torch.float64, device=ends.device)[which]
        of_token = of_cloud.repeat_interleave(self.batch.clouds.offsets_there.diff(), output_size=len(ends))
        return ends + of_token[:, None] * (starts - ends)
