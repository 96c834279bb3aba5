"""What a simulation returns: Trajectory, and Trajectories of a batch.

Runs as tables (extra `tables`): a row for each token at each recorded layer.

`Trajectory`: the run of one cloud, as people hold it in their hands.

`Trajectories`: the runs of a batch of clouds, with the tokens given back in the form in which they came.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakValueDictionary

import numpy as np

from hardmax._batch_runs import Runs
from hardmax._format import pluralize
from hardmax._run import Run
from hardmax._run_files import load_batch, load_run, save_batch, save_run
from hardmax._tokens.batches import Form
from hardmax._validation import check_path, normalize_index, normalize_slice, require_extra

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.axes import Axes


def run_to_arrow(run: Run) -> "pyarrow.Table":
    """Columns layer, token, z0…, `leader` (whether it is one by then), `attends`."""
    require_extra("`to_arrow`", "tables", "pyarrow")
    import pyarrow

    columns = _columns(run)
    attends = pyarrow.array(columns.pop("attends"), pyarrow.list_(pyarrow.int64()))
    return pyarrow.table(columns | {"attends": attends})


def run_to_pandas(run: Run) -> "pandas.DataFrame":
    """The same rows as a data frame."""
    require_extra("`to_pandas`", "tables", "pandas")
    import pandas

    return pandas.DataFrame(_columns(run))


def runs_to_pandas(runs: Sequence[Run]) -> "pandas.DataFrame":
    """The rows of every run, with a column `cloud` before them."""
    require_extra("`to_pandas`", "tables", "pandas")
    import pandas

    tables = [pandas.DataFrame({"cloud": number} | _columns(run)) for number, run in enumerate(runs)]
    return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame({"cloud": []})


def _columns(run: Run) -> dict[str, Any]:
    layers = np.array(run.recorded)
    became = np.where(run.leader_since < 0, layers[-1] + 1, run.leader_since)[run.points.of_token]
    columns: dict[str, Any] = {"layer": np.repeat(layers, run.n), "token": np.tile(np.arange(run.n), len(layers))}
    path = run.float_path()
    for axis in range(run.d):
        columns[f"z{axis}"] = path[:, :, axis].ravel()
    columns["leader"] = (layers[:, None] >= became[None, :]).ravel()
    columns["attends"] = [attended.tolist() for layer in run.recorded for attended in run.attended(layer)]
    return columns


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
            return [self[row] for row in normalize_slice(index, len(self), "`index`")]
        return self.at(self.recorded[normalize_index(index, len(self), "`index`")])

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
        save_run(self, check_path(path))

    @classmethod
    def load(cls, path: str | Path) -> "Trajectory":
        """Read a run that `save` wrote."""
        return cls.of(load_run(check_path(path)))

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
            return [self[i] for i in normalize_slice(index, len(self), "`index`")]
        cloud = normalize_index(index, len(self), "`index`")
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
        save_batch(self.runs.here(), check_path(path))

    @staticmethod
    def load(path: str | Path) -> "Trajectories":
        """Read runs that `save` wrote. They answer in the form in which the tokens came; tensors become arrays."""
        return Trajectories(load_batch(check_path(path)))

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each token of each cloud at each recorded layer: cloud, layer, token, z0…, `leader`, `attends`."""
        return runs_to_pandas(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Trajectories, (self.runs,)

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        decided = f"{self.decided_by_integers:,} decided by integers" if self.certified else "float"
        return f"Trajectories({pluralize(len(self), 'cloud')}, {settled:,} settled, {decided})"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import runs_card

        return runs_card(self)
