"""Names of a package that are imported when they are first used."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Names = list[str]


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], Names], Names]:
    """`__getattr__`, `__dir__` and `__all__` of a package: the stub beside its `__init__.py` says
    where each name is defined."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    homes = {
        name.name: f"{package}.{node.module or name.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        is_module = home.__name__ == f"{package}.{name}"
        found = home if is_module else getattr(home, name)
        setattr(sys.modules[package], name, found)
        return found

    names = sorted(homes)
    return get, names.copy, names
