"""Imports go one way: no circles, whatever the kind of import, and no names of modules that stand above.

import-linter (`make test` runs it) holds the order of layers that pyproject.toml draws; here is what it cannot see.
"""

import ast
import importlib
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def name_of(path: Path) -> str:
    """The module in a file, by its dotted name."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@cache
def trees() -> dict[str, ast.Module]:
    return {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in (SOURCE / "hardmax").rglob("*.py")}


def imports(tree: ast.Module) -> set[str]:
    """The modules of ours that a file imports: at its head, inside functions, or for types alone."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            # What is imported from a package is a module in it, or a name in its own file.
            inside = [f"{node.module}.{name.name}" for name in node.names]
            found |= {name if name in trees() else node.module or "" for name in inside}
    return found & trees().keys()


def test_no_module_imports_itself_by_way_of_others():
    try:
        TopologicalSorter({name: imports(tree) - {name} for name, tree in trees().items()}).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " <- ".join(error.args[1]))


def ranks() -> dict[str, int]:
    """For every module that a contract in pyproject.toml names its layer there, 0 at the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        f"{container}.{name.strip()}": rank
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
        for container in contract["containers"]
        for rank, layer in enumerate(contract["layers"])
        for name in layer.split("|")
    }


def is_above(named: str, module: str) -> bool:
    """Whether the one module stands in a higher layer than the other, in the room that both are in."""
    rank = ranks()
    for there, here in zip(rooms(named), rooms(module), strict=False):
        if there != here:
            return there in rank and here in rank and rank[there] < rank[here]
    return False  # the one is a room that the other is in


def rooms(module: str) -> list[str]:
    """What a module is in, from the package down to the module itself."""
    return [module[:end] for end in range(1, len(module) + 1) if f"{module}."[end] == "."]


def test_above_is_what_the_contracts_say():
    assert is_above("hardmax.estimators", "hardmax.text")
    assert is_above("hardmax.text.shipped", "hardmax.text.files.folder")
    assert not is_above("hardmax.text.shipped", "hardmax.text")  # a room's own file stands for all that is in it
    assert not is_above("hardmax.dynamics", "hardmax.text.model.model")


def test_no_text_names_a_module_that_stands_above():
    """A table of homes, from which names are imported when first used, is imports in other words."""
    texts = {
        (module, node.value)
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in trees()
    }
    assert ("hardmax.text", "hardmax.text.shipped") in texts
    assert [(module, named) for module, named in sorted(texts) if is_above(named, module)] == []


def test_no_name_in_a_table_of_homes_is_a_module_beside_it():
    """Once a module is imported, its package has it by name, and the table is not asked any more."""
    packages = [importlib.import_module(name) for name in ("hardmax", "hardmax.text", "hardmax.train")]
    assert [
        f"{one.__name__}.{name}" for one in packages for name in one._HOMES if f"{one.__name__}.{name}" in trees()
    ] == []
