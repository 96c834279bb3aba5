"""A claim on a file or a folder: one process at a time holds it, and whoever is killed lets it go.

It is a lock of the operating system (`flock`), so nothing is left behind. Where the system or the file system knows no
such locks, everybody gets the claim: nothing is promised there.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None


@dataclass(frozen=True)
class Claim:
    """A claim that is held."""

    handle: int | None

    @staticmethod
    def on(path: Path) -> "Claim | None":
        """The claim on what is there, or None if another process has it, or had it and removed what was there."""
        if fcntl is None:
            return Claim(None)
        handle = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:
            return Claim(handle)
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return Claim(handle)
        os.close(handle)
        return None

    def release(self) -> None:
        """Let it go."""
        if self.handle is not None:
            os.close(self.handle)
