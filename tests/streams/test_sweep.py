"""A sweep is the plain loop of `limit`, written part by part, and resumes."""

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from pyarrow import parquet

import hardmax as hm
from hardmax import sweeps
from hardmax.figures.charts import sweep_figure

GRID: dict[str, Any] = {"n": [5, 30], "d": [1, 3], "seeds": 4, "alpha": ["1/2", 10]}
TILTED = {"identity": "identity", "tilted": [[2, 1], [1, 1]]}


def largest(lim: hm.Limit) -> float:
    return float(np.abs(lim.points).max())


def plain_loop() -> list[dict[str, Any]]:
    rows = []
    for alpha in GRID["alpha"]:
        for n in GRID["n"]:
            for d in GRID["d"]:
                for seed in range(GRID["seeds"]):
                    lim = hm.limit(hm.clouds.gaussian(n, d, seed), hm.Dynamics(alpha))
                    row = {"cell": len(rows), "maker": "gaussian", "n": n, "d": d, "seed": seed, "alpha": str(alpha)}
                    row |= {"metric": "identity", "leaders": len(lim.leaders), "settled_at": lim.settled_at}
                    rows.append(row | {"clusters": len(lim.clusters), "largest": largest(lim), "error": None})
    return rows


OBSERVABLES = ["leaders", "settled_at", "clusters", largest]


def test_a_sweep_is_the_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_CELLS", 5)
    seen: list[tuple[int, int]] = []
    assert hm.sweep(GRID, OBSERVABLES, progress=lambda *call: seen.append(call)).to_pylist() == plain_loop()
    assert seen[-1] == (32, 32)


def test_clusters_are_counted_where_tokens_tie_or_have_not_settled() -> None:
    tied = hm.clouds.nonleader_clusters().astype(float)
    chain = np.array([[2 - 2**-14, 2], [2 - 2**-14, -2], [2, 1], [2, -1], [0.5, 0]])
    batch = [tied, hm.clouds.polygon(5), chain, np.repeat(tied, 2, axis=0), hm.clouds.gaussian(50, 2)]
    limits = hm.limit(batch, hm.Dynamics("1/2"), max_layers=9)
    counts = limits._counts()
    assert counts["clusters"] == [len(lim.clusters) for lim in limits]
    assert counts["leaders"] == [len(lim.leaders) for lim in limits]
    assert counts["settled_at"] == [0, 0, None, 0, limits[4].settled_at]


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])  # Ray's is made of the second
def test_joblib_chooses_where_groups_run(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_CELLS", 5)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert hm.sweep(GRID, OBSERVABLES, output=tmp_path / "out").to_pylist() == plain_loop()


def test_it_resumes_after_the_parts_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_CELLS", 5)
    done = []

    def interrupt(cells: int, _: int) -> None:
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
    with pytest.raises(hm.InputError, match="another sweep"):
        hm.sweep(GRID | {"seeds": 5}, OBSERVABLES, output=tmp_path / "out")


def test_a_cell_that_fails_is_a_row_with_its_reason() -> None:
    def fussy(n: int, d: int) -> np.ndarray:
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


def test_several_makers_and_metrics() -> None:
    table = hm.sweep({"maker": ["polygon", "nonleader-clusters"], "sides": [3, 4], "metric": TILTED}, {"all": len_of})
    assert [(row["maker"], row["sides"], row["metric"], row["all"]) for row in table.to_pylist()] == [
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


@pytest.mark.parametrize(
    ("grid", "observables", "message"),
    [
        ({"maker": "cube"}, ["leaders"], "'maker' must be one of"),
        ({"n": 3, "d": 2, "sides": 3}, ["leaders"], "no maker takes 'sides'"),
        ({"n": [3, 4]}, ["leaders"], "gaussian needs 'd'"),
        ({"n": [], "d": 2}, ["leaders"], "'n' has no value"),
        ({"n": 3, "d": 2, "seeds": 0}, ["leaders"], "'seeds' must be how many"),
        ({"n": 3, "d": 2, "metric": [[1, 0], [0, 1]]}, ["leaders"], "'metric' must map names"),
        ({"n": 3, "d": 2, "alpha": -1}, ["leaders"], "`alpha` must be positive"),
        ({"n": 3, "d": 2}, ["_columns"], "neither an attribute"),
        ({"n": 3, "d": 2}, "leaders", "`observables` must be"),
        (3, ["leaders"], "`grid` must map"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(grid: Any, observables: Any, message: str) -> None:
    with pytest.raises(hm.InputError, match=message):
        hm.sweep(grid, observables)


def test_two_columns_are_drawn() -> None:
    table = hm.sweep(GRID, OBSERVABLES)
    figure = sweep_figure(table, "n", "leaders", by="alpha")
    assert isinstance(figure, Figure)
    ax = figure.axes[0]
    assert [line.get_label() for line in ax.lines] == ["alpha = 1/2", "alpha = 10"]
    mean = np.mean([row["leaders"] for row in plain_loop() if row["n"] == 30 and row["alpha"] == "10"])
    assert np.allclose(np.asarray(ax.lines[1].get_xydata())[1], [30.0, float(mean)])
    steps = np.asarray(sweep_figure(table, "alpha", "largest").axes[0].lines[0].get_xdata())
    assert steps.tolist() == [0.5, 10.0]
    for x, y in (("n", "nothing"), ("maker", "leaders")):
        with pytest.raises(hm.InputError):
            sweep_figure(table, x, y)
    assert isinstance(table, pa.Table)
