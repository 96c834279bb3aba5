"""What may be given to the classifier, and one clear line for what may not."""

# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators.quick import TWO, UNSEEN, quick
from numpy.testing import assert_array_equal
from refusals import listed_refusals, refuses
from sklearn.exceptions import DataConversionWarning

from hardmax.sklearn import HardmaxClassifier

MAKERS = {
    "tuple": tuple,
    "numpy objects": lambda values: np.array(values, dtype=object),
    "pandas with another index": lambda values: pd.Series(
        values, index=range(900, 900 - len(values), -1)
    ),
    "categories": lambda values: pd.Series(pd.Categorical(values)),
    "polars": pl.Series,
    "arrow chunks": lambda values: pa.chunked_array([values[:7], values[7:]]),
}

BINARY = np.array([label == "positive" for label in TWO.labels])
LABELS = {
    "objects": np.array(TWO.labels, dtype=object),
    "booleans": BINARY,
    "integers": np.where(BINARY, 7, -3),
    "small integers": BINARY.astype(np.int8),
    "floats": np.where(BINARY, 1.0, 0.0),
    "dates": np.where(BINARY, date(2024, 1, 1), date(2023, 1, 1)),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_texts_and_labels_come_in_any_container(maker, of_two):
    make = MAKERS[maker]
    fitted = quick().fit(make(TWO.texts), make(TWO.labels))
    assert_array_equal(fitted.predict_proba(make(UNSEEN.texts)), of_two.predict_proba(UNSEEN.texts))
    assert fitted.classes_.tolist() == ["negative", "positive"]


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_as_what_they_were(kind, of_two):
    fitted = quick().fit(TWO.texts, LABELS[kind])
    found = fitted.predict(TWO.texts)
    assert found.dtype == fitted.classes_.dtype == LABELS[kind].dtype
    assert set(found.tolist()) <= set(LABELS[kind].tolist())
    assert_array_equal(fitted.predict_proba(TWO.texts), of_two.predict_proba(TWO.texts))
    fitted.model_.explain("A superb film.")


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        fitted = quick().fit(TWO.texts, np.array(TWO.labels)[:, np.newaxis])
    assert fitted.predict(UNSEEN.texts).shape == (len(UNSEEN.texts),)


def test_equal_weights_are_as_none(of_two):
    for weights in (np.ones(len(TWO.texts)), np.full(len(TWO.texts), 3), 0.25):
        fitted = quick().fit(TWO.texts, TWO.labels, sample_weight=weights)
        assert_array_equal(
            fitted.decision_function(UNSEEN.texts), of_two.decision_function(UNSEEN.texts)
        )


def test_a_text_of_weight_zero_is_as_if_it_were_not_there():
    kept = np.arange(len(TWO.texts)) % 5 != 0
    some = quick().fit(
        [text for text, k in zip(TWO.texts, kept, strict=True) if k], np.array(TWO.labels)[kept]
    )
    weighed = quick().fit(TWO.texts, TWO.labels, sample_weight=kept.astype(float))
    assert_array_equal(
        weighed.decision_function(UNSEEN.texts), some.decision_function(UNSEEN.texts)
    )
    assert weighed.leaders_ == some.leaders_


def test_weights_count():
    weights = np.where(BINARY, 20.0, 1.0)
    plain, weighed = (quick().fit(TWO.texts, TWO.labels, w) for w in (None, weights))
    empty = ["no word that is known: xyzzy"]
    assert weighed.predict_proba(empty)[0, 1] > plain.predict_proba(empty)[0, 1]


def fitted(*arguments: Any, **parameters: Any) -> HardmaxClassifier:
    """A classifier, of which nothing half-fitted is left if it is refused."""
    made = quick(**parameters)
    try:
        return made.fit(*arguments)
    except ValueError:  # as scikit-learn expects
        assert not hasattr(made, "model_")
        raise


TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("kind", TABLES)
def test_texts_are_a_column_of_a_table(kind, of_two):
    table = TABLES[kind]({"id": list(range(80)), "review": TWO.texts})
    for made, given in (
        (quick(column="review"), table),
        (quick(), TABLES[kind]({"review": TWO.texts})),
    ):
        assert_array_equal(
            made.fit(given, TWO.labels).predict_proba(given), of_two.predict_proba(TWO.texts)
        )
    with refuses("`column` must be the column of the texts in `X`, one of id, review, not None"):
        fitted(table, TWO.labels)
    with refuses("one of id, review, not 'text'"):
        fitted(table, TWO.labels, column="text")
    # Columns of pandas 2 are read value by value, those of others as Arrow arrays.
    numbers = "`X`, column 'id', (has values of type int64: expected texts|row 0 is of type int)"
    with refuses(numbers):
        fitted(table, TWO.labels, column="id")


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
