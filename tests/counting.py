"""Work counted, not timed: how many lines of Python run. Where kernels and numpy do the work, it is
a few thousand."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(work: Callable[[], Any]) -> int:
    """The number of lines of Python that are run, those of comprehensions once for every round."""
    count = 0

    def trace(frame: FrameType, event: str, told: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
