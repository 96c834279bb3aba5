"""The runs of a batch of clouds, each a `Trajectory`, with the tokens given back in the form in which they came."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from hardmax.checking import file_path, place, places, short, whole_number
from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.batch import BatchOutcome, Then
from hardmax.engines.machines import Machine, walk_many
from hardmax.errors import InputError
from hardmax.runs.records import Record
from hardmax.runs.stops import Stop
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.batches import Form, restore


class Trajectories(Sequence[Trajectory]):
    """A sequence of runs. Made by `simulate`.

    >>> from hardmax import Dynamics, simulate
    >>> runs = simulate([[[1.0], [2.0]], [[3.0]]], Dynamics(1), layers=1)
    >>> [cloud.tolist() for cloud in runs.at(1)]
    [[[1.5], [2.0]], [[3.0]]]
    """

    form: Form
    """How the tokens came, and so how results go back."""
    multiplicities: np.ndarray | None
    """How often each token of all clouds counts, if that was said."""

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

    def save(self, path: str | Path) -> None:
        """Write the runs to a `.npz` or `.json` file, whole or not at all.

        The last layer is in it as `tokens` with `offsets`, so that `hardmax simulate` can go on from there.
        """
        from hardmax.runs.storage.batch import save

        save(self, file_path(path))

    @staticmethod
    def load(path: str | Path) -> "Trajectories":
        """Read runs that `save` wrote. They answer in the form in which the tokens came; tensors become arrays."""
        from hardmax.runs.storage.batch import load

        return load(file_path(path))

    def __repr__(self) -> str:
        return f"Trajectories({len(self):,} clouds, {self.decided_by_integers:,} decided by integers)"


class ListedTrajectories(Trajectories):
    """Runs that were made one by one."""

    def __init__(self, runs: Sequence[Trajectory], form: Form, multiplicities: np.ndarray | None = None) -> None:
        self._runs = tuple(runs)
        self.form = form
        self.multiplicities = multiplicities

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in places(index, len(self), "`index`")]
        return self._runs[place(index, len(self), "`index`")]

    def at(self, layer: int) -> Any:
        return restore(self.form, [run.at(layer) for run in self], self.multiplicities)

    def ends(self) -> Any:
        return restore(self.form, [run.ends() for run in self], self.multiplicities)

    @property
    def leaders(self) -> list[np.ndarray]:
        return [run.leaders for run in self]

    @property
    def settled_at(self) -> list[int | None]:
        return [run.settled_at for run in self]

    @property
    def certified(self) -> bool:
        return all(run.certified for run in self)

    @property
    def error(self) -> float:
        return float(np.max([run.error for run in self]))

    @property
    def decided_by_integers(self) -> int:
        return sum(run.arithmetic == "exact" for run in self)


@dataclass(frozen=True, eq=False)
class Batch:
    """Many clouds that one kernel walks, and how."""

    tokens: np.ndarray  # of all clouds, one after the other
    offsets: np.ndarray  # cloud b is tokens[offsets[b]:offsets[b + 1]]
    multiplicities: np.ndarray | None
    dynamics: Dynamics
    stop: Stop
    record: Record
    machine: Machine

    def walk(self, layer: int, then: Then, progress: Callable[[int, int], None] | None = None) -> BatchOutcome:
        return walk_many(self.machine, self.tokens, self.offsets, self.dynamics, layer, then, progress)


class BatchTrajectories(Trajectories):
    """The runs of many clouds that a kernel walked together.

    What concerns all clouds is answered from `outcome`, the kernel's arrays; clouds that floats cannot decide have
    their `exact` runs. The run of any other cloud is made by `run_cloud` when it is asked for, by the engine that
    explains itself; it is the same run.
    """

    def __init__(
        self,
        batch: Batch,
        form: Form,
        run_cloud: Callable[[int], Trajectory],
        outcome: BatchOutcome,
        exact: dict[int, Trajectory],
    ) -> None:
        self.batch = batch
        self.form = form
        self.multiplicities = batch.multiplicities
        self.outcome = outcome
        self.exact = exact
        self.run_cloud = run_cloud

    def __len__(self) -> int:
        return len(self.batch.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in places(index, len(self), "`index`")]
        cloud = place(index, len(self), "`index`")
        return self.exact.get(cloud) or self.run_cloud(cloud)

    def at(self, layer: int) -> Any:
        layer = whole_number(layer, "`layer`", at_least=0)
        if layer > self.batch.stop.last_layer and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {short(layer)} lies beyond this run, in which cloud {cloud} has not settled.")
        again = layer != self.batch.stop.last_layer or self.batch.stop.when_settled
        outcome = self.batch.walk(layer, Then.GO_ON) if again else self.outcome
        return self._restore(outcome, {cloud: run.floats_at(layer) for cloud, run in self.exact.items()})

    def ends(self) -> Any:
        if None in self.settled_at:
            raise InputError(f"Cloud {self.settled_at.index(None)} has not settled: where its tokens end is not known.")
        arrived = self.batch.walk(max(0, *self.outcome.settled.tolist()), Then.ARRIVE)
        return self._restore(arrived, {cloud: run.float_ends() for cloud, run in self.exact.items()})

    def _restore(self, outcome: BatchOutcome, exact: dict[int, np.ndarray]) -> Any:
        clouds = np.split(outcome.tokens, self.batch.offsets[1:-1])
        for cloud, tokens in exact.items():
            clouds[cloud] = tokens
        return restore(self.form, clouds, self.multiplicities)

    @property
    def leaders(self) -> list[np.ndarray]:
        since = np.split(self.outcome.leader_since, self.batch.offsets[1:-1])
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


def walk_together(
    batch: Batch, form: Form, run_cloud: Callable[[int], Trajectory], progress: Callable[[int, int], None] | None
) -> BatchTrajectories:
    """The runs of a batch. What floats cannot prove, integers decide now: it is part of the answer."""
    then = Then.STAY if batch.stop.when_settled else Then.GO_ON
    outcome = batch.walk(batch.stop.last_layer, then, progress)
    exact = {cloud: run_cloud(cloud) for cloud in outcome.undecided.tolist()}
    return BatchTrajectories(batch, form, run_cloud, outcome, exact)
