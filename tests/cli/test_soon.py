"""What is wrong at the door is said at once, and a text is answered soon: before scipy, numba, torch or matplotlib are
imported."""

import json
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

from hardmax.cli import commands
from hardmax.cli.main import COMMANDS, app_for

HEAVY = ("matplotlib", "numba", "scipy", "sklearn", "torch")
# What one text in a terminal has no use for, either; of our own rooms, those of runs, pages and pictures.
IDLE = (*HEAVY, "llvmlite", "pandas", "pyarrow", "rich", "hardmax.runs", "hardmax.limits", "hardmax.geometry")
IDLE = (*IDLE, "hardmax.text.page", "hardmax.figures.text_plot", "jinja2", "hardmax.train")
IDLE = (*IDLE, "hardmax.cli.commands.train")
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
    ("flip", "-f", "nowhere.txt"),
    ("flip", "text", "-f", "points.csv"),
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
    ("train", "texts.csv", "-o", "model", "--gate", "-1"),
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


def test_every_command_is_named_and_only_that_which_is_asked_for_is_imported():
    modules = {module.name for module in iter_modules(commands.__path__)}
    assert set(COMMANDS.values()) == modules
    assert [command.name for command in app_for(["explain", "train"]).registered_commands] == ["explain"]
    for arguments in ([], ["--help"], ["expalin"]):
        assert [command.name for command in app_for(arguments).registered_commands] == list(COMMANDS)


ANSWERS = {
    "explain": "import sys; sys.argv[1:] = ['explain', TEXT]; from hardmax.cli.main import run; run()",
    "explain --json": "import sys; sys.argv[1:] = ['explain', TEXT, '--json']; from hardmax.cli.main import run; run()",
    "predict": "import sys, hardmax; print(hardmax.load('imdb-2d').predict([TEXT]))",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_one_text_is_answered_before_anything_heavy_is_imported(answer: str):
    program = f"""
TEXT = "An awful script, but the cast is great."
try:
    {ANSWERS[answer]}
finally:
    print([name for name in {IDLE} if name in sys.modules], file=sys.stderr)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "[]\n")
    assert ended.stdout
