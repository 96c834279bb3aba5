"""What people may type wrongly: one line that says what is wrong, exit code 2, and nothing is
written."""

import re
from pathlib import Path

import numpy as np
import pytest
from planted_files import make_model
from running import assert_refused

SQUARE = b"1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
CASES = re.findall(
    r"^(\w.*)\n {4}(.*)$", Path(__file__).with_name("refusals.txt").read_text(), re.M
)
FILES = {
    "mask.csv": "1,2\n0,1\n",
    "batch.json": "[[[1, 1], [0.5, 0]], [[3, 4], [0.1, 0], [0, 0.1]]]",
    "numbered.csv": "id,x,y\n1,1,1\n2,1,-1\n3,-1,-1\n",
    "texts.csv": "text,label\nsuperb,positive\nawful,negative\n",
    "lukewarm.csv": "text,label\na film,lukewarm\n",
    "empty.csv": "",
    "vectors.txt": "a 1 2\nb 1\n",
    "other.toml": "[grids]\nn = 3\n[dynamics.one]\nalpha = 1",
    "unknown.toml": "[grid]\nn = 3\nd = 2\nsize = 4\n[dynamics.one]\nalpha = 1",
    "cube.toml": "maker = 'cube'\n[grid]\nn = 3\n[dynamics.one]\nalpha = 1",
    "false.toml": 'statement = "all tokens meet"',
    "wide.toml": 'statement = "all tokens meet"\nwidth = 3',
    "tilted.toml": '[grid]\nn = 3\nd = 2\n[dynamics.one]\nalpha = 1\nmetric = "tilted"',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("refusals")
    for name, text in FILES.items():
        (place / name).write_text(text)
    (place / "picture.png").write_bytes(b"\x89PNG\xff")
    np.save(place / "large.npy", np.random.default_rng(1).normal(size=(2001, 2)))
    make_model().save(place / "model")
    return place


@pytest.mark.parametrize(("line", "told"), CASES, ids=[line for line, _ in CASES])
def test_a_mistake_is_named_in_one_line_as_it_was_typed(line, told, hardmax, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert_refused(hardmax(line, stdin=SQUARE), *told.split(" | "))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
