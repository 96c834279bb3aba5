"""The command as a whole: help, one-line errors, streams as they come, a quick start."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import HARDMAX, assert_refused, in_a_shell

from hardmax._common import progress
from hardmax._common.validation import MissingExtra
from hardmax.cli.main import COMMANDS, show_warning

LIMIT = "limit - --alpha 1/2"
TEXT = "A superb café – superb!"
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


def test_help_and_version(hardmax):
    assert hardmax().out == hardmax("--help").out
    assert hardmax("--version").out.startswith("hardmax ")
    for command in COMMANDS:
        assert command in hardmax("--help").out
        assert hardmax(command, "--help").out.startswith(f"usage: hardmax {command}")


def raising(error: BaseException) -> Any:
    def broken(*_: Any, **how: Any) -> None:
        raise error

    return broken


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("the cat sat\non it"), "hardmax failed (RuntimeError: the cat sat on it)"),
        (MissingExtra("reading clouds of cats", "cats"), "pip install '.[cats]'"),
        (MemoryError("so much"), "not enough memory"),
    ],
)
def test_every_failure_is_one_line(error, told, hardmax, monkeypatch):
    monkeypatch.setattr("hardmax.io.read_cloud", raising(error))
    assert_refused(hardmax(LIMIT), told, code=1)
    monkeypatch.setenv("HARDMAX_TRACEBACK", "1")
    assert ("in broken" in hardmax(LIMIT).err) == isinstance(error, RuntimeError)


def test_ctrl_c_is_quiet(hardmax, here, monkeypatch):
    monkeypatch.setattr("hardmax.io.read_cloud", raising(KeyboardInterrupt()))
    outcome = hardmax(f"{LIMIT} -o limits.csv")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")
    assert list(here.iterdir()) == []


def test_warnings_of_libraries_are_one_line(capsys):
    show_warning(UserWarning("Glyph 27\n\x1b[31m"), UserWarning, "x.py", 1)
    assert capsys.readouterr().err == "warning: Glyph 27 \\x1b[31m\n"
    assert warnings.showwarning is not show_warning


@needs_full
def test_an_output_that_cannot_be_written_is_one_line():
    ended = in_a_shell("models", redirect=">/dev/full")
    assert ended.code == 1
    assert ended.err == "error: the output cannot be written: no space left on device.\n"


def test_a_broken_pipe_is_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    line = [*HARDMAX, "models"]
    ended = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_ascii_is_enough(with_model):
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    line = f"explain '{TEXT}' --model model"
    plain, document = (in_a_shell(line + json, environment=ascii_only) for json in ("", " --json"))
    assert (plain.code, plain.err, document.code, document.err) == (0, "", 0, "")
    assert json.loads(document.out)["text"] == TEXT


def test_a_terminal_gets_aligned_columns_and_the_first_rows(hardmax, monkeypatch):
    monkeypatch.setattr(progress, "SILENT", -1)
    monkeypatch.setenv("COLUMNS", "60")
    cloud = "\n".join(f"{number % 7},{-number},0,0,0" for number in range(30)).encode()
    shown = hardmax("simulate - --alpha 1 --layers 1", stdin=cloud, terminal=True)
    lines = shown.out.splitlines()
    assert lines[0] == "n: 30"
    assert lines[-1] == "... 10 more"
    assert 40 < max(map(len, lines[-22:])) <= 60
    assert shown.err.endswith(" \r")


HEAVY = ("matplotlib", "numba", "scipy", "sklearn", "torch")
# What one text has no use for, either; of our own rooms, those of runs, pages and pictures.
IDLE = (*HEAVY, "llvmlite", "pandas", "pyarrow", "hardmax._runs", "hardmax.geometry")
REFUSED = """simulate nowhere.csv --alpha 1/2 --layers 3
limit points.csv --alpha 1/2 --picture nowhere/limit.png
limit points.csv --alpha -1
verify nowhere.json
explain -f nowhere.txt
flip text -f points.csv
evaluate sentiment-en nowhere.csv"""
PROGRAM = """
import json, sys
from hardmax.cli.main import run
try:
    run(sys.argv[2:])
finally:
    heavy = [name for name in sys.argv[1].split() if name in sys.modules]
    print(heavy, "numpy" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("line", REFUSED.splitlines())
def test_bad_input_is_refused_before_anything_heavy_is_imported(line, here):
    (here / "points.csv").write_text("1,1\n-1,1\n")
    command = [sys.executable, "-c", PROGRAM, " ".join(HEAVY), *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    error, heavy = done.stderr.splitlines()
    assert done.returncode == 2
    assert error.startswith("error: ")
    assert heavy.startswith("[] ")


@pytest.mark.parametrize("arguments", [["--help"], ["limit", "--help"], ["explain", TEXT]])
def test_help_and_one_text_wait_for_no_heavy_import(arguments):
    command = [sys.executable, "-c", PROGRAM, " ".join(IDLE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"[] {arguments[0] == 'explain'}\n")


def test_pyarrow_does_not_bring_pandas_along(here):
    pq.write_table(pa.table({"text": [TEXT]}), "one.parquet")
    line = "-X importtime -m hardmax score one.parquet -o out.parquet"
    done = subprocess.run(
        [sys.executable, *line.split()], capture_output=True, text=True, check=True
    )
    assert "pyarrow.dataset\n" in done.stderr
    assert "pandas.core" not in done.stderr
