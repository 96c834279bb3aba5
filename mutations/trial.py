"""Trying a mutation: in a copy of the tree, with its tests, and nothing left over from before."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from mutation import Mutation, Unusable

_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "demo", "dist")
_PASSED, _FAILED = 0, 1  # what pytest exits with; anything else means that the tests did not run


class Outcome(Enum):
    """What came of a mutation. All but the last two are as they should be."""

    KILLED = "killed"
    TIMED_OUT = "killed by the clock"
    CRASHED = "killed by a crash"
    SURVIVED = "survived"
    ERROR = "error"

    @property
    def is_fine(self) -> bool:
        return self in (Outcome.KILLED, Outcome.TIMED_OUT, Outcome.CRASHED)


@dataclass(frozen=True)
class Trial:
    """How the tests went: the first one that failed, or what else there is to say."""

    outcome: Outcome
    told: str
    seconds: float


class Tree:
    """A copy of the tree to break, with a folder for what numba compiles from the sources as they are."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.path, self._warm = folder / "tree", folder / "kernels"
        self._running: subprocess.Popen[str] | None = None
        shutil.copytree(source, self.path, ignore=_LEFT_OUT)

    def test(self, tests: Sequence[str], seconds: float, kernels: Path | None = None) -> Trial:
        """Run tests up to the first that fails; compiled kernels are taken from `kernels`, and left there."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "unshrunk", *tests]
        began = time.monotonic()
        told, code = self._run(command, self._environment(kernels or self._warm), seconds)
        return Trial(*_judge(code, told), time.monotonic() - began)

    def stop(self) -> None:
        """End the tests that run here, and all that they have started."""
        if self._running and self._running.poll() is None:
            os.killpg(self._running.pid, signal.SIGKILL)

    def try_out(self, mutation: Mutation, seconds: float) -> Trial:
        """Break the copy, test it, mend it."""
        try:
            with self._broken(mutation):
                if not mutation.touches_a_kernel(self.path):
                    return self.test(mutation.tests, seconds)
                with tempfile.TemporaryDirectory() as fresh:
                    return self.test(mutation.tests, seconds, Path(fresh))
        except Unusable as error:
            return Trial(Outcome.ERROR, f"no longer applies: {error}", 0.0)

    def _run(self, command: list[str], environment: dict[str, str], seconds: float) -> tuple[str, int | None]:
        """What a command wrote and its exit code; None if it took too long."""
        with subprocess.Popen(
            command,
            cwd=self.path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as self._running:
            try:
                told, _ = self._running.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                return f"still running after {seconds:.0f} s", None
            finally:
                self.stop()
            return told, self._running.returncode

    @contextmanager
    def _broken(self, mutation: Mutation) -> Iterator[None]:
        path, broken = self.path / mutation.file, mutation.mutated(self.path)
        whole, stat = path.read_bytes(), path.stat()
        path.write_text(broken, encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(whole)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # numba goes by the time that a file was written

    def _environment(self, kernels: Path) -> dict[str, str]:
        paths = (self.path / "src", Path(__file__).parent)
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python takes two changes of one length within a second for the same
            "NUMBA_CACHE_DIR": str(kernels),
            "HARDMAX_THOROUGH": "1",  # whether a test can notice is asked, not whether it does in the time CI has
        }


def _judge(code: int | None, told: str) -> tuple[Outcome, str]:
    if code is None:
        return Outcome.TIMED_OUT, told
    if code < 0:
        return Outcome.CRASHED, signal.Signals(-code).name
    if code == _PASSED:
        return Outcome.SURVIVED, "all its tests pass"
    if code == _FAILED:
        failed = re.search(r"^(?:FAILED|ERROR) (.+)$", told, flags=re.MULTILINE)
        return Outcome.KILLED, failed[1] if failed else "a test that pytest did not name"
    return Outcome.ERROR, "the tests did not run:\n" + told[-2000:]
