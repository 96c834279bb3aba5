"""The runner of mutations tells what tests notice from what they do not; and its lists fit the source as it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SOURCE = """\
def twice(x):
    return 2 * x

def thrice(x):
    return 3 * x
"""
TESTS = """\
from toy import thrice, twice

def test_twice():
    assert twice(4) == 8

def test_thrice():
    assert thrice(0) == 0
"""
# What is changed, by what, and what comes of it.
LIST = {
    "noticed": ("return 2 * x", "return 2 + x", "killed"),
    "not noticed": ("return 3 * x", "return 4 * x", "survived"),
    "a crash": ("return 2 * x", "import os; os.abort()", "killed by a crash"),
    "gone from the source": ("return 5 * x", "return 6 * x", "error"),
    "in the source twice": ("(x):", "(x, y=0):", "error"),
    "the same": ("return 2 * x", "return 2 * x", "error"),
    "no Python": ("return 2 * x", "return 2 *", "error"),
    "nothing can be imported": ("def twice(x):", "def once(x):", "error"),
}


def run(*options: str, tree: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "mutations" / "run.py"), "--tree", str(tree), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    tree = tmp_path / "toys"
    for name, text in {
        "src/toy/__init__.py": SOURCE,
        "tests/test_toy.py": TESTS,
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "mutations/all.toml": "".join(entry(name, old, new) for name, (old, new, _) in LIST.items()),
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def entry(name: str, old: str, new: str) -> str:
    said = {"name": name, "file": "src/toy/__init__.py", "old": old, "new": new, "why": "a toy"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in said.items()]
    return "\n".join(["[[mutation]]", *lines, 'tests = ["tests/test_toy.py"]', ""])


def test_every_mutation_still_applies():
    told = run("--list")
    assert told.returncode == 0, told.stdout


def test_survivors_are_told_from_those_that_tests_notice(toy: Path):
    told = run("--json", "--jobs", "2", tree=toy)
    results = {result["name"]: result for result in json.loads(told.stdout)["results"]}
    assert {name: result["outcome"] for name, result in results.items()} == {
        name: outcome for name, (*_, outcome) in LIST.items()
    }
    assert results["noticed"]["told"].startswith("tests/test_toy.py::test_twice")
    assert told.returncode == 1
    assert (toy / "src/toy/__init__.py").read_text() == SOURCE


def test_all_is_well_where_every_mutation_is_noticed(toy: Path):
    told = run("--only", ": noticed", tree=toy)
    assert told.returncode == 0, told.stderr
    assert "1 mutations: 1 killed, 0 survived." in told.stdout


def test_tests_that_fail_without_a_mutation_prove_nothing(toy: Path):
    (toy / "tests/test_toy.py").write_text("def test_nothing():\n    assert False\n")
    told = run("--only", ": noticed", tree=toy)
    assert told.returncode == 2
    assert "before anything is broken" in told.stderr
