"""The parts of a table that is being scored, in a folder beside it, so that an interruption costs one part.

Each part is two files: what is to be written, and an account of the rows in it, which comes second and says that the
part is whole. `job.json` says what is being scored, by which model, and how: only the same job goes on with parts.
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hardmax._files import reason, sync_folder, write_whole
from hardmax._validation import InputError
from hardmax.text.scoring.joining import Joiner

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None

_JOB, _SPOOL, _DRAFT = "job.json", "input", "joined"
# Files of this folder, and drafts of them that a kill left behind.
_NAMES = rf"(?:{re.escape(_JOB)}|{_SPOOL}|{_DRAFT}|[0-9]{{6,}}\.(?:part|json))"
_OURS = re.compile(rf"{_NAMES}|\.[0-9a-f]{{16}}\.part")  # and the drafts of `write_whole`
_KEPT = "The parts that are done are kept: the same command goes on from there"


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


@dataclass(eq=False)
class PartsFolder:
    """A folder of parts that this process alone works on."""

    target: Path  # the file that the parts will be
    folder: Path
    claim: Claim
    is_removed: bool = False

    @staticmethod
    def beside(target: Path) -> "PartsFolder":
        """The folder for the parts of that file, made if it is not there; one with other people's files is refused."""
        folder = target.with_name(f"{target.name}.parts")
        _refuse_strangers(folder)
        _remove_left_over(target)
        try:
            folder.mkdir(exist_ok=True)
            claim = Claim.on(folder)
        except OSError as error:
            raise InputError(f"`{folder}` cannot be made: {reason(error)}.") from None
        if claim is None:
            raise InputError(f"`{target}` is being written by another process: let it end, or name another file.")
        return PartsFolder(target, folder, claim)

    @property
    def spool(self) -> Path:
        """Where standard input is kept."""
        return self.folder / _SPOOL

    def job(self) -> Any:
        """What is being scored here, if it is told."""
        try:
            return json.loads((self.folder / _JOB).read_bytes())
        except (OSError, ValueError):
            return None

    def begin(self, job: dict[str, Any]) -> None:
        """Forget what is there, and begin with another job."""
        for path in self.folder.iterdir():
            if path.name != _SPOOL:
                path.unlink()
        self._write(self.folder / _JOB, json.dumps(job, indent=1).encode())

    def accounts(self) -> list[dict[str, Any]]:
        """The accounts of the parts that are whole, from the first one up to the first that is missing."""
        found: list[dict[str, Any]] = []
        while True:
            data, account = self._paths(len(found))
            try:
                told = json.loads(account.read_bytes())
                is_whole = data.stat().st_size == told["bytes"]
            except (OSError, ValueError, KeyError):
                return found
            if not is_whole:
                return found
            found.append(told)

    def add(self, number: int, data: bytes, account: dict[str, Any]) -> None:
        """Keep a part: whole, or not at all."""
        first, second = self._paths(number)
        self._write(first, data)
        self._write(second, json.dumps(account | {"bytes": len(data)}).encode())

    @contextmanager
    def joined(self, joining: Callable[[IO[bytes]], AbstractContextManager[Joiner]]) -> Iterator[Joiner]:
        """What the parts are joined by, one after the other; it is used within `told`.

        When the block ends well, the file is in its place and the parts are removed; else they are kept.
        """
        draft = self.folder / _DRAFT
        with ExitStack() as stack:
            stack.callback(draft.unlink, missing_ok=True)
            with self.told():
                stream = stack.enter_context(draft.open("wb"))
                parts = ExitStack()
                joiner = parts.enter_context(joining(stream))
            stack.push(lambda *_: _close_quietly(parts))
            yield joiner
            with self.told():
                parts.close()
                stream.flush()
                os.fsync(stream.fileno())
                if self.target.exists():
                    shutil.copymode(self.target, draft)
                draft.replace(self.target)
        sync_folder(self.target.parent)
        self.remove()

    def remove(self) -> None:
        """Take the folder away: at once for those who look for it, file by file after that."""
        away = self.folder.with_name(f".{self.folder.name}.{secrets.token_hex(4)}.old")
        self.folder.rename(away)
        self.is_removed = True  # another process may make it anew before this one has ended
        shutil.rmtree(away, ignore_errors=True)

    def release(self) -> None:
        """Let others work on it; a folder in which nothing is kept goes."""
        if not self.is_removed and self.folder.is_dir() and not self.accounts():
            shutil.rmtree(self.folder, ignore_errors=True)
        self.claim.release()

    def kept(self, number: int) -> Path:
        """The file in which a part is kept."""
        return self._paths(number)[0]

    def _paths(self, number: int) -> tuple[Path, Path]:
        return self.folder / f"{number:06}.part", self.folder / f"{number:06}.json"

    def _write(self, path: Path, data: bytes) -> None:
        try:
            write_whole(path, data)
        except InputError as error:
            raise InputError(f"{str(error).rstrip('.')}. {_KEPT}.") from None

    @contextmanager
    def told(self) -> Iterator[None]:
        """In this block, what goes wrong with the file that is written is told with what is kept."""
        try:
            yield
        except OSError as error:
            raise InputError(f"`{self.target}` cannot be written: {reason(error)}. {_KEPT}.") from None


def _close_quietly(parts: ExitStack) -> None:
    """What was joined so far goes anyway: that its end cannot be written is no news."""
    with suppress(OSError):
        parts.close()


def _refuse_strangers(folder: Path) -> None:
    """What is in the folder is replaced and removed: nothing may be there that is not ours."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            if not _OURS.fullmatch(path.name) or not path.is_file() or path.is_symlink():
                there = f"`{folder}` is where parts are kept, but has {path.name!r:.60} in it"
                raise InputError(f"{there}: move it, or name another file.")


def _remove_left_over(target: Path) -> None:
    with suppress(OSError):
        for path in target.parent.iterdir():
            if path.name.startswith(f".{target.name}.parts.") and path.name.endswith(".old"):
                shutil.rmtree(path, ignore_errors=True)
