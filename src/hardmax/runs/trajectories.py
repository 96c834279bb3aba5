"""The runs of a batch of clouds, each a `Trajectory`, with the tokens given back in the form in which they came."""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.batches import Form, restore


class Trajectories(Sequence[Trajectory]):
    """A sequence of runs.

    >>> from hardmax import Dynamics, simulate
    >>> runs = simulate([[[1.0], [2.0]], [[3.0]]], Dynamics(1), layers=1)
    >>> [cloud.tolist() for cloud in runs.at(1)]
    [[[1.5], [2.0]], [[3.0]]]
    """

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

    def __repr__(self) -> str:
        handed = sum(run.arithmetic == "exact" for run in self)
        return f"Trajectories({len(self):,} clouds, {handed:,} decided by integers)"

    def at(self, layer: int) -> Any:
        """The tokens of all clouds at a layer, in the form in which they came."""
        return restore(self._form, [run.at(layer) for run in self])

    @property
    def leaders(self) -> list[np.ndarray]:
        return [run.leaders for run in self]

    @property
    def settled_at(self) -> list[int | None]:
        return [run.settled_at for run in self]

    @property
    def certified(self) -> bool:
        """Whether every choice in every cloud is that of real arithmetic."""
        return all(run.certified for run in self)
