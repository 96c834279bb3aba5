"""`Trajectories`: the runs of a batch of clouds, with the tokens given back in the form in which they came."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakValueDictionary

import numpy as np

from hardmax.checking import file_path, place, places
from hardmax.runs.batch.runs import Runs
from hardmax.runs.storage import batch as storage
from hardmax.runs.tables import runs_to_pandas
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.batches import Form
from hardmax.wording import counted

if TYPE_CHECKING:
    import pandas


class Trajectories(Sequence[Trajectory]):
    """A sequence of runs. Made by `simulate`.

    >>> from hardmax import Dynamics, simulate
    >>> runs = simulate([[[1.0], [2.0]], [[3.0]]], Dynamics(1), layers=1)
    >>> [cloud.tolist() for cloud in runs.at(1)]
    [[[1.5], [2.0]], [[3.0]]]
    """

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        # One that is still held is given again, and so are the last few: nobody asks twice for long.
        self._held: WeakValueDictionary[int, Trajectory] = WeakValueDictionary()
        self._recent: deque[Trajectory] = deque(maxlen=runs.at_hand)

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return [self[i] for i in places(index, len(self), "`index`")]
        cloud = place(index, len(self), "`index`")
        held = self._held.get(cloud)
        if held is None:
            held = self._held[cloud] = Trajectory.of(self.runs.run(cloud))
            self._recent.append(held)
        return held

    @property
    def form(self) -> Form:
        """How the tokens came, and so how results go back."""
        return self.runs.form

    @property
    def multiplicities(self) -> np.ndarray | None:
        """How often each token of all clouds counts, if that was said."""
        return self.runs.multiplicities

    def at(self, layer: int) -> Any:
        """The tokens of all clouds at a layer, in the form in which they came."""
        return self.runs.at(layer)

    def ends(self) -> Any:
        """Where all tokens of all clouds go for ever, in the form in which they came; all clouds must have settled."""
        return self.runs.ends()

    @property
    def leaders(self) -> list[np.ndarray]:
        """For each cloud the tokens that lead."""
        return self.runs.leaders

    @property
    def settled_at(self) -> list[int | None]:
        """For each cloud the layer at which it settled."""
        return self.runs.settled_at

    @property
    def certified(self) -> bool:
        """Whether every choice in every cloud is that of real arithmetic."""
        return self.runs.certified

    @property
    def error(self) -> float:
        """No token at a recorded layer is further than this from the truth; nan where nothing is promised."""
        return self.runs.error

    @property
    def decided_by_integers(self) -> int:
        """How many clouds integers had to decide."""
        return self.runs.decided_by_integers

    def save(self, path: str | Path) -> None:
        """Write the runs to a `.npz` or `.json` file, whole or not at all.

        The last layer is in it as `tokens` with `offsets`, so that `hardmax simulate` can go on from there.
        """
        storage.save(self.runs.here(), file_path(path))

    @staticmethod
    def load(path: str | Path) -> "Trajectories":
        """Read runs that `save` wrote. They answer in the form in which the tokens came; tensors become arrays."""
        return Trajectories(storage.load(file_path(path)))

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each token of each cloud at each recorded layer: cloud, layer, token, z0…, `leader`, `attends`."""
        return runs_to_pandas(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Trajectories, (self.runs,)

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        decided = f"{self.decided_by_integers:,} decided by integers" if self.certified else "float"
        return f"Trajectories({counted(len(self), 'cloud')}, {settled:,} settled, {decided})"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import runs_card

        return runs_card(self)
