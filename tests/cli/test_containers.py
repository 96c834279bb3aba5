"""Where nothing can be written but what is asked for, and the surroundings lack what they usually have."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from effort import THOROUGH
from processes import run
from test_evaluate import make_model

import hardmax

PACKAGE = Path(hardmax.__file__).parent
COMMANDS = {
    "limit": ("limit", "points.csv", "--alpha", "1/2"),
    "simulate": ("simulate", "points.csv", "--alpha", "1/2", "--layers", "3"),
    "explain": ("explain", "A superb film.", "--model", "model"),
    "clouds": ("clouds", "square"),
    "picture": ("limit", "points.csv", "--alpha", "1/2", "--picture", "limit.png"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text("1,1\n1,-1\n-1,-1\n-1,1\n")
    make_model().save(tmp_path / "model")
    return tmp_path


def read_only(folder: Path) -> dict[str, str]:
    """The package in a place of its own, in which nothing can be kept, and no other place either.

    Files where folders should be: that stops even a superuser.
    """
    copy = folder / "site" / "hardmax"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "models"))
    (copy / "models").mkdir()
    for place in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (place / "__pycache__").write_text("")
    (folder / "file").write_text("")
    blocked = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR", "LOCALAPPDATA")
    nowhere = dict.fromkeys(blocked, str(folder / "file"))
    return nowhere | {"PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}


def told(command: str) -> bytes:
    return b"wrote limit.png\n" if command == "picture" else b""


# Where nothing is kept everything is compiled: with every change, the command that compiles least.
@pytest.mark.parametrize("command", COMMANDS if THOROUGH else ["limit"])
def test_where_nothing_can_be_kept_commands_work_without_a_word(command: str, here: Path):
    surroundings = read_only(here)
    before = sorted(path for path in here.rglob("*"))
    ended = run(*COMMANDS[command], environment=surroundings, without=("NUMBA_CACHE_DIR", "MPLCONFIGDIR"))
    assert (ended.code, ended.err) == (0, told(command))
    assert ended.out
    after = sorted(path for path in here.rglob("*"))
    assert [path.name for path in after if path not in before] == ["limit.png"] * (command == "picture")


# To whom the system has no name and no home to give, as in a container with a uid of its own.
UNKNOWN = """
import pwd
def unknown(_):
    raise KeyError("there is no such user")
pwd.getpwuid = pwd.getpwnam = unknown
from hardmax.cli.starting import start
start()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="users have no numbers there")
@pytest.mark.parametrize("command", COMMANDS if THOROUGH else ["clouds"])
def test_somebody_without_name_and_home_can_work_without_a_word(command: str, here: Path):
    surroundings = os.environ | {"XDG_CACHE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"}
    for name in ("HOME", "USER", "LOGNAME", "MPLCONFIGDIR"):
        surroundings.pop(name, None)
    line = [sys.executable, "-c", UNKNOWN, *COMMANDS[command]]
    ended = subprocess.run(line, env=surroundings, capture_output=True, check=False)
    # With a picture, matplotlib has a word about where it keeps its cache.
    assert (ended.returncode, ended.stderr) == (0, told(command))


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is in use cannot be removed there")
def test_a_folder_that_was_removed_is_named(here: Path):
    gone = here / "gone"
    gone.mkdir()
    line = ("clouds", "square", "-o", "square.csv")
    ended = run(*line, before=f'rmdir "{gone}"', cwd=gone)
    assert ended.code == 2
    assert ended.err == b"error: the current folder does not exist any more: change to one that does.\n"
    gone.mkdir()
    verified = run("clouds", "square", before=f'rmdir "{gone}"', cwd=gone)
    assert (verified.code, verified.err) == (0, b"")
