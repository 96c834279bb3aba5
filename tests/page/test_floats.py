"""The floats and clouds of the page's Dynamics room in node, and its named clouds against those of
Python."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import hardmax as hm

HERE = Path(__file__).parent
CLOUD = HERE.parents[1] / "src" / "hardmax" / "page" / "js" / "cloud.js"
NAMED = {
    "triangle": hm.clouds.triangle,
    "emerging": hm.clouds.emerging_leader,
    "square": hm.clouds.square,
    "nonleader": hm.clouds.nonleader_clusters,
    "rotated": lambda: hm.clouds.rotated(hm.clouds.nonleader_clusters()),
}

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")


@pytest.mark.skipif(
    not (HERE / "node_modules").is_dir(), reason="needs npm install --prefix tests/page"
)
def test_floats_and_clouds():
    done = subprocess.run(
        ["node", "--test", "floats.test.js"], cwd=HERE, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


@pytest.mark.parametrize("name", NAMED)
def test_named_clouds_are_those_of_python(name):
    script = f"import {{ cloudOf }} from {json.dumps(str(CLOUD))}\n"
    script += f"console.log(JSON.stringify(cloudOf('{name}')))"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    page = hm.limit(json.loads(done.stdout), hm.Dynamics("1/2")).run.at(0, exact=True)
    python = hm.limit(NAMED[name](), hm.Dynamics("1/2")).run.at(0, exact=True)
    assert page.tolist() == python.tolist()
