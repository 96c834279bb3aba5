"""The page's exact arithmetic, its checker and its other layers in node, over vectors that Python
writes (more if HARDMAX_THOROUGH)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from effort import THOROUGH

HERE = Path(__file__).parent
SIZES = (
    ["--clouds=1000", "--problems=1500", "--mutations=3000", "--costly"]
    if THOROUGH
    else ["--clouds=50", "--problems=80", "--mutations=300"]
)
LAYERS = [] if THOROUGH else ["--clouds=200", "--softmax=60"]

pytestmark = pytest.mark.skipif(
    not shutil.which("node") or not (HERE / "node_modules").is_dir(),
    reason="needs node and its packages: npm install --prefix tests/page",
)


def run(*command: str | Path, **environment: str) -> None:
    done = subprocess.run(
        command, cwd=HERE, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def test_exact_limits_and_verdicts_are_those_of_python(tmp_path: Path):
    run(sys.executable, HERE / "write_vectors.py", tmp_path, *SIZES)
    run("node", "--test", "exact.test.js", "verify.test.js", HARDMAX_VECTORS=str(tmp_path))


def test_other_layers_are_those_of_python(tmp_path: Path):
    run(sys.executable, HERE / "write_layers.py", tmp_path / "layers.json", *LAYERS)
    run("node", "--test", "layers.test.js", HARDMAX_LAYERS=str(tmp_path / "layers.json"))


def test_types(pytestconfig: pytest.Config):
    seen = pytestconfig.rootpath / ".pytest_cache/tsc/tsbuildinfo"  # files that have not changed
    command = ["node", "node_modules/typescript/bin/tsc", "--project", ".", "--incremental"]
    run(*command, "--tsBuildInfoFile", seen)
