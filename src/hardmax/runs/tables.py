"""Runs as tables (extra `tables`)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.errors import need
from hardmax.runs.run import Run

if TYPE_CHECKING:
    import pandas
    import pyarrow


def run_to_arrow(run: Run) -> "pyarrow.Table":
    """A row for each token at each recorded layer: layer, token, z0…, `alone` (a leader then), `attends`."""
    need("`to_arrow`", "tables", "pyarrow")
    import pyarrow

    return pyarrow.table(_columns(run) | {"attends": pyarrow.array(_attends(run), pyarrow.list_(pyarrow.int64()))})


def run_to_pandas(run: Run) -> "pandas.DataFrame":
    """The same rows as a data frame."""
    need("`to_pandas`", "tables", "pandas")
    import pandas

    return pandas.DataFrame(_columns(run) | {"attends": _attends(run)})


def _columns(run: Run) -> dict[str, Any]:
    layers = np.array(run.recorded)
    became = np.where(run.leader_since < 0, layers[-1] + 1, run.leader_since)[run.points.of_token]
    columns: dict[str, Any] = {"layer": np.repeat(layers, run.n), "token": np.tile(np.arange(run.n), len(layers))}
    path = run.float_path()
    for axis in range(run.d):
        columns[f"z{axis}"] = path[:, :, axis].ravel()
    return columns | {"alone": (layers[:, None] >= became[None, :]).ravel()}


def _attends(run: Run) -> list[list[int]]:
    return [attended.tolist() for layer in run.recorded for attended in run.attended(layer)]
