"""Short programs that compile with numba, each in a process of its own, without waiting for numba each time.

A process imports numba and compiles something; whoever asks gets a fork of it. Nothing of ours is imported before.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Reads a line of JSON for each request: a program to start, answered by its number, or a number, answered by its code.
SERVER = """
import json, os, sys, traceback
import numba
from numba.core import config

numba.njit(lambda x: x + 1)(0)

def work(program, environment, out, err):
    for stream, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.environ.clear()
    os.environ.update(environment)
    config.reload_config()
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    sys.dont_write_bytecode = True
    code = 0
    try:
        exec(program, {"__name__": "__main__"})
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    os._exit(code)

for line in sys.stdin:
    asked = json.loads(line)
    if isinstance(asked, int):
        print(os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1]), flush=True)
    else:
        child = os.fork()
        if not child:
            work(**asked)
        print(child, flush=True)
"""


@dataclass(frozen=True)
class Started:
    """A program under way; what it says goes to files."""

    server: "Server"
    number: int
    out: Path
    err: Path

    def wait(self) -> tuple[int, str, str]:
        """Its exit code, what it printed and what it complained of, once it has ended."""
        return self.server.ask(self.number), self.out.read_text(), self.err.read_text()


class Server:
    """The process of which programs get a fork; it ends with the block that it is used in."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, program: str, environment: dict[str, str], folder: Path) -> Started:
        """Start a program, with its own environment; streams go to new files in a folder."""
        count = len(list(folder.glob("*.out")))
        out, err = folder / f"{count}.out", folder / f"{count}.err"
        out.touch()
        asked = {"program": program, "environment": environment, "out": str(out), "err": str(err)}
        return Started(self, self.ask(asked), out, err)

    def ask(self, what: Any) -> int:
        """Put a question to the server."""
        answers, questions = self._process.stdout, self._process.stdin
        assert answers is not None
        assert questions is not None
        print(json.dumps(what), file=questions, flush=True)
        return int(answers.readline())
