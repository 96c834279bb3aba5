"""The runs of many clouds, one by one or together in a kernel.

What the runs of a batch answer, whoever walked them.

The runs of a batch whose clouds were walked one by one.

The runs of many small clouds that one kernel walked together.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hardmax._batch import WALKED, BatchOutcome, Then
from hardmax._float.search import CPU
from hardmax._run import Known, Plan, Run, run_cloud, why_stopped
from hardmax._tokens.batches import Form, Packed, restore
from hardmax._validation import InputError, check_int, shorten
from hardmax.engines import Engine, walk_many


class Runs(ABC):
    """The runs of many clouds."""

    form: Form
    """How the tokens came, and so how results go back."""
    multiplicities: np.ndarray | None
    """How often each token of all clouds counts, if that was said."""

    at_hand: int = 0
    """How many runs are worth keeping once they are made: none, where all are kept anyway."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def run(self, cloud: int) -> Run:
        """The run of one cloud; it may have to be made."""

    @abstractmethod
    def at(self, layer: int) -> Any:
        """The tokens of all clouds at a layer, in the form in which they came."""

    @abstractmethod
    def ends(self) -> Any:
        """Where all tokens of all clouds go for ever, in the form in which they came; all clouds must have settled."""

    @property
    @abstractmethod
    def leaders(self) -> list[np.ndarray]:
        """For each cloud the tokens that lead."""

    @property
    @abstractmethod
    def settled_at(self) -> list[int | None]:
        """For each cloud the layer at which it settled."""

    @property
    @abstractmethod
    def certified(self) -> bool:
        """Whether every choice in every cloud is that of real arithmetic."""

    @property
    @abstractmethod
    def error(self) -> float:
        """No token at a recorded layer is further than this from the truth; nan where nothing is promised."""

    @property
    @abstractmethod
    def decided_by_integers(self) -> int:
        """How many clouds integers had to decide."""

    def here(self) -> "Runs":
        """The same runs off a device, to be written."""
        return self


class OneByOne(Runs):
    """Runs, each as it was made."""

    def __init__(self, runs: Sequence[Run], form: Form, multiplicities: np.ndarray | None = None) -> None:
        self.runs = tuple(runs)
        self.form = form
        self.multiplicities = multiplicities

    def __len__(self) -> int:
        return len(self.runs)

    def run(self, cloud: int) -> Run:
        return self.runs[cloud]

    def at(self, layer: int) -> Any:
        return restore(self.form, [run.floats_at(layer) for run in self.runs], self.multiplicities)

    def ends(self) -> Any:
        return restore(self.form, [run.float_ends() for run in self.runs], self.multiplicities)

    @property
    def leaders(self) -> list[np.ndarray]:
        return [run.leaders for run in self.runs]

    @property
    def settled_at(self) -> list[int | None]:
        return [run.settled_at for run in self.runs]

    @property
    def certified(self) -> bool:
        return all(run.certified for run in self.runs)

    @property
    def error(self) -> float:
        return float(np.max([run.error for run in self.runs]))

    @property
    def decided_by_integers(self) -> int:
        return sum(run.arithmetic == "exact" for run in self.runs)


# Coordinates of the clouds whose runs are kept once they are made.
_AT_HAND = 2**20


@dataclass(frozen=True, eq=False)
class Batch:
    """Many clouds that one kernel walks, and how."""

    clouds: Packed
    plan: Plan
    machine: Engine

    def walk(self, layer: int, then: Then, **watched: Any) -> BatchOutcome:
        """The kernel's answer at a layer, or where a cloud settled before it; `watched` as `walk_many` takes it."""
        clouds = self.clouds
        return walk_many(self.machine, clouds.tokens, clouds.offsets, self.plan.dynamics, layer, then, **watched)

    def run(self, cloud: int) -> Run:
        """The run of one cloud, by the engine that explains itself; it is the same run."""
        return run_cloud(self.clouds[cloud], self.plan, self.machine)


class Together(Runs):
    """What concerns all clouds is answered from `outcome`, the kernel's arrays; clouds that floats cannot decide have
    their `exact` runs. The run of any other cloud is made when more is asked of it than the kernel knows."""

    def __init__(self, batch: Batch, form: Form, outcome: BatchOutcome, exact: dict[int, Run]) -> None:
        self.batch = batch
        self.form = form
        self.multiplicities = batch.clouds.multiplicities
        self.outcome = outcome
        self.exact = exact
        self.at_hand = 1 + _AT_HAND * len(self) // batch.clouds.tokens.size

    def __len__(self) -> int:
        return len(self.batch.clouds)

    def run(self, cloud: int) -> Run:
        if cloud in self.exact:
            made = self.exact[cloud]
            return made if self.form.tensors is None else replace(made, tensor_kind=self.form.tensors)
        plan, outcome, here = self.batch.plan, self.outcome, self._tokens_of(cloud)
        settled = None if outcome.settled[cloud] == WALKED else int(outcome.settled[cloud])
        last = plan.stop.last_layer if settled is None or not plan.stop.when_settled else settled
        known = Known(
            outcome.leader_since[here],
            outcome.tokens[here],
            lambda: self._arrived.tokens[here],
            lambda: self._leader_of[here],
            lambda: self.batch.run(cloud),
        )
        return Run.of_known(
            known,
            dynamics=plan.dynamics,
            solver=plan.solvers[0],
            recorded=tuple(plan.record.layers(last)),
            settled_at=settled,
            stopped=why_stopped(plan.stop, last, settled),
            tensor_kind=self.form.tensors,
            error=float(outcome.errors[cloud]),
        )

    def _tokens_of(self, cloud: int) -> slice:
        return slice(*self.batch.clouds.offsets[cloud : cloud + 2].tolist())

    @cached_property
    def _arrived(self) -> BatchOutcome:
        """The tokens of all clouds that have settled at their limits."""
        return self.batch.walk(self._latest, Then.ARRIVE)

    @cached_property
    def _leader_of(self) -> np.ndarray:
        found = self._arrived.leader_of
        if found is None:  # a GPU does not tell
            found = replace(self.batch, machine=CPU).walk(self._latest, Then.STAY).leader_of
        assert found is not None, "the processor tells"
        return found

    @property
    def _latest(self) -> int:
        """The last layer at which a cloud settled that floats decided."""
        return max(0, int(self.outcome.settled.max()))

    def at(self, layer: int) -> Any:
        layer, stop = check_int(layer, "`layer`", at_least=0), self.batch.plan.stop
        if layer > stop.last_layer and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {shorten(layer)} lies beyond this run, in which cloud {cloud} has not settled.")
        again = layer != stop.last_layer or stop.when_settled
        outcome = self.batch.walk(layer, Then.GO_ON) if again else self.outcome
        return self._restore(outcome, {cloud: run.floats_at(layer) for cloud, run in self.exact.items()})

    def ends(self) -> Any:
        if None in self.settled_at:
            raise InputError(f"Cloud {self.settled_at.index(None)} has not settled: where its tokens end is not known.")
        return self._restore(self._arrived, {cloud: run.float_ends() for cloud, run in self.exact.items()})

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
        return sum(run.arithmetic == "exact" for run in self.exact.values())


def walk_together(batch: Batch, form: Form, progress: Callable[[int, int], None] | None) -> Together:
    """The runs of a batch. What floats cannot prove, integers decide now: it is part of the answer."""
    stop = batch.plan.stop
    then = Then.STAY if stop.when_settled else Then.GO_ON
    outcome = batch.walk(stop.last_layer, then, leave_long=True, progress=progress)
    exact = {cloud: batch.run(cloud) for cloud in outcome.undecided.tolist()}
    return Together(batch, form, outcome, exact)
