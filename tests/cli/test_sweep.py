"""`hardmax sweep`: a TOML file in, Parquet files, a picture and a table out."""

import json

import pytest
from pyarrow import parquet
from running import assert_refused
from test_simulate import table

from hardmax import Dynamics, clouds, limit, sweeps

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
def spec(here):
    (here / "spec.toml").write_text(SPEC)
    return here


def test_a_sweep_is_written_drawn_and_continued(spec, hardmax):
    first = hardmax("sweep spec.toml -o out --picture leaders.png --by metric")
    assert (first.code, first.err) == (0, "wrote leaders.png\n")
    assert {"# output: out", "# cells: 24", "# reused: 0", "# failed: 0"} < {*first.out.split("\n")}
    ranges = {row["observable"]: row for row in table(first.out)}
    listed = hardmax("sweep spec.toml -o out --rows")
    rows = table(listed.out)
    assert len(rows) == 24
    for name, found in ranges.items():
        values = [int(row[name]) for row in rows]
        assert found["cells"] == "24"
        assert (int(found["smallest"]), int(found["largest"])) == (min(values), max(values))
    columns = "cell maker n d seed alpha metric settled_at leaders error"
    assert " ".join(rows[0]) == columns
    assert parquet.read_table(spec / "out").num_rows == 24
    again = hardmax("sweep spec.toml -o out --json")
    assert again.err == "24 cells done before\n"
    document = json.loads(again.out)
    assert (document["cells"], document["reused"], document["failed"]) == (24, 24, 0)
    assert [str(row["leaders"]) for row in document["rows"]] == [row["leaders"] for row in rows]


LAYERS = """
mask = ["none", "causal"]
attention = ["hardmax", "topk:2", "localmax:1/2"]
steps = ["1/2", "2,1,1/2"]
"""


def test_other_layers_are_typed_as_on_the_command_line(spec, hardmax):
    grid = "[grid]\nn = 4\nd = 2\nseed = 3\n"
    (spec / "all.toml").write_text(f"{grid}{LAYERS}[grid.value]\nflat = '1,0;0,0'\n")
    document = json.loads(hardmax("sweep all.toml -o all --json").out)
    assert (document["cells"], document["failed"]) == (12, 0)
    cloud = clouds.gaussian(4, 2, seed=3)
    for row in document["rows"]:
        parts = {"mask": row["mask"], "attention": row["attention"], "value": "1,0;0,0"}
        usual = ("none", "hardmax")
        parts = {name: None if word in usual else word for name, word in parts.items()}
        lim = limit(cloud, Dynamics(row["alpha"], **parts))
        found = (lim.settled_at, len(lim.leaders), len(lim.clusters))
        assert (row["settled_at"], row["leaders"], row["clusters"]) == found
    (spec / "few.toml").write_text(grid)
    (spec / "mask.csv").write_text("1,0,0,0\n1,1,0,0\n1,1,1,0\n1,1,1,1\n")
    for mask in ("causal", "mask.csv"):
        options = f"--steps 2,1,1/2 --value '1,0;0,0' --attention topk:2 --mask {mask}"
        command = f"sweep few.toml -o 'few {mask}' {options} --json"
        (row,) = json.loads(hardmax(command).out)["rows"]
        words = {"alpha": "2,1,1/2", "attention": "topk:2", "mask": "causal"}
        (same,) = [each for each in document["rows"] if words.items() <= each.items()]
        for name in ("settled_at", "leaders", "clusters"):
            assert row[name] == same[name]


def test_a_metric_may_be_typed_as_on_the_command_line(spec, hardmax):
    (spec / "text.toml").write_text(SPEC.replace("[[2, 1], [1, 1]]", '"2,1;1,1"'))
    matrix = hardmax("sweep spec.toml -o matrix")
    text = hardmax("sweep text.toml -o text")
    assert table(matrix.out) == table(text.out)
    rows = [parquet.read_table(spec / name).to_pylist() for name in ("matrix", "text")]
    assert rows[0] == rows[1]


def test_one_line_says_what_was_there(spec, hardmax, monkeypatch):
    monkeypatch.setattr(sweeps, "_CELLS", 6)
    (spec / "odd.toml").write_text(SPEC.replace("[[2, 1], [1, 1]]", "[[1]]"))
    first = hardmax("sweep odd.toml -o out --json")
    assert (first.err, json.loads(first.out)["failed"]) == ("", 12)
    assert 0 <= json.loads(first.out)["seconds"] < 3600
    part = spec / "out" / "part-000000.parquet"
    part.write_bytes(part.read_bytes()[:100])
    again = hardmax("sweep odd.toml -o out --json")
    failed = "12 cells tried again, as they had failed"
    broken = "6 cells computed again, as their file cannot be read"
    assert again.err == f"{broken}; 6 cells done before; {failed}\n"
    assert json.loads(again.out)["failed"] == 12
    assert hardmax("sweep odd.toml -o out").err == f"12 cells done before; {failed}\n"


def test_a_folder_of_another_sweep_is_refused(spec, hardmax):
    hardmax("sweep spec.toml -o out")
    (spec / "spec.toml").write_text(SPEC.replace("seeds = 3", "seeds = 4"))
    refused = hardmax("sweep spec.toml -o out")
    assert_refused(refused, "`--output` `out`", "what differs: arguments")
