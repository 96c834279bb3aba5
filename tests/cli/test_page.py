"""`hardmax page`, `run.save`: what stands in the file that they write."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from refusals import refuses
from running import assert_refused

import hardmax as hm
from hardmax.page import render

TABLE = "x,y\n1,0.1\n1/3,-1\n-1,2e-3\n"


def data_of(path: Path | str) -> dict[str, Any]:
    """The data that a page begins with."""
    found = re.search(
        r'<script type="application/json" id="hm-data">(.*?)</script>',
        Path(path).read_text("utf-8"),
    )
    assert found
    return json.loads(found[1])


def test_a_newcomer_gets_a_page_that_moves_and_a_model(hardmax, here):
    outcome = hardmax("page")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "wrote page.html\n")
    data = data_of("page.html")
    assert (data["room"], data["version"]) == ("dynamics", hm.__version__)
    assert [model["name"] for model in data["models"]] == ["sentiment-en"]


def test_a_page_without_a_model_needs_nothing_but_python(here):
    source = Path(hm.__file__).parents[1]
    line = [sys.executable, "-S", "-m", "hardmax", "page", "--model", "none"]
    surroundings = {"PYTHONPATH": str(source)}
    done = subprocess.run(line, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "wrote page.html\n")
    assert data_of("page.html")["room"] == "dynamics"


def test_a_cloud_is_put_in_exactly(hardmax, here):
    (here / "mine.csv").write_text(TABLE)
    line = "page --model none --cloud mine.csv --alpha 0.3 --metric '2,1;1,1'"
    assert hardmax(line).code == 0
    data = data_of("page.html")
    assert "models" not in data
    cloud = data["cloud"]
    expected = [["1", "1/10"], ["1/3", "-1"], ["-1", "1/500"]]
    assert fractions(cloud["tokens"]) == fractions(expected)
    assert (cloud["alpha"], cloud["name"]) == ("3/10", "mine")
    assert cloud["metric"] == [["2", "1"], ["1", "1"]]


def fractions(rows: list[list[Any]]) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in rows]


def test_models_from_folders_are_packed_with_all_that_decides(hardmax, here, with_model):
    line = "page --model sentiment-en --model model --text -"
    assert hardmax(line, stdin=b"A superb film").code == 0
    data = data_of("page.html")
    assert (data["room"], data["text"]) == ("reviews", "A superb film")
    assert [model["name"] for model in data["models"]] == ["sentiment-en", "model"]
    stream = gzip.decompress(base64.b64decode(data["models"][1]["data"]))
    length = int.from_bytes(stream[:4], "little")
    header, place = json.loads(stream[4 : 4 + length]), 4 + length
    names = [name for name, _ in header["files"]]
    assert names == ["config.json", "model.safetensors", "vocabulary.txt"]
    for name, size in header["files"]:
        assert stream[place : place + size] == (here / "model" / name).read_bytes()
        place += size
    assert place == len(stream)


@pytest.mark.parametrize("alpha", ["999/1000000", f"{2**64}/{10**20 - 1}"])
def test_steps_just_beyond_are_refused(alpha, tmp_path):
    expected = "takes an alpha from 0.001 to 1000, of up to 40 characters, not"
    with refuses(expected):
        hm.limit([[1.0], [2.0]], hm.Dynamics(alpha)).run.save(tmp_path / "a.html")


def test_the_policy_allows_two_scripts_and_no_data_ends_them():
    hostile = "</script><script>alert(1)</script><!--<script>"
    page = render({"text": hostile, "cloud": {"tokens": [["1"]], "name": hostile}}, title=hostile)
    data, packed, loader = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert json.loads(data)["text"] == hostile
    scripts = loader.encode(), gzip.decompress(base64.b64decode(packed))
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts]
    assert f"script-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}'\"" in page
    assert "default-src 'none'" in page
    assert "<title>&lt;/script&gt;" in page


def test_another_layer_is_passed_on_in_the_words_of_the_options(hardmax, here):
    (here / "mine.csv").write_text("id,x,y\n7,1,0.1\n8,1/3,-1\n9,-1,2e-3\n")
    page = "page --model none --cloud mine.csv --columns x,y"
    assert hardmax(f"{page} --mask causal --attention topk:2 --value '1,0;0,1/2'").code == 0
    cloud = data_of("page.html")["cloud"]
    assert (cloud["mask"], cloud["attention"]) == ("causal", "topk:2")
    assert cloud["value"] == [["1", "0"], ["0", "1/2"]]
    assert len(cloud["tokens"][0]) == 2
    (here / "mask.csv").write_text("1,0,0\n1,1,0\n1,1,1\n")
    refused = hardmax(f"{page} --mask mask.csv")
    assert_refused(refused, "The page shows layers", "no `--mask` but 'causal'")
