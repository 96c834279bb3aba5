"""What a fitted classifier answers, and that its answers agree with one another."""

# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false

import numpy as np
import pytest
from estimators.quick import THREE, TWO, UNSEEN, HardmaxClassifier, quick
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax

TEXTS = [*UNSEEN.texts, *THREE.texts[:9], "", "nobody knows these"]


@pytest.fixture(params=["of_two", "of_three"])
def fitted(request):
    return request.getfixturevalue(request.param)


def test_it_learns_what_was_planted(of_two, of_three):
    assert of_two.score(UNSEEN.texts, UNSEEN.labels) >= 0.9
    assert of_three.score(THREE.texts, THREE.labels) >= 0.9


def test_shapes_are_those_of_texts_and_classes(of_two, of_three):
    assert of_two.predict_proba(TEXTS).shape == (len(TEXTS), 2)
    assert of_two.decision_function(TEXTS).shape == (len(TEXTS),)
    assert (
        of_three.predict_proba(TEXTS).shape
        == of_three.decision_function(TEXTS).shape
        == (len(TEXTS), 3)
    )
    assert of_two.predict([]).shape == (0,)


def test_probabilities_follow_from_the_logits(of_two, of_three):
    logits = of_two.decision_function(TEXTS)
    assert_allclose(of_two.predict_proba(TEXTS)[:, 1], expit(logits), rtol=1e-12)
    assert_allclose(
        of_three.predict_proba(TEXTS),
        softmax(of_three.decision_function(TEXTS), axis=1),
        rtol=1e-12,
    )


def test_an_explanation_adds_up_to_the_logit(fitted):
    logits = fitted.decision_function(TEXTS).reshape(len(TEXTS), -1)
    for text, row in zip(TEXTS, logits, strict=True):
        told = fitted.explain(text)
        assert told.logit == (
            row[0] if len(row) == 1 else row[list(fitted.classes_).index(told.label)]
        )
        assert told.logit == pytest.approx(
            told.bias + sum(share.vote for share in told.ledger), abs=1e-12
        )
        assert told.label == fitted.predict([text])[0]


def test_the_most_frequent_leaders_are_planted_words_and_lean_the_right_way(fitted):
    planted = {
        word: label
        for corpus in (TWO, THREE)
        for label, words in corpus.words.items()
        for word in words
    }
    frequent = fitted.leaders_[:4]
    assert [leader.lean for leader in frequent] == [planted[leader.word] for leader in frequent]
    assert len(frequent) == 4


def test_leaders_are_counted_on_the_training_texts(of_two):
    first = of_two.leaders_[0]
    times = sum(
        first.word in {leader.word for leader in of_two.explain(text).leaders} for text in TWO.texts
    )
    assert (first.texts, first.share) == (times, times / len(TWO.texts))
    assert [leader.texts for leader in of_two.leaders_] == sorted(
        (one.texts for one in of_two.leaders_), reverse=True
    )


def test_parameters_are_those_of_the_model():
    model = quick(gate=0.25, alpha="1/2", neutral_weight=9).fit(TWO.texts, TWO.labels).model_
    assert (model.rule.gate, model.rule.alpha, model.rule.neutral_weight) == (0.25, "1/2", 9)
    assert quick(alpha="0").fit(TWO.texts, TWO.labels).model_.rule.alpha == "0"


def test_a_saved_classifier_is_a_classifier_again(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = HardmaxClassifier.load(tmp_path / "model")
    assert_array_equal(again.predict(TEXTS), fitted.predict(TEXTS))
    assert_array_equal(again.predict_log_proba(TEXTS), np.log(fitted.predict_proba(TEXTS)))


def test_its_tokens_are_a_table(fitted):
    table = fitted.to_pandas()
    assert table["token"].tolist() == fitted.get_feature_names_out().tolist()
    assert len(table.columns) == 1 + len(fitted.classes_) + (
        1 if len(fitted.classes_) == 2 else len(fitted.classes_)
    )


def test_a_rare_class_gets_weight():
    texts, labels = TWO.texts, np.array(TWO.labels)
    rare = np.flatnonzero(labels == "positive")[5:]
    few = np.setdiff1d(np.arange(len(texts)), rare)
    plain, balanced = (
        quick(class_weight=weight).fit([texts[row] for row in few], labels[few])
        for weight in (None, "balanced")
    )
    # Alone, the rarity of the class speaks against it; with weights it does not.
    assert plain.model_.bias[0] < -1 < balanced.model_.bias[0]


def test_verbose_tells_every_step_on_stderr(capsys):
    quick(verbose=1).fit(TWO.texts, TWO.labels)
    out, err = capsys.readouterr()
    assert out == ""
    assert "held-out accuracy" in err
