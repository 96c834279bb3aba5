"""`Trajectory`: the run of one cloud, as people hold it in their hands."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from hardmax.checking import file_path
from hardmax.runs.run import Run
from hardmax.runs.storage import run as storage
from hardmax.runs.tables import run_to_arrow, run_to_pandas

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Trajectory(Run):
    """The run of one cloud. Made by `simulate`.

    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[3.0], [-1.0], [1.0]], Dynamics(1), layers=2)
    >>> run
    Trajectory(3 tokens in 1 dimension, 2 layers, 2 leaders, settled at layer 0, certified)
    >>> run.tokens[:, 2, 0].tolist(), run.leaders.tolist()
    ([1.0, 2.0, 2.5], [0, 1])
    """

    @classmethod
    def of(cls, run: Run) -> "Trajectory":
        """The same run, for people."""
        return (
            run if isinstance(run, Trajectory) else cls(**{each.name: getattr(run, each.name) for each in fields(run)})
        )

    def save(self, path: str | Path) -> None:
        """Write the run to a `.npz` or `.json` file, whole or not at all."""
        storage.save(self, file_path(path))

    @classmethod
    def load(cls, path: str | Path) -> "Trajectory":
        """Read a run that `save` wrote."""
        return cls.of(storage.load(file_path(path)))

    def to_arrow(self) -> "pyarrow.Table":
        """A row for each token at each recorded layer: layer, token, coordinates z0…, `leads`, `attends`."""
        return run_to_arrow(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """The same rows as `to_arrow`, as a data frame."""
        return run_to_pandas(self)

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import run_card

        return run_card(self)
