"""A sweep is the plain loop of `limit`, written part by part, and resumes."""

import functools
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from pyarrow import parquet
from refusals import listed_refusals, refuses

import hardmax as hm
from hardmax import sweeps
from hardmax.figures.charts import sweep_figure

GRID: dict[str, Any] = {"n": [5, 30], "d": [1, 3], "seeds": 4, "alpha": ["1/2", 10]}
TILTED = {"identity": "identity", "tilted": [[2, 1], [1, 1]]}


def largest(lim: hm.Limit) -> float:
    return float(np.abs(lim.limit_points).max())


def plain_loop() -> list[dict[str, Any]]:
    rows = []
    for alpha in GRID["alpha"]:
        for n in GRID["n"]:
            for d in GRID["d"]:
                for seed in range(GRID["seeds"]):
                    lim = hm.limit(hm.clouds.gaussian(n, d, seed), hm.Dynamics(alpha))
                    row = {
                        "cell": len(rows),
                        "maker": "gaussian",
                        "n": n,
                        "d": d,
                        "seed": seed,
                        "alpha": str(alpha),
                    }
                    row |= {
                        "metric": "identity",
                        "leaders": len(lim.leaders),
                        "settled_at": lim.settled_at,
                    }
                    rows.append(
                        row
                        | {"clusters": len(lim.clusters), "largest": largest(lim), "error": None}
                    )
    return rows


OBSERVABLES = ["leaders", "settled_at", "clusters", largest]


def test_a_sweep_is_the_plain_loop(monkeypatch):
    monkeypatch.setattr(sweeps, "_CELLS", 5)
    seen: list[tuple[int, int]] = []
    assert (
        hm.sweep(GRID, OBSERVABLES, progress=lambda *call: seen.append(call)).to_pylist()
        == plain_loop()
    )
    assert seen[-1] == (32, 32)


def test_one_seed_is_seed_0():
    several, one = ({"n": 5, "d": 2} | seeds for seeds in ({"seeds": 1}, {"seed": 0}))
    assert hm.sweep(several, OBSERVABLES).to_pylist() == hm.sweep(one, OBSERVABLES).to_pylist()


def test_clusters_are_counted_where_tokens_tie_or_have_not_settled():
    tied = hm.clouds.nonleader_clusters().astype(float)
    chain = np.array([[2 - 2**-14, 2], [2 - 2**-14, -2], [2, 1], [2, -1], [0.5, 0]])
    batch = [
        tied,
        hm.clouds.polygon(5),
        chain,
        np.repeat(tied, 2, axis=0),
        hm.clouds.gaussian(50, 2),
    ]
    limits = hm.limit(batch, hm.Dynamics("1/2"), max_layers=9)
    counts = limits._counts()
    assert counts["clusters"] == [len(lim.clusters) for lim in limits]
    assert counts["leaders"] == [len(lim.leaders) for lim in limits]
    assert counts["settled_at"] == [0, 0, None, 0, limits[4].settled_at]


def test_any_property_of_a_limit_can_be_observed_by_its_name():
    names = ["leaders", "certified", "radius", "error"]
    rows = hm.sweep({"n": [5], "d": [2], "seeds": 3}, names[:-1]).to_pylist()
    limits = [hm.limit(hm.clouds.gaussian(5, 2, seed), hm.Dynamics(1)) for seed in range(3)]
    expected = [(len(lim.leaders), True, lim.radius, None) for lim in limits]
    assert [tuple(row[name] for name in names) for row in rows] == expected


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])  # Ray's is made of the second
def test_joblib_chooses_where_groups_run(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeps, "_CELLS", 5)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert hm.sweep(GRID, OBSERVABLES, output=tmp_path / "out").to_pylist() == plain_loop()
        (tmp_path / "out" / "part-000002.parquet").unlink()
        assert hm.sweep(GRID, OBSERVABLES, output=tmp_path / "out").to_pylist() == plain_loop()


def test_it_resumes_after_the_parts_that_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeps, "_CELLS", 5)
    done = []

    def interrupt(cells, _):
        done.append(cells)
        if len(done) in (2, 3):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            hm.sweep(GRID, OBSERVABLES, output=tmp_path / "out", progress=interrupt)
    written = {part: part.stat().st_mtime_ns for part in (tmp_path / "out").glob("*.parquet")}
    assert 3 <= len(written) < 8
    table = hm.sweep(GRID, OBSERVABLES, output=tmp_path / "out", progress=interrupt)
    assert table.to_pylist() == plain_loop()
    assert parquet.read_table(tmp_path / "out").num_rows == 32
    assert all(part.stat().st_mtime_ns == when for part, when in written.items())
    with refuses("another sweep"):
        hm.sweep(GRID | {"seeds": 5}, OBSERVABLES, output=tmp_path / "out")


def test_a_cell_that_fails_is_a_row_with_its_reason():
    def fussy(n, d):
        if n == 2:
            raise RuntimeError("no such cloud")
        return np.full((n, d), np.nan if n == 3 else 1.0)

    table = hm.sweep({"maker": fussy, "n": [1, 2, 3, 4], "d": 2}).to_pylist()
    assert [row["leaders"] for row in table] == [1, None, None, 4]
    assert table[1]["error"] == "RuntimeError: no such cloud"
    assert "must be finite" in table[2]["error"]
    assert table[0]["maker"] == "fussy"
    rows = hm.sweep({"n": 9, "d": 3, "metric": TILTED}, ["settled_at"]).to_pylist()
    assert rows[0]["error"] is None
    assert "`metric` is 2 by 2" in rows[1]["error"]


def test_several_makers_and_metrics():
    table = hm.sweep(
        {"maker": ["polygon", "nonleader-clusters"], "sides": [3, 4], "metric": TILTED},
        {"all": len_of},
    )
    assert [
        (row["maker"], row["sides"], row["metric"], row["all"]) for row in table.to_pylist()
    ] == [
        ("polygon", 3, "identity", 3),
        ("polygon", 4, "identity", 4),
        ("nonleader-clusters", None, "identity", 10),
        ("polygon", 3, "tilted", 3),
        ("polygon", 4, "tilted", 4),
        ("nonleader-clusters", None, "tilted", 10),
    ]
    mixed = hm.sweep({"maker": ["square", "gaussian"], "n": 3, "d": 2}, ["leaders"])
    assert mixed.column_names == ["cell", "maker", "n", "d", "alpha", "metric", "leaders", "error"]


def len_of(lim: hm.Limit) -> int:
    return lim.run.n


@given(
    entries=st.lists(st.fractions(-9, 9, max_denominator=9), min_size=4, max_size=4),
    gap=st.sampled_from(["", " "]),
    end=st.sampled_from(["", ";", " ; "]),
)
def test_a_metric_and_its_text_give_the_same_rows(entries, gap, end):
    a, b, c, d = map(str, entries)
    metrics = {"matrix": [[a, b], [c, d]], "text": f"{a},{gap}{b};{gap}{c}{gap},{d}{end}"}
    grid = {"n": 6, "d": 2, "seeds": 2, "metric": metrics}
    rows = hm.sweep(grid, ["leaders", "settled_at"]).to_pylist()
    seen = [(row["seed"], row["leaders"], row["settled_at"], row["error"]) for row in rows]
    assert seen[:2] == seen[2:]


TAKEN = ("cell", "maker", "n", "d", "seed", "alpha", "metric", "error")


@given(st.lists(st.sampled_from([*TAKEN, "a", "b", "<lambda>"]), min_size=1, max_size=4))
def test_every_observable_is_a_column_of_its_own_or_refused(names):
    functions = [lambda _, place=place: place for place in range(len(names))]
    for name, function in zip(names, functions, strict=True):
        function.__name__ = name
    lost = {name for name in names if name in TAKEN or names.count(name) > 1}
    refusal = pytest.raises(hm.InputError, match="would be named") if lost else nullcontext()
    with refusal:
        table = hm.sweep({"n": 3, "d": 2, "seeds": 2}, functions)
        columns = [table[name].to_pylist() for name in names]
        assert columns == [[place] * 2 for place in range(len(names))]


def test_a_taken_name_is_said_with_the_way_out():
    message = r"two columns would be named 'n'.*\{'name': function\}"
    with refuses(message):
        hm.sweep({"n": 3, "d": 2}, {"n": len_of})


CODE = """
SCALE, TABLE, WORDS = 2, np.arange(4.0), {"a", "b", "c"}
def nudge(points, by=SCALE): return points + SCALE * by if len(points) else shift(points)
def shift(points): return nudge(points)
def bent(power):
    def inner(points): return points ** power
    return inner
bend = bent(1)
filled = functools.partial(np.full, fill_value=1.0)
@functools.lru_cache
def known(): return 5.0

def make(n, d=2, *, sign=1):
    try:
        cloud = sign * np.ones((n, d))
        cloud = cloud + n
    except ValueError:
        cloud = None
    extra = lambda: 3 if "a" in {"a", "b"} and "c" in WORDS else 4
    return bend(nudge(cloud)) + TABLE[1] + filled((1, 1)) + extra() + known()
"""


def typed(code: str) -> Any:
    """The maker that somebody typed into a notebook."""
    scope: dict[str, Any] = {"np": np, "functools": functools, "__name__": "notebook"}
    exec(code, scope)
    return scope["make"]


def sweep_of(maker: Any, folder: Path) -> list[dict[str, Any]]:
    return hm.sweep({"maker": maker, "n": [1, 2]}, [largest], output=folder).to_pylist()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3 if", "5 if"),
        ('in {"a", "b"}', 'in {"b", "d"}'),
        ("cloud + n", "cloud - n"),
        ("(n, d=2, *", "(n, d=3, *"),
        ("sign=1", "sign=-1"),
        ("ValueError", "TypeError"),
        ("    cloud = cloud + n\n    except ValueError:", "except ValueError:\n        cloud + n"),
        ("SCALE * by", "SCALE + by"),
        ("= 2, np", "= 7, np"),
        ("arange(4.0)", "arange(1, 5.0)"),
        ('{"a", "b", "c"}', '{"a", "b"}'),
        ("bent(1)", "bent(2)"),
        ("points ** power", "points * power"),
        ("fill_value=1.0", "fill_value=2.0"),
        ("return nudge(points)", "return nudge(points, 1)"),
        ("return 5.0", "return 6.0"),
    ],
)
def test_results_of_code_that_was_edited_are_not_returned(old, new, tmp_path):
    assert CODE.count(old) == 1
    rows = sweep_of(typed(CODE), tmp_path / "out")
    assert [row["error"] for row in rows] == [None, None]
    # What is not used may change, and code may move.
    assert sweep_of(typed(f"# a remark\n\n{CODE}\nLATER = 3"), tmp_path / "out") == rows
    with refuses("another sweep; what differs: makers"):
        sweep_of(typed(CODE.replace(old, new)), tmp_path / "out")


def test_results_of_arguments_in_another_order_are_not_returned(tmp_path):
    grid = {"n": [1, 2], "d": 3, "maker": typed("def make(n, d): return np.ones((n, d))")}
    hm.sweep(grid, output=tmp_path)
    grid["maker"] = typed("def make(d, n): return np.ones((d, n))")
    with refuses("what differs: makers"):
        hm.sweep(grid, output=tmp_path)


def test_results_of_another_file_that_is_used_are_not_returned(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    helper = tmp_path / "helper_of_sweeps.py"
    text = "corner = lambda n: [[1.0 * n]]\n"
    text += "class Corner:\n    def __init__(self, n): self.at = corner(n)\n"
    for number, use in enumerate(["{}.corner(n)", "corner(n)", "Corner(n).at"]):
        helper.write_text(text)
        importlib.invalidate_caches()
        importlib.reload(importlib.import_module(helper.stem))
        code = f"import {helper.stem}\nfrom {helper.stem} import corner, Corner\n"
        code += f"def make(n): return {use.format(helper.stem)}"
        rows = sweep_of(typed(code), tmp_path / str(number))
        assert [row["largest"] for row in rows] == [1.0, 2.0]
        assert sweep_of(typed(code), tmp_path / str(number)) == rows
        helper.write_text(text.replace("1.0", "2.0"))
        with refuses("what differs: makers"):
            sweep_of(typed(code), tmp_path / str(number))


@pytest.mark.parametrize(
    ("grid", "observables", "differs"),
    [
        ({"seeds": 3}, {"seen": "leaders"}, "arguments"),
        ({"seeds": 2, "alpha": [1]}, {"seen": "leaders"}, "dynamics"),
        ({"seeds": 2, "metric": {"identity": [[2, 1], [1, 1]]}}, {"seen": "leaders"}, "dynamics"),
        ({"seeds": 2}, {"seen": "clusters"}, "observables"),
        ({"seeds": 2}, {"seen": len_of}, "observables"),
        ({"seeds": 2}, {"seen": "leaders", "more": len_of}, "observables"),
        ({"seeds": 2, "maker": lambda n, d, seed: np.ones((n, d))}, {"seen": "leaders"}, "makers"),
    ],
)
def test_a_folder_of_another_sweep_is_refused_with_what_differs(
    grid, observables, differs, tmp_path
):
    same = {"n": 3, "d": 2}
    first = hm.sweep(same | {"seeds": 2}, {"seen": "leaders"}, output=tmp_path)
    message = rf"another sweep; what differs: {differs}\. Name a new"
    with refuses(message):
        hm.sweep(same | grid, observables, output=tmp_path)
    assert hm.sweep(same | {"seeds": 2}, {"seen": "leaders"}, output=tmp_path).equals(first)


def test_a_folder_of_another_version_is_refused(tmp_path, monkeypatch):
    hm.sweep({"n": 3, "d": 2}, output=tmp_path)
    monkeypatch.setattr(sweeps, "__version__", "0.0.1")
    with refuses("what differs: version of hardmax"):
        hm.sweep({"n": 3, "d": 2}, output=tmp_path)


def test_parts_of_something_else_are_never_taken(tmp_path):
    parquet.write_table(pa.table({"cell": [0]}), tmp_path / "part-000000.parquet")
    with refuses("another sweep"):
        hm.sweep({"n": 3, "d": 2}, output=tmp_path)


def test_what_a_later_call_could_not_compare_is_refused(tmp_path):
    lock = threading.Lock()

    def locked(lim):
        with lock:
            return lim.run.n

    assert hm.sweep({"n": 3, "d": 2}, [locked])["locked"].to_pylist() == [3]
    with refuses(r"observables are the same .*lock.*leave `output` out"):
        hm.sweep({"n": 3, "d": 2}, [locked], output=tmp_path)


HARM = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "noise": lambda _: b"noise",
}
STATES = ["whole", "gone", *HARM]


@given(
    failing=st.sets(st.integers(0, 7)),
    states=st.lists(st.sampled_from(STATES), min_size=4, max_size=4),
)
def test_it_resumes_from_whatever_is_there(failing, states):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeps, "_CELLS", 2)
        patch.setattr(os, "fsync", lambda _: None)  # a thousand of them take long
        folder, fails, called = Path(name, "out"), Path(name, "fails"), Path(name, "called")

        def make(seed):
            with called.open("a") as log:
                log.write(f"{seed} ")
            if str(seed) in fails.read_text().split():
                raise MemoryError("not now")
            return hm.clouds.gaussian(seed + 1, 2, seed)

        def run(folder):
            called.write_text("")
            return hm.sweep({"maker": make, "seeds": 8}, ["leaders", largest], output=folder)

        fails.write_text(" ".join(map(str, failing)))
        errors = ["MemoryError: not now" if cell in failing else None for cell in range(8)]
        assert run(folder)["error"].to_pylist() == errors
        for part, state in zip(sorted(folder.glob("*.parquet")), states, strict=True):
            if state == "gone":
                part.unlink()
            elif state in HARM:
                part.write_bytes(HARM[state](part.read_bytes()))
        (folder / ".0123456789abcdef.part").write_text("the draft of a process that was killed")
        fails.write_text("")

        table = run(folder)
        whole = {cell for cell in range(8) if states[cell // 2] == "whole"}
        broken = {cell for cell in range(8) if states[cell // 2] in HARM}
        computed = sorted(map(int, called.read_text().split()))
        assert computed == sorted({*range(8)} - (whole - failing))
        said = {
            "done before": len(whole - failing),
            "tried again, as they had failed": len(whole & failing),
            "computed again, as their file cannot be read": len(broken),
        }
        parts = [f"{n} cell{'s' * (n != 1)} {what}" for what, n in said.items() if n]
        told = (table.schema.metadata or {}).get(b"earlier", b"").decode()
        assert sorted(told.split("; ")) == sorted(parts or [""])
        assert table.to_pylist() == run(None).to_pylist()
        assert run(folder).to_pylist() == table.to_pylist()
        assert called.read_text() == ""
        assert parquet.read_table(folder).num_rows == 8
        assert len([*folder.iterdir()]) == 5


def test_cells_that_fail_again_keep_their_reason(tmp_path):
    grid = {"n": 9, "d": 3, "seeds": 2, "metric": TILTED}
    first = hm.sweep(grid, ["settled_at"], output=tmp_path)
    again = hm.sweep(grid, ["settled_at"], output=tmp_path)
    assert again.to_pylist() == first.to_pylist()
    assert again["error"].null_count == 2
    told = b"2 cells done before; 2 cells tried again, as they had failed"
    assert again.schema.metadata == {b"earlier": told, b"reused": b"2"}


KILLED = """
import os, signal, sys
from pathlib import Path
import hardmax as hm
from hardmax import sweeps

WORDS = {"one", "two", "three", "four"}
written = 0

def few(lim): return sum(word in WORDS for word in ("two", "five")) + len(lim.leaders)

def sync(_, synced=os.fsync):
    global written
    written += 1
    if written == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    synced(_)

sweeps._CELLS = 2
os.fsync = sync
steps = []
grid = {"n": 5, "d": 2, "seeds": 8}
seen = lambda *step: steps.append(step)
table = hm.sweep(grid, [few, "leaders"], output=sys.argv[1], progress=seen)
print(table.to_pylist() == hm.sweep(grid, [few, "leaders"]).to_pylist(), len(steps))
"""


def test_a_killed_process_loses_the_part_that_it_was_writing(tmp_path):
    def start(kill_at):
        # Each process has its own order of sets.
        environment = os.environ | {"PYTHONHASHSEED": str(kill_at)}
        command = [sys.executable, "-c", KILLED, str(tmp_path / "out"), str(kill_at)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    # The mark is synced and then its folder; so is every part.
    assert start(kill_at=7).returncode == -signal.SIGKILL
    drafts = [*(tmp_path / "out").glob(".*.part")]
    assert (len(drafts), len([*(tmp_path / "out").glob("*.parquet")])) == (1, 2)
    resumed = start(kill_at=0)
    assert (resumed.returncode, resumed.stdout, resumed.stderr) == (0, "True 2\n", "")
    assert len([*(tmp_path / "out").iterdir()]) == 5


def test_two_columns_are_drawn():
    table = hm.sweep(GRID, OBSERVABLES)
    figure = sweep_figure(table, "n", "leaders", by="alpha")
    assert isinstance(figure, Figure)
    ax = figure.axes[0]
    assert [line.get_label() for line in ax.lines] == ["alpha = 1/2", "alpha = 10"]
    mean = np.mean(
        [row["leaders"] for row in plain_loop() if row["n"] == 30 and row["alpha"] == "10"]
    )
    assert np.allclose(np.asarray(ax.lines[1].get_xydata())[1], [30.0, float(mean)])
    steps = np.asarray(sweep_figure(table, "alpha", "largest").axes[0].lines[0].get_xdata())
    assert steps.tolist() == [0.5, 10.0]
    for x, y in (("n", "nothing"), ("maker", "leaders")):
        with refuses():
            sweep_figure(table, x, y)
    assert isinstance(table, pa.Table)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
