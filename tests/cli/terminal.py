"""The command `hardmax` on a terminal: in a process of its own, or in this one, where all is imported already."""

import os
import pty
import re
import subprocess
import sys
import threading

import pytest

from hardmax.cli.main import run


def on_a_terminal(*arguments: str, columns: int, kind: str = "xterm") -> str:
    """What appears on a terminal of so many columns, stdout and stderr together, without colours."""
    reader, terminal = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": kind}
    command = [sys.executable, "-m", "hardmax", *arguments]
    started = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    shown = _read(reader)
    assert started.wait(timeout=60) == 0
    return shown


def on_a_terminal_here(*arguments: str, columns: int, colors: bool = False) -> str:
    """The same for a command that runs in this process: its imports are those of the tests before."""
    reader, terminal = pty.openpty()
    shown: list[str] = []
    watching = threading.Thread(target=lambda: shown.append(_read(reader, colors)))
    watching.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "argv", ["hardmax", *arguments])
        with (
            os.fdopen(terminal, "r+b", buffering=0) as both,
            open(both.fileno(), "w", 1, "utf-8", closefd=False) as out,
        ):
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", out)
            with pytest.raises(SystemExit) as left:
                run()
    watching.join(timeout=60)
    assert not left.value.code
    return shown[0]


def _read(reader: int, colors: bool = False) -> str:
    """All that is written to a terminal until the last writer has left, which Linux tells by an error."""
    shown = bytearray()
    try:
        while chunk := os.read(reader, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(reader)
    text = shown.decode().replace("\r", "")
    return text if colors else re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", text)
