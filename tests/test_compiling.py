"""Compiled kernels are kept for as long as no kernel source changes, whichever file it is in."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardmax
from hardmax._kernels.compiling import kernel_sources

PACKAGE = Path(hardmax.__file__).parent

# Everything through which code of another file gets into a kernel.
HELPERS = """
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hardmax._kernels.compiling import njit

CONSTANT = 1

@njit
def called(x):
    return x + 10

@njit(inline="always")
def inlined(x):
    return x + 100

@intrinsic
def generated(typingctx):
    return types.int64(), lambda context, builder, signature, args: ir.Constant(ir.IntType(64), 1000)
"""
KERNEL = """
from hardmax._kernels.compiling import njit
from hardmax.helpers import CONSTANT, called, generated, inlined

@njit
def total(x):
    return x + CONSTANT + called(0) + inlined(0) + generated()
"""
# `before` happens between the import of the kernel and its call.
PROGRAM = """
import json, pathlib, shutil
from hardmax.small import total
{before}
found = [total(x) for x in {arguments}]
stats = total.compiled.stats
print(json.dumps([found, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


class Tree:
    """A copy of what compiles kernels, with a small kernel and its helpers, and a cache of its
    own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cached, self.package = folder, folder / "cached", folder / "hardmax"
        self.package.mkdir()
        shutil.copytree(PACKAGE / "_kernels", self.package / "_kernels")
        (self.package / "_common").mkdir()
        for name in ("__init__.py", "cached.py"):
            shutil.copy(PACKAGE / "_common" / name, self.package / "_common")
        for name, text in {"__init__": "", "helpers": HELPERS, "small": KERNEL}.items():
            (self.package / f"{name}.py").write_text(text)
        # Two edits within a second leave bytecode that Python takes for that of the new source.
        ours = {
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(self.cached),
        }
        self.settings = os.environ | ours

    def start(self, before: str = "", arguments: str = "[0]") -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", PROGRAM.format(before=before, arguments=arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, env=self.settings, stdout=pipe, stderr=pipe, text=True, cwd=self.folder
        )

    def run(self, before: str = "", arguments: str = "[0]") -> tuple[list[float], int, int]:
        """What the kernel returned, how many signatures of it were loaded, and how many
        compiled."""
        return answer_of(self.start(before, arguments))

    def edit(self, old: str, new: str) -> None:
        helpers = self.package / "helpers.py"
        assert old in helpers.read_text()
        helpers.write_text(helpers.read_text().replace(old, new))


def answer_of(program: "subprocess.Popen[str]") -> tuple[list[float], int, int]:
    out, err = program.communicate()
    assert program.returncode == 0, err
    found, loaded, compiled = json.loads(out)
    # People read what takes so long, once, and only then.
    assert [line.partition(",")[0] for line in err.splitlines()] == [
        "hardmax: compiling kernels"
    ] * bool(compiled)
    return found, loaded, compiled


@pytest.fixture
def tree(tmp_path) -> Tree:
    return Tree(tmp_path)


def test_a_kernel_is_compiled_once_and_a_helper_changed_in_another_file_is_seen(tree):
    assert tree.run() == ([1111], 0, 1)
    assert tree.run() == ([1111], 1, 0)
    tree.edit("CONSTANT = 1", "CONSTANT = 2")
    assert tree.run() == ([1112], 0, 1)
    for old, new in (("x + 10\n", "x + 20\n"), ("x + 100", "x + 200"), ("1000)", "2000)")):
        tree.edit(old, new)
    assert tree.run() == ([2222], 0, 1)
    assert len(list(tree.cached.glob("*/hardmax-*"))) == 1  # the old code goes


def test_kernels_compiled_at_once_by_many_processes_do_not_mix(tree):
    arguments = ["[0]", "[0.5]", "[0, 0.5]"]
    started = [tree.start(arguments=each) for each in arguments]
    assert [answer_of(process)[0] for process in started] == [[1111], [1111.5], [1111, 1111.5]]
    assert tree.run(arguments="[0, 0.5]") == ([1111, 1111.5], 2, 0)


def test_where_nothing_can_be_written_kernels_are_compiled_every_time_which_is_said(tree):
    # Files where folders should be: that stops even a superuser.
    for blocked in (tree.cached, tree.package / "__pycache__", tree.folder / "home"):
        blocked.write_text("")
    home = str(tree.folder / "home")
    tree.settings |= {"HOME": home, "XDG_CACHE_HOME": home, "LOCALAPPDATA": home}
    assert tree.run() == tree.run() == ([1111], 0, 1)


def test_a_folder_that_can_no_longer_be_written_to_does_not_stop_a_kernel(tree):
    lost = f"total.compiled; shutil.rmtree({str(tree.cached)!r}); pathlib.Path({str(tree.cached)!r}).write_text('')"
    assert tree.run(before=lost) == ([1111], 0, 1)


def test_damaged_files_are_compiled_again(tree):
    tree.run()
    for kind in ("nbi", "nbc"):
        for path in tree.cached.rglob(f"*.{kind}"):
            path.write_bytes(path.read_bytes()[:50])
        assert tree.run() == ([1111], 0, 1)
    assert tree.run() == ([1111], 1, 0)


def test_sources_edited_since_they_were_imported_are_not_kept(tree):
    helpers = str(tree.package / "helpers.py")
    edit = f"path = pathlib.Path({helpers!r}); path.write_text(path.read_text().replace('T = 1', 'T = 2'))"
    assert tree.run(before=edit) == ([1111], 0, 1)
    assert not [path for path in tree.cached.rglob("*") if path.is_file()]
    assert tree.run() == ([1112], 0, 1)


def defined_in(tree: ast.Module) -> set[str]:
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return names | {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_whatever_a_kernel_may_use_is_defined_in_a_kernel_source():
    trees = {path: ast.parse(path.read_text()) for path in kernel_sources()}
    kernels = {path for path in trees if "njit" in path.read_text()} - {
        PACKAGE / "_kernels/compiling.py"
    }
    assert len(kernels) > 10
    for path in kernels:
        for node in trees[path].body:
            if isinstance(node, ast.ImportFrom) and (node.module or "hardmax").startswith(
                "hardmax"
            ):
                # A module imported as such, or a name that its module has from a third one, would
                # not be in the digest.
                home = PACKAGE.joinpath(*(node.module or "").split(".")[1:]).with_suffix(".py")
                assert home in trees, (path, node.module)
                assert home in kernels or {name.name for name in node.names} <= defined_in(
                    trees[home]
                ), (path, home)
