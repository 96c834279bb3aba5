"""Compiling kernels with numba, and keeping what was compiled for as long as no kernel source changes.

numba's own cache looks at the file of a function alone. But the code of whatever a kernel calls is compiled into it,
and so are the constants that it imports: with that cache, a helper changed in another file goes unseen. Here compiled
code lies in a folder named for a digest of all kernel sources (`kernel_sources`), so that other sources never find it.
"""

import hashlib
import pickle
import shutil
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import llvmlite
import numba
import numpy as np
from numba import prange
from numba.core.caching import FunctionCache, NullCache
from numba.core.serialize import dumps

__all__ = ["kernel_sources", "njit", "prange"]

Inline: TypeAlias = Literal["never", "always"]

_PACKAGE = Path(__file__).parent
_LIBRARIES = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, numpy {np.__version__}"
_FOLDER = f"hardmax-{sys.implementation.cache_tag}-"  # then the digest; each version of Python tidies up its own


def njit(function: Callable[..., Any] | None = None, *, parallel: bool = False, inline: Inline = "never") -> Any:
    """Compile a kernel when it is first called, or load what was compiled before.

    It lets other Python threads run, and floats are rounded as they are written: no fastmath, since proofs rest on it.
    """

    def make(function: Callable[..., Any]) -> Any:
        kernel: Any = numba.njit(nogil=True, parallel=parallel, inline=inline)(function)
        if hasattr(kernel, "_cache"):  # with NUMBA_DISABLE_JIT it is the plain function
            kernel._cache = _cache_of(function)
        return kernel

    return make if function is None else make(function)


def kernel_sources() -> list[Path]:
    """Everything of ours that compiled code is made from: `kernels.py`, all in a folder `kernels`, and this file.

    Kernels import nothing else of the package, so that no constant is compiled in unseen; `tests/test_compiling.py`
    holds that.
    """
    named = (path for path in _PACKAGE.rglob("*.py") if "kernels" in path.relative_to(_PACKAGE).with_suffix("").parts)
    return sorted([*named, Path(__file__)])


def _digest_now() -> str:
    """Of the kernel sources as they are on disk, and of the libraries that compile them."""
    digest = hashlib.sha256(_LIBRARIES.encode())
    for path in kernel_sources():
        for part in (path.relative_to(_PACKAGE).as_posix().encode(), path.read_bytes()):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


_digest_at_start = cache(_digest_now)


def _cache_of(function: Callable[..., Any]) -> Any:
    try:
        return _KernelCache(function)
    except (OSError, RuntimeError):  # sources that cannot be read (a zip), no folder that can be written to
        return NullCache()


class _KernelCache(FunctionCache):
    """numba's choice of a place and of a key (signature, processor, bytecode), with files of our own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        folder = Path(self._impl.locator.get_cache_path()) / (_FOLDER + _digest_at_start())
        self._cache_path = str(folder)
        self._cache_file = _Files(folder, self._impl.filename_base)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled; a full disk, or a folder that has gone, does not stop the kernel."""
        with suppress(OSError):
            super().save_overload(sig, data)


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
        if _digest_now() != _digest_at_start():
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
        for path in self._folder.glob(f"{self._kernel}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._kernel}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
