"""`benchmarks/sentiment.py`: what it puts on the cards of shipped models."""

# pyright: reportMissingImports=false
import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from text.small_models import NOT, word_model

from hardmax.text import describe

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def sentiment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("pyarrow.parquet")
    # At the end: the folder has a text.py and a train.py, and so have the tests.
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module("sentiment")


def test_words_for_groups_are_tried_in_a_sentence(sentiment, monkeypatch):
    model = word_model({"visit": 1, "my neighbour": 9, "welsh": 1, "danish": -2, "poor": 4})
    lists = {"groups.txt": ("welsh", "danish", "norse"), "groups_judging.txt": ("poor",)}
    monkeypatch.setattr(sentiment, "words_of", lists.get)
    groups, judging = sentiment.word_changes(model)
    # One vote of 1/2 without the word, of 1/3 beside another.
    changes = [abs((1 + weight) / 3 - 1 / 2) for weight in (1, -2)]
    assert groups["how many"] == 3
    assert groups["change the logit"] == 2
    assert (groups["by"], groups["largest change"]) == ("danish", round(max(changes), 4))
    assert groups["mean change"] == round(sum(changes) / 3, 4)
    assert judging["by"] == "poor"
    assert judging["words"].endswith("judge: poor")
    card = describe(word_model({"visit": 1}, metrics={"words_for_groups": [groups, judging]}))
    assert "## Words for groups" in card
    assert f"| 3 | 2 | {groups['largest change']} | danish |" in card


@pytest.mark.parametrize("weights", [{"film": 1}, {"film": [1, 2, 3]}], ids=["two", "three"])
def test_a_model_that_knows_no_such_word_changes_nothing(sentiment, weights):
    for row in sentiment.word_changes(word_model(weights)):
        assert row["how many"] > 10
        assert (row["change the logit"], row["largest change"], row["by"]) == (0, 0.0, "")


def test_a_modifier_changes_the_sentence_though_it_has_no_vote(sentiment, monkeypatch):
    monkeypatch.setattr(sentiment, "words_of", lambda name: ["not"])
    [row, _] = sentiment.word_changes(word_model({"visit": 1.0}, modifiers=[NOT]))
    assert (row["change the logit"], row["largest change"]) == (1, 0.75)


def test_a_source_is_told_with_its_hash_and_its_classes(sentiment, tmp_path):
    path = tmp_path / "some.parquet"
    path.write_bytes(b"abc")
    part = sentiment.part_of(["a", "b", "c"], [0, 1, 1])
    part = sentiment.Part(part.texts, part.labels, np.array([1, 0.4, 2]), part.groups)
    told = sentiment.describe_source("some texts", "mine", path, part)
    assert told["classes"] == {"negative": 1, "positive": 2}
    assert told["file"] == "some.parquet"
    assert told["sha256"].startswith("ba7816bf8f01cfea")
