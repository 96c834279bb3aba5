"""Streams that are closed, full, left by their reader or poor in letters: one clear line or none, never a traceback."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command
from effort import THOROUGH
from processes import HARDMAX, Ended, run
from terminal import on_a_terminal
from test_evaluate import make_model

from hardmax.cli.streams import is_of_a_stream

SQUARE = "1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
TEXT = "A superb café – superb!"
COMMANDS = {
    "simulate": ("simulate", "points.csv", "--alpha", "1/2", "--layers", "3"),
    "limit": ("limit", "points.csv", "--alpha", "1/2"),
    "explain": ("explain", TEXT, "--model", "model"),
    "flip": ("flip", TEXT, "--model", "model"),
    "verify": ("verify", "proof.json"),
    "evaluate": ("evaluate", "model", "texts.csv"),
    "clouds": ("clouds", "square"),
    "doctor": ("doctor",),
} | ({"demo": ("demo",)} if THOROUGH else {})
# A process of its own takes up to seconds: with every change, what is started soon.
SOON = COMMANDS if THOROUGH else ["verify"]
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hardmax: Command) -> Path:
    """A folder to work in, with something for every command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(SQUARE)
    (tmp_path / "texts.csv").write_text("text,label\nsuperb,positive\nawful,negative\n")
    make_model().save(tmp_path / "model")
    assert hardmax(*COMMANDS["limit"], "--certificate", "proof.json").code == 0
    return tmp_path


def told(ended: Ended) -> list[bytes]:
    """What was said on stderr, besides what was written."""
    return [line for line in ended.err.splitlines() if not line.startswith(b"wrote ")]


# ---------------------------------------------------------------- full, closed, left


@needs_full
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_stdout_is_said_in_one_line(command: str, hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        outcome = hardmax(*COMMANDS[command])
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == "error: the output cannot be written: no space left on device."
    assert outcome.err.count("error") == 1


@needs_full
@pytest.mark.parametrize("command", SOON)
def test_a_full_stdout_fails_in_a_shell_too(command: str, here: Path):
    ended = run(*COMMANDS[command], redirect=">/dev/full")
    assert (ended.code, told(ended)) == (1, [b"error: the output cannot be written: no space left on device."])


@pytest.mark.parametrize("command", SOON)
def test_a_closed_stdout_is_said_in_one_line(command: str, here: Path):
    ended = run(*COMMANDS[command], redirect=">&-")
    assert (ended.code, told(ended)) == (1, [b"error: the output cannot be written: bad file descriptor."])


@pytest.mark.parametrize("command", SOON)
def test_a_reader_who_has_seen_enough_is_left_in_peace(command: str, here: Path):
    reader, writer = os.pipe()
    os.close(reader)
    line = [*HARDMAX, *COMMANDS[command]]
    ended = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_who_writes_a_file_needs_no_streams(here: Path, hardmax: Command):
    ended = run("clouds", "square", "-o", "square.csv", redirect="<&- >&- 2>&-")
    assert (ended.code, ended.out, ended.err) == (0, b"", b"")
    # The file had the number of no stream, so that nothing that is said went into it.
    assert (here / "square.csv").read_text() == hardmax("clouds", "square").out


def test_a_closed_stdin_is_input_that_cannot_be_read(here: Path):
    ended = run("verify", "-", redirect="<&-")
    assert (ended.code, ended.out) == (2, b"")
    assert ended.err == b"error: standard input cannot be read: bad file descriptor.\n"


@pytest.mark.parametrize("redirect", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_where_nothing_can_be_said_the_exit_code_still_tells(redirect: str, here: Path):
    refused = run("verify", "nowhere.json", redirect=redirect)
    assert (refused.code, refused.out) == (2, b"")  # what belongs on stderr does not turn up on stdout
    assert run("verify", "proof.json", redirect=redirect).code == 0


def test_errors_of_files_are_not_taken_for_those_of_streams():
    assert is_of_a_stream(OSError(errno.ENOSPC, "full"))
    assert not is_of_a_stream(OSError(errno.ENOSPC, "full", "run.npz"))
    assert not is_of_a_stream(OSError(errno.ENOENT, "there is none"))


# ---------------------------------------------------------------- letters


ASCII = {"PYTHONIOENCODING": "ascii"}
PLAIN_C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_letters_that_an_encoding_lacks_are_escaped(here: Path):
    (here / "café.csv").write_text(SQUARE)
    refused = run("verify", "café.csv", environment=ASCII)
    assert refused.code == 2
    assert b"caf\\xe9.csv" in refused.err


def test_a_locale_that_knows_no_bytes_beyond_ascii_is_enough(here: Path):
    (here / "café.csv").write_text(SQUARE)
    refused = run("verify", "café.csv", environment=PLAIN_C)  # Python reads the name as bytes it cannot tell
    assert refused.code == 2
    assert refused.err.startswith(b"error: `caf\\udcc3\\udca9.csv` is not JSON")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_encoding_without_accents_is_enough_for_every_command(
    command: str, hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch
):
    with (here / "out.txt").open("w", encoding="ascii", errors="backslashreplace") as out:
        monkeypatch.setattr(sys, "stdout", out)
        outcome = hardmax(*COMMANDS[command])
    assert outcome.code == 0, outcome.err
    assert (here / "out.txt").stat().st_size > 0


def test_json_says_in_ascii_what_it_says_otherwise(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    with (here / "out.txt").open("w", encoding="ascii", errors="backslashreplace") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert hardmax(*COMMANDS["explain"], "--json").code == 0
    assert json.loads((here / "out.txt").read_text())["text"] == TEXT


# ---------------------------------------------------------------- terminals


@pytest.mark.parametrize("command", SOON)
def test_a_narrow_terminal_without_colours_is_enough(command: str, here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    screen = on_a_terminal(*COMMANDS[command], columns=20, kind="dumb")
    assert "Traceback" not in screen
    assert "\x1b" not in screen
    assert screen.strip()
