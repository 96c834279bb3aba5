"""numba's cache of compiled kernels, in a folder named for all sources that a kernel can reach.

numba looks at the file of a function alone. But whatever a kernel calls is compiled into it, and so
are the constants that it imports: a helper changed in another file would go unseen."""

import hashlib
import logging
import os
import shutil
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.compiler_lock import global_compiler_lock as compiling

from hardmax._kernels.compiling import IMPORTED, PACKAGE, Source, kernel_sources

_VERSIONS = (numba.__version__, np.__version__, sys.version)

if hasattr(os, "register_at_fork"):
    # A child would wait for ever for a thread of its parent that compiles: instead, a fork waits.
    release = compiling.release
    os.register_at_fork(before=compiling.acquire, after_in_parent=release, after_in_child=release)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def is_unchanged(files: list[str]) -> bool:
    """Whether files are on disk what they were when the package was imported."""
    return all(Source.of((PACKAGE / file).read_bytes()) == IMPORTED[file] for file in files)


class _KernelCache(FunctionCache):
    """Where numba would keep a function, in a folder for the versions and the sources."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        module = function.__module__.removeprefix("hardmax.")
        self._files = kernel_sources(f"{module.replace('.', '/')}.py")
        self._stamp = _digest([(file, IMPORTED[file].digest) for file in self._files])
        # Those of other versions stay: they are used by turns.
        self._prefix = f"hardmax-{module}-{_digest(*_VERSIONS)}-"
        self._folder = Path(self._cache_path) / f"{self._prefix}{self._stamp}"

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # An index for each signature, not for each function: of two processes that save different
        # signatures at once, one could else give its number to the other's code. Those that save
        # the same one write the same, in files that are replaced whole. numba holds its compiler
        # lock here.
        key = super()._index_key(sig, codegen)
        name = f"{self._impl.filename_base}.{_digest(key)}"
        self._cache_file = IndexDataCacheFile(str(self._folder), name, self._stamp)
        return key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = None
        try:
            # A file edited before its module was imported is newer than the digest that was taken.
            if is_unchanged(self._files):
                loaded = super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises nearly anything; the kernel is compiled again
            with suppress(OSError):
                self.flush()
        if loaded is None:
            _announce("once on this machine")
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        # A full disk, a folder that has gone or a damaged file does not stop the kernel.
        with suppress(Exception):
            # Of sources edited since they were imported, the code may be of the old ones, the new
            # ones, or both.
            if not is_unchanged(self._files):
                return
            self._folder.mkdir(exist_ok=True)
            super().save_overload(sig, data)
            for other in set(self._folder.parent.glob(f"{self._prefix}*")) - {self._folder}:
                shutil.rmtree(other, ignore_errors=True)


def cache_of(function: Any) -> tuple[FunctionCache | NullCache, bool]:
    """The cache of a kernel, and whether it has any; none where sources are in a zip or no folder
    can be written to."""
    try:
        cache = _KernelCache(function)
        return cache, any(cache._folder.glob(f"{cache._impl.filename_base}.*.nbi"))
    except (OSError, RuntimeError):
        _announce("in every process, since no folder can be written to: set NUMBA_CACHE_DIR to one")
        return NullCache(), False


def for_any_integer(dispatcher: Any) -> Any:
    """The same, which other kernels call: it is compiled for integers, and not once more for the 0
    with which a count begins."""
    template = dispatcher.get_call_template

    def without_literals(args: Any, kws: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in dict(kws).items()}
        return template(tuple(map(types.unliteral, args)), named)

    dispatcher.get_call_template = without_literals
    return dispatcher


@cache
def _announce(how_often: str) -> None:
    """On stderr, also in a notebook or a pipe: half a minute without a word looks like a hang."""
    with suppress(ValueError):  # stderr may be closed
        logging.getLogger("hardmax").warning(
            "hardmax: compiling kernels, seconds up to a minute, %s …", how_often
        )
