"""The runs of many small clouds on a device: tokens are given back there, and all else is fetched when asked for."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch

from hardmax.checking import place, places, short, whole_number
from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.batch import Then
from hardmax.engines.cpu.device import CPU
from hardmax.engines.cpu.kernels.small_clouds import WALKED
from hardmax.engines.exact.powers import power
from hardmax.engines.gpu.batch import GpuBatchOutcome, walk_batch_gpu
from hardmax.errors import InputError
from hardmax.runs.records import Record
from hardmax.runs.stops import Stop
from hardmax.runs.trajectories import Batch, BatchTrajectories, Trajectories
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.device_clouds import DeviceClouds


@dataclass(frozen=True, eq=False)
class DeviceBatch:
    """Many clouds on a device that one kernel walks, and how."""

    clouds: DeviceClouds
    dynamics: Dynamics
    stop: Stop
    record: Record

    def walk(self, layer: int, then: Then) -> GpuBatchOutcome:
        return walk_batch_gpu(self.clouds.tokens, self.clouds.offsets_there, self.dynamics, layer, then=then)

    def fetched(self) -> Batch:
        """The same for the processor."""
        clouds = self.clouds
        tokens = clouds.tokens.cpu().numpy()
        return Batch(tokens, clouds.offsets, clouds.multiplicities, self.dynamics, self.stop, self.record, CPU)


class DeviceTrajectories(Trajectories):
    """The runs of many clouds that a kernel walked on their device.

    Clouds that floats cannot decide have their `exact` runs. The run of any other cloud is made by `run_cloud` when it
    is asked for.
    """

    def __init__(
        self,
        batch: DeviceBatch,
        run_cloud: Callable[[int], Trajectory],
        outcome: GpuBatchOutcome,
        exact: dict[int, Trajectory],
    ) -> None:
        self.batch = batch
        self.form = batch.clouds.form
        self.multiplicities = batch.clouds.multiplicities
        self.outcome = outcome
        self.exact = exact
        self._run_cloud = run_cloud

    def __len__(self) -> int:
        return len(self.batch.clouds)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in places(index, len(self), "`index`")]
        cloud = place(index, len(self), "`index`")
        return self.exact.get(cloud) or self._run_cloud(cloud)

    def at(self, layer: int) -> Any:
        layer, stop = whole_number(layer, "`layer`", at_least=0), self.batch.stop
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

    def save(self, path: str | Path) -> None:
        """Write the runs to a `.npz` or `.json` file, whole or not at all."""
        self._fetched.save(path)

    @cached_property
    def _fetched(self) -> BatchTrajectories:
        """The same runs off the device."""
        return BatchTrajectories(self.batch.fetched(), self.form, self._run_cloud, self.outcome.to_numpy(), self.exact)

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
        shares = [float(power(self.batch.dynamics.keep, layer - settled)) for settled in layers.tolist()]
        of_cloud = torch.tensor(shares, dtype=torch.float64, device=ends.device)[which]
        of_token = of_cloud.repeat_interleave(self.batch.clouds.offsets_there.diff(), output_size=len(ends))
        return ends + of_token[:, None] * (starts - ends)
