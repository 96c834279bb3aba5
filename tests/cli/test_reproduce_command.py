"""`hardmax reproduce`: one command for a figure, its numbers and the page."""

import json
from pathlib import Path

from command import Command


def test_one_figure_with_its_numbers_and_the_page(hardmax: Command, tmp_path: Path):
    folder = tmp_path / "new" / "folder"
    told = hardmax("reproduce", "fig1", "-o", str(folder), "--json")
    assert told.code == 0
    assert "fig1: made in" in told.err
    assert f"wrote {folder / 'report.html'}" in told.err
    assert {path.name for path in folder.iterdir()} >= {"fig1.json", "fig1.pdf", "fig1.png", "report.html"}
    assert json.loads(told.out)["fig1"]["numbers"] == json.loads((folder / "fig1.json").read_bytes())["numbers"]
    again = hardmax("reproduce", "fig1", "-o", str(folder))
    assert again.code == 0
    assert "fig1: drawn again" in again.err
    assert again.out.splitlines()[1].startswith("fig1")


def test_data_that_are_not_there_are_told(hardmax: Command, tmp_path: Path):
    (tmp_path / "train.parquet").write_bytes(b"")
    told = hardmax("reproduce", "accuracy", "-o", str(tmp_path / "out"), "--data", str(tmp_path))
    assert told.code == 2
    assert "has no test.parquet" in told.err
    assert not (tmp_path / "out").exists()
