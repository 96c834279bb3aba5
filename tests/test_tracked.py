"""What git keeps is source: data are read from where they are, and nothing large comes in by accident."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = (
    ".parquet",
    ".arrow",
    ".feather",
    ".npy",
    ".npz",
    ".pt",
    ".pth",
    ".pkl",
    ".pickle",
    ".safetensors",
    ".gz",
    ".zip",
)
KEPT = ("src/hardmax/models/",)  # what ships
LARGEST = 1_500_000  # bytes


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The paths that git keeps, where this is a checkout of it."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git folder, or no git: what is kept cannot be listed")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True)
    if listed.returncode:
        pytest.skip(f"git lists nothing: {listed.stderr.strip()}")
    return [path for path in listed.stdout.split("\0") if (ROOT / path).is_file()]


def test_no_data_are_kept_beside_what_ships(tracked: list[str]):
    assert "pyproject.toml" in tracked
    assert [path for path in tracked if path.lower().endswith(DATA) and not path.startswith(KEPT)] == []


def test_no_file_is_large_but_a_model_that_ships(tracked: list[str]):
    sizes = {path: (ROOT / path).stat().st_size for path in tracked if not path.startswith("src/hardmax/models/")}
    assert [path for path, size in sizes.items() if size > LARGEST] == []
