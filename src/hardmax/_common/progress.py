"""How far long work is, and Ctrl-C."""

import sys
import time
from contextlib import suppress
from typing import Any

SILENT, BETWEEN = 2.0, 0.5  # seconds before the first line, and before it is written again
_WIDTH = 79


class Reporting:
    """Is called with (done, total), and keeps a line of stderr up to date, if that is a terminal or
    a notebook."""

    def __init__(self, task: str) -> None:
        self.task, self.due, self.is_written = task, time.monotonic() + SILENT, False

    def __call__(self, done: int, total: int, note: str = "") -> None:
        if done >= total:
            self.end()
        elif time.monotonic() > self.due and _is_watched():
            self._write(f"{self.task}: {done:,} of {total:,} {note}")
            self.due, self.is_written = time.monotonic() + BETWEEN, True

    def end(self) -> None:
        """Leave no line behind."""
        if self.is_written:
            self._write("")
            self.is_written = False

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal may have been closed
            print(f"\r{text:{_WIDTH}.{_WIDTH}}\r", end="", file=sys.stderr, flush=True)


class Search(Reporting):
    """The same as a block, which Ctrl-C ends, so that what was found by then can be returned."""

    interrupted = False

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, kind: Any, *_: Any) -> bool:
        self.end()
        self.interrupted = kind is KeyboardInterrupt
        return self.interrupted


def _is_watched() -> bool:
    """Whether stderr is a terminal or a notebook; programs without a console have none."""
    is_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    return is_notebook or (sys.stderr is not None and sys.stderr.isatty())
