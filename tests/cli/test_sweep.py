"""`hardmax sweep`: a TOML file in, Parquet files, a picture and a table out."""

import json
from pathlib import Path

import pytest
from pyarrow import parquet
from running import Command, assert_refused
from test_simulate import table

SPEC = """
observables = ["settled_at", "leaders"]

[grid]
n = [5, 20]
d = 2
seeds = 3
alpha = ["1/2", 1]

[grid.metric]
identity = "identity"
tilted = [[2, 1], [1, 1]]
"""


@pytest.fixture
def spec(here: Path) -> Path:
    (here / "spec.toml").write_text(SPEC)
    return here


def test_a_sweep_is_written_drawn_and_continued(spec: Path, hardmax: Command) -> None:
    first = hardmax("sweep", "spec.toml", "-o", "out", "--picture", "leaders.png", "--by", "metric")
    assert (first.code, first.err) == (0, "wrote leaders.png\n")
    rows = table(first.out)
    assert len(rows) == 24
    assert rows[0].keys() == {"cell", "maker", "n", "d", "seed", "alpha", "metric", "settled_at", "leaders", "error"}
    assert parquet.read_table(spec / "out").num_rows == 24
    again = json.loads(hardmax("sweep", "spec.toml", "-o", "out", "--json").out)
    assert (again["cells"], again["failed"]) == (24, 0)


def test_what_is_no_spec_is_refused(spec: Path, hardmax: Command) -> None:
    assert_refused(hardmax("sweep", "none.toml", "-o", "out"), "does not exist", "[grid]")
    (spec / "broken.toml").write_text("[grid")
    assert_refused(hardmax("sweep", "broken.toml", "-o", "out"), "is not TOML")
    (spec / "other.toml").write_text("[grids]\nn = 3")
    assert_refused(hardmax("sweep", "other.toml", "-o", "out"), "must have a table [grid]")
    (spec / "unknown.toml").write_text("[grid]\nn = 3\nd = 2\nsize = 4")
    assert_refused(hardmax("sweep", "unknown.toml", "-o", "out"), "no maker takes 'size'")
