"""Kernels: compiled by numba when first called, kept on disk, or run as Python where that is
sooner.

numba takes a second to import, and up to twenty seconds to compile a kernel.
"""

import hashlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._kernels.parallel import parallel_for

PACKAGE = Path(__file__).parents[1]

_IMPORTING = 1.0  # seconds: about what it takes to import numba and to load a kernel
_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)

_USES_NUMBA = re.compile(rb"\nfrom hardmax\._kernels\.compiling import .*njit")
_IMPORTS = re.compile(rb"\nfrom hardmax\.([\w.]+) import")


@dataclass(frozen=True)
class Source:
    """A file of the package, as it was when it was read."""

    digest: str
    has_kernels: bool
    imports: tuple[str, ...]
    """Files that names come from, inside functions left out."""

    @staticmethod
    def of(text: bytes) -> "Source":
        """The source with this text."""
        modules = [name.decode() for name in _IMPORTS.findall(text)]
        imports = tuple(f"{name.replace('.', '/')}.py" for name in modules)
        digest = hashlib.sha256(text).hexdigest()
        return Source(digest, _USES_NUMBA.search(text) is not None, imports)


def read_sources(package: Path = PACKAGE) -> dict[str, Source]:
    """All files of a package as they are on disk, by their paths in it."""
    return {
        path.relative_to(package).as_posix(): Source.of(path.read_bytes())
        for path in package.rglob("*.py")
    }


IMPORTED = read_sources()


def kernel_sources(start: str | None = None) -> list[str]:
    """Files whose code or constants may be compiled into the kernels of a file, or of any.

    That is what a file with kernels imports from, and so on from those that have kernels as
    well. Of the others only constants get into a kernel."""
    files = IMPORTED.items()
    waiting = [start] if start else [path for path, source in files if source.has_kernels]
    reached = set(waiting)
    while waiting:
        source = IMPORTED[waiting.pop()]
        new = IMPORTED.keys() & set(source.imports) - reached if source.has_kernels else set()
        reached |= new
        waiting.extend(new)
    return sorted(reached)


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
        self._seconds = 0.0  # for which it has run as Python
        self.is_on_disk = False  # as far as is known
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        """The dispatcher of numba."""
        import numba

        from hardmax._kernels.cache import cache_of, for_any_integer

        # Nobody calls kernels from C: that entry would be compiled, too.
        options: Any = {"nogil": True, "no_cfunc_wrapper": True} | self.targetoptions
        make: Any = numba.njit(**options)
        compiled = for_any_integer(make(self.py_func))
        compiled._cache, self.is_on_disk = cache_of(self.py_func)
        return compiled

    @cached_property
    def _inner(self) -> Any:
        """The dispatcher for calls by kernels: what turns Python objects into arrays takes as long
        to compile as many a kernel. It is kept on disk as a part of those that call it."""
        import numba

        from hardmax._kernels.cache import for_any_integer

        # What releases the GIL is the wrapper.
        unwrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        make: Any = numba.njit(**unwrapped, **self.targetoptions)
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

        return types.Dispatcher(self.__dict__.get("compiled") or self._inner)

    def __call__(self, *arguments: Any) -> Any:
        in_python = self._is_python and _interpreting.get()
        run = self.python if in_python else self.compiled
        if self._tasks is None:
            return run(*arguments)
        tasks = self._tasks(*arguments)
        return run(0, tasks, *arguments) if in_python else parallel_for(run, tasks, arguments)

    def _is_sooner_interpreted(self, seconds: float) -> bool:
        """Whether Python does a little more work before numba, which needs so long to compile, is
        ready."""
        if "numba" not in sys.modules and self._seconds < _IMPORTING:
            return True
        return self._seconds < seconds and not self.compiled.signatures and not self.is_on_disk


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
def interpreted(kernel: Kernel, *, if_small: bool = True, seconds: float = 10.0) -> Iterator[bool]:
    """Run kernels as Python in this block, to the same bits, if there is little to do and that is
    sooner; yields if so.

    `kernel` is the one that takes longest to compile, about `seconds`: once such blocks have taken
    as long, it is."""
    if _interpreting.get() or not (if_small and kernel._is_sooner_interpreted(seconds)):
        yield _interpreting.get()
        return
    began, before = time.thread_time(), _interpreting.set(True)
    try:
        # Hashes overflow, as they should; and compiled kernels say nothing of inf / inf, either.
        with np.errstate(over="ignore", invalid="ignore"):
            yield True
    finally:
        _interpreting.reset(before)
        kernel._seconds += time.thread_time() - began
