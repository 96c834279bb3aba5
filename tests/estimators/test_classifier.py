"""The classifier as scikit-learn asks for it: its parameters, its answers, and what it takes."""

# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import copy
import pickle
from dataclasses import fields

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from estimators.quick import THREE, TWO, UNSEEN, HardmaxClassifier, quick
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refuses
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import hardmax as hm
from hardmax.train import Settings

TEXTS = [*UNSEEN.texts, *THREE.texts[:9], "", "nobody knows these"]
POSITIVE = np.array([label == "positive" for label in TWO.labels])
QUESTIONS = ("predict", "predict_proba", "decision_function")
MAKERS = {
    "numpy objects": lambda values: np.array(values, dtype=object),
    "another index": lambda values: pd.Series(values, index=range(900, 900 - len(values), -1)),
    "categories": lambda values: pd.Series(pd.Categorical(values)),
    "arrow chunks": lambda values: pa.chunked_array([values[:7], values[7:]]),
}
LABELS = [
    np.array(TWO.labels, dtype=object),
    POSITIVE,
    np.where(POSITIVE, 7, -3),
    POSITIVE.astype(np.int8),
    np.where(POSITIVE, 1.0, 0.0),
]


def weights_of(fitted):
    return fitted.model_.weights.tobytes(), fitted.model_.bias.tobytes()


# ---------------------------------------------------------------- an estimator


def test_the_checks_that_scikit_learn_can_run_pass():
    with pytest.warns(SkipTestWarning, match="requires input"):
        results = check_estimator(quick())
    assert {result["status"] for result in results} == {"passed"}


def test_parameters_go_in_and_come_out_unchecked():
    stop_words = ["a", 7]
    made = HardmaxClassifier(ngram_range=-1, stop_words=stop_words)
    assert made.stop_words is stop_words
    assert vars(made) == made.get_params()
    assert made.set_params(gate=0.2) is made
    assert made.get_params()["gate"] == 0.2


def test_all_settings_of_training_are_parameters_with_the_same_defaults():
    defaults = {part.name: part.default for part in fields(Settings)}
    parameters = HardmaxClassifier().get_params()
    assert parameters | defaults == parameters
    assert parameters.keys() - defaults.keys() == {"class_weight", "verbose"}


def test_the_layer_that_reads_can_be_switched_off_in_a_search():
    texts = ["It is good", "It is not good", "It is bad", "It is not bad"]
    labels = ["positive", "negative", "negative", "positive"]
    grid = {"reading": [False, True], "exclude": [(), ("good",)]}
    search = GridSearchCV(quick(gate=0.0, scaling="rarity"), grid, cv=2)
    search.fit(texts * 50, labels * 50)
    assert search.best_params_ == {"reading": True, "exclude": ()}
    assert (
        search.best_score_
        == 1
        > max(
            score
            for score, params in zip(
                search.cv_results_["mean_test_score"], search.cv_results_["params"], strict=True
            )
            if not params["reading"]
        )
    )


def test_a_threshold_can_be_set_by_scikit_learn():
    careful = FixedThresholdClassifier(quick(), threshold=0.999, pos_label="positive")
    careful.fit(TWO.texts, TWO.labels)
    chances = careful.estimator_.predict_proba(UNSEEN.texts)[:, 1]
    assert 0 < (chances >= 0.999).sum() < (chances >= 0.5).sum()
    expected = np.where(chances >= 0.999, "positive", "negative")
    assert_array_equal(careful.predict(UNSEEN.texts), expected)


def test_fit_changes_nothing_that_it_was_given():
    made, given = quick(), [list(TWO.texts), list(TWO.labels), [1.0] * len(TWO.texts)]
    before = copy.deepcopy((made.get_params(), given))
    assert made.fit(*given) is made
    assert (made.get_params(), given) == before
    assert {name for name in vars(made) if not name.endswith("_")} == set(made.get_params())


def test_before_fitting_nothing_is_answered():
    for question in (*QUESTIONS, "explain"):
        with pytest.raises(NotFittedError):
            getattr(quick(), question)("A text.")


def test_a_fit_forgets_the_one_before_and_a_clone_learns_the_same(of_two):
    again = quick().fit(UNSEEN.texts, UNSEEN.labels).fit(TWO.texts, TWO.labels)
    copied = clone(of_two)
    assert not hasattr(copied, "model_")
    assert weights_of(again) == weights_of(copied.fit(TWO.texts, TWO.labels)) == weights_of(of_two)


def test_the_seed_decides():
    seeds = (1, 1, 2, np.random.RandomState(5), np.random.RandomState(5))
    made = [quick(random_state=seed).fit(TWO.texts, TWO.labels) for seed in seeds]
    one, same, other, drawn, alike = map(weights_of, made)
    assert one == same != other
    assert drawn == alike


def test_it_can_be_pickled_and_its_model_saved(of_two, tmp_path):
    restored = pickle.loads(pickle.dumps(of_two))
    of_two.model_.save(tmp_path / "model")
    for again in (restored, hm.load_model(tmp_path / "model")):
        assert_array_equal(again.predict_proba(TEXTS), of_two.predict_proba(TEXTS))
    assert restored.leaders_ == of_two.leaders_


# ---------------------------------------------------------------- answers


@pytest.fixture(params=["of_two", "of_three"])
def fitted(request):
    return request.getfixturevalue(request.param)


def test_it_learns_what_was_planted(of_two, of_three):
    assert of_two.score(UNSEEN.texts, UNSEEN.labels) >= 0.9
    assert of_three.score(THREE.texts, THREE.labels) >= 0.9
    for made, corpora in ((of_two, TWO), (of_three, THREE)):
        planted = {word: label for label, words in corpora.words.items() for word in words}
        assert {planted[leader.word] == leader.lean for leader in made.leaders_[:4]} == {True}


def test_answers_agree_with_one_another(fitted):
    logits, chances = fitted.decision_function(TEXTS), fitted.predict_proba(TEXTS)
    if logits.ndim == 1:
        assert_allclose(chances[:, 1], expit(logits), rtol=1e-12)
    else:
        assert_allclose(chances, softmax(logits, axis=1), rtol=1e-12)
    assert_array_equal(fitted.predict(TEXTS), fitted.classes_[chances.argmax(axis=1)])
    assert fitted.predict([]).shape == (0,)
    assert [fitted.explain(text).label for text in TEXTS] == fitted.predict(TEXTS).tolist()


def test_verbose_tells_every_step_on_stderr(capsys):
    quick(verbose=1).fit(TWO.texts, TWO.labels)
    assert "held-out accuracy" in capsys.readouterr().err


def test_leaders_are_counted_on_the_training_texts(of_two):
    times = [leader.texts for leader in of_two.leaders_]
    assert times == sorted(times, reverse=True)
    first = of_two.leaders_[0].word
    explained = [of_two.explain(text) for text in TWO.texts]
    assert times[0] == sum(first in {own.word for own in why.leaders} for why in explained)


# ---------------------------------------------------------------- texts, labels and weights


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_texts_and_labels_come_in_any_container(make, of_two):
    found = quick().fit(make(TWO.texts), make(TWO.labels))
    assert_array_equal(found.predict_proba(make(UNSEEN.texts)), of_two.predict_proba(UNSEEN.texts))
    assert found.classes_.tolist() == ["negative", "positive"]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels.dtype.name)
def test_labels_come_back_as_what_they_were(labels, of_two):
    found = quick().fit(TWO.texts, labels)
    assert found.predict(TWO.texts).dtype == found.classes_.dtype == labels.dtype
    assert set(found.predict(TWO.texts).tolist()) <= set(labels.tolist())
    assert_array_equal(found.predict_proba(TWO.texts), of_two.predict_proba(TWO.texts))


def test_equal_weights_are_as_none_and_a_text_of_weight_zero_as_if_it_were_not_there(of_two):
    for weights in (np.full(len(TWO.texts), 3), 0.25):
        assert weights_of(quick().fit(TWO.texts, TWO.labels, weights)) == weights_of(of_two)
    kept = np.arange(len(TWO.texts)) % 5 != 0
    some = quick().fit(np.array(TWO.texts)[kept], np.array(TWO.labels)[kept])
    weighed = quick().fit(TWO.texts, TWO.labels, sample_weight=kept.astype(float))
    assert weights_of(some) == weights_of(weighed)
    assert some.leaders_ == weighed.leaders_


def test_weights_of_texts_and_of_classes_count(of_two):
    empty = ["no word that is known: xyzzy"]
    before = of_two.predict_proba(empty)[0, 1]
    weighed = quick().fit(TWO.texts, TWO.labels, np.where(POSITIVE, 20.0, 1.0))
    by_class = quick(class_weight={"positive": 20, "negative": 1}).fit(TWO.texts, TWO.labels)
    assert weights_of(weighed) == weights_of(by_class)
    assert weighed.predict_proba(empty)[0, 1] > before


NAN = float("nan")
WRONG = [
    ([], TWO.labels, {}, "`X` is empty"),
    (pd.DataFrame({"text": TWO.texts}), TWO.labels, {}, "`X` .*struct.*: expected texts"),
    ([1.0] * 80, TWO.labels, {}, "`X` row 0 is of type float"),
    (TWO.texts[:79], TWO.labels, {}, r"inconsistent numbers of samples: \[79, 80\]"),
    (TWO.texts, None, {}, "requires y to be passed, but the target y is None"),
    (TWO.texts, ["good"] * 80, {}, "has only the label"),
    (TWO.texts, [NAN, *POSITIVE[1:].astype(float)], {}, "contains NaN"),
    (TWO.texts, np.linspace(0, 1, 80), {}, "Unknown label type: continuous"),
    (TWO.texts, TWO.labels, {"sample_weight": [1.0] * 79}, "sample_weight.shape == "),
    (TWO.texts, TWO.labels, {"sample_weight": POSITIVE.astype(float)}, "has only the label"),
]


@pytest.mark.parametrize(
    ("texts", "labels", "more", "pattern"), WRONG, ids=[each[3] for each in WRONG]
)
def test_what_it_cannot_learn_from_is_refused(texts, labels, more, pattern):
    made = quick()
    with pytest.raises(ValueError, match=pattern):
        made.fit(texts, labels, **more)
    assert not hasattr(made, "model_")


@pytest.mark.parametrize("name", ["ngram_range", "max_features", "alpha", "gate", "C"])
def test_a_wrong_parameter_is_named_when_it_is_fitted(name):
    with refuses(f"`{name}` must be"):
        quick(**{name: -1}).fit(TWO.texts, TWO.labels)


# ---------------------------------------------------------------- at work


def test_it_works_in_a_pipeline_a_grid_and_a_cross_validation():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    search = GridSearchCV(
        make_pipeline(lower, quick()),
        {"hardmaxclassifier__gate": [0.0, 0.2]},
        cv=2,
        error_score="raise",
        scoring="roc_auc",
    )
    search.fit(TWO.texts, TWO.labels)
    assert search.best_score_ >= 0.9
    model = search.best_estimator_[-1].model_
    assert model.rule.gate == search.best_params_["hardmaxclassifier__gate"]
    assert cross_val_score(quick(), TWO.texts, POSITIVE, cv=3, error_score="raise").mean() >= 0.75
    predicted = cross_val_predict(quick(), np.array(TWO.texts), TWO.labels, cv=2)
    assert set(predicted) == set(TWO.labels)


def test_it_is_asked_class_by_class():
    texts, labels = np.array(THREE.texts), np.array(THREE.labels)
    assert OneVsRestClassifier(quick()).fit(texts, labels).score(texts, labels) >= 0.8
