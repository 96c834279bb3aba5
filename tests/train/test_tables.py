"""Texts that come in chunks give the model that they give in memory."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses

from hardmax.text import make_synthetic_corpus
from hardmax.text.text_model import TextModel
from hardmax.train import Settings, fit, fit_tables, fitting

CLASSES = ("one", "two", "three", "four")
QUICK = Settings(C=1.0, gate=0.1, alpha="0", vectors=None)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch, tmp_path):
    monkeypatch.setattr(fitting, "CHARACTERS", 15_000)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


def columns(texts: int = 240, classes: int = 2) -> dict[str, list[str]]:
    corpus = make_synthetic_corpus(
        texts, classes=CLASSES[:classes], words=6, length=20, disturbed=0.4, seed=3
    )
    # The words of the first texts are not those of the last ones, and some are in texts of one
    # chunk alone.
    texts_ = [
        f"{text} Chapter {number // 40} was {number // 7}, long enough."
        for number, text in enumerate(corpus.texts)
    ]
    return {"text": texts_, "label": corpus.labels}


def assert_same(found: TextModel, expected: TextModel) -> None:
    assert found.vocabulary.surfaces == expected.vocabulary.surfaces
    np.testing.assert_array_equal(found.vocabulary.counts, expected.vocabulary.counts)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.bias, expected.bias, rtol=1e-6, atol=1e-6)
    assert found.classes == expected.classes
    assert found.metrics["settings"] == expected.metrics["settings"]
    assert found.modifiers == expected.modifiers


@pytest.mark.parametrize(
    ("options", "classes"),
    [
        ({}, 4),
        ({"ngram_range": (1, 3), "min_df": 2}, 2),
        ({"overlapping": False, "max_features": 60}, 2),
        ({"sentences": 0.3, "exclude": ("was",)}, 2),
    ],
    ids=str,
)
def test_a_folder_gives_the_model_of_its_texts_in_memory(classes, options, tmp_path):
    table = pa.table(columns(classes=classes))
    (tmp_path / "in").mkdir()
    for part, (first, rows) in enumerate([(0, 100), (100, 0), (100, 3), (103, 137)]):
        pq.write_table(table.slice(first, rows), tmp_path / "in" / f"{part}.parquet")
    said: list[str] = []
    settings = replace(QUICK, **options)
    found = fit_tables(tmp_path / "in", settings, progress=said.append)
    assert_same(found, fit(table["text"], table["label"].to_pylist(), settings))
    assert said[0] == f"240 texts, {classes} classes"
    assert not list((tmp_path / "temporary").iterdir())


SOURCES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: (
        frame[first : first + 50] for first in range(0, 250, 50)
    ),  # the last one is empty
    "polars": lambda frame: [pl.DataFrame(frame)],
    "arrow": lambda frame: iter(pa.Table.from_pandas(frame).to_batches(max_chunksize=70)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_tables_one_after_another_are_a_corpus(source):
    frame = pd.DataFrame(columns(200) | {"stars": range(200)})
    given = SOURCES[source](frame)
    if source == "arrow":
        given = (pa.Table.from_batches([each]) for each in given)
    assert_same(fit_tables(given, QUICK), fit(frame["text"], frame["label"], QUICK))


def test_numbers_stay_numbers_and_bad_rows_are_told():
    frame = pd.DataFrame(columns(120))
    frame["label"] = (frame["label"] == "two").astype(int)
    bad = pd.DataFrame({"text": [None, " "], "label": [1, 1]})
    said: list[str] = []
    found = fit_tables([frame, bad], QUICK, progress=said.append)
    assert found.classes == (0, 1)
    assert (
        said[0] == "left out 2 bad rows (table 2 row 1: no text; table 2 row 2: the text is empty)"
    )
    with refuses("table 2 row 1: no text"):
        fit_tables([frame, bad], on_bad_rows="refuse")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "`source` must be a path, or a list of tables .* not int"),
        ([7], "`source` must be"),
        ([], "no text with a label: it has no rows"),
        ([pd.DataFrame({"text": ["a"], "y": [1]})], "only the label 1"),
        ([pd.DataFrame({"a": ["a"], "y": [1]})], "Cannot guess the text column"),
        ("nowhere.parquet", "does not exist"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(source, message, tmp_path):
    with refuses(message):
        fit_tables(source)
    assert not list((tmp_path / "temporary").iterdir())
