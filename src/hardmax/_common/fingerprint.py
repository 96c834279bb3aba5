"""A hash of functions and values by which a later call can tell whether they are the same."""

import dis
import hashlib
import sys
from fractions import Fraction
from pathlib import Path
from types import CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

from hardmax._common.validation import InputError

_PRINTED = str | bytes | int | float | complex | Fraction | NoneType | EllipsisType
# Of code, all but where it is: a line above it may be added.
_CODE = (
    "co_code co_consts co_names co_varnames co_freevars co_cellvars co_exceptiontable "
    "co_flags co_argcount co_posonlyargcount co_kwonlyargcount"
)


def fingerprint(value: Any, name: str) -> str:
    """A hash that is the same in every process; what has none is refused, under this name.

    That of a function is of its code, defaults and closure, and of all that they use in its own
    module. What is of another module, or a class, stands for the file of its module.
    """
    try:
        return hashlib.sha256(repr(_plain(value, None, [])).encode()).hexdigest()
    except Exception as error:  # whatever the objects of others raise
        problem = f"`output`: no later call could tell whether {name} are the same ({error})"
        way_out = "Make what they use inside the functions, or leave `output` out"
        raise InputError(f"{problem}. {way_out}.", argument="output") from None


def _plain(value: Any, scope: Any, seen: list[Any]) -> Any:
    """All that a value is made of; `scope` has the names of the module of the first function."""
    if isinstance(value, _PRINTED):
        return repr(value)
    match value:
        case FunctionType():
            if value in seen:  # functions may call each other
                return seen.index(value)
            seen.append(value)
            is_own = scope is None or scope is value.__globals__
            scope = value.__globals__ if is_own else {}
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            parts = [value.__code__, value.__defaults__, value.__kwdefaults__, cells]
            parts.append(is_own or _source(value.__module__))
        case CodeType():
            steps = dis.get_instructions(value)
            used = [scope.get(step.argval) for step in steps if "GLOBAL" in step.opname]
            parts = [used, *(getattr(value, part) for part in _CODE.split())]
        case ModuleType() | type():
            parts = [value.__name__, _source(getattr(value, "__module__", value.__name__))]
        case dict():
            parts = value.items()
        case set() | frozenset():
            parts = sorted(value, key=repr)  # their order is another one in every process
        case list() | tuple():
            parts = value
        case _:
            parts = value.__reduce_ex__(4)
            if isinstance(parts, str):  # a name alone: of what is written in C, or wraps a function
                parts = [parts, getattr(value, "__wrapped__", None) or _source(value.__module__)]
    return [type(value).__name__, *(_plain(part, scope, seen) for part in parts)]


def _source(module: str) -> str:
    """A hash of the file of a module; what was typed into a notebook has none, and is refused."""
    if module in sys.builtin_module_names:
        return module
    return hashlib.sha256(Path(sys.modules[module].__file__ or "").read_bytes()).hexdigest()
