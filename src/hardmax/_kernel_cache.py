"""Keeping what numba has compiled for as long as no kernel source changes.

numba's own cache looks at the file of a function alone. But the code of whatever a kernel calls is compiled into it,
and so are the constants that it imports: with that cache, a helper changed in another file goes unseen. Here compiled
code lies in a folder named for a digest of all kernel sources, so that other sources never find it.
"""

import hashlib
import logging
import pickle
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import FunctionCache, NullCache
from numba.core.serialize import dumps

from hardmax._compile import AT_START, digest_now

_LIBRARIES = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, numpy {np.__version__}"
_FOLDER = f"hardmax-{sys.implementation.cache_tag}-"  # then a digest; each version of Python tidies up its own
_DIGEST = hashlib.sha256(f"{AT_START} {_LIBRARIES}".encode()).hexdigest()[:16]


def cache_of(function: Callable[..., Any]) -> Any:
    """Where a kernel is kept once it is compiled."""
    try:
        return _KernelCache(function)
    except (OSError, RuntimeError):  # sources that cannot be read (a zip), no folder that can be written to
        return _NoCache()


def is_kept(compiled: Any) -> bool:
    """Whether a kernel was compiled before, as far as names of files tell; or need not be (NUMBA_DISABLE_JIT)."""
    kept = getattr(compiled, "_cache", None)
    return kept is None or (isinstance(kept, _KernelCache) and kept.is_kept())


class _KernelCache(FunctionCache):
    """numba's choice of a place and of a key (signature, processor, bytecode), with files of our own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        folder = Path(self._impl.locator.get_cache_path()) / (_FOLDER + _DIGEST)
        self._cache_path = str(folder)
        self._cache_file = _Files(folder, self._impl.filename_base)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled before, or None; then people are told what takes so long."""
        found = super().load_overload(sig, target_context)
        if found is None:
            _say_that_it_compiles()
        return found

    def is_kept(self) -> bool:
        """Whether something was compiled before."""
        return any(self._cache_file.paths())

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled; a full disk, or a folder that has gone, does not stop the kernel."""
        with suppress(OSError):
            super().save_overload(sig, data)


class _NoCache(NullCache):
    def load_overload(self, sig: Any, target_context: Any) -> None:
        _say_that_it_compiles("in every process, since no folder can be written to: set NUMBA_CACHE_DIR to one")


@cache
def _say_that_it_compiles(how_often: str = "once on this machine") -> None:
    """On stderr, also in a notebook or a pipe: half a minute without a word looks like a hang."""
    with suppress(ValueError):  # stderr may be closed
        logging.getLogger("hardmax").warning("hardmax: compiling kernels, seconds up to a minute, %s …", how_often)


class _Files:
    """One file for each signature of a kernel.

    numba numbers its files, and names the numbers in an index: of two processes that save at once, one may give its
    number to the other's code. Here a file is named for its key and holds it, so that there is nothing to mix up.
    """

    def __init__(self, folder: Path, kernel: str) -> None:
        self._folder, self._kernel = folder, kernel

    def load(self, key: Any) -> Any:
        """What was saved under the key, or None."""
        try:
            saved, data = pickle.loads(self._path(key).read_bytes())
        except Exception:  # a damaged pickle raises nearly anything; whatever it is, the kernel is compiled again
            return None
        return data if saved == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write at once or not at all, and remove what other sources left behind."""
        # Sources that were edited since they were imported: the code may be of the old ones, the new ones, or both.
        if digest_now() != AT_START:
            return
        self._folder.mkdir(exist_ok=True)
        path = self._path(key)
        written = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            written.write_bytes(dumps((key, data)))
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
        for other in self._folder.parent.glob(f"{_FOLDER}*"):
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)

    def flush(self) -> None:
        """Forget the kernel, as numba asks before it compiles one again."""
        for path in self.paths():
            path.unlink(missing_ok=True)

    def paths(self) -> Iterator[Path]:
        """All files of the kernel."""
        return self._folder.glob(f"{self._kernel}.*.nbc")

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._kernel}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
