"""What scikit-learn asks of every estimator, asked of one that reads texts.

`check_estimator` draws tables of numbers, so that of its checks a single one runs on a classifier
of texts."""

# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import copy
import pickle

import numpy as np
import pytest
from estimators.quick import TWO, UNSEEN, HardmaxClassifier, quick
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

ASKED = ("predict", "predict_proba", "decision_function")
each_question = pytest.mark.parametrize("question", ASKED)


def weights_of(fitted: HardmaxClassifier) -> list[bytes]:
    model = fitted.model_
    return [array.tobytes() for array in (model.weights, model.bias)]


def test_the_checks_that_scikit_learn_can_run_pass():
    with pytest.warns(SkipTestWarning, match="requires input"):
        results = check_estimator(quick())
    assert {result["status"] for result in results} == {"passed"}


def test_making_one_stores_the_parameters_and_does_nothing_else():
    stop_words = ["a", 7]
    made = HardmaxClassifier(ngram_range=-1, stop_words=stop_words)
    assert made.stop_words is stop_words
    assert vars(made) == made.get_params()


def test_parameters_go_in_and_come_out():
    made = quick()
    changes = {
        "ngram_range": (1, 3),
        "gate": 0.2,
        "alpha": "1/2",
        "neutral_weight": 7,
        "verbose": 1,
    }
    assert made.set_params(**changes) is made
    assert made.get_params() == HardmaxClassifier(C=1.0, vectors=None).get_params() | changes
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        made.set_params(depth=3)


def test_fit_returns_itself_and_changes_no_parameter_and_no_input():
    made = quick()
    texts = list(TWO.texts)
    labels = np.array(TWO.labels)
    weights = np.ones(len(TWO.texts))
    before = copy.deepcopy((made.get_params(), texts, labels, weights))
    assert made.fit(texts, labels, weights) is made
    assert made.get_params() == before[0]
    assert texts == before[1]
    assert_array_equal(labels, before[2])
    assert_array_equal(weights, before[3])


def test_only_what_ends_in_an_underscore_is_new_after_fitting(of_two):
    assert {name for name in vars(of_two) if not name.endswith("_")} == set(of_two.get_params())


@each_question
def test_before_fitting_every_question_is_refused(question):
    with pytest.raises(NotFittedError):
        getattr(quick(), question)(["A text."])


def test_before_fitting_there_is_no_score_and_no_explanation():
    with pytest.raises(NotFittedError):
        quick().score(["A text."], ["negative"])
    with pytest.raises(NotFittedError):
        quick().explain("A text.")


@each_question
def test_asking_changes_nothing(question, of_two):
    before, texts = dict(vars(of_two)), list(UNSEEN.texts)
    first = getattr(of_two, question)(texts)
    assert_array_equal(getattr(of_two, question)(texts), first)
    assert texts == UNSEEN.texts
    assert vars(of_two) == before


def test_fitting_on_other_texts_forgets_the_former_ones(of_two):
    turned = quick().fit(UNSEEN.texts, UNSEEN.labels).fit(TWO.texts, TWO.labels)
    assert weights_of(turned) == weights_of(of_two)


def test_a_clone_is_not_fitted_and_learns_the_same(of_two):
    copied = clone(of_two)
    assert not hasattr(copied, "model_")
    assert copied.get_params() == of_two.get_params()
    assert weights_of(copied.fit(TWO.texts, TWO.labels)) == weights_of(of_two)


def test_the_seed_decides():
    first, same, other = (quick(random_state=seed).fit(TWO.texts, TWO.labels) for seed in (1, 1, 2))
    assert weights_of(first) == weights_of(same)
    assert weights_of(first) != weights_of(other)


def test_a_random_state_is_drawn_from():
    first, same = (
        quick(random_state=np.random.RandomState(5)).fit(TWO.texts, TWO.labels) for _ in range(2)
    )
    assert weights_of(first) == weights_of(same)


def test_it_can_be_pickled_before_and_after_fitting(of_two):
    assert pickle.loads(pickle.dumps(quick())).get_params() == quick().get_params()
    restored = pickle.loads(pickle.dumps(of_two))
    assert_array_equal(restored.predict_proba(UNSEEN.texts), of_two.predict_proba(UNSEEN.texts))
    assert restored.leaders_ == of_two.leaders_


def test_its_tags_say_texts_and_classes():
    tags = get_tags(quick())
    assert is_classifier(quick())
    assert (tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array) == (
        True,
        True,
        False,
    )
    assert tags.target_tags.required
    assert tags.classifier_tags is not None
    assert tags.classifier_tags.multi_class
    assert not tags.non_deterministic
