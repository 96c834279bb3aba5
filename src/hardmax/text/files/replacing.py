"""A folder replaced by another such that at every moment one of the two is there, whole, also if the process is killed.

The new folder is filled under a name of its own, `.model.1a2b3c4d.part`, claimed by whoever fills it. Then the two are
exchanged in one step, where the system can do that (Linux; most file systems). Elsewhere the new folder is first called
`.new`, which says that it is whole, then the former one `.old`, then the new one gets the name: who finds no folder of
that name reads the `.new` or the `.old` one (`find_folder`), and the next `replace_folder` puts it in its place. What
killed processes left behind is removed then, too.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from hardmax._files import sync_folder
from hardmax.text.files.claims import Claim

_FILLING, _WHOLE, _FORMER = ".part", ".new", ".old"
_TRIES = 1000
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of linux/fcntl.h and linux/fs.h


def replace_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Put the folder that `fill` fills where `target` is, or nothing at all. Raises what `fill` raises, and OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft, claim = _make_draft(target)
    try:
        with suppress(FileNotFoundError):
            shutil.copymode(target, draft)
        fill(draft)
        sync_folder(draft)
        _put_in_place(draft, target)
        sync_folder(target.parent)
    finally:
        claim.release()
        tidy(target)


def find_folder(target: Path) -> Path:
    """Where the folder is: at its place, or, if a process was killed while it replaced it, beside."""
    if not target.exists():
        for suffix in (_WHOLE, _FORMER):
            for stem in _stems(target):
                if (beside := target.with_name(stem + suffix)).exists():
                    return beside
    return target


def tidy(target: Path) -> None:
    """Finish or remove what killed processes left beside the target; what living ones are at work on is left alone."""
    for stem in _stems(target):
        with suppress(OSError):  # somebody else does the same, or nothing may be removed here
            _finish(target, *(target.with_name(stem + suffix) for suffix in (_FILLING, _WHOLE, _FORMER)))


def _finish(target: Path, draft: Path, whole: Path, former: Path) -> None:
    claims = [Claim.on(path) for path in (draft, whole) if path.exists()]
    try:
        if None in claims:
            return
        for found in (whole, former):
            if found.exists() and not target.exists():
                found.rename(target)
        for path in (draft, whole, former):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        for claim in claims:
            if claim:
                claim.release()


def _stems(target: Path) -> Iterator[str]:
    name = re.compile(rf"(\.{re.escape(target.name)}\.[0-9a-f]{{8}})(\{_FILLING}|\{_WHOLE}|\{_FORMER})")
    with suppress(OSError):
        found = [name.fullmatch(path.name) for path in target.parent.iterdir()]
        yield from sorted({match[1] for match in found if match})


def _make_draft(target: Path) -> tuple[Path, Claim]:
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_FILLING}")
        draft.mkdir()
        # Who tidies may take it for a left-over until it is claimed.
        with suppress(FileNotFoundError):
            if claim := Claim.on(draft):
                return draft, claim


def _put_in_place(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)  # where nothing is, or an empty folder
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES):
            raise
    else:
        return
    if _exchange(draft, target):
        return
    whole, former = draft.with_suffix(_WHOLE), draft.with_suffix(_FORMER)
    draft.rename(whole)
    for left in reversed(range(_TRIES)):
        with suppress(FileNotFoundError):  # somebody else is between these two steps
            target.rename(former)
        try:
            whole.rename(target)
        except OSError as error:
            if not left or error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES):
                raise
            shutil.rmtree(former, ignore_errors=True)  # somebody else's came first: that is the former one now
        else:
            return


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where that cannot be done."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    names = os.fsencode(one), os.fsencode(other)
    return rename is not None and rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0
