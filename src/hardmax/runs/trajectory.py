"""`Trajectory`: the run of one cloud, as people hold it in their hands."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from hardmax.checking import file_path, place, places
from hardmax.runs.run import Run
from hardmax.runs.storage import run as storage
from hardmax.runs.tables import run_to_arrow, run_to_pandas

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.axes import Axes


class Trajectory(Run):
    """The run of one cloud. Made by `simulate`.

    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[3.0], [-1.0], [1.0]], Dynamics(1), layers=2)
    >>> run
    Trajectory(3 tokens in 1 dimension, 2 layers, 2 leaders, settled at layer 0, certified)
    >>> run[2].ravel().tolist(), len(run), run.leaders.tolist()
    ([3.0, -1.0, 2.5], 3, [0, 1])
    """

    @classmethod
    def of(cls, run: Run) -> "Trajectory":
        """The same run, for people."""
        if isinstance(run, Trajectory):
            return run
        same = cls.__new__(cls)
        vars(same).update(vars(run))  # with what it has worked out so far
        return same

    def __len__(self) -> int:
        """How many layers are recorded."""
        return len(self.recorded)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """The tokens at a recorded layer, (n, d), as `run.tokens[index]`; `at` answers for any layer."""
        if isinstance(index, slice):
            return [self[row] for row in places(index, len(self), "`index`")]
        return self.at(self.recorded[place(index, len(self), "`index`")])

    def __iter__(self) -> Iterator[Any]:
        """The tokens at one recorded layer after the other."""
        return map(self.at, self.recorded)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """`np.asarray(run)`: the tokens at every recorded layer, (recorded layers, n, d)."""
        if copy is False:
            raise ValueError("A run has no array to be shared: its layers are worked out. Leave `copy` as it is.")
        return self.float_path().astype(np.float64 if dtype is None else dtype, copy=False)

    def save(self, path: str | Path) -> None:
        """Write the run to a `.npz` or `.json` file, whole or not at all."""
        storage.save(self, file_path(path))

    @classmethod
    def load(cls, path: str | Path) -> "Trajectory":
        """Read a run that `save` wrote."""
        return cls.of(storage.load(file_path(path)))

    def to_arrow(self) -> "pyarrow.Table":
        """A row for each token at each recorded layer: layer, token, coordinates z0…, `leader`, `attends`."""
        return run_to_arrow(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """The same rows as `to_arrow`, as a data frame."""
        return run_to_pandas(self)

    @overload
    def plot(
        self, layers: int | None = None, *, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None
    ) -> "Axes": ...
    @overload
    def plot(
        self, layers: Sequence[int], *, ax: Any = None, figsize: tuple[float, float] | None = None
    ) -> np.ndarray: ...
    def plot(self, layers: Any = None, *, ax: Any = None, figsize: Any = None) -> Any:
        """Draw a layer, the last if none is named: ways so far, leaders as stars, who follows whom (extra `figures`).

        Gives the matplotlib axes, or an array of them where `layers` is a list; without `ax`, those of a new figure.
        Tokens of more than three dimensions are shown by principal coordinates.
        """
        from hardmax.figures.plotting import plot_run

        return plot_run(self, layers, ax=ax, figsize=figsize)

    def animate(self, path: str | Path, *, layers: Sequence[int] | None = None, fps: float = 4) -> None:
        """Write the layers, the recorded ones if none are named, as a `.gif`, or an `.mp4` where ffmpeg is installed.

        Every frame is a layer, none is made up between two. The file is written whole or not at all.
        """
        from hardmax.figures.animation import animate_run

        animate_run(self, path, layers=layers, fps=fps)

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import run_card

        return run_card(self)
