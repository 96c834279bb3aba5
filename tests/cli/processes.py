"""The command `hardmax` in a process of its own, with streams, signals and surroundings as a shell would give them."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

HARDMAX = (sys.executable, "-m", "hardmax")


@dataclass(frozen=True)
class Ended:
    code: int
    out: bytes
    err: bytes


def run(*arguments: object, before: str = ":", redirect: str = "", stdin: bytes = b"", **surroundings: Any) -> Ended:
    """Runs the command line in `sh`, after something else, with a redirection such as `>&-`."""
    environment = os.environ | surroundings.pop("environment", {})
    for name in surroundings.pop("without", ()):
        environment.pop(name, None)
    line = ["sh", "-c", f'{before}; exec "$@" {redirect}', "sh", *HARDMAX, *map(str, arguments)]
    ended = subprocess.run(line, input=stdin, capture_output=True, env=environment, timeout=120, **surroundings)
    return Ended(ended.returncode, ended.stdout, ended.stderr)
