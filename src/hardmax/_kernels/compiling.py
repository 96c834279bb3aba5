"""Kernels: compiled by numba when first called, kept on disk, or run as Python where that is
sooner.

numba takes a second to import, and up to twenty seconds to compile a kernel.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._kernels.parallel import parallel_for

_PATIENCE = 3.0  # seconds of Python, after which a kernel is compiled
_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)


class Kernel:
    """A function that numba compiles when it is first called, or loads as it was compiled before.

    Kernels call one another by these objects: numba reads their `_numba_type_`, or `targetoptions`
    and `py_func` where it inlines one into another; in Python they are functions. With `tasks`, the
    function is `function(first, last, *arguments)`, and a call without these two is shared among
    threads."""

    def __init__(
        self, function: Any, inline: str, tasks: Callable[..., int] | None, is_python: bool
    ) -> None:
        self.py_func = function
        self.targetoptions: dict[str, Any] = {"inline": inline}
        self._tasks, self._is_python = tasks, is_python
        self.seconds = 0.0  # for which it has run as Python
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        """The dispatcher of numba."""
        from hardmax._kernels.cache import cache_of

        compiled = self._dispatcher(nogil=True)
        compiled._cache = cache_of(self.py_func)
        return compiled

    @cached_property
    def _inner(self) -> Any:
        """The dispatcher for calls by kernels: what turns Python objects into arrays takes as long
        to compile as many a kernel. It is kept on disk as a part of those that call it."""
        return self._dispatcher(no_cpython_wrapper=True)  # what releases the GIL is the wrapper

    def _dispatcher(self, **options: Any) -> Any:
        import numba

        from hardmax._kernels.cache import for_any_integer

        # Nobody calls kernels from C: that entry would be compiled, too.
        compile_: Any = numba.njit
        make = compile_(no_cfunc_wrapper=True, **options, **self.targetoptions)
        return for_any_integer(make(self.py_func))

    @cached_property
    def python(self) -> Any:
        """The function, which calls the functions of other kernels directly."""
        plain = self.py_func
        names = plain.__globals__
        called = {name: names.get(name) for name in plain.__code__.co_names}
        kernels = {name: of.python for name, of in called.items() if isinstance(of, Kernel)}
        return FunctionType(plain.__code__, names | kernels, argdefs=plain.__defaults__)

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types

        return types.Dispatcher(vars(self).get("compiled") or self._inner)

    @property
    def is_ready(self) -> bool:
        """Whether it was compiled, or it has run as Python for so long that it will be."""
        return "compiled" in vars(self) or self.seconds > _PATIENCE

    def __call__(self, *arguments: Any) -> Any:
        in_python = self._is_python and _interpreting.get()
        run = self.python if in_python else self.compiled
        if self._tasks is None:
            return run(*arguments)
        tasks = self._tasks(*arguments)
        return run(0, tasks, *arguments) if in_python else parallel_for(run, tasks, arguments)


def njit(function: Callable[..., Any] | None = None, *, inline: str = "never") -> Any:
    """Decorator: a kernel, which releases the GIL. No fastmath: proofs rest on floats being rounded
    as written."""
    make = partial(Kernel, inline=inline, tasks=None, is_python=True)
    return make if function is None else make(function)


def njit_parallel(
    tasks: Callable[..., int], *, is_python: bool = True
) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorator: a kernel with `tasks(*arguments)` tasks, which threads do in any order.

    No task may depend on what others have done, so that results are the same on any number of
    threads. A kernel with LLVM's language in it is not Python."""
    return partial(Kernel, inline="never", tasks=tasks, is_python=is_python)


@contextmanager
def interpreted(kernel: Kernel, *, if_small: bool) -> Iterator[bool]:
    """Run kernels as Python in this block, to the same bits, if there is little to do and that is
    sooner; yields if so.

    `kernel` is the one that takes longest to compile: once such blocks have taken a while, it
    is."""
    if _interpreting.get() or kernel.is_ready or not if_small:
        yield _interpreting.get()
        return
    began, before = time.thread_time(), _interpreting.set(True)
    try:
        # Hashes overflow, as they should; and compiled kernels say nothing of inf / inf, either.
        with np.errstate(over="ignore", invalid="ignore"):
            yield True
    finally:
        _interpreting.reset(before)
        kernel.seconds += time.thread_time() - began
