"""Compiled kernels are kept for as long as nothing changes that they can reach, in whichever
file."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hardmax
from hardmax._kernels.compiling import IMPORTED, kernel_sources

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
UNRELATED = """
from hardmax._kernels.compiling import njit

@njit
def total(x):
    return -x
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
EDIT = """
path = pathlib.Path({path!r})
path.write_text(path.read_text().replace({old!r}, {new!r}))
"""
# numba takes seconds to be imported and to compile its first function, which is done once, in a
# parent. It forks itself for the programs of each line that it reads, which run at once, and tells
# how they ended.
PARENT = """
import json, os, sys, traceback
import numba
numba.njit(lambda x: x + 1)(1)

def run(program, folder, settings):
    for name in ("out", "err"):
        file = os.open(f"{folder}/{os.getpid()}.{name}", os.O_CREAT | os.O_WRONLY)
        os.dup2(file, 2 if name == "err" else 1)
    os.chdir(folder)
    os.environ.update(settings)
    numba.core.config.reload_config()
    sys.path.insert(0, folder)
    # Two edits within a second leave bytecode that Python takes for that of the new source.
    sys.dont_write_bytecode = True
    exec(program, {})
    sys.stdout.flush()

for line in sys.stdin:
    programs, folder, settings = json.loads(line)
    children = []
    for program in programs:
        children.append(os.fork())
        if not children[-1]:
            try:
                run(program, folder, settings)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
    print(json.dumps([(child, os.waitpid(child, 0)[1]) for child in children]), flush=True)
"""


@pytest.fixture(scope="module")
def parent():
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as started:
        yield started


class Tree:
    """A copy of what compiles kernels, with a small kernel and its helpers, and a cache of its
    own."""

    def __init__(self, folder: Path, parent: "subprocess.Popen[str]") -> None:
        self.folder, self.cached, self.package = folder, folder / "cached", folder / "hardmax"
        self.parent = parent
        self.package.mkdir()
        shutil.copytree(PACKAGE / "_kernels", self.package / "_kernels")
        (self.package / "_common").mkdir()
        for name in ("__init__.py", "cached.py"):
            shutil.copy(PACKAGE / "_common" / name, self.package / "_common")
        texts = {"__init__": "", "constants": CONSTANTS, "helpers": HELPERS, "small": KERNEL}
        for name, text in (texts | {"unrelated": UNRELATED}).items():
            (self.package / f"{name}.py").write_text(text)
        self.settings = {"NUMBA_CACHE_DIR": str(self.cached)}

    def run(self, before: str = "", arguments: str = "[0]") -> tuple[list[float], int, int]:
        """What the kernel returned, how many signatures of it were loaded, and how many
        compiled."""
        (answer,) = self.run_at_once(before, [arguments])
        return answer

    def run_at_once(self, before: str, arguments: list[str]) -> list[tuple[list[float], int, int]]:
        """The same, of a process for each of these arguments."""
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        programs = [PROGRAM.format(before=before, arguments=each) for each in arguments]
        print(
            json.dumps([programs, str(self.folder), self.settings]),
            file=self.parent.stdin,
            flush=True,
        )
        children = json.loads(self.parent.stdout.readline())
        return [self.answer_of(*child) for child in children]

    def answer_of(self, child: int, status: int) -> tuple[list[float], int, int]:
        out, err = ((self.folder / f"{child}.{name}").read_text() for name in ("out", "err"))
        assert status == 0, err
        found, loaded, compiled = json.loads(out)
        # People read what takes so long, once, and only then.
        assert [line.partition(",")[0] for line in err.splitlines()] == [
            "hardmax: compiling kernels"
        ] * bool(compiled)
        return found, loaded, compiled

    def edit(self, old: str, new: str, name: str = "helpers") -> None:
        path = self.package / f"{name}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def kept(self) -> list[str]:
        """The modules of the folders of compiled kernels."""
        return sorted(folder.name.split("-")[1] for folder in self.cached.glob("*/hardmax-*"))


@pytest.fixture
def tree(tmp_path, parent):
    return Tree(tmp_path, parent)


def test_a_kernel_is_compiled_once_and_a_helper_changed_in_another_file_is_seen(tree):
    assert tree.run() == ([1111], 0, 1)
    tree.edit("CONSTANT = 1", "CONSTANT = 2")
    assert tree.run() == ([1112], 0, 1)
    tree.edit("FAR = 10", "FAR = 20", "constants")  # of a helper of a helper
    assert tree.run() == ([1122], 0, 1)
    for old, new in (("x + FAR", "x - FAR"), ("x + 100", "x + 200"), ("1000)", "2000)")):
        tree.edit(old, new)
    assert tree.run() == ([2182], 0, 1)
    assert tree.kept() == ["small"]  # the old code goes


def test_a_file_that_a_kernel_cannot_reach_does_not_matter_to_it(tree):
    unrelated = "from hardmax.unrelated import total"
    assert tree.run(before=unrelated) == ([0], 0, 1)
    assert tree.run() == ([1111], 0, 1)
    # It is edited before it is imported: what was compiled is not taken for what is there now.
    edit = EDIT.format(path=str(tree.package / "unrelated.py"), old="-x", new="-x - 1")
    assert tree.run(before=edit + unrelated) == ([-1], 0, 1)
    assert tree.run() == ([1111], 1, 0)
    assert tree.kept() == ["small", "unrelated"]  # saving one leaves those of others


def test_kernels_compiled_at_once_by_many_processes_do_not_mix(tree):
    answers = tree.run_at_once("", ["[0]", "[0.5]", "[0, 0.5]"])
    assert [found for found, _, _ in answers] == [[1111], [1111.5], [1111, 1111.5]]
    assert tree.run(arguments="[0, 0.5]") == ([1111, 1111.5], 2, 0)


def test_where_nothing_can_be_written_kernels_are_compiled_every_time_which_is_said(tree):
    # Files where folders should be: that stops even a superuser.
    for blocked in (tree.cached, tree.package / "__pycache__", tree.folder / "home"):
        blocked.write_text("")
    home = str(tree.folder / "home")
    tree.settings |= {"HOME": home, "XDG_CACHE_HOME": home, "LOCALAPPDATA": home}
    assert tree.run() == tree.run() == ([1111], 0, 1)


def test_a_folder_that_can_no_longer_be_written_to_does_not_stop_a_kernel(tree):
    cached = str(tree.cached)
    lost = f"total.compiled; shutil.rmtree({cached!r}); pathlib.Path({cached!r}).write_text('')"
    assert tree.run(before=lost) == ([1111], 0, 1)


def test_damaged_files_are_compiled_again(tree):
    tree.run()
    for kind in ("nbi", "nbc"):
        for path in tree.cached.rglob(f"*.{kind}"):
            path.write_bytes(path.read_bytes()[:50])
        assert tree.run() == ([1111], 0, 1)


def test_sources_edited_since_they_were_imported_are_not_kept(tree):
    edit = EDIT.format(path=str(tree.package / "helpers.py"), old="T = 1", new="T = 2")
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
    trees = {path: ast.parse((PACKAGE / path).read_text()) for path in kernel_sources()}
    kernels = {path for path in trees if IMPORTED[path].has_kernels}
    assert len(kernels) > 10
    for path in kernels:
        for node in trees[path].body:
            if not isinstance(node, ast.ImportFrom):
                continue
            module = node.module or "hardmax"
            if not module.startswith("hardmax"):
                continue
            # A module imported as such, or a name that its module has from a third one, would not
            # be in the digest.
            home = "/".join(module.split(".")[1:]) + ".py"
            assert home in trees, (path, module)
            names = {name.name for name in node.names}
            assert home in kernels or names <= defined_in(trees[home]), (path, home)
            # Nor would a third module's number that a constant is computed from.
            used = {name for name in names if name.strip("_").isupper()}
            assert home in kernels or not used & computed_from_others(trees[home]), (path, home)


def computed_from_others(tree: ast.Module) -> set[str]:
    """Constants whose values come from names that the module imports from the package."""
    imported = {
        name.asname or name.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hardmax")
        for name in node.names
    }
    tainted = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            tainted |= names if names & (imported | tainted) else set()
    return tainted
