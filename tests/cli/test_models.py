"""`hardmax models`: the list of shipped models, one of them, and its card."""

import json
from pathlib import Path

import numpy as np
import pytest
from running import Command, assert_refused

import hardmax as hm
from hardmax.text.documents import card_page
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

MARKUP = "<img src=x onerror=alert(1)>"


def test_every_shipped_model_is_listed_as_it_is(hardmax: Command):
    outcome = hardmax("models", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    found = {model["name"]: model for model in json.loads(outcome.out)}
    assert "sentiment-en" in found
    for name, facts in found.items():
        model = hm.load_model(name)
        assert (facts["tokens"], facts["modifiers"]) == (
            len(model.vocabulary),
            len(model.modifiers),
        )
        assert (facts["gate"], facts["classes"]) == (model.rule.gate, list(model.classes))
        assert facts["accuracy"] == model.metrics.get("accuracy")
    lines = hardmax("models").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(found)


def test_one_model_is_described_by_its_strongest_tokens(hardmax: Command):
    found = json.loads(hardmax("models", "sentiment-en", "--json").out)
    printed = hardmax("models", "sentiment-en").out
    assert f"# tokens: {found['tokens']}\n" in printed
    for label, weights in found["keywords"].items():
        assert f"strongest tokens for {label}\tweight\n" in printed
        assert list(weights) == [
            keyword.word for keyword in hm.load_model("sentiment-en").keywords(label, len(weights))
        ]


def test_a_card_is_a_page_and_a_picture_has_the_weights(hardmax: Command, here: Path):
    outcome = hardmax("models", "sentiment-en", "--card", "card.html", "--picture", "weights.svg")
    assert (outcome.code, outcome.out, outcome.err) == (
        0,
        "",
        "wrote weights.svg\nwrote card.html\n",
    )
    assert "<svg" in (here / "weights.svg").read_text("utf-8")
    page = (here / "card.html").read_text("utf-8")
    for keyword in hm.load_model("sentiment-en").keywords("positive", 3):
        assert f"<bdi>{keyword.word}</bdi>" in page
    assert "default-src 'none'" in page


def test_nothing_of_a_model_reaches_the_card_unescaped():
    model = TextModel(
        vocabulary=Vocabulary(["great", "awful"], [[0, 9], [9, 0]]),
        weights=np.array([[2.0], [-2.0]]),
        bias=np.array([0.0]),
        classes=(MARKUP, "other"),
        metrics={MARKUP: MARKUP, "edited": {MARKUP: MARKUP}},
    )
    page = card_page(model, MARKUP)
    assert "<img" not in page
    assert "&lt;img" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sentiment-en", "--card", "card.pdf"), "must end in .html or .htm"),
        (("--card", "card.html"), "`--card` need a model"),
        (("nowhere",), "nowhere"),
    ],
)
def test_bad_input_is_refused(hardmax: Command, here: Path, arguments: tuple[str, ...], words: str):
    assert_refused(hardmax("models", *arguments), words)
