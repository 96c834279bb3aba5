"""Compiling kernels with numba when they are first needed.

What compiled code is made from, and whether it has changed since it was imported.

Compiling kernels with numba, which takes a second to import and up to twenty seconds to compile one of them.
"""

import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from hardmax._parallel import parallel_for

_PACKAGE = Path(__file__).parent


def kernel_sources() -> list[Path]:
    """Everything of ours that compiled code is made from: the files that import `njit` from here, and these."""
    found = [path for path in _PACKAGE.rglob("*.py") if b"hardmax._compile import" in path.read_bytes()]
    return sorted([*found, *(_PACKAGE / f"{name}.py" for name in ("_compile", "_kernel_cache", "_parallel"))])


def digest_now() -> str:
    """Of the kernel sources as they are on disk; empty where they cannot be read (in a zip)."""
    digest = hashlib.sha256()
    try:
        for path in kernel_sources():
            for part in (path.relative_to(_PACKAGE).as_posix().encode(), path.read_bytes()):
                digest.update(hashlib.sha256(part).digest())
    except OSError:
        return ""
    return digest.hexdigest()


AT_START = digest_now()


Inline: TypeAlias = Literal["never", "always"]

_IMPORTING = 1.0  # seconds: about what it takes to import numba and to load a kernel


class Kernel:
    """A function that numba compiles when it is first called, or loads as it was compiled before.

    Kernels call one another by these objects: numba asks for their `_numba_type_`, or for `targetoptions` and `py_func`
    where it inlines one into another; in Python they are functions.
    """

    def __init__(self, function: Callable[..., Any], inline: Inline) -> None:
        self.py_func = function
        self.targetoptions: dict[str, Any] = {"inline": inline}
        self._compiled: Any = None
        self._interpreted = 0.0  # seconds
        update_wrapper(self, function)

    @property
    def compiled(self) -> Any:
        """The function as numba has it."""
        if self._compiled is None:
            with _lock:
                if self._compiled is None:
                    self._compiled = _hand_to_numba(self)
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types

        return types.Dispatcher(self.compiled)

    def __call__(self, *arguments: Any) -> Any:
        return (self.py_func if _interpreting.get() else self.compiled)(*arguments)

    @cached_property
    def _is_kept(self) -> bool:
        from hardmax._kernel_cache import is_kept

        return is_kept(self.compiled)

    def _is_sooner_interpreted(self, seconds: float) -> bool:
        """Whether a little more work is done sooner in Python than numba, which takes so long to compile the kernel and
        those it comes with, has it ready."""
        if "numba" not in sys.modules and self._interpreted < _IMPORTING:
            return True
        return self._interpreted < seconds and not self._is_kept and not self.compiled.signatures


class ParallelKernel:
    """A kernel `kernel(first, last, *arguments)` for some of its tasks, called as `kernel(*arguments)` for all of them,
    which are shared out among threads."""

    def __init__(self, kernel: Kernel, tasks: Callable[..., int], is_python: bool) -> None:
        self.kernel, self.tasks, self.is_python = kernel, tasks, is_python
        update_wrapper(self, kernel.py_func)

    def __call__(self, *arguments: Any) -> None:
        if self.is_python and _interpreting.get():
            self.kernel(0, self.tasks(*arguments), *arguments)
        else:
            parallel_for(self.kernel.compiled, self.tasks(*arguments), arguments)


def njit(function: Callable[..., Any] | None = None, *, inline: Inline = "never") -> Any:
    """Compile a kernel when it is first called, or load what was compiled before.

    It lets other Python threads run, and floats are rounded as they are written: no fastmath, since proofs rest on it.
    """
    return Kernel(function, inline) if function is not None else lambda function: Kernel(function, inline)


def njit_parallel(
    tasks: Callable[..., int], *, is_python: bool = True
) -> Callable[[Callable[..., Any]], ParallelKernel]:
    """Compile a kernel whose tasks, of which `tasks(*arguments)` says how many there are, threads can do in any order.

    A task must not depend on what others have done, so that results are the same on any number of threads. A kernel
    that is in part written in LLVM's language is not Python, and cannot do without numba.
    """
    return lambda function: ParallelKernel(Kernel(function, "never"), tasks, is_python)


_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)


@contextmanager
def interpreted(waited_for: Kernel | ParallelKernel, *, if_small: bool = True, seconds: float = 10.0) -> Iterator[bool]:
    """In this block kernels run as the Python that they are written in, to the same bits, if there is little to do and
    Python does it sooner than numba has a kernel ready, the one that takes longest; the block is told whether they do.

    What was called before makes no difference, but for how long such blocks have taken: once that is as long as numba
    needs to load the kernel, or about `seconds` to compile it, there seems to be work worth waiting for.
    """
    kernel = waited_for.kernel if isinstance(waited_for, ParallelKernel) else waited_for
    if _interpreting.get() or not (if_small and kernel._is_sooner_interpreted(seconds)):
        yield _interpreting.get()
        return
    began, before = time.thread_time(), _interpreting.set(True)
    try:
        with np.errstate(over="ignore"):  # hashes overflow, as they should
            yield True
    finally:
        _interpreting.reset(before)
        kernel._interpreted += time.thread_time() - began


_lock = threading.Lock()


def _hand_to_numba(kernel: Kernel) -> Any:
    import numba

    from hardmax._kernel_cache import cache_of

    compiled: Any = numba.njit(nogil=True, **kernel.targetoptions)(kernel.py_func)
    if hasattr(compiled, "_cache"):  # with NUMBA_DISABLE_JIT it is the plain function
        compiled._cache = cache_of(kernel.py_func)
    return compiled
