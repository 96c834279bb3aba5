"""Where the command starts: streams that can be written to, signals that end it, and only then everything else.

Importing the commands takes a moment, and Ctrl-C in that moment should end as quietly as any other.
"""

import logging
import sys
import warnings
from typing import Any, NoReturn

from hardmax.cli.output import narrate
from hardmax.cli.signals import end_when_told
from hardmax.cli.streams import mend_streams


def start() -> NoReturn:
    """Runs the command line that started the program, and leaves with its exit code."""
    try:
        mend_streams()  # first, or what others open would take the places of closed streams
        end_when_told()
        hush_libraries()
        from hardmax.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


def hush_libraries() -> None:
    """What libraries warn of is one line each; what they log, such as where they keep their caches, is not shown."""

    def show(message: Warning | str, *_: Any) -> None:
        narrate(f"warning: {' '.join(str(message).split())}")

    warnings.showwarning = show
    logging.getLogger().addHandler(logging.NullHandler())
