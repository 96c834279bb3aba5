"""What is wrong at the door is said at once: before scipy, numba, torch or matplotlib are imported."""

import json
import subprocess
import sys
from pathlib import Path

HEAVY = ("matplotlib", "numba", "scipy", "sklearn", "torch")
HALF = ("--alpha", "1/2")
REFUSED = [
    ("simulate", "nowhere.csv", *HALF, "--layers", "3"),
    ("simulate", "points.xlsx", *HALF, "--layers", "3"),
    ("simulate", "points.csv", *HALF, "--layers", "3", "-o", "nowhere/run.npz"),
    ("simulate", "points.csv", *HALF, "--layers", "3", "-o", "run.exe"),
    ("limit", "nowhere.csv", *HALF),
    ("limit", "points.csv", *HALF, "--picture", "nowhere/limit.png"),
    ("limit", "points.csv", "--alpha", "-1"),
    ("verify", "nowhere.json"),
    ("explain", "-f", "nowhere.txt"),
    ("explain", "text", "--html", "page.png"),
    ("evaluate", "imdb-2d", "nowhere.csv"),
    ("evaluate", "imdb-2d", "texts.csv", "--picture", "nowhere/picture.png"),
    ("import", "nowhere.pth", "-o", "model"),
    ("import", "points.csv", "-o", "model"),
    ("reproduce", "fig6"),
    ("reproduce", "all", "--seed", "-1"),
    ("reproduce", "all", "--data", "nowhere"),
    ("reproduce", "all", "-o", "points.csv"),
    ("train", "nowhere.csv", "-o", "model"),
    ("train", "points.xlsx", "-o", "model"),
    ("train", "points.csv", "-o", "model"),
    ("train", "texts.csv", "-o", "model"),
    ("train", "texts.csv", "-o", "points.csv"),
    ("train", "texts.csv", "-o", "model", "--recipe", "stew"),
    ("train", "texts.csv", "-o", "model", "--alpha", "1/0"),
]
PROGRAM = f"""
import json, sys
from hardmax.cli.main import run
told = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["hardmax", *arguments]
    try:
        run()
    except SystemExit as left:
        told.append([arguments, left.code, [name for name in {HEAVY} if name in sys.modules]])
print(json.dumps(told))
"""


def test_what_is_wrong_at_the_door_is_said_before_anything_heavy_is_imported(tmp_path: Path):
    (tmp_path / "points.csv").write_text("1,1\n-1,1\n")
    (tmp_path / "points.xlsx").write_text("")
    (tmp_path / "texts.csv").write_text("text,label\nsuperb,good\n")  # one class alone
    line = [sys.executable, "-c", PROGRAM, json.dumps(REFUSED)]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == [[list(arguments), 2, []] for arguments in REFUSED]
    assert ended.stderr.count("error: ") == ended.stderr.count("\n") == len(REFUSED)
