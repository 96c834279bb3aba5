"""Metrics, calibration, and what leads: against scikit-learn and texts made by hand."""

import re
from dataclasses import replace

import numpy as np
import pytest
from refusals import refuses
from text.small_models import word_model

import hardmax as hm
from hardmax.text.documents import card_page
from hardmax.text.evaluation import (
    calibration_curve,
    calibration_error,
    evaluate,
    evaluate_model,
)
from hardmax.text.interpret import frequent_leaders
from hardmax.text.reading import Modifier
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

pytest.importorskip("sklearn", reason="the extra `sklearn` is not installed")
RNG = np.random.default_rng(0)
TABLE = {"great": 12, "awful": -12, "dull": -4, "witty": 0.5, "film": 0, "plot": 0}
MODEL = word_model(TABLE, bias=[-0.01], gate=0.1, modifiers=[Modifier("not", -1)])
THREE = word_model({"great": [9, 0, 0], "awful": [0, 9, 0], "dull": [0, 3, 1], "film": [0, 0, 0]})
GOOD = "A great film, the plot: very witty"
BAD = "The awful film and a dull plot, very dull"
TEXTS = [GOOD, BAD, "great great awful", "", "unheard-of words"]


def drawn(texts: int, classes: int):
    """Labels and probabilities: the labels come with exactly those probabilities."""
    chances = RNG.dirichlet(np.ones(classes), size=texts)
    return np.array([RNG.choice(classes, p=row) for row in chances]), chances


# ---------------------------------------------------------------- metrics and calibration


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_metrics_are_those_of_their_definitions(classes):
    truth, chances = drawn(500, classes)
    guess, found = chances.argmax(axis=1), evaluate(truth, chances)
    table = np.array(found["confusion"])
    assert table.sum() == found["texts"] == 500
    assert (
        found["accuracy"]
        == pytest.approx(np.trace(table) / 500)
        == pytest.approx((guess == truth).mean())
    )
    assert found["balanced_accuracy"] == pytest.approx((np.diag(table) / table.sum(axis=1)).mean())
    f1 = 2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1))
    assert found["f1_macro"] == pytest.approx(f1.mean())
    assert found["f1"] == pytest.approx(f1)
    assert found["log_loss"] == pytest.approx(-np.log(chances[np.arange(500), truth]).mean())
    assert found["brier"] == pytest.approx(
        ((chances - np.eye(classes)[truth]) ** 2).sum(axis=1).mean()
    )


def test_a_class_that_never_occurs_is_no_trouble():
    found = evaluate(np.array([0, 0, 2]), np.array([[0.9, 0.1, 0], [0.1, 0.9, 0], [0, 0, 1]]))
    assert (found["accuracy"], found["balanced_accuracy"]) == pytest.approx((2 / 3, 0.75))
    assert np.isfinite(found["log_loss"])


def test_true_probabilities_have_almost_no_calibration_error_and_overconfident_ones_do():
    truth, chances = drawn(20_000, 2)
    assert calibration_error(truth, chances) < 0.01
    assert calibration_error(truth, chances**4 / (chances**4).sum(axis=1, keepdims=True)) > 0.1
    confidence, right, texts = calibration_curve(truth, chances)
    assert len(texts) == 15
    assert texts.max() - texts.min() <= 1
    assert (np.diff(confidence) >= 0).all()
    assert (right * texts).sum() == pytest.approx((chances.argmax(axis=1) == truth).sum())
    assert len(calibration_curve(truth[:4], chances[:4])[2]) == 4


def test_a_model_is_measured_with_undecided_texts_told_apart():
    found = evaluate_model(
        MODEL,
        [*TEXTS, BAD],
        ["positive", "negative", "positive", "positive", "negative", "positive"],
    )
    assert found.decided.tolist() == [True, True, True, False, False, True]
    assert found.metrics["undecided"] == pytest.approx(2 / 6)
    assert found.metrics["accuracy_decided"] == pytest.approx(
        (found.predicted == found.truth)[found.decided].mean()
    )
    assert found.metrics["active_tokens"] == pytest.approx((1 + 2 + 2 + 0 + 0 + 2) / 6)
    page = card_page(MODEL, "model", TEXTS, evaluate_model(MODEL, TEXTS, ["positive"] * 5))
    assert "5 errors" not in page
    assert "mean confidence" in page


def test_the_page_of_a_model_says_how_far_accuracy_is_from_confidence():
    found = evaluate_model(MODEL, TEXTS, ["positive"] * 5)
    page = card_page(MODEL, "model", TEXTS, found)
    said, true, _ = calibration_curve(found.truth, found.probabilities)
    gaps = (100 * (true - said)).tolist()
    assert max(map(abs, gaps)) > 20
    listed = page[page.index("Calibration in numbers") : page.index("</details>")]
    assert [f"{gap:+.1f}" for gap in gaps] == re.findall(r">([+-]\d+\.\d)<", listed)


def test_an_unknown_label_is_refused():
    with refuses(r"'other': the model knows negative, positive\."):
        evaluate_model(MODEL, ["great"], ["other"])


# ---------------------------------------------------------------- what leads, keywords


@pytest.mark.parametrize("model", [MODEL, THREE])
def test_leaders_are_what_explanations_say_one_by_one(model):
    told = [model.explain(text) for text in TEXTS]
    found = frequent_leaders(model, model.analyse(TEXTS))
    assert {leader.word for leader in found} == {own.word for each in told for own in each.leaders}
    for leader in found:
        times = sum(own.word == leader.word for each in told for own in each.leaders)
        assert (leader.texts, leader.share) == (times, times / len(TEXTS))
    assert [leader.word for leader in found] == ["awful", "great"]
    assert [leader.lean for leader in found] == [
        model.classes[1 if model is THREE else 0],
        model.classes[model is MODEL],
    ]
    assert frequent_leaders(model, model.analyse([])) == ()
    assert frequent_leaders(model, model.analyse(TEXTS), 1) == found[:1]


def test_keywords_are_the_heaviest_tokens_of_a_class():
    assert [word.word for word in MODEL.keywords("negative", 2)] == ["awful", "dull"]
    first = MODEL.keywords("positive", 1)[0]
    assert (first.word, first.weight) == ("great", pytest.approx(12.0))
    assert MODEL.keywords("positive", min_df=1000) == []
    own = hm.load_model("sentiment-en")
    assert "awful" in [word.word for word in own.keywords("negative", 200)]
    for call, complaint in (
        (lambda: MODEL.keywords("neutral"), "`label` must be one of"),
        (lambda: MODEL.keywords("positive", 0), "`top_k`"),
    ):
        with refuses(complaint):
            call()


def test_lists_show_no_token_of_fewer_than_three_texts():
    counts = [[9, 0], [2, 0], [0, 3], [1, 1]]
    known = Vocabulary(["awful", "dreadful", "great", "superb"], counts)
    parts = {
        "weights": [[-1.0], [-2.0], [1.0], [2.0]],
        "bias": [0.0],
        "classes": ["negative", "positive"],
    }
    model = TextModel(vocabulary=known, **parts)
    assert [word.word for label in model.classes for word in model.keywords(label)] == [
        "awful",
        "great",
    ]
    assert [word.word for word in model.keywords("positive", min_df=1)] == ["superb", "great"]
    analysis = model.analyse(["awful", "great", "dreadful", "superb"])
    assert {leader.word for leader in frequent_leaders(model, analysis)} == {
        "awful",
        "great",
    }
    rare = replace(model, vocabulary=Vocabulary(known.surfaces, np.minimum(counts, 1)))
    assert [word.word for word in rare.keywords("positive")] == ["superb"]
