"""Runs as tables (extra `tables`): a row for each token at each recorded layer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.errors import need
from hardmax.runs.run import Run

if TYPE_CHECKING:
    import pandas
    import pyarrow


def run_to_arrow(run: Run) -> "pyarrow.Table":
    """Columns layer, token, z0…, `leader` (whether it is one by then), `attends`."""
    need("`to_arrow`", "tables", "pyarrow")
    import pyarrow

    columns = _columns(run)
    attends = pyarrow.array(columns.pop("attends"), pyarrow.list_(pyarrow.int64()))
    return pyarrow.table(columns | {"attends": attends})


def run_to_pandas(run: Run) -> "pandas.DataFrame":
    """The same rows as a data frame."""
    need("`to_pandas`", "tables", "pandas")
    import pandas

    return pandas.DataFrame(_columns(run))


def runs_to_pandas(runs: Sequence[Run]) -> "pandas.DataFrame":
    """The rows of every run, with a column `cloud` before them."""
    need("`to_pandas`", "tables", "pandas")
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
