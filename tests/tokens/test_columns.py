"""Columns by name: the chosen ones are the coordinates, and one that numbers the rows is refused,
whatever the tokens came in."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from refusals import refuses

import hardmax as hm
from hardmax._tokens.columns import refuse_row_numbers

HALF = hm.Dynamics("1/2")
TOKENS = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [0.5, 0.25]]
POINTS = {"x": [row[0] for row in TOKENS], "y": [row[1] for row in TOKENS]}
NUMBERS = {
    "id": [7, 3, 9, 2, 4],
    "user_id": ["a", "b", "c", "d", "e"],
    "Index": [5, 5, 5, 5, 5],
    "from 0": [0, 1, 2, 3, 4],
    "from 1": [1.0, 2.0, 3.0, 4.0, 5.0],
}
FORMS = ("csv", "tsv", "parquet", "pandas", "polars", "arrow")


def given_as(form: str, columns: dict[str, Any], folder: Path) -> Any:
    """The columns in a file or data frame."""
    frame = pd.DataFrame(columns)
    path = folder / f"points.{form}"
    match form:
        case "csv" | "tsv":
            frame.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
        case "parquet":
            parquet.write_table(pa.table(columns), path)
        case "pandas":
            return frame
        case "polars":
            return pl.DataFrame(columns)
        case "arrow":
            return pa.table(columns)
    return path


def limits_of(tokens: Any, **how: Any) -> list[list[float]]:
    lim = hm.limit(tokens, HALF, **how)
    if isinstance(lim, hm.results.StreamedLimit):
        return np.concatenate([chunk["limit_points"] for chunk in lim.chunks()]).tolist()
    return lim.limit_points.tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_column_that_numbers_the_rows_is_refused_by_name(form, name, tmp_path):
    tokens = given_as(form, {name: NUMBERS[name], **POINTS}, tmp_path)
    with refuses(f"column '{name}' numbers the rows") as refusal:
        hm.limit(tokens, HALF)
    assert "Use `columns='x,y'` to leave it out, or `columns='all'`" in str(refusal.value)
    expected = hm.limit(TOKENS, HALF).limit_points.tolist()
    for columns in ("x,y", ["x", "y"]):
        assert limits_of(tokens, columns=columns) == expected
    if isinstance(NUMBERS[name][0], str):
        return
    wide = np.column_stack([NUMBERS[name], TOKENS])
    assert limits_of(tokens, columns="all") == hm.limit(wide, HALF).limit_points.tolist()
    swapped = hm.limit(wide[:, [2, 0]], HALF).limit_points.tolist()
    assert limits_of(tokens, columns=["y", name]) == swapped


@pytest.mark.parametrize("form", FORMS)
def test_points_are_read_as_they_are_and_columns_must_exist(form, tmp_path):
    tokens = given_as(form, POINTS, tmp_path)
    assert limits_of(tokens) == hm.limit(TOKENS, HALF).limit_points.tolist()
    wrong: list[Any] = ["x,z", "x,x", "", [], 3]
    for columns in wrong:
        with refuses(r"`columns` must be .* has x, y, not"):
            hm.limit(tokens, HALF, columns=columns)
    with refuses(r"empty|holds no tokens"):
        hm.limit(given_as(form, {"x": [], "y": []}, tmp_path), HALF)


@given(st.lists(st.integers(-2, 6), min_size=1, max_size=6), st.booleans())
@settings(max_examples=examples(2000))
def test_only_0_1_2_and_1_2_3_number_rows_and_only_beside_other_columns(column, as_text):
    counts = len(column) >= 3 and column in (
        list(range(len(column))),
        list(range(1, len(column) + 1)),
    )
    cells = list(map(str, column)) if as_text else column
    try:
        refuse_row_numbers(["t", "x"], [cells, [-1] * len(column)], "`tokens`")
    except hm.InputError:
        assert counts
    else:
        assert not counts
    refuse_row_numbers(["t"], [cells], "`tokens`")
    refuse_row_numbers(["t", "u"], [[0, 1, 2], [1, 2, 3]], "`tokens`")


def test_batches_of_frames_and_every_function_that_takes_tokens_refuse_them():
    frame = pd.DataFrame({"id": range(5), **POINTS})
    for call in (
        lambda: hm.limit([frame, frame], HALF),
        lambda: hm.attended(frame, HALF),
        lambda: hm.step(frame, HALF),
        lambda: hm.simulate(frame, HALF, layers=1),
    ):
        with refuses("column 'id' numbers the rows"):
            call()
    many = hm.simulate([frame, frame], HALF, layers=2, columns="x,y")
    assert many[1].at(2).tolist() == hm.simulate(TOKENS, HALF, layers=2).at(2).tolist()
