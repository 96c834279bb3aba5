"""Kernels of a GPU, interpreted in less time.

Triton's interpreter looks through all of its language whenever one function of a kernel calls another, for what is to
be replaced by its own. What there is does not change, so here it is looked up once. What is replaced, and when, stays
the same.
"""

# pyright: reportMissingImports=false
import inspect
import sys
from functools import cache
from typing import Any


def look_up_once() -> None:
    """Where triton's interpreter has been imported, and works as the one this was written for."""
    interpreter: Any = sys.modules.get("triton.runtime.interpreter")
    if interpreter is None or not hasattr(interpreter, "_patch_builtin") or not hasattr(interpreter, "_patch_attr"):
        return
    is_builtin, replace = interpreter.tl.core.is_builtin, interpreter._patch_attr

    @cache
    def names(package: Any) -> list[str]:
        return [name for name, member in inspect.getmembers(package) if is_builtin(member)]

    def replace_builtins(package: Any, *rest: Any) -> None:
        for name in names(package):
            if is_builtin(member := getattr(package, name)):  # not where a function that calls has replaced it
                replace(package, name, member, *rest)

    interpreter._patch_builtin = replace_builtins
