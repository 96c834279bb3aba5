"""Every link of the table of statements resolves, and every public name is in the API reference."""

import ast
import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

import hardmax

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in (ROOT / "docs" / "theory.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| statement")
]
NAMES = re.findall(
    r"^   (\w[\w.]*)$|^\.\. currentmodule:: (\S+)$",
    (ROOT / "docs" / "api.rst").read_text(),
    flags=re.M,
)


def find(name: str) -> object:
    """The object of a dotted name, whichever of its parts are modules."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[length:], module)
    raise AssertionError(f"{name} cannot be imported")


def why_no_test(source: str, name: str) -> str:
    """Why there is no test of this name that runs and can fail; empty if there is one."""
    module = ast.parse(source)
    functions = [node for node in module.body if getattr(node, "name", "") == name]
    if not name.startswith("test_") or len(functions) != 1:
        return "is missing"
    text = ast.unparse(functions[0])  # with its decorators, without comments
    marks = [ast.unparse(node) for node in module.body if "pytestmark" in ast.unparse(node)]
    if re.search(r"pytest\.(mark\.)?(skip|xfail)\b", "\n".join([text, *marks])):
        return "is skipped"
    # `assert_same(…)` asserts, too.
    can_fail = re.search(r"\bassert (?!True$)|\bassert_\w+\(", text, flags=re.M)
    return "" if can_fail else "asserts nothing"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_function_test_and_picture_of_a_statement_are_there(row):
    statement, functions, tests, picture = row
    if "not available to us" in functions:
        return
    assert statement
    names = re.findall(r"\{py:\w+\}`([^`]+)`", functions)
    assert names
    for name in names:
        if ".torch." in name:
            pytest.importorskip("torch")
        assert find(name) is not None
    ids = re.findall(r"\{test\}`([^`]+)::([^`]+)`", tests)
    assert ids
    for path, name in ids:
        reason = why_no_test((ROOT / "tests" / path).read_text(encoding="utf-8"), name)
        assert not reason, f"{path}::{name} {reason}"
    for example in re.findall(r"\{example\}`([^`]+)`", picture):
        path = ROOT / "examples" / f"{example}.py"
        assert path.exists() or not list(path.parent.glob("plot_*.py")), f"{path} is missing"
    for target in re.findall(r"\]\(([^)#]+)", picture):
        assert (ROOT / "docs" / target).exists()


def test_the_table_has_the_statements_of_the_summary_and_ours():
    claims = " ".join(row[0] for row in ROWS)
    for name in (
        "Definition 1.1",
        "Theorem 1.1",
        *(f"Figure {n}." for n in range(1, 6)),
        "Table 1",
        "Settling lemma",
    ):
        assert name in claims


@pytest.mark.check  # with every extra
def test_every_public_name_has_a_page():
    module, pages = "", set()
    for name, current in NAMES:
        module = current or module
        if name:
            assert find(f"{module}.{name}") is not None
            pages.add(f"{module}.{name}")
    modules = {
        name for name in hardmax.__all__ if type(getattr(hardmax, name)).__name__ == "module"
    }
    public = {f"hardmax.{name}" for name in set(hardmax.__all__) - modules}
    for module in ("text", "train", "sklearn", "geometry"):
        public |= {
            f"hardmax.{module}.{name}"
            for name in importlib.import_module(f"hardmax.{module}").__all__
        }
    # Some names are those of two modules, and have one page.
    shown = {page.rpartition(".")[2] for page in pages}
    assert not {name for name in public - pages if name.rpartition(".")[2] not in shown}
