"""The runs of many small clouds that one kernel walked together."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardmax.checking import short, whole_number
from hardmax.engines.cpu.batch import BatchOutcome, Then
from hardmax.engines.machines import Machine, walk_many
from hardmax.errors import InputError
from hardmax.runs.batch.runs import Runs
from hardmax.runs.plan import Plan
from hardmax.runs.run import Run
from hardmax.runs.walking import run_cloud
from hardmax.tokens.batches import Form, Packed, restore


@dataclass(frozen=True, eq=False)
class Batch:
    """Many clouds that one kernel walks, and how."""

    clouds: Packed
    plan: Plan
    machine: Machine

    def walk(self, layer: int, then: Then, progress: Callable[[int, int], None] | None = None) -> BatchOutcome:
        """The kernel's answer at a layer, or where a cloud settled before it."""
        clouds = self.clouds
        return walk_many(self.machine, clouds.tokens, clouds.offsets, self.plan.dynamics, layer, then, progress)

    def run(self, cloud: int) -> Run:
        """The run of one cloud, by the engine that explains itself; it is the same run."""
        return run_cloud(self.clouds[cloud], self.plan, self.machine)


class Together(Runs):
    """What concerns all clouds is answered from `outcome`, the kernel's arrays; clouds that floats cannot decide have
    their `exact` runs. The run of any other cloud is made when it is asked for."""

    def __init__(self, batch: Batch, form: Form, outcome: BatchOutcome, exact: dict[int, Run]) -> None:
        self.batch = batch
        self.form = form
        self.multiplicities = batch.clouds.multiplicities
        self.outcome = outcome
        self.exact = exact

    def __len__(self) -> int:
        return len(self.batch.clouds)

    def run(self, cloud: int) -> Run:
        made = self.exact.get(cloud) or self.batch.run(cloud)
        return made if self.form.tensors is None else replace(made, tensor_kind=self.form.tensors)

    def at(self, layer: int) -> Any:
        layer, stop = whole_number(layer, "`layer`", at_least=0), self.batch.plan.stop
        if layer > stop.last_layer and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {short(layer)} lies beyond this run, in which cloud {cloud} has not settled.")
        again = layer != stop.last_layer or stop.when_settled
        outcome = self.batch.walk(layer, Then.GO_ON) if again else self.outcome
        return self._restore(outcome, {cloud: run.floats_at(layer) for cloud, run in self.exact.items()})

    def ends(self) -> Any:
        if None in self.settled_at:
            raise InputError(f"Cloud {self.settled_at.index(None)} has not settled: where its tokens end is not known.")
        arrived = self.batch.walk(max(0, *self.outcome.settled.tolist()), Then.ARRIVE)
        return self._restore(arrived, {cloud: run.float_ends() for cloud, run in self.exact.items()})

    def _restore(self, outcome: BatchOutcome, exact: dict[int, np.ndarray]) -> Any:
        clouds = np.split(outcome.tokens, self.batch.clouds.offsets[1:-1])
        for cloud, tokens in exact.items():
            clouds[cloud] = tokens
        return restore(self.form, clouds, self.multiplicities)

    @property
    def leaders(self) -> list[np.ndarray]:
        since = np.split(self.outcome.leader_since, self.batch.clouds.offsets[1:-1])
        return [
            self.exact[cloud].leaders if cloud in self.exact else np.flatnonzero(layers >= 0)
            for cloud, layers in enumerate(since)
        ]

    @property
    def settled_at(self) -> list[int | None]:
        settled: list[int | None] = [layer if layer >= 0 else None for layer in self.outcome.settled.tolist()]
        for cloud, run in self.exact.items():
            settled[cloud] = run.settled_at
        return settled

    @property
    def certified(self) -> bool:
        return True

    @property
    def error(self) -> float:
        proved = np.delete(self.outcome.errors, self.outcome.undecided)
        return max([*proved.tolist(), *(run.error for run in self.exact.values())])

    @property
    def decided_by_integers(self) -> int:
        return len(self.exact)


def walk_together(batch: Batch, form: Form, progress: Callable[[int, int], None] | None) -> Together:
    """The runs of a batch. What floats cannot prove, integers decide now: it is part of the answer."""
    stop = batch.plan.stop
    outcome = batch.walk(stop.last_layer, Then.STAY if stop.when_settled else Then.GO_ON, progress)
    exact = {cloud: batch.run(cloud) for cloud in outcome.undecided.tolist()}
    return Together(batch, form, outcome, exact)
