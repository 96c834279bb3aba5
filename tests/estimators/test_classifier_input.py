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
from refusals import refuses
from sklearn.exceptions import DataConversionWarning

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


BAD_TEXTS: dict[str, tuple[Any, str]] = {
    "no texts": ([], "`X` is empty"),
    "one text": ("A text.", "single text.*list"),
    "a number": (7, "`X` is of type int"),
    "numbers": ([1.0] * 80, "`X` row 0 is of type float"),
    "bytes": ([b"bytes"] * 80, "`X` row 0 is of type bytes"),
    "a missing text": ([*TWO.texts[:79], None], "`X` row 79 is missing"),
    "a NaN": ([float("nan"), *TWO.texts[1:]], "`X` row 0 is missing"),
    "a table": (np.array([TWO.texts, TWO.texts]), r"shape \(2, 80\)"),
    "too few": (TWO.texts[:79], "`y` has 80 labels for 79 texts"),
    "a missing text in Arrow": (pa.array([*TWO.texts[:79], None]), "`X` row 79 is missing"),
    "Arrow numbers": (pa.array(range(80)), "`X` has values of type int64"),
}
BAD_LABELS: dict[str, tuple[Any, str]] = {
    "none": (None, "requires y to be passed, but the target y is None"),
    "too few": (TWO.labels[:-1], "79 labels for 80 texts"),
    "one class": (["good"] * 80, "one class.*at least two"),
    "a NaN": ([float("nan"), *(float(b) for b in BINARY[1:])], "`y` row 0 is missing"),
    "a missing one": ([None, *TWO.labels[1:]], "`y` row 0 is missing"),
    "measurements": (np.linspace(0, 1, 80), "Unknown label type: continuous"),
    "complex numbers": (np.linspace(0, 1, 80) * 1j, "`y` must hold one label"),
    "mixed kinds": ([1, "one"] * 40, "`y` mixes texts with 1"),
    "mixed objects": (np.array([1, "one"] * 40, dtype=object), "cannot be put in order"),
    "a table": (np.zeros((80, 2), dtype=int), "`y` must hold one label"),
}
BAD_WEIGHTS: dict[str, tuple[Any, str]] = {
    "too few": ([1.0] * 79, r"`sample_weight` has shape \(79,\)"),
    "negative": ([-1.0, *[1.0] * 79], "none of them negative"),
    "a NaN": ([float("nan"), *[1.0] * 79], "finite"),
    "words": (["much"] * 80, "must be a finite number"),
    "a class without weight": (BINARY.astype(float), "every text of a class"),
    "no weight at all": (np.zeros(80), "every text of a class"),
}
BAD_PARAMETERS = {
    "ngram_range": ((2, 2), r"`ngram_range` must be \(1, n\)"),
    "max_features": (0, "`max_features` must be a whole number"),
    "alpha": (-1, "`alpha` must be"),
    "gate": (-0.1, "`gate` must be"),
    "C": ("much", "`C` must be"),
    "random_state": ("dice", "`random_state` must be"),
}


def fit_refuses(message: str, *arguments: Any, **parameters: Any) -> None:
    """One line, a ValueError as scikit-learn expects, and nothing half-fitted is left."""
    made = quick(**parameters)
    with refuses(message) as refused:
        made.fit(*arguments)
    assert isinstance(refused.value, ValueError)
    assert not hasattr(made, "model_")


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_bad_texts_are_refused_in_one_line(case):
    texts, message = BAD_TEXTS[case]
    fit_refuses(message, texts, TWO.labels)


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused_in_one_line(case):
    labels, message = BAD_LABELS[case]
    fit_refuses(message, TWO.texts, labels)


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights_are_refused_in_one_line(case):
    weights, message = BAD_WEIGHTS[case]
    fit_refuses(message, TWO.texts, TWO.labels, weights)


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_refused_when_fitting(name):
    value, message = BAD_PARAMETERS[name]
    fit_refuses(message, TWO.texts, TWO.labels, **{name: value})


@pytest.mark.parametrize("case", ["one text", "a number", "numbers", "a missing text", "a table"])
def test_bad_texts_are_refused_when_asking_too(case, of_two):
    texts, message = BAD_TEXTS[case]
    with refuses(message):
        of_two.predict(texts)


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
    fit_refuses(
        "`column` must be the column of the texts in `X`, one of id, review, not None",
        table,
        TWO.labels,
    )
    fit_refuses("one of id, review, not 'text'", table, TWO.labels, column="text")
    # Columns of pandas 2 are read value by value, those of others as Arrow arrays.
    numbers = "`X`, column 'id', (has values of type int64: expected texts|row 0 is of type int)"
    fit_refuses(numbers, table, TWO.labels, column="id")
    fit_refuses(
        "`column` is 'text', but `X` is a list: expected a DataFrame",
        TWO.texts,
        TWO.labels,
        column="text",
    )


def test_an_explanation_is_of_one_text(of_two):
    with refuses("must be a text"):
        of_two.explain(["a", "list"])  # type: ignore[arg-type]
