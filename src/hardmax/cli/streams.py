"""Standard streams as they come: closed, full, or in an encoding that has no word for what is printed."""

import errno
import os
import sys
from contextlib import suppress
from typing import Literal, TextIO

# What a write says of its stream: nobody reads, closed, full, over a quota or a limit, gone, not ready.
_OF_STREAMS = {errno.EPIPE, errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENXIO, errno.EAGAIN}


def mend_streams() -> None:
    """Streams that are closed get something in their place; characters that an encoding lacks are printed as escapes.

    The place of a closed stream is taken, or the next file that is opened would have its number, and be written to.
    """
    # One way only: reading a closed stdin or writing to a closed stdout is an error, as it should be.
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        with suppress(OSError):
            os.fstat(number)
            continue
        os.open(os.devnull, mode)  # the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = _opened(0, "r")
    if sys.stdout is None:
        sys.stdout = _opened(1, "w")
    if sys.stderr is None:
        sys.stderr = _opened(2, "w")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]


def is_of_a_stream(error: OSError) -> bool:
    """Whether the error speaks of a standard stream: those of files name them."""
    return error.filename is None and error.errno in _OF_STREAMS


def give_up_output() -> None:
    """What is still to be flushed at exit goes nowhere: it has no other place to go."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _opened(number: int, mode: Literal["r", "w"]) -> TextIO:
    return open(number, mode, encoding="utf-8", closefd=False)
