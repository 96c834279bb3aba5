"""The runs of a batch of clouds, each a `Trajectory`, with the tokens given back in the form in which they came."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.engines.batch import BatchOutcome, Then
from hardmax.engines.machines import Machine, walk_many
from hardmax.errors import InputError
from hardmax.runs.stops import Stop
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.batches import Form, restore
from hardmax.tokens.rationals import whole_number


class Trajectories(Sequence[Trajectory]):
    """A sequence of runs. Made by `simulate`.

    >>> from hardmax import Dynamics, simulate
    >>> runs = simulate([[[1.0], [2.0]], [[3.0]]], Dynamics(1), layers=1)
    >>> [cloud.tolist() for cloud in runs.at(1)]
    [[[1.5], [2.0]], [[3.0]]]
    """

    _form: Form

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

    def tensor_at(self, layer: int) -> Any:
        """The tokens at a layer as torch tensors, of the dtype and on the device on which they came."""
        if self._form.tensors is None:
            raise InputError("`tensor_at` needs tokens that came as torch tensors; `at` gives them as arrays.")
        tokens = self.at(layer)
        kind = self._form.tensors
        return [kind.tensor(cloud) for cloud in tokens] if isinstance(tokens, list) else kind.tensor(tokens)

    def __repr__(self) -> str:
        return f"Trajectories({len(self):,} clouds, {self.decided_by_integers:,} decided by integers)"


class ListedTrajectories(Trajectories):
    """Runs that were made one by one."""

    def __init__(self, runs: Sequence[Trajectory], form: Form) -> None:
        self._runs = tuple(runs)
        self._form = form

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        return self._runs[index]

    def at(self, layer: int) -> Any:
        return restore(self._form, [run.at(layer) for run in self])

    def ends(self) -> Any:
        return restore(self._form, [run.ends() for run in self])

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


class BatchTrajectories(Trajectories):
    """The runs of many clouds that a kernel walked together.

    What concerns all clouds is answered from the kernel's arrays. The run of one cloud is made when it is asked for,
    by the engine that explains itself; it is the same run.
    """

    def __init__(
        self,
        clouds: Sequence[np.ndarray],
        form: Form,
        dynamics: Dynamics,
        stop: Stop,
        run_cloud: Callable[[int], Trajectory],
        machine: Machine,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._form = form
        self._dynamics = dynamics
        self._stop = stop
        self._run_cloud = run_cloud
        self._machine = machine
        self._tokens = np.concatenate(clouds)
        self._offsets = np.cumsum([0, *map(len, clouds)])
        self._outcome = self._walk(stop.last_layer, Then.STAY if stop.when_settled else Then.GO_ON, progress)
        # What floats cannot prove, integers decide now: it is part of the answer.
        self._exact = {cloud: run_cloud(cloud) for cloud in self._outcome.undecided.tolist()}

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        cloud = range(len(self))[index]
        return self._exact.get(cloud) or self._run_cloud(cloud)

    def at(self, layer: int) -> Any:
        layer = whole_number(layer, "`layer`", at_least=0)
        if layer > self._stop.last_layer and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {layer} lies beyond this run, in which cloud {cloud} has not settled.")
        again = layer != self._stop.last_layer or self._stop.when_settled
        outcome = self._walk(layer, Then.GO_ON) if again else self._outcome
        return self._restore(outcome, {cloud: run.at(layer) for cloud, run in self._exact.items()})

    def ends(self) -> Any:
        if None in self.settled_at:
            raise InputError(f"Cloud {self.settled_at.index(None)} has not settled: where its tokens end is not known.")
        arrived = self._walk(max(self._outcome.settled.tolist()), Then.ARRIVE)
        return self._restore(arrived, {cloud: run.ends() for cloud, run in self._exact.items()})

    def _restore(self, outcome: BatchOutcome, exact: dict[int, np.ndarray]) -> Any:
        clouds = np.split(outcome.tokens, self._offsets[1:-1])
        for cloud, tokens in exact.items():
            clouds[cloud] = tokens
        return restore(self._form, clouds)

    @property
    def leaders(self) -> list[np.ndarray]:
        since = np.split(self._outcome.leader_since, self._offsets[1:-1])
        return [
            self._exact[cloud].leaders if cloud in self._exact else np.flatnonzero(layers >= 0)
            for cloud, layers in enumerate(since)
        ]

    @property
    def settled_at(self) -> list[int | None]:
        settled: list[int | None] = [layer if layer >= 0 else None for layer in self._outcome.settled.tolist()]
        for cloud, run in self._exact.items():
            settled[cloud] = run.settled_at
        return settled

    @property
    def certified(self) -> bool:
        return True

    @property
    def error(self) -> float:
        proved = np.delete(self._outcome.errors, self._outcome.undecided)
        return max([*proved.tolist(), *(run.error for run in self._exact.values())])

    @property
    def decided_by_integers(self) -> int:
        return len(self._exact)

    def _walk(self, layer: int, then: Then, progress: Callable[[int, int], None] | None = None) -> BatchOutcome:
        return walk_many(self._machine, self._tokens, self._offsets, self._dynamics, layer, then, progress)
