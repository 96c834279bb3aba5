"""The command `hardmax` in this process, on a terminal, or in a process of its own, and what came
of it."""

import os
import pty
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hardmax.cli.main import run

HARDMAX = (sys.executable, "-m", "hardmax")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


def typed(line: str, *arguments: object) -> list[str]:
    """The arguments of a command line, and more that are taken as they are."""
    return [*shlex.split(line), *map(str, arguments)]


def assert_refused(outcome: Outcome, *words: str, code: int = 2) -> None:
    """Nothing on stdout, one line on stderr that has these words, and the exit code."""
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err


def in_a_shell(
    *arguments: Any, before: str = ":", redirect: str = "", **surroundings: Any
) -> Outcome:
    """Run the command line in `sh`, after something else, with a redirection such as `>&-`."""
    environment = os.environ | surroundings.pop("environment", {})
    for name in surroundings.pop("without", ()):
        environment.pop(name, None)
    line = ["sh", "-c", f'{before}; exec "$@" {redirect}', "sh", *HARDMAX, *typed(*arguments)]
    ended = subprocess.run(
        line, capture_output=True, env=environment, timeout=1200, check=False, **surroundings
    )
    return Outcome(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def on_a_terminal(*arguments: Any, columns: int, colors: bool = False, kind: str = "xterm") -> str:
    """What appears on a terminal of so many columns, stdout and stderr together, without escapes
    unless asked for."""
    reader, terminal = pty.openpty()
    shown = bytearray()

    def watch() -> None:
        try:
            while chunk := os.read(reader, 65536):
                shown.extend(chunk)
        except OSError:  # Linux's way to tell that the last writer has left
            pass

    watching = threading.Thread(target=watch)
    watching.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", kind)
        patch.setattr(sys, "argv", ["hardmax", *typed(*arguments)])
        with os.fdopen(terminal, "w", 1, encoding="utf-8") as both:
            patch.setattr(sys, "stdout", both)
            patch.setattr(sys, "stderr", both)
            with pytest.raises(SystemExit) as left:
                run()
    watching.join(timeout=600)
    os.close(reader)
    # A bar that is drawn again takes its own place.
    text = re.sub(r"[^\n]*\r(?!\n)", "", shown.decode()).replace("\r", "")
    assert not left.value.code, text
    return text if colors else re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", text)
