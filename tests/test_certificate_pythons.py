"""The checker of certificates alone, on every other Python of this machine."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_certificates import endless, small

from hardmax import certificate as checker

CHECKER = Path(checker.__file__)
PYTHONS = ["/usr/bin/python3", "python3.11", "python3.12", "python3.13", "python3.14"]


def release(python: str) -> str:
    """What a command says of its version: nothing, if it is missing or does not run."""
    path = shutil.which(python)
    command = [path or "", "-c", "import sys; print(sys.version.split()[0])"]
    done = path and subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done else ""


@pytest.mark.check
@pytest.mark.parametrize("python", PYTHONS)
def test_the_checker_accepts_and_refuses_alike_on_every_python(python: str, tmp_path: Path):
    found = release(python)
    if found in ("", sys.version.split()[0]):
        pytest.skip(f"{python} is {'missing' if not found else 'the Python of the other tests'}")
    (tmp_path / "true.json").write_bytes(small())
    (tmp_path / "false.json").write_bytes(small(leaders=[]))
    (tmp_path / "endless.json").write_bytes(endless())
    for name, code in (("true", 0), ("false", 1), ("endless", 3)):
        command = [python, "-I", CHECKER, tmp_path / f"{name}.json", "0.01"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (code, ""), done.stdout
