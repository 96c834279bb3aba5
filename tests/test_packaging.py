"""The package as git and pip see it: no data are committed, and dependencies are those that are
imported."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hardmax

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = ("bench", "docs", "mutate", "release", "dev")  # extras of developers
# Where what is installed is not called as it is imported.
MODULES = {
    "python-flint": "flint",
    "pillow": "PIL",
    "scikit-learn": "sklearn",
    "huggingface-hub": "huggingface_hub",
}
DATA = re.compile(
    r"\.(parquet|arrow|feather|npy|npz|pth?|pkl|pickle|safetensors|gz|zip)$", re.IGNORECASE
)
SHIPPED = ("src/hardmax/models/", "src/hardmax/train/english.npz", "tests/samples/")
LARGEST = 1_500_000  # bytes


def imported() -> set[str]:
    """The packages that are imported anywhere in ours, besides the standard library."""
    found: set[str] = set()
    for path in Path(hardmax.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return found - {*sys.stdlib_module_names, "hardmax", "mpl_toolkits", ""}


def test_dependencies_and_extras_are_what_is_imported():
    extras = [
        wanted for name, wanted in PROJECT["optional-dependencies"].items() if name not in OURS
    ]
    needed = [*PROJECT["dependencies"], *(wanted for extra in extras for wanted in extra)]
    names = [re.split(r"[\[<>=]", wanted)[0] for wanted in needed]
    assert {MODULES.get(name, name) for name in names} == imported()


def test_no_data_are_committed_beside_what_ships_and_nothing_large():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git folder, or no git")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True
    ).stdout
    paths = [
        path
        for path in listed.split("\0")
        if (ROOT / path).is_file() and not path.startswith(SHIPPED)
    ]
    assert "pyproject.toml" in paths
    assert [
        path for path in paths if DATA.search(path) or (ROOT / path).stat().st_size > LARGEST
    ] == []
