"""Metrics, calibration, and what leads: against their definitions and texts made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refuses
from text.small_models import word_model

from hardmax.text.evaluation import calibration_curve, calibration_error, evaluate, evaluate_model
from hardmax.text.interpret import frequent_leaders
from hardmax.text.reading import Modifier
from hardmax.text.vocabulary import Vocabulary

RNG = np.random.default_rng(0)
TABLE = {"great": 12, "awful": -12, "dull": -4, "witty": 0.5, "film": 0, "plot": 0}
MODEL = word_model(TABLE, bias=[-0.01], gate=0.1, modifiers=[Modifier("not", -1)])
ROWS = {"great": [9, 0, 0], "awful": [0, 9, 0], "dull": [0, 3, 1]}
THREE = word_model(ROWS | {"film": [0, 0, 0]})
GOOD = "A great film, the plot: very witty"
BAD = "The awful film and a dull plot, very dull"
TEXTS = [GOOD, BAD, "great great awful", "", "unheard-of words"]


def drawn(texts: int, classes: int):
    """Labels and probabilities: the labels come with exactly those probabilities."""
    chances = RNG.dirichlet(np.ones(classes), size=texts)
    labels = [RNG.choice(classes, p=row) for row in chances]
    return np.array(labels), chances


@pytest.mark.parametrize("classes", [2, 5])
def test_metrics_are_those_of_scikit_learn(classes):
    metrics = pytest.importorskip("sklearn.metrics")
    truth, chances = drawn(500, classes)
    guess, found = chances.argmax(axis=1), evaluate(truth, chances)
    assert found["confusion"] == metrics.confusion_matrix(truth, guess).tolist()
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, guess))
    for name, average in (("f1", None), ("f1_macro", "macro")):
        expected = metrics.f1_score(truth, guess, average=average)
        assert found[name] == pytest.approx(expected)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(truth, chances))


def test_a_class_that_never_occurs_and_a_probability_of_zero_are_no_trouble():
    chances = [[0.0, 1, 0], [0, 0, 1]]
    found = evaluate(np.array([0, 2]), np.array(chances))
    assert found["f1"] == [0, 0, 1]
    assert np.isfinite(found["log_loss"])


def test_true_probabilities_have_almost_no_calibration_error_and_overconfident_ones_do():
    truth, chances = drawn(20_000, 2)
    assert calibration_error(truth, chances) < 0.01
    bold = chances**4
    bold /= bold.sum(axis=1, keepdims=True)
    assert calibration_error(truth, bold) > 0.1
    confidence, right, texts = calibration_curve(truth, chances)
    assert len(texts) == 15
    assert np.ptp(texts) <= 1
    assert (np.diff(confidence) >= 0).all()
    hits = chances.argmax(axis=1) == truth
    assert (right * texts).sum() == pytest.approx(hits.sum())
    *_, few = calibration_curve(truth[:4], chances[:4])
    assert len(few) == 4


def test_a_model_is_measured_by_labels_that_read_as_its_classes():
    texts = [*TEXTS, BAD]
    labels = ["1", "0", "1", "1", "0", "1"]
    found = evaluate_model(replace(MODEL, classes=(0, 1)), texts, labels)
    assert found.truth.tolist() == [int(label) for label in labels]
    assert found.predicted.tolist() == MODEL.analyse(texts).predicted.tolist()
    assert found.metrics["undecided"] == pytest.approx(2 / 6)
    active = (1 + 2 + 2 + 0 + 0 + 2) / 6
    assert found.metrics["active_tokens"] == pytest.approx(active)
    with refuses(r"'other': the model knows negative, positive\."):
        evaluate_model(MODEL, ["great"], ["other"])


# ---------------------------------------------------------------- what leads, keywords


@pytest.mark.parametrize("model", [MODEL, THREE])
def test_leaders_are_what_explanations_say_one_by_one(model):
    told = [model.explain(text) for text in TEXTS]
    found = frequent_leaders(model, model.analyse(TEXTS))
    assert [leader.word for leader in found] == ["awful", "great"]
    for leader in found:
        entries = [entry for each in told for entry in each.leaders]
        own = [entry for entry in entries if entry.word == leader.word]
        assert leader.texts == len(own)
        assert leader.share == len(own) / len(TEXTS)
        assert leader.lean == model.classes[own[0].class_index]
    assert frequent_leaders(model, model.analyse([])) == ()
    first = frequent_leaders(model, model.analyse(TEXTS), 1)
    assert first == found[:1]


def test_keywords_are_the_heaviest_tokens_of_a_class():
    heaviest = [word.word for word in MODEL.keywords("negative", 2)]
    assert heaviest == ["awful", "dull"]
    [first] = MODEL.keywords("positive", 1)
    assert (first.word, first.weight, first.texts) == ("great", 12.0, 2)
    of_three = [word.word for word in THREE.keywords("class 1")]
    assert of_three == ["awful", "dull"]
    with refuses("`label` must be one of"):
        MODEL.keywords("neutral")
    with refuses("`top_k`"):
        MODEL.keywords("positive", 0)


def test_lists_show_no_token_of_fewer_than_three_texts():
    counts = np.array([[9, 0], [2, 0], [0, 3], [1, 1]])
    words = {"awful": -1, "dreadful": -2, "great": 1, "superb": 2}
    model = word_model(words, vocabulary=Vocabulary(list(words), counts))
    assert [word.word for word in model.keywords("positive")] == ["great"]
    leaders = frequent_leaders(model, model.analyse(list(words)))
    assert [leader.word for leader in leaders] == ["awful", "great"]
    rare_ones = Vocabulary(list(words), np.minimum(counts, 1))
    rare = replace(model, vocabulary=rare_ones)
    assert [word.word for word in rare.keywords("positive")] == ["superb"]
