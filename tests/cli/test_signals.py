"""A command that is told to end does so soon, without a word, with the usual exit code and nothing half-written."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardmax.cli.signals import CODES

# Each says `ready` where it would stay for minutes: in Python, before a draft becomes a file, in a kernel.
WAITING = "hardmax.certificate.verify = lambda *_, **__: (say_ready(), time.sleep(600))"
WRITING = "os.fsync = lambda _: (say_ready(), time.sleep(600))"
IN_A_KERNEL = """
def read_for_ever(*_, **__):
    for number in CODES:
        signal.siginterrupt(number, False)  # as a kernel, it does not notice
    say_ready()
    ctypes.CDLL(None).read(os.pipe()[0], ctypes.create_string_buffer(1), 1)
hardmax.certificate.verify = read_for_ever
"""
WITH_HELPERS = """
from hardmax import _parallel as threads
def work(first, last):
    if first or last > 1:
        say_ready()
        ctypes.CDLL(None).poll(None, 0, 600_000)
    time.sleep(0.01)
hardmax.certificate.verify = lambda *_, **__: threads.parallel_for(work, 1000, ())
"""
PROGRAM = """
import ctypes, os, signal, sys, time
import hardmax.certificate
from hardmax.cli.signals import CODES
from hardmax.cli.starting import start
def say_ready():
    os.write(1, b"ready\\n")
{hold}
start()
"""
VERIFY, WRITE = ("verify", "proof.json"), ("clouds", "square", "-o", "square.csv")


def begin(hold: str, arguments: tuple[str, ...], folder: Path) -> subprocess.Popen:
    (folder / "proof.json").write_text('{"format": ""}')
    begun = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(hold=hold), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    assert begun.stdout is not None
    line = begun.stdout.readline()
    assert line == b"ready\n", begun.communicate()
    return begun


def ended(begun: subprocess.Popen) -> tuple[int, bytes]:
    _, err = begun.communicate(timeout=60)
    return begun.returncode, err


@pytest.mark.parametrize("number", CODES)
def test_a_signal_ends_a_command_without_a_word(number: signal.Signals, tmp_path: Path):
    begun = begin(WAITING, VERIFY, tmp_path)
    begun.send_signal(number)
    assert ended(begun) == (128 + number, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_file_that_was_being_written_leaves_nothing_behind(number: signal.Signals, tmp_path: Path):
    begun = begin(WRITING, WRITE, tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")]
    begun.send_signal(number)
    assert ended(begun) == (128 + number, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["proof.json"]


@pytest.mark.parametrize("hold", [IN_A_KERNEL, WITH_HELPERS])
def test_a_kernel_does_not_hold_it_up(hold: str, tmp_path: Path):
    begun = begin(hold, VERIFY, tmp_path)
    sent = time.monotonic()
    begun.send_signal(signal.SIGTERM)
    assert ended(begun) == (143, b"")
    assert time.monotonic() - sent < 30


def test_a_second_signal_does_not_stop_the_clearing_up(tmp_path: Path):
    slow = "os.unlink = lambda path, **_: (time.sleep(0.5), os.remove(path))"
    begun = begin(f"{WRITING}\n{slow}", WRITE, tmp_path)
    for _ in range(2):
        begun.send_signal(signal.SIGTERM)
        time.sleep(0.1)
    assert ended(begun) == (143, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["proof.json"]


def test_what_is_ignored_stays_ignored(tmp_path: Path):
    # As `nohup` has it.
    begun = begin(f"signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{WAITING}", VERIFY, tmp_path)
    begun.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    begun.send_signal(signal.SIGTERM)
    assert ended(begun)[0] == 143


def test_ctrl_c_while_the_command_is_still_being_imported_is_quiet(tmp_path: Path):
    slow = "class Slow:\n    def find_spec(*_): say_ready(); time.sleep(600)\nsys.meta_path.insert(0, Slow())"
    begun = begin(slow, VERIFY, tmp_path)
    begun.send_signal(signal.SIGINT)
    assert ended(begun) == (130, b"")
