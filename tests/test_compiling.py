"""Compiled kernels are kept for as long as nothing changes that they can reach, in whichever
file."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardmax
from hardmax._kernels.cache import kernel_sources

PACKAGE = Path(hardmax.__file__).parent

CONSTANTS = """
FAR = 10
"""
# Everything through which code of another file gets into a kernel.
HELPERS = """
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hardmax._kernels.compiling import njit
from hardmax.constants import FAR

CONSTANT = 1

@njit
def called(x):
    return x + FAR

@njit(inline="always")
def inlined(x):
    return x + 100

@intrinsic
def generated(typingctx):
    number = ir.Constant(ir.IntType(64), 1000)
    return types.int64(), lambda context, builder, signature, args: number
"""
KERNEL = """
from hardmax._kernels.compiling import njit
from hardmax.helpers import CONSTANT, called, generated, inlined

@njit
def total(x):
    return x + CONSTANT + called(0) + inlined(0) + generated()
"""
PROGRAM = """
import json, sys
from hardmax.small import total
found = [total(x) for x in json.loads(sys.argv[1])]
stats = total.compiled.stats
print(json.dumps([found, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


class Tree:
    """A copy of what compiles kernels, with a small kernel and its helpers, and a cache of its
    own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package = folder, folder / "hardmax"
        shutil.copytree(PACKAGE / "_kernels", self.package / "_kernels")
        (self.package / "_common").mkdir()
        for name in ("__init__.py", "cached.py"):
            shutil.copy(PACKAGE / "_common" / name, self.package / "_common")
        texts = {"__init__": "", "constants": CONSTANTS, "helpers": HELPERS, "small": KERNEL}
        for name, text in texts.items():
            (self.package / f"{name}.py").write_text(text)
        self.settings = {"NUMBA_CACHE_DIR": str(folder / "cached"), "PYTHONPATH": str(folder)}

    def start(self, *arguments: float) -> "subprocess.Popen[str]":
        # Two edits within a second leave bytecode that Python takes for that of the new source.
        command = [sys.executable, "-B", "-c", PROGRAM, json.dumps(arguments)]
        pipe, environment = subprocess.PIPE, os.environ | self.settings
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, *arguments: float) -> tuple[list[float], int, int]:
        """What the kernel returned, how many signatures of it were loaded, and how many
        compiled."""
        return self.answer(self.start(*arguments))

    def answer(self, process: "subprocess.Popen[str]") -> tuple[list[float], int, int]:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        found, loaded, compiled = json.loads(out)
        # People read what takes so long, once, and only then.
        assert err.count("hardmax: compiling kernels") == bool(compiled)
        return found, loaded, compiled

    def edit(self, old: str, new: str, name: str = "helpers") -> None:
        path = self.package / f"{name}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.mark.check
def test_a_kernel_is_compiled_once_and_a_helper_changed_in_another_file_is_seen(tree):
    assert tree.run(0) == ([1111], 0, 1)
    assert tree.run(0) == ([1111], 1, 0)
    for old, new in (("CONSTANT = 1", "CONSTANT = 2"), ("x + 100", "x + 200"), ("1000)", "2000)")):
        tree.edit(old, new)
    tree.edit("FAR = 10", "FAR = 20", "constants")  # of a helper of a helper
    assert tree.run(0) == ([2222], 0, 1)


@pytest.mark.check
def test_kernels_compiled_at_once_by_many_processes_do_not_mix(tree):
    begun = [tree.start(*arguments) for arguments in ([0], [0.5], [0, 0.5])]
    answers = [tree.answer(each)[0] for each in begun]
    assert answers == [[1111], [1111.5], [1111, 1111.5]]
    assert tree.run(0, 0.5) == ([1111, 1111.5], 2, 0)


@pytest.mark.check
def test_where_nothing_can_be_written_kernels_are_compiled_every_time_which_is_said(tree):
    # Files where folders should be: that stops even a superuser.
    home = str(tree.folder / "home")
    for blocked in (home, tree.folder / "cached", tree.package / "__pycache__"):
        Path(blocked).write_text("")
    tree.settings |= {"HOME": home, "XDG_CACHE_HOME": home, "LOCALAPPDATA": home}
    assert tree.run(0) == tree.run(0) == ([1111], 0, 1)


def test_constants_of_kernels_are_defined_in_a_source_that_counts():
    sources = kernel_sources()
    trees = {path: ast.parse(text) for path, text in sources.items()}
    assert len(trees) > 10
    for path, tree in trees.items():
        if "njit" not in sources[path]:
            continue
        for name, home in constants_from(tree):
            # Else a number of a third module would be in a kernel, and not in the digest.
            assert name not in dict(constants_from(trees[home])), (path, name)


def constants_from(tree: ast.Module) -> list[tuple[str, str]]:
    """Constants that a module imports from the package, and the files that they come from."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hardmax."):
            home = f"{'/'.join((node.module or '').split('.')[1:])}.py"
            found += [(each.name, home) for each in node.names if each.name.strip("_").isupper()]
    return found
