"""A process that is killed, or fails, at a chosen call to the file system."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

KILLED, REFUSED, DONE, BROKEN = 9, 3, 0, 70


def kill() -> NoReturn:
    os._exit(KILLED)


def fail() -> NoReturn:
    raise OSError(28, "No space left on device")


def fork() -> int:
    """As `os.fork`; that there are threads, whose locks the child could wait for, is no matter
    here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def each_fault(
    work: Callable[[], Any], where: Path, fault: Callable[[], None], step: int = 1
) -> Iterator[int]:
    """What becomes of a process that does the work with a fault at its first call below `where`, at
    its second (or the one `step` later), …; the last one had none."""
    number, met = 0, True
    while met:
        code, met = _in_a_child(work, where, fault, number)
        yield code
        number += step


def _in_a_child(
    work: Callable[[], Any], where: Path, fault: Callable[[], None], number: int
) -> tuple[int, bool]:
    told, tell = os.pipe()
    child = fork()
    if child == 0:
        try:
            _run(work, where, fault, number, tell)
        finally:
            os._exit(BROKEN)
    os.close(tell)
    with os.fdopen(told, "rb") as pipe:
        met = pipe.read() != b""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), met


def _run(
    work: Callable[[], Any], where: Path, fault: Callable[[], None], number: int, tell: int
) -> None:
    seen = 0

    # Python announces every call to the file system before it is made.
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event.startswith(("open", "os.", "shutil.")) and any(
            str(where) in str(name) for name in arguments[:2]
        ):
            seen += 1
            if seen == number + 1:
                os.write(tell, b"!")
                fault()

    sys.addaudithook(hook)
    try:
        work()
    except Exception as error:
        os._exit(REFUSED if type(error).__name__ == "InputError" else BROKEN)
    os._exit(DONE)
