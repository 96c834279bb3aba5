"""`hardmax models`: the list of shipped models, one of them, and its card."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from refusals import refuses
from running import table
from text.small_models import small_model

import hardmax as hm
from hardmax.text.documents import card_page
from hardmax.text.shipped import available
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

# Without its type: scipy has no stubs.
binomtest = pytest.importorskip("scipy.stats").binomtest
MARKUP = "<img src=x onerror=alert(1)>"


def test_every_shipped_model_is_listed_as_it_is(hardmax):
    outcome = hardmax("models --json")
    assert (outcome.code, outcome.err) == (0, "")
    found = {model["name"]: model for model in json.loads(outcome.out)}
    assert "sentiment-en" in found
    for name, facts in found.items():
        model = hm.load_model(name)
        assert facts["tokens"] == len(model.vocabulary)
        assert facts["modifiers"] == len(model.modifiers)
        assert (facts["gate"], facts["classes"]) == (model.rule.gate, list(model.classes))
        assert facts["accuracy"] == model.metrics.get("accuracy", facts["accuracy"])
        assert facts["measured_on"] == model.metrics["evaluations"][0]["on"]
        assert 0.9 < facts["accuracy"] < 0.93
    assert [row["name"] for row in table(hardmax("models").out)] == list(found)


def test_one_model_is_described_by_its_strongest_tokens(hardmax):
    found = json.loads(hardmax("models sentiment-en --json").out)
    printed = hardmax("models sentiment-en").out
    assert f"# tokens: {found['tokens']}\n" in printed
    for label, weights in found["keywords"].items():
        assert f"strongest tokens for {label}\tweight\n" in printed
        assert list(weights) == [
            keyword.word for keyword in hm.load_model("sentiment-en").keywords(label, len(weights))
        ]


def test_a_card_is_a_page_and_a_picture_has_the_weights(hardmax, here):
    outcome = hardmax("models sentiment-en --card card.html --picture weights.svg")
    assert outcome.code == 0
    assert outcome.err == "wrote weights.svg\nwrote card.html\n"
    assert "<svg" in (here / "weights.svg").read_text("utf-8")
    page = (here / "card.html").read_text("utf-8")
    for keyword in hm.load_model("sentiment-en").keywords("positive", 3):
        assert f"<bdi>{keyword.word}</bdi>" in page
    assert "default-src 'none'" in page


def visible(page: str) -> str:
    """The text of a card."""
    shown = re.sub("<[^>]*>", " ", re.sub("(?s)<style>.*?</style>", "", page))
    return " ".join(unescape(shown).split())


@pytest.mark.parametrize("name", available())
def test_the_card_of_a_shipped_model_says_what_for_on_what_and_how_good(name):
    model = hm.load_model(name)
    page = visible(card_page(model, name))
    assert model.metrics["purpose"] in page
    for what, rights in model.metrics["sources"]:
        assert f"{what} {rights}" in page
    for one in model.metrics["evaluations"]:
        texts, right = np.sum(one["classes"], axis=0).tolist()
        low, high = binomtest(right, texts).proportion_ci(method="wilson")
        share = f"{100 * right / texts:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
        assert f"{one['on']} {texts:,} {share}" in page
    for modifier in model.modifiers:
        assert f"{modifier.word} × {modifier.factor:g} {modifier.texts:,}" in page
    for keyword in model.keywords(model.classes[0], 3):
        assert f"{keyword.word} {keyword.weight:+.3g} {keyword.texts:,}" in page
    assert all(part in page for part in ("Known limits", "How to cite", digest(model)))
    assert not re.search("[a-z]_[a-z]", page)  # no raw keys


def test_a_card_says_what_is_not_known():
    model = small_model(metrics={"held_out_accuracy": 0.75})
    page = visible(card_page(model, "mine"))
    assert "How good it is Not measured." in page
    assert "Trained on Not recorded." in page
    assert "held out accuracy 0.75" in page
    for wrong in ([{}], 3, [{"on": "", "classes": [[0, 0]], "log_loss": 0, "calibration": []}]):
        with refuses("evaluations"):
            card_page(replace(model, metrics={"evaluations": wrong}), "mine")


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
