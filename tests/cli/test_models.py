"""`hardmax models` and `hardmax card`: shipped models, and the cards in their folders."""

import json
from dataclasses import replace

import numpy as np
import pytest
from refusals import refuses
from running import table
from text.small_models import small_model

import hardmax as hm
from hardmax.text import describe
from hardmax.text.shipped import MODELS, available

# Without its type: scipy has no stubs.
binomtest = pytest.importorskip("scipy.stats").binomtest


def test_shipped_models_are_listed_and_one_shows_its_card(hardmax):
    found = {model["name"]: model for model in json.loads(hardmax("models --json").out)["models"]}
    assert list(found) == available()
    assert [row["name"] for row in table(hardmax("models").out)] == available()
    for name, facts in found.items():
        model = hm.load_model(name)
        assert facts["tokens"] == len(model.vocabulary)
        assert (facts["gate"], facts["classes"]) == (model.rule.gate, list(model.classes))
        assert hardmax(f"card {name}").out == f"{describe(model)}\n"


@pytest.mark.parametrize("name", available())
def test_the_card_of_a_shipped_model_says_what_for_on_what_and_how_good(name):
    model, card = hm.load_model(name), (MODELS / name / "README.md").read_text("utf-8")
    assert card == describe(model)
    assert model.metrics["purpose"] in card
    for source in model.metrics["sources"]:
        assert f"| {source['what']} | {source['rights']} |" in card
        assert source["sha256"] in card
    for use in ("intended", "excluded"):
        assert f"| {use} | {model.metrics['uses'][use]} |" in card
    for one in model.metrics["evaluations"]:
        texts, right = np.sum(one["classes"], axis=0).tolist()
        low, high = binomtest(right, texts).proportion_ci(method="wilson")
        share = f"{100 * right / texts:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
        assert f"| {one['on']} | {texts:,} | {share} |" in card
    for keyword in model.keywords(model.classes[0], 3):
        assert f"{keyword.word} {keyword.weight:+.3g}" in card


def test_a_card_says_what_a_model_does_and_what_is_not_known():
    rule = {"gate": 0.25, "neutral_weight": 7, "alpha": "1/2", "scope": 3}
    card = describe(small_model(**rule, metrics={"held_out_accuracy": 0.75}))
    facts = ("negative, positive", "0.25", "plus 7", "alpha = 1/2", "3 words", "not × -0.5")
    for fact in (*facts, "## Trained on\nNot recorded.", "| held out accuracy | 0.75 |"):
        assert fact in card
    assert "Nothing was measured" in describe(small_model())
    assert len(describe(small_model(classes=300))) < 12_000
    for wrong in ([{}], 3, [{"on": "", "classes": [[0, 0]], "log_loss": 0, "calibration": []}]):
        with refuses("evaluations"):
            describe(replace(small_model(), metrics={"evaluations": wrong}))
