"""`hardmax sweep`: a TOML file in, Parquet files and a table out."""

import json

import pytest
from pyarrow import parquet
from running import table

from hardmax import Dynamics, clouds, sweep
from hardmax._common.progress import Search

SPEC = """
maker = "gaussian"
observables = ["settled_at", "leaders"]

[grid]
n = [5, 20]
d = 2
seeds = 3

[dynamics.half]
alpha = "1/2"

[dynamics.tilted]
alpha = [2, 1]
metric = [[2, 1], [1, 1]]
mask = "causal"
"""


def test_a_sweep_is_printed_written_and_continued(here, hardmax):
    (here / "spec.toml").write_text(SPEC)
    half, tilted = Dynamics("1/2"), Dynamics([2, 1], "2,1;1,1", mask="causal")
    layers = {"half": half, "tilted": tilted}
    expected = sweep({"n": [5, 20], "d": 2, "seeds": 3}, layers, maker=clouds.gaussian)
    first = hardmax("sweep spec.toml -o out")
    assert (first.code, first.err) == (0, "")
    rows = [{name: str(value) for name, value in row.items()} for row in expected.to_pylist()]
    assert table(first.out) == rows
    assert parquet.read_table(here / "out").num_rows == 12
    with pytest.warns(UserWarning, match="12 rows were in"):
        again = hardmax("sweep spec.toml -o out --json --jobs 2")
    assert again.code == 0
    assert json.loads(again.out)["rows"] == expected.to_pylist()


def test_ctrl_c_prints_the_rows_that_are_there(here, hardmax, monkeypatch):
    def press(self, done, total, note=""):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "__call__", press)
    (here / "spec.toml").write_text(SPEC)
    with pytest.warns(UserWarning, match="1 of 4 tasks"):
        ended = hardmax("sweep spec.toml -o out")
    assert (ended.code, len(table(ended.out))) == (130, 3)
