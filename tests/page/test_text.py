"""`text.js` says of texts what Python says; node runs the comparison."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from page.write_text_vectors import write_vectors

HERE = Path(__file__).parent


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_classifies_texts_as_python_does(tmp_path: Path) -> None:
    made = write_vectors(tmp_path, texts=8, models=30, texts_of_shipped=60)
    assert made["undecided"] > 50
    assert made["by_integers"] > 50, "texts whose ties floats cannot decide"
    run = subprocess.run(
        ["node", "--test", str(HERE / "text.test.js")],
        cwd=HERE.parents[1],
        env=os.environ | {"HARDMAX_VECTORS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr
    assert f"# {made['texts']} texts" in run.stdout
