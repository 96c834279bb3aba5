"""The command as a whole: help, one-line errors, streams as they come, signals, a quick start."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from planted_files import make_model
from running import HARDMAX, assert_refused, in_a_shell, on_a_terminal, typed

from hardmax._common.validation import MissingExtra
from hardmax.cli.main import COMMANDS, SIGNALS, make_app, quiet_libraries
from hardmax.cli.output import progress_bar

SQUARE = "1,1\n1,-1\n-1,-1\n-1,1\n1/2,0\n"
TEXT = "A superb café – superb!"
HALF = "--alpha 1/2"
EXAMPLES = {
    "simulate": f"simulate points.csv {HALF} --layers 3",
    "limit": f"limit points.csv {HALF}",
    "explain": f"explain '{TEXT}' --model model",
    "flip": f"flip '{TEXT} Not awful.' --model model",
    "verify": "verify proof.json",
    "evaluate": "evaluate model texts.csv",
    "clouds": "clouds square",
    "models": "models model",
    "doctor": "doctor",
}
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@pytest.fixture
def examples(here, hardmax):
    """A folder to work in, with something for every command."""
    (here / "points.csv").write_text(SQUARE)
    (here / "texts.csv").write_text("text,label\nsuperb,positive\nawful,negative\n")
    make_model().save(here / "model")
    assert hardmax(EXAMPLES["limit"], "--certificate", "proof.json").code == 0
    return here


# ---------------------------------------------------------------- help and errors


def test_help_and_version(hardmax):
    assert "Usage: hardmax" in hardmax().out == hardmax("--help").out
    assert hardmax("--version").out.startswith("hardmax ")
    for command in COMMANDS:
        assert f"Usage: hardmax {command}" in hardmax(command, "--help").out


def raising(error: BaseException) -> Any:
    def broken(_: str, **how: Any) -> None:
        raise error

    return broken


def test_every_failure_is_one_line(hardmax, monkeypatch):
    limit = f"limit - {HALF}"
    monkeypatch.setattr(
        "hardmax.io.read_cloud", raising(RuntimeError("the cat sat\non the keyboard"))
    )
    assert_refused(
        hardmax(limit), "hardmax failed (RuntimeError: the cat sat on the keyboard)", code=1
    )
    monkeypatch.setattr(
        "hardmax.io.read_cloud", raising(MissingExtra("reading clouds of cats", "cats"))
    )
    assert_refused(hardmax(limit), "pip install '.[cats]'", code=1)
    assert_refused(hardmax("clouds gaussian --n", 10**15, "--d", 2), "not enough memory", code=1)
    monkeypatch.setenv("HARDMAX_TRACEBACK", "1")
    monkeypatch.setattr("hardmax.io.read_cloud", raising(RuntimeError()))
    traced = hardmax(limit)
    assert traced.code == 1
    assert "in broken" in traced.err


def test_ctrl_c_is_quiet(hardmax, here, monkeypatch):
    monkeypatch.setattr("hardmax.io.read_cloud", raising(KeyboardInterrupt()))
    outcome = hardmax(f"limit - {HALF} -o limits.csv")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")
    assert list(here.iterdir()) == []


def test_warnings_of_libraries_are_one_line(monkeypatch, capsys):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    quiet_libraries()
    warnings.showwarning(UserWarning("Glyph 27\n\x1b[31m"), UserWarning, "x.py", 1)
    assert capsys.readouterr().err == "warning: Glyph 27 \\x1b[31m\n"


# ---------------------------------------------------------------- streams


@needs_full
@pytest.mark.parametrize("command", EXAMPLES)
def test_a_full_stdout_is_one_line(command, hardmax, examples, monkeypatch):
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        outcome = hardmax(EXAMPLES[command])
    assert outcome.code == 1
    assert (
        outcome.err.splitlines()[-1]
        == "error: the output cannot be written: no space left on device."
    )
    assert outcome.err.count("error") == 1


@needs_full
def test_an_output_that_cannot_be_written_is_one_line(examples):
    ended = in_a_shell(EXAMPLES["verify"], redirect=">/dev/full")
    assert ended.code == 1
    assert ended.err == "error: the output cannot be written: no space left on device.\n"


def test_a_broken_pipe_is_quiet(examples):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*HARDMAX, *typed(EXAMPLES["verify"])], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_closed_streams_do_no_harm(examples, hardmax):
    ended = in_a_shell("clouds square -o square.csv", redirect="<&- >&- 2>&-")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    # The file did not get the number of a closed stream: no message went into it.
    assert (examples / "square.csv").read_text() == hardmax("clouds square").out
    ended = in_a_shell("verify -", redirect="<&-")
    assert (ended.code, ended.err.startswith("error: standard input is not JSON")) == (2, True)
    refused = in_a_shell("verify nowhere.json", redirect="2>&-")
    assert (refused.code, refused.out) == (2, "")


def test_ascii_is_enough(examples):
    plain, document = (
        in_a_shell(EXAMPLES["explain"], *options, environment={"PYTHONIOENCODING": "ascii"})
        for options in ([], ["--json"])
    )
    assert (plain.code, plain.err, document.code, document.err) == (0, "", 0, "")
    assert r"superb \xd72" in plain.out
    assert json.loads(document.out)["text"] == TEXT


@pytest.mark.parametrize("command", EXAMPLES)
def test_a_narrow_terminal_without_colours_is_enough(command, examples, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    screen = on_a_terminal(EXAMPLES[command], columns=20, colors=True, kind="dumb")
    assert "\x1b" not in screen
    assert screen.strip()


def test_a_bar_appears_only_if_it_takes_a_while(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("hardmax.cli.output.BAR_DELAY", 0.05)
    for seconds in (0.0, 0.5):
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        with progress_bar("clouds"):
            time.sleep(seconds)
        assert ("clouds" in screen.getvalue()) == bool(seconds)


# ---------------------------------------------------------------- signals

# Each says `ready` where it would stay for minutes: in Python, before a draft becomes a file, in a
# kernel.
WAITING = "hardmax.certificate.verify = lambda *_, **__: (say_ready(), time.sleep(600))"
WRITING = "os.fsync = lambda _: (say_ready(), time.sleep(600))"
IN_A_KERNEL = """
def read_for_ever(*_, **__):
    for number in SIGNALS:
        signal.siginterrupt(number, False)  # as a kernel, it does not notice
    atexit.register(os.write, 2, b"the main thread has noticed")
    threading.Timer(0.5, say_ready).start()  # once it is inside
    ctypes.CDLL(None).read(os.pipe()[0], ctypes.create_string_buffer(1), 1)
hardmax.certificate.verify = read_for_ever
"""
IMPORTING = """class Slow:
    def find_spec(*_): say_ready(); time.sleep(600)
sys.meta_path.insert(0, Slow())"""
PROGRAM = """
import atexit, ctypes, os, signal, sys, threading, time
import hardmax.certificate
from hardmax.cli.main import SIGNALS, start
for number in SIGNALS:
    signal.signal(number, signal.{action})
def say_ready():
    os.write(1, b"ready\\n")
{hold}
start()
"""
VERIFY, WRITE = ("verify", "proof.json"), ("clouds", "square", "-o", "square.csv")


def begin(hold: str, arguments: tuple[str, ...], action: str = "SIG_DFL") -> subprocess.Popen:
    """Start a command with these handlers of signals, whatever the tests inherited (from nohup)."""
    Path("proof.json").write_text('{"format": ""}')
    line = [sys.executable, "-c", PROGRAM.format(hold=hold, action=action), *arguments]
    begun = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert begun.stdout is not None
    assert begun.stdout.readline() == b"ready\n", begun.communicate()
    return begun


def ended(begun: subprocess.Popen) -> tuple[int, bytes]:
    _, err = begun.communicate(timeout=600)
    return begun.returncode, err


@pytest.mark.parametrize(
    ("hold", "arguments", "number"),
    [
        *((WAITING, VERIFY, number) for number in SIGNALS),
        (WRITING, WRITE, signal.SIGTERM),
        (IMPORTING, VERIFY, signal.SIGINT),
        (IN_A_KERNEL, VERIFY, signal.SIGINT),
    ],
    ids=[*map(str, SIGNALS), "write", "import", "kernel"],
)
def test_a_signal_ends_a_command_quietly_and_leaves_nothing_behind(hold, arguments, number, here):
    begun = begin(hold, arguments)
    begun.send_signal(number)
    assert ended(begun) == (128 + number, b"")
    assert [path.name for path in here.iterdir()] == ["proof.json"]


def test_signals_that_are_ignored_stay_so(here):
    begun = begin(WAITING.replace("600", "0.5"), VERIFY, "SIG_IGN")
    for number in SIGNALS:
        begun.send_signal(number)
    code, err = ended(begun)
    assert code == 1
    assert b"failed" in err  # there is no verdict to print; no signal ended it before


def test_a_second_signal_does_not_stop_the_cleaning_up(here):
    slow = "os.unlink = lambda path, **_: (time.sleep(0.5), os.remove(path))"
    begun = begin(f"{WRITING}\n{slow}", WRITE)
    for _ in range(2):
        begun.send_signal(signal.SIGTERM)
        time.sleep(0.1)
    assert ended(begun) == (143, b"")
    assert [path.name for path in here.iterdir()] == ["proof.json"]


# ---------------------------------------------------------------- a quick start

HEAVY = ("matplotlib", "numba", "scipy", "sklearn", "torch")
# What one text has no use for, either; of our own rooms, those of runs, pages and pictures.
OURS = ("hardmax._runs.trajectory", "hardmax.infinite_depth", "hardmax.geometry", "hardmax.train")
IDLE = (*HEAVY, "llvmlite", "pandas", "pyarrow", "rich", *OURS)
REFUSED = """simulate nowhere.csv --alpha 1/2 --layers 3
limit points.csv --alpha 1/2 --picture nowhere/limit.png
limit points.csv --alpha -1
verify nowhere.json
explain -f nowhere.txt
flip text -f points.csv
evaluate sentiment-en nowhere.csv
train nowhere.csv -o model
train texts.csv -o model --alpha 1/0"""
REFUSING = f"""
import json, sys
from hardmax.cli.main import run
found = []
for line in sys.argv[1].splitlines():
    sys.argv = ["hardmax", *line.split()]
    try:
        run()
    except SystemExit as left:
        found.append([line, left.code, [name for name in {HEAVY} if name in sys.modules]])
print(json.dumps(found))
"""


def test_bad_input_is_refused_before_anything_heavy_is_imported(here):
    (here / "points.csv").write_text("1,1\n-1,1\n")
    (here / "texts.csv").write_text("text,label\nsuperb,good\n")  # a single class
    command, lines = [sys.executable, "-c", REFUSING, REFUSED], REFUSED.splitlines()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[line, 2, []] for line in lines]
    assert done.stderr.count("error: ") == done.stderr.count("\n") == len(lines)


def test_only_the_command_that_was_typed_is_imported():
    for arguments in (["explain", "train"], [], ["--help"], ["expalin"]):
        expected = ["explain"] if "train" in arguments else [*COMMANDS]
        assert [each.name for each in make_app(arguments).registered_commands] == expected


@pytest.mark.parametrize("arguments", [["--help"], ["explain", TEXT], ["explain", TEXT, "--json"]])
def test_help_and_one_text_wait_for_no_heavy_import(arguments):
    program = f"""
import sys
sys.argv[1:] = {arguments!r}
from hardmax.cli.main import run
try:
    run()
finally:
    print([name for name in {IDLE} if name in sys.modules], "numpy" in sys.modules, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, f"[] {arguments != ['--help']}\n")
    assert done.stdout
