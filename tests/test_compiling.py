"""Compiled kernels are kept for as long as no kernel source changes, whichever file it is in."""

import ast
import json
import os
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from warmed import Server, Started

import hardmax
from hardmax._compile import kernel_sources

PACKAGE = Path(hardmax.__file__).parent

# Everything through which code of another file gets into a kernel.
HELPERS = """
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hardmax._compile import njit

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
from hardmax._compile import njit
from hardmax.kernels.helpers import CONSTANT, called, generated, inlined

@njit
def total(x):
    return x + CONSTANT + called(0) + inlined(0) + generated()
"""
# `before` happens between the import of the kernel and its call.
PROGRAM = """
import json, pathlib, shutil
from hardmax.kernels.small import total
{before}
found = [total(x) for x in {arguments}]
stats = total.compiled.stats
print(json.dumps([found, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


class Tree:
    """A copy of the package's own way to compile, with a small kernel and its helpers, and a cache of its own."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.cached, self.server = folder, folder / "cached", server
        self.kernels = folder / "hardmax" / "kernels"
        self.kernels.mkdir(parents=True)
        for name in ("compiling.py", "kernel_cache.py", "kernel_sources.py", "threads.py"):
            shutil.copy(PACKAGE / name, folder / "hardmax")
        for package in (self.kernels.parent, self.kernels):
            (package / "__init__.py").write_text("")
        (self.kernels / "helpers.py").write_text(HELPERS)
        (self.kernels / "small.py").write_text(KERNEL)
        self.settings = {"NUMBA_CACHE_DIR": str(self.cached)}

    def start(self, before: str = "", arguments: str = "[0]") -> Started:
        program = PROGRAM.format(before=before, arguments=arguments)
        # Two edits within a second leave bytecode that Python takes for that of the new source.
        ours = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        return self.server.start(program, os.environ | ours | self.settings, self.folder)

    def run(self, before: str = "", arguments: str = "[0]") -> tuple[list[float], int, int]:
        """What the kernel gave, how many signatures of it were loaded, and how many compiled."""
        return answer_of(self.start(before, arguments))

    def replace(self, old: str, new: str) -> None:
        helpers = self.kernels / "helpers.py"
        text = helpers.read_text()
        assert old in text
        helpers.write_text(text.replace(old, new))

    def files(self) -> list[str]:
        return sorted(path.name for path in self.cached.rglob("*") if path.is_file())

    def folders(self) -> list[Path]:
        return list(self.cached.glob("*/*"))


def answer_of(program: Started) -> tuple[list[float], int, int]:
    code, out, err = program.wait()
    assert code == 0, err
    found, loaded, compiled = json.loads(out)
    # People are told what takes so long, once, and only then.
    assert [line.partition(",")[0] for line in err.splitlines()] == ["hardmax: compiling kernels"] * bool(compiled)
    return found, loaded, compiled


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    with Server() as server:
        yield server


@pytest.fixture
def tree(tmp_path, server) -> Tree:
    return Tree(tmp_path, server)


def test_a_kernel_is_compiled_once_and_then_loaded(tree):
    assert tree.run() == ([1111], 0, 1)
    kept = tree.files()
    assert kept
    assert tree.run() == ([1111], 1, 0)
    assert tree.files() == kept


def test_a_helper_changed_in_another_file_is_seen_and_the_old_code_goes(tree):
    assert tree.run() == ([1111], 0, 1)
    (before,), count = tree.folders(), len(tree.files())
    changes = (("CONSTANT = 1", "CONSTANT = 2"), ("x + 10\n", "x + 20\n"), ("x + 100", "x + 200"), ("1000)", "2000)"))
    for number, (old, new) in enumerate(changes):
        tree.replace(old, new)
        assert tree.run() == ([1111 + int("1111"[-number - 1 :])], 0, 1)
        (after,) = tree.folders()
        assert after != before
        assert len(tree.files()) == count
        before = after


def test_a_new_kernel_source_and_other_ways_to_compile_are_seen_too(tree):
    assert tree.run()[1:] == (0, 1)
    (tree.kernels.parent / "elsewhere").mkdir()
    (tree.kernels.parent / "elsewhere" / "kernels.py").write_text("")
    assert tree.run()[1:] == (0, 1)
    compiling = tree.kernels.parent / "compiling.py"
    compiling.write_text(compiling.read_text().replace("nogil=True", "nogil=False"))
    assert tree.run()[1:] == (0, 1)
    (tree.kernels.parent / "no_kernel.py").write_text("")
    assert tree.run()[1:] == (1, 0)


def test_kernels_compiled_at_once_by_many_processes_do_not_mix(tree):
    arguments = ["[0]", "[0.5]", "[True]", "[0, 0.5]"]
    started = [tree.start(arguments=each) for each in arguments]
    assert [answer_of(process)[0] for process in started] == [[1111], [1111.5], [1112], [1111, 1111.5]]
    assert tree.run(arguments="[0, 0.5, True]") == ([1111, 1111.5, 1112], 3, 0)
    assert all(name.endswith(".nbc") for name in tree.files())


def test_where_nothing_can_be_written_kernels_are_compiled_every_time_which_is_said(tree):
    # Files where folders should be: that stops even a superuser.
    for blocked in (tree.cached, tree.kernels / "__pycache__", tree.folder / "home"):
        blocked.write_text("")
    home = {"HOME": str(tree.folder / "home"), "XDG_CACHE_HOME": str(tree.folder / "home")}
    tree.settings |= home | {"LOCALAPPDATA": home["HOME"], "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(2):
        assert tree.run() == ([1111], 0, 1)


def test_a_folder_that_can_no_longer_be_written_to_does_not_stop_a_kernel(tree):
    lost = f"total.compiled; shutil.rmtree({str(tree.cached)!r}); pathlib.Path({str(tree.cached)!r}).write_text('')"
    assert tree.run(before=lost) == ([1111], 0, 1)


def test_damaged_files_are_compiled_again(tree):
    tree.run()
    for path in tree.cached.rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    assert tree.run() == ([1111], 0, 1)
    assert tree.run() == ([1111], 1, 0)


def test_a_file_with_another_key_is_not_taken(tree):
    tree.run(arguments="[0, 0.5]")
    one, other = tree.cached.rglob("small.total*.nbc")
    shutil.copy(one, other)
    assert tree.run(arguments="[0, 0.5]") == ([1111, 1111.5], 1, 1)


def test_sources_edited_since_they_were_imported_are_not_kept(tree):
    helpers = str(tree.kernels / "helpers.py")
    edit = f"path = pathlib.Path({helpers!r}); path.write_text(path.read_text().replace('T = 1', 'T = 2'))"
    assert tree.run(before=edit) == ([1111], 0, 1)
    assert tree.files() == []
    assert tree.run() == ([1112], 0, 1)


def test_recompiling_forgets_what_was_kept(tree):
    tree.run()
    assert tree.run(before="total(0); total.compiled.recompile()") == ([1111], 1, 1)


def test_kernels_can_be_run_as_plain_python(tree):
    tree.settings["NUMBA_DISABLE_JIT"] = "1"
    called = "from hardmax.kernels.helpers import called as c"
    alone = f"{called}; print(json.dumps([c(1), 0, vars(c.compiled)])); raise SystemExit"
    assert tree.run(before=alone) == (11, 0, {})


def module_name(path: Path) -> str:
    parts = ("hardmax", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    """What a file imports or takes from what it imports: `numba.njit` for `import numba as nb` and `nb.njit`, too."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    modules = {name.asname or name.name: name.name for name in names}
    taken = {
        f"{'.' * node.level}{node.module or ''}.{name.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    reached = {
        f"{modules[node.value.id]}.{node.attr}"
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    }
    return {*modules.values(), *taken, *reached}


@cache
def imported_by_all() -> dict[Path, set[str]]:
    return {path: imported(path) for path in PACKAGE.rglob("*.py")}


SOURCES = set(kernel_sources())
COMPILERS = {"jit", "njit", "jit_module", "vectorize", "guvectorize", "cfunc", "stencil", "generated_jit", "prange"}
EXTENSIONS = {"intrinsic", "overload", "overload_method", "overload_attribute", "register_jitable", "lower_builtin"}


def taken_of_numba(path: Path) -> set[str]:
    return {name.rpartition(".")[2] for name in imported_by_all()[path] if name.startswith("numba.")}


def test_kernels_are_compiled_in_one_way_only():
    assert [path for path in imported_by_all() if taken_of_numba(path) & COMPILERS] == [PACKAGE / "compiling.py"]


def test_whatever_is_compiled_is_a_kernel_source():
    using = {path for path, names in imported_by_all().items() if "hardmax._compile.njit" in names}
    using |= {path for path in imported_by_all() if taken_of_numba(path) & EXTENSIONS}
    assert len(using) > 10
    assert using <= SOURCES


def test_a_kernel_source_imports_nothing_of_ours_but_kernel_sources():
    covered = {module_name(path) for path in SOURCES}
    for path in SOURCES:
        names = imported_by_all()[path]
        assert not [name for name in names if name.startswith(".")], f"{path}: imports are written in full"
        ours = {name for name in names if name.startswith("hardmax")}
        assert not {name for name in ours if not {name, name.rpartition(".")[0]} & covered}, path
