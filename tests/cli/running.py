"""The command `hardmax` in this process or in one of its own, and what came of it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err


def in_a_shell(line: str, redirect: str = "", environment: Any = None) -> Outcome:
    """Run the command line in `sh`, with a redirection such as `>/dev/full`."""
    command = ["sh", "-c", f'exec "$@" {redirect}', "sh", *HARDMAX, *typed(line)]
    surroundings = os.environ | (environment or {})
    ended = subprocess.run(command, capture_output=True, env=surroundings, check=False, text=True)
    return Outcome(ended.returncode, ended.stdout, ended.stderr)


def facts(text: str) -> dict[str, str]:
    """The facts that stand as comments before a table."""
    lines = [line for line in text.splitlines() if line.startswith("# ")]
    return dict(line.removeprefix("# ").split(": ", 1) for line in lines)


def table(text: str) -> list[dict[str, str]]:
    """The rows of a table, as dicts."""
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("# ")]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
