"""numba's cache of compiled kernels, valid for all sources that a kernel can reach.

numba looks at the file of a function alone. But whatever a kernel calls is compiled into it, and so
are the constants that it imports: a helper changed in another file would go unseen."""

import hashlib
import logging
import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import types
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.compiler_lock import global_compiler_lock as compiling

if hasattr(os, "register_at_fork"):
    # A child would wait for ever for a thread of its parent that compiles: instead, a fork waits.
    release = compiling.release
    os.register_at_fork(before=compiling.acquire, after_in_parent=release, after_in_child=release)


PACKAGE = Path(__file__).parents[1]
_USES_NUMBA = re.compile(r"\nfrom hardmax\._kernels\.compiling import .*njit")
_IMPORTS = re.compile(r"\nfrom hardmax\.([\w.]+) import")


@cache
def kernel_sources() -> dict[str, str]:
    """Files with kernels, and those that they import from: of these only constants get into a
    kernel."""
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    texts = {path: file.read_text(encoding="utf-8") for path, file in files.items()}
    kernels = {path for path, text in texts.items() if _USES_NUMBA.search(text)}
    modules = {name for path in kernels for name in _IMPORTS.findall(texts[path])}
    reached = kernels | {f"{name.replace('.', '/')}.py" for name in modules}
    return {path: text for path, text in texts.items() if path in reached}


@cache
def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


class _KernelCache(FunctionCache):
    """Where numba would keep a function, stamped with all sources of kernels."""

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # An index for each signature, not for each function: of two processes that save different
        # signatures at once, one could else give its number to the other's code. Those that save
        # the same one write the same, in files that are replaced whole. numba holds its compiler
        # lock here.
        key = super()._index_key(sig, codegen)
        name = f"{self._impl.filename_base}.{_digest(key)}"
        stamp = _digest(*kernel_sources().items())
        self._cache_file = IndexDataCacheFile(self._cache_path, name, stamp)
        return key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = super().load_overload(sig, target_context)
        if loaded is None:
            _announce("once on this machine")
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk does not stop the kernel
            super().save_overload(sig, data)


def cache_of(function: Any) -> FunctionCache | NullCache:
    """The cache of a kernel; none where sources are in a zip or no folder can be written to."""
    try:
        return _KernelCache(function)
    except (OSError, RuntimeError):
        _announce("in every process, since no folder can be written to: set NUMBA_CACHE_DIR to one")
        return NullCache()


def for_any_integer(dispatcher: Any) -> Any:
    """The same, which other kernels call: it is compiled for integers, and not once more for the 0
    with which a count begins."""
    template = dispatcher.get_call_template

    def without_literals(args: Any, kws: Any) -> Any:
        return template(tuple(map(types.unliteral, args)), kws)

    dispatcher.get_call_template = without_literals
    return dispatcher


@cache
def _announce(how_often: str) -> None:
    """On stderr, also in a notebook or a pipe: half a minute without a word looks like a hang."""
    logging.getLogger("hardmax").warning(
        "hardmax: compiling kernels, seconds up to a minute, %s …", how_often
    )
