"""What pyproject.toml says of the package is true: what it needs, what its extras bring, and what goes into a wheel."""

import ast
import importlib
import importlib.metadata
import importlib.resources
import re
import sys
import tomllib
from pathlib import Path

import hardmax

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
OURS = ("bench", "mutate", "release", "dev")
EXTRAS = {name: wanted for name, wanted in PROJECT["optional-dependencies"].items() if name not in OURS}
# Where what is installed is not called as it is imported.
MODULES = {"python-flint": "flint", "scikit-learn": "sklearn", "huggingface-hub": "huggingface_hub"}
PART_OF = {"mpl_toolkits": "matplotlib"}


def module_of(requirement: str) -> str:
    name = re.match(r"[\w-]+", requirement)
    assert name is not None
    return MODULES.get(name[0], name[0])


def imported() -> set[str]:
    """The packages that are imported anywhere in ours, besides the standard library and ours."""
    found: set[str] = set()
    for path in Path(hardmax.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return {PART_OF.get(name, name) for name in found} - {*sys.stdlib_module_names, "hardmax", ""}


def test_an_extra_brings_nothing_that_nobody_imports():
    needed = [*PROJECT["dependencies"], *(wanted for extra in EXTRAS.values() for wanted in extra)]
    assert {module_of(wanted) for wanted in needed} == imported()


def test_what_hand_written_code_for_llvm_was_tried_with_is_what_is_asked_for():
    # `engines/cpu/kernels/tiles.py` is in LLVM's own language: a later minor version may read it otherwise.
    asked = {module_of(wanted): wanted for wanted in PROJECT["dependencies"]}
    for name in ("numba", "llvmlite"):
        bounds = re.fullmatch(rf"{name}>=(\d+)\.(\d+),<(\d+)\.(\d+)", asked[name])
        assert bounds is not None, f"{asked[name]} has no upper bound"
        lowest, beyond = tuple(map(int, bounds.groups()[:2])), tuple(map(int, bounds.groups()[2:]))
        here = tuple(map(int, importlib.metadata.version(name).split(".")[:2]))
        assert lowest <= here < beyond
        assert beyond[1] - lowest[1] <= 2


def test_the_types_are_told_of():
    assert importlib.resources.files("hardmax").joinpath("py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_command_is_where_it_is_said_to_be():
    module, _, name = PROJECT["scripts"]["hardmax"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_the_changelog_is_about_this_version():
    (newest,) = re.findall(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[:1]
    version, _, state = hardmax.__version__.partition(".dev")
    assert newest == (version, " (unreleased)" if state else "")


def test_a_wheel_holds_every_file_of_the_package():
    # Of the packages named here hatchling takes every file, but those that git ignores.
    assert SETTINGS["tool"]["hatch"]["build"] == {"targets": {"wheel": {"packages": ["src/hardmax"]}}}
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    shipped = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert ROOT / "src" / "hardmax" / "py.typed" in shipped
    assert [path for path in shipped for pattern in ignored if path.match(pattern.strip("/"))] == []
