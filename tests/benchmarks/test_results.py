"""Rows of benchmarks say when, by which commit and where they were measured."""

# pyright: reportMissingImports=false
import csv
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
FILES = sorted((FOLDER / "results").glob("*.csv"))


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    module = importlib.import_module("harness")
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    return module


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_has_a_date_a_commit_and_a_machine(path: Path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        assert row["date"].startswith("2026-")
        assert len(row["commit"]) >= 7
        assert any(name in row["machine"] for name in ("aarch64", "x86_64"))


def test_rows_are_stamped_in_one_place(
    harness: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(harness, "COMMIT", "1234567")
    harness.add_rows("runs", ("work", "seconds"), [("one layer", "0.5")], machine="a GPU")
    harness.add_rows("runs", ("work", "peer"), [("limit", "FAISS")])
    first, second = harness.read_rows(tmp_path / "results" / "runs.csv")
    assert (first["commit"], first["machine"], first["work"]) == ("1234567", "a GPU", "one layer")
    assert (first["seconds"], first["peer"]) == ("0.5", "")
    assert (second["seconds"], second["peer"]) == ("", "FAISS")
    assert all(second[column] for column in ("date", "machine", "cores"))
    assert second["versions"].startswith("python=")
    harness.add_rows("runs", ("work",), [("anew",)], keep=False)
    assert [row["work"] for row in harness.read_rows(tmp_path / "results" / "runs.csv")] == ["anew"]
