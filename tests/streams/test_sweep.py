"""A sweep is the plain loop of `limit`, written part by part, and resumes."""

import signal
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pytest
from pyarrow import parquet
from refusals import listed_refusals

import hardmax as hm
from hardmax import sweeps

GRID: dict[str, Any] = {"n": [5, 30], "d": [1, 3], "seeds": 4}
LAYERS = {"half": hm.Dynamics("1/2"), "causal": hm.Dynamics(10, mask="causal")}


def largest(lim: hm.Limit) -> float:
    return float(np.abs(lim.limit_points).max())


SEEN = {"leaders": "leaders", "settled": "settled_at", "certified": "certified", "far": largest}
LOOP = []
for name, layer in LAYERS.items():
    for n in GRID["n"]:
        for d in GRID["d"]:
            for seed in range(4):
                lim = hm.limit(hm.clouds.gaussian(n, d, seed), layer)
                row = {"dynamics": name, "n": n, "d": d, "seed": seed, "leaders": len(lim.leaders)}
                row |= {"settled": lim.settled_at, "certified": lim.certified, "far": largest(lim)}
                LOOP.append(row)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(sweeps, "_CELLS", 3)


@pytest.mark.parametrize("backend", ["sequential", "threading", "multiprocessing"])
def test_a_sweep_is_the_plain_loop_wherever_joblib_runs_it(backend, tmp_path):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        rows = hm.sweep(GRID, LAYERS, SEEN, output=tmp_path).to_pylist()
    assert sorted(rows, key=str) == sorted(LOOP, key=str)
    assert parquet.read_table(tmp_path).num_rows == len(LOOP)


def test_dynamics_and_observables_have_names_of_their_own():
    table = hm.sweep({"n": [4], "d": 2, "seed": 7}, LAYERS["half"], ["stop_reason", largest])
    assert table.column_names == ["dynamics", "n", "d", "seed", "stop_reason", "largest"]
    assert table["dynamics"].to_pylist() == [repr(LAYERS["half"])]
    alphas = {alpha: hm.Dynamics(alpha) for alpha in (1, 2)}
    assert hm.sweep({"sides": [3]}, alphas, maker=hm.clouds.polygon).to_pylist() == [
        {"dynamics": alpha, "sides": 3, "settled_at": 0, "leaders": 3} for alpha in (1, 2)
    ]


HARM = {
    "whole": lambda data: data,
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "changed": lambda data: data.replace(np.float64(LOOP[0]["far"]).tobytes(), bytes(8)),
}


@pytest.mark.parametrize("harm", HARM)
def test_complete_parts_are_used_and_damaged_ones_computed_again(harm, tmp_path):
    made = []

    def make(n, seed):
        made.append(seed)
        return hm.clouds.gaussian(n, 1, seed)

    def run():
        return hm.sweep({"n": 5, "seeds": 7}, LAYERS["half"], SEEN, maker=make, output=tmp_path)

    first = run()
    seeds = {path: parquet.read_table(path)["seed"].to_pylist() for path in tmp_path.iterdir()}
    (part,) = (path for path in seeds if 0 in seeds[path])
    part.write_bytes(HARM[harm](data := part.read_bytes()))
    assert harm == "whole" or part.read_bytes() != data
    made.clear()
    again = [] if harm == "whole" else seeds[part]
    with pytest.warns(UserWarning, match=rf"^{7 - len(again)} rows were .* code of your own"):
        assert run().equals(first)
    assert made == again
    assert part.read_bytes() == data


@pytest.mark.parametrize(
    "other",
    [
        {"grid": {"n": 4, "d": 2}},
        {"dynamics": hm.Dynamics(2)},
        {"observables": {"seen": "settled_at"}},
        {"observables": {"seen": largest}},
        {"maker": lambda n, d: np.ones((n, d))},
        {"__version__": "0.0.1"},
    ],
)
def test_parts_of_other_inputs_are_not_used(other, tmp_path, monkeypatch):
    seen = {"seen": "leaders"}
    given = {"grid": {"n": 3, "d": 2}, "dynamics": LAYERS["half"], "observables": seen}
    hm.sweep(**given, output=tmp_path)
    if "__version__" in other:
        monkeypatch.setattr(sweeps, "__version__", other.pop("__version__"))
    expected = hm.sweep(**given | other)
    assert hm.sweep(**given | other, output=tmp_path).equals(expected)
    assert len([*tmp_path.iterdir()]) == 2


KILLED = """
import os, signal, sys
import hardmax as hm
from hardmax import sweeps

def make(seed):
    if seed == 4 and sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return hm.clouds.gaussian(5, 2, seed)

sweeps._CELLS = 2
grid, layer = {"seeds": 8}, hm.Dynamics(1)
table = hm.sweep(grid, layer, maker=make, output=sys.argv[1])
print(table.equals(hm.sweep(grid, layer, maker=make)))
"""


@pytest.mark.check
def test_a_killed_process_loses_the_part_that_it_was_computing(tmp_path):
    def start(how):
        command = [sys.executable, "-c", KILLED, str(tmp_path), how]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert start("kill").returncode == -signal.SIGKILL
    written = len([*tmp_path.iterdir()])
    assert 0 < written < 5
    resumed = start("go on")
    assert (resumed.returncode, resumed.stdout) == (0, "True\n")
    assert "rows were in" in resumed.stderr


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
