"""`hardmax page`, `run.save`: what stands in the file that they write."""

import base64
import gzip
import hashlib
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import Command, assert_refused

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


def test_a_newcomer_gets_a_page_that_moves_and_a_model(hardmax: Command, here: Path):
    outcome = hardmax("page")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "wrote page.html\n")
    data = data_of("page.html")
    assert (data["room"], data["version"]) == ("dynamics", hm.__version__)
    assert [model["name"] for model in data["models"]] == ["sentiment-en"]


def test_a_cloud_is_put_in_exactly(hardmax: Command, here: Path):
    (here / "mine.csv").write_text(TABLE)
    assert (
        hardmax(
            "page",
            "--model",
            "none",
            "--cloud",
            "mine.csv",
            "--alpha",
            "0.3",
            "--metric",
            "2,1;1,1",
        ).code
        == 0
    )
    data = data_of("page.html")
    assert "models" not in data
    cloud = data["cloud"]
    tokens = [[Fraction(value) for value in row] for row in cloud["tokens"]]
    assert tokens == [[1, Fraction(1, 10)], [Fraction(1, 3), -1], [-1, Fraction(1, 500)]]
    assert (cloud["alpha"], cloud["metric"], cloud["name"]) == (
        "3/10",
        [["2", "1"], ["1", "1"]],
        "mine",
    )


@pytest.mark.parametrize("run", [True, False])
def test_limits_and_runs_write_their_cloud_exactly(run: bool, tmp_path: Path):
    for tokens in (
        np.random.default_rng(1).normal(size=(9, 3)),
        hm.io.parse_decimals([[0.1, 0.2], [1e-300, 3]]),
    ):
        dynamics = hm.Dynamics("1/3", [[2, 1], [1, 1]] if tokens.shape[1] == 2 else None)
        if run:
            hm.simulate(tokens, dynamics, layers=2).save(tmp_path / "a.html")
        else:
            hm.limit(tokens, dynamics).run.save(tmp_path / "a.html")
        cloud = data_of(tmp_path / "a.html")["cloud"]
        assert (cloud["alpha"], cloud["metric"]) == tuple(dynamics.to_dict().values())
        assert [[Fraction(value) for value in row] for row in cloud["tokens"]] == [
            [Fraction(value) for value in row] for row in tokens.tolist()
        ]


def test_a_multiplicity_is_so_many_tokens(tmp_path: Path):
    weighted = hm.Ragged([[1.0], [2.0], [1.0]], offsets=[0, 3], multiplicities=[2, 1, 1])
    hm.simulate(weighted, hm.Dynamics(1), layers=1)[0].save(tmp_path / "a.html")
    assert data_of(tmp_path / "a.html")["cloud"]["tokens"] == [[1.0], [1.0], [1.0], [2.0]]


def test_models_from_folders_are_packed_with_all_that_decides(
    hardmax: Command, here: Path, with_model: None
):
    assert (
        hardmax(
            "page",
            "--model",
            "sentiment-en",
            "--model",
            "model",
            "--text",
            "-",
            stdin=b"A superb film",
        ).code
        == 0
    )
    data = data_of("page.html")
    assert (data["room"], data["text"]) == ("reviews", "A superb film")
    assert [model["name"] for model in data["models"]] == ["sentiment-en", "model"]
    stream = gzip.decompress(base64.b64decode(data["models"][1]["data"]))
    length = int.from_bytes(stream[:4], "little")
    header, place = json.loads(stream[4 : 4 + length]), 4 + length
    assert [name for name, _ in header["files"]] == [
        "config.json",
        "model.safetensors",
        "vocabulary.txt",
    ]
    for name, size in header["files"]:
        assert stream[place : place + size] == (here / "model" / name).read_bytes()
        place += size
    assert place == len(stream)


def test_what_cannot_be_used_is_refused_in_one_line(hardmax: Command, here: Path):
    (here / "mine.csv").write_text(TABLE)
    (here / "many.json").write_text("[[[1],[2]],[[3]]]")
    np.save(here / "large.npy", np.random.default_rng(1).normal(size=(2001, 2)))
    assert_refused(hardmax("page", "-o", "page.pdf"), "`--output`", ".html")
    assert_refused(hardmax("page", "-o", "nowhere/page.html"), "`--output`", "does not exist")
    assert_refused(hardmax("page", "--model", "none", "--model", "sentiment-en"), "`--model`")
    assert_refused(hardmax("page", "--model", "nowhere"), "`nowhere`")
    assert_refused(hardmax("page", "--cloud", "many.json"), "`--cloud`", "one cloud")
    assert_refused(hardmax("page", "--cloud", "large.npy"), "2,000", "2,001")
    assert_refused(hardmax("page", "--cloud", "mine.csv", "--alpha", "-1"), "`--alpha`")
    for alpha in ("1/5000", "5000", f"0.{'1' * 60}"):  # the page would show another step
        assert_refused(
            hardmax("page", "--cloud", "mine.csv", "--alpha", alpha), "The page takes an alpha"
        )
    assert_refused(hardmax("page", "--cloud", "mine.csv", "--metric", "1"), "`--metric`")
    assert_refused(hardmax("page", "--alpha", "1"), "`--cloud`")
    assert not (here / "page.html").exists()


@pytest.mark.parametrize("alpha", ["1/1000", "0.001", "1000", f"{2**64}/{10**19 - 1}"])
def test_steps_up_to_the_ends_of_what_the_page_takes_are_put_in(alpha: str, tmp_path: Path):
    hm.limit([[1.0], [2.0]], hm.Dynamics(alpha)).run.save(tmp_path / "a.html")
    assert Fraction(data_of(tmp_path / "a.html")["cloud"]["alpha"]) == Fraction(alpha)


@pytest.mark.parametrize("alpha", ["999/1000000", "1000001/1000", f"{2**64}/{10**20 - 1}"])
def test_steps_just_beyond_are_refused(alpha: str, tmp_path: Path):
    expected = "takes an alpha from 0.001 to 1000, of up to 40 characters, not"
    with pytest.raises(hm.InputError, match=expected):
        hm.limit([[1.0], [2.0]], hm.Dynamics(alpha)).run.save(tmp_path / "a.html")


def test_the_page_is_opened_if_asked(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    outcome = hardmax("page", "--model", "none", "-o", "a page.html", "--open")
    assert opened == [(here / "a page.html").resolve().as_uri()]
    assert outcome.err.startswith("wrote a page.html\nNo browser")


def test_sizes_are_what_a_stick_and_an_e_mail_bear():
    plain = len(render({}).encode())
    assert plain <= 130_000


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


def test_modules_can_be_put_into_one_scope():
    """Names at the top are unique, and no text goes over several lines: indentation is left out."""
    seen: dict[str, str] = {}
    for path in sorted((Path(hm.__file__).parent / "page" / "js").glob("*.js")):
        module = path.read_text(encoding="utf-8")
        found = re.findall(
            r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+|[\[{].*?[\]}]) ?",
            module,
            re.M,
        )
        for name in (each for names in found for each in re.findall(r"[A-Za-z_]\w*", names)):
            assert seen.setdefault(name, path.name) == path.name, name
        assert not re.search(r"^import (?!\{[^}]*\} from \"\./\w+\.js\";$)", module, re.M), (
            path.name
        )
        code = re.sub(r"^\s*(//.*|/?\*.*)$", "", module, flags=re.M)
        assert [line for line in code.splitlines() if line.count("`") % 2] == [], path.name
    assert len(seen) > 100


def test_another_layer_is_passed_on_in_the_words_of_the_options(hardmax: Command, here: Path):
    (here / "mine.csv").write_text("id,x,y\n7,1,0.1\n8,1/3,-1\n9,-1,2e-3\n")
    layer = ("--mask", "causal", "--attention", "topk:2", "--value", "1,0;0,1/2")
    page = ("page", "--model", "none", "--cloud", "mine.csv")
    assert_refused(hardmax(*page, *layer), "column 'id' numbers the rows. Use --columns x,y")
    assert hardmax(*page, *layer, "--columns", "x,y").code == 0
    cloud = data_of("page.html")["cloud"]
    assert (cloud["mask"], cloud["attention"]) == ("causal", "topk:2")
    assert (cloud["value"], len(cloud["tokens"][0])) == ([["1", "0"], ["0", "1/2"]], 2)
    assert_refused(hardmax("page", "--mask", "causal"), "name its file with `--cloud`")
    (here / "mask.csv").write_text("1,0,0\n1,1,0\n1,1,1\n")
    refused = hardmax(*page, "--columns", "x,y", "--mask", "mask.csv")
    assert_refused(refused, "The page shows layers", "no `mask` but 'causal'")
