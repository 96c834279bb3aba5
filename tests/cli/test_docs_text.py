"""What docs/text.md shows is what happens."""

import re
import shlex
from pathlib import Path

import pytest
from command import Command

pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("sklearn", reason="the extra `train` is not installed")

PAGE = Path(__file__).parents[2] / "docs" / "text.md"


def test_the_page_runs_from_top_to_bottom(hardmax: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert [kind for kind, _ in blocks].count("sh") == 1
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, str(PAGE), "exec"), names)
            continue
        for line in block.splitlines():
            outcome = hardmax(*shlex.split(line)[1:])
            assert outcome.code == 0, outcome.err
    assert {path.name for path in tmp_path.iterdir()} == {
        *("review.html", "model", "reviews.csv", "unseen.csv", "small.json", "reviews-model"),
        *("reliability.png", "words.png", "why.html"),
    }
