"""`text.js` says of texts what Python says; node runs the comparison."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from effort import THOROUGH
from page.write_text_vectors import write_vectors

HERE = Path(__file__).parent


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_classifies_texts_as_python_does(tmp_path: Path) -> None:
    texts, models, least = (30, 100, 3000) if THOROUGH else (5, 60, 200)
    made = write_vectors(tmp_path, texts, models, texts_of_shipped=5 * texts)
    assert made["texts"] > least
    for kind in ("undecided", "level", "attending"):
        assert made[kind] > 5, kind
    run = subprocess.run(
        ["node", "--test", str(HERE / "text.test.js")],
        cwd=HERE.parents[1],
        env=os.environ | {"HARDMAX_VECTORS": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr
    assert f"# {made['texts']} texts" in run.stdout
