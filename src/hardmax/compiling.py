"""Compiling kernels with numba. It takes half a second to be imported, so that waits for the first kernel called."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from typing import Any, Literal, TypeAlias

import numpy as np

from hardmax import kernel_sources  # noqa: F401  sources are looked at before any kernel is imported
from hardmax.threads import share_out

Inline: TypeAlias = Literal["never", "always"]


class Kernel:
    """A function that numba compiles when it is first called, or loads as it was compiled before."""

    def __init__(self, function: Callable[..., Any], inline: Inline) -> None:
        self.function, self._compiled = function, None
        self.inline: Inline = inline
        update_wrapper(self, function)
        _kernels.append(self)

    @property
    def compiled(self) -> Any:
        """The function as numba has it."""
        if self._compiled is None:
            _compile_kernels()
        return self._compiled

    def __call__(self, *arguments: Any) -> Any:
        return (self._compiled or (self.function if _let_sleep.get() else self.compiled))(*arguments)


class Spread:
    """A kernel `kernel(first, last, *arguments)` for some of its tasks, called as `kernel(*arguments)` for all of them,
    which are shared out among threads."""

    def __init__(self, kernel: Kernel, tasks: Callable[..., int], is_python: bool) -> None:
        self.kernel, self.tasks, self.is_python = kernel, tasks, is_python
        update_wrapper(self, kernel.function)

    def __call__(self, *arguments: Any) -> None:
        if self.is_python and _let_sleep.get():
            self.kernel(0, self.tasks(*arguments), *arguments)
        else:
            share_out(self.kernel.compiled, self.tasks(*arguments), arguments)


def njit(function: Callable[..., Any] | None = None, *, inline: Inline = "never") -> Any:
    """Compile a kernel when it is first called, or load what was compiled before.

    It lets other Python threads run, and floats are rounded as they are written: no fastmath, since proofs rest on it.
    """
    return Kernel(function, inline) if function is not None else lambda function: Kernel(function, inline)


def spread(tasks: Callable[..., int], *, is_python: bool = True) -> Callable[[Callable[..., Any]], Spread]:
    """Compile a kernel whose tasks, of which `tasks(*arguments)` says how many there are, threads can do in any order.

    A task must not depend on what others have done, so that results are the same on any number of threads. A kernel
    that is in part written in LLVM's language is not Python, and cannot do without numba.
    """
    return lambda function: Spread(Kernel(function, "never"), tasks, is_python)


_let_sleep: ContextVar[bool] = ContextVar("let numba sleep", default=False)
_PATIENCE = 1.0  # seconds
_slept, _awake = 0.0, False


def is_asleep() -> bool:
    """Whether numba was not needed yet, and little work has been done without it."""
    return not _awake and _slept < _PATIENCE


@contextmanager
def letting_numba_sleep() -> Iterator[None]:
    """In this block kernels run as the Python that they are written in, unless they have been compiled already.

    A little work is done so before numba could be imported, and to the same bits. After a second of it in all, the
    block changes nothing any more: there seems to be work worth compiling for.
    """
    global _slept
    if not is_asleep():
        yield
        return
    began, before = time.perf_counter(), _let_sleep.set(True)
    try:
        with np.errstate(over="ignore"):  # hashes overflow, as they should
            yield
    finally:
        _let_sleep.reset(before)
        _slept += time.perf_counter() - began


_kernels: list[Kernel] = []
_compiling = threading.RLock()


def _compile_kernels() -> None:
    """Hand the kernels known so far to numba, which compiles each when it is called.

    Kernels call one another by the names in their modules: from now on these stand for what numba knows.
    """
    global _awake
    import numba

    from hardmax.kernel_cache import cache_of

    _awake = True
    with _compiling:
        for kernel in _kernels:
            if kernel._compiled is None:
                compiled: Any = numba.njit(nogil=True, inline=kernel.inline)(kernel.function)
                if hasattr(compiled, "_cache"):  # with NUMBA_DISABLE_JIT it is the plain function
                    compiled._cache = cache_of(kernel.function)
                kernel._compiled = compiled
        for kernel in _kernels:
            names = kernel.function.__globals__
            names.update({name: each._compiled for name, each in list(names.items()) if isinstance(each, Kernel)})
