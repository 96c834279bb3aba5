"""The classifier inside scikit-learn's tools."""

# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import numpy as np
import pytest
from estimators.quick import THREE, TWO, UNSEEN, quick
from numpy.testing import assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer


def shout(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def test_it_ends_a_pipeline(of_two):
    pipeline = make_pipeline(FunctionTransformer(shout), quick()).fit(TWO.texts, TWO.labels)
    assert_array_equal(pipeline.predict_proba(UNSEEN.texts), of_two.predict_proba(UNSEEN.texts))


def test_weights_reach_it_through_a_pipeline():
    weights = np.where(np.arange(len(TWO.texts)) < 40, 1.0, 0.0)
    pipeline = make_pipeline(FunctionTransformer(shout), quick())
    pipeline.fit(TWO.texts, TWO.labels, hardmaxclassifier__sample_weight=weights)
    some = quick().fit(TWO.texts[:40], TWO.labels[:40])
    assert_array_equal(pipeline.predict_proba(UNSEEN.texts), some.predict_proba(UNSEEN.texts))


def test_a_grid_is_searched():
    search = GridSearchCV(
        quick(), {"ngram_range": [(1, 1), (1, 2)], "gate": [0.0, 0.2]}, cv=2, error_score="raise"
    )
    search.fit(TWO.texts, TWO.labels)
    assert search.best_score_ >= 0.75
    assert search.best_estimator_.model_.rule.gate == search.best_params_["gate"]


@pytest.mark.parametrize("labels", [TWO.labels, [label == "positive" for label in TWO.labels]])
def test_it_is_cross_validated(labels):
    assert cross_val_score(quick(), TWO.texts, labels, cv=3, error_score="raise").mean() >= 0.75
    assert set(cross_val_predict(quick(), np.array(TWO.texts), labels, cv=2).tolist()) == set(
        labels
    )


def test_it_is_ranked_by_its_logits():
    scores = cross_val_score(
        quick(), TWO.texts, TWO.labels, cv=2, scoring="roc_auc", error_score="raise"
    )
    assert scores.mean() >= 0.9


def test_it_is_calibrated():
    calibrated = CalibratedClassifierCV(quick(), cv=2).fit(TWO.texts, TWO.labels)
    assert np.mean(calibrated.predict(UNSEEN.texts) == np.array(UNSEEN.labels)) >= 0.75
    np.testing.assert_allclose(calibrated.predict_proba(UNSEEN.texts).sum(axis=1), 1)


def test_it_can_be_asked_class_by_class():
    fitted = OneVsRestClassifier(quick()).fit(np.array(THREE.texts), np.array(THREE.labels))
    assert (fitted.predict(np.array(THREE.texts)) == np.array(THREE.labels)).mean() >= 0.8
