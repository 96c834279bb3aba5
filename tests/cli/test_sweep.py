"""`hardmax sweep`: a TOML file in, Parquet files and a table out."""

import json

import pytest
from pyarrow import parquet
from running import table

from hardmax import Dynamics, clouds, sweep

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
    assert json.loads(again.out)["rows"] == expected.to_pylist()
