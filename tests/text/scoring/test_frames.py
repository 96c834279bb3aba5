"""`model.score_table`: a table of any library gives one of the same kind, its own columns untouched."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from text.small_models import random_texts, small_model

from hardmax._validation import InputError

MODEL = small_model()
TEXTS = [f"{text} film" for text in random_texts(20)]
COLUMNS = {"id": list(range(20)), "text": TEXTS}
OURS = ["label", "probability", "margin", "leaders", "counting", "votes", "abstain", "error"]


@pytest.fixture(scope="module")
def expected_rows() -> list[dict]:
    """Answers for TEXTS, by the row."""
    return MODEL.score_table(pa.table(COLUMNS)).select(OURS).to_pylist()


def plain(table) -> list[dict]:
    rows = table.to_pylist() if isinstance(table, pa.Table) else pl.DataFrame(table).to_dicts()
    return [{name: list(cell) if name in OURS[3:6] else cell for name, cell in row.items()} for row in rows]


@pytest.mark.parametrize(
    "table",
    [
        pa.table(COLUMNS),
        pl.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[3, 3, *range(18)]),
        pd.DataFrame(COLUMNS).astype({"text": object}),
        pd.DataFrame(COLUMNS).astype({"text": "category"}),
        pa.table(COLUMNS).set_column(1, "text", pa.array(TEXTS).dictionary_encode()),
    ],
    ids=[
        "arrow",
        "polars",
        "pandas",
        "pandas, rows by one name",
        "pandas, objects",
        "pandas, categories",
        "dictionary",
    ],
)
def test_a_table_gives_a_table_of_its_kind(table, expected_rows: list[dict]):
    found = MODEL.score_table(table)
    assert type(found) is type(table)
    if isinstance(found, pd.DataFrame):
        assert found.index.equals(table.index)
        assert found[["id", "text"]].equals(table)
    for row, expected, text in zip(plain(found), expected_rows, TEXTS, strict=True):
        assert row["text"] == text
        for name in OURS[:-1]:
            assert row[name] == expected[name]


def test_bad_rows_have_nothing_but_an_error_or_are_left_out_or_refused():
    table = pd.DataFrame({"text": ["great", None, 7, " ", "dull"], "n": range(5)}, index=list("abcde"), dtype=object)
    found = MODEL.score_table(table)
    assert found["error"].tolist()[1:4] == ["no text", "the text is a int", "the text is empty"]
    assert found["label"].isna().tolist() == [False, True, True, True, False]
    left = MODEL.score_table(table, on_bad_rows="skip")
    assert left.index.tolist() == ["a", "e"]
    assert left["n"].tolist() == [0, 4]
    assert left["probability"].tolist() == found["probability"].dropna().tolist()
    with pytest.raises(InputError, match="row 1: no text"):
        MODEL.score_table(table, on_bad_rows="refuse")


def test_rows_below_the_probability_asked_for_are_marked():
    found = MODEL.score_table(pa.table(COLUMNS), abstain=0.8).to_pydict()
    assert found["abstain"] == [probability < 0.8 for probability in found["probability"]]
    assert set(found["abstain"]) == {True, False}


def test_names_that_are_taken_get_a_beginning():
    found = MODEL.score_table(pl.DataFrame({"review": ["great"], "label": ["mine"]}))
    assert found.columns[:3] == ["review", "label", "hardmax_label"]
    assert MODEL.score_table(pa.table({"text": ["great"]}), prefix="x_").column_names[1] == "x_label"


@pytest.mark.parametrize(
    "table", [pa.table({"text": pa.array([], pa.string())}), pl.DataFrame({"text": ["great"]})[:0]]
)
def test_no_rows_are_no_rows(table):
    assert len(MODEL.score_table(table)) == 0


def test_what_is_no_table_is_refused():
    with pytest.raises(
        InputError, match=r"`table` must be a table of pandas, polars or pyarrow, .* not builtins's list"
    ):
        MODEL.score_table(["great"])
    with pytest.raises(InputError, match=r"polars's LazyFrame\. Collect it first\."):
        MODEL.score_table(pl.DataFrame(COLUMNS).lazy())
    with pytest.raises(InputError, match=r"`text`: which column of `table` is it\? There are a, b"):
        MODEL.score_table(pa.table({"a": ["great"], "b": ["dull"]}))
    with pytest.raises(InputError, match="`text` is 'c', but `table` has the columns a"):
        MODEL.score_table(pa.table({"a": ["great"]}), text="c")
    for wrong in (1.5, -0.1, True, "0.5", float("nan")):
        with pytest.raises(InputError, match="`abstain` must be a probability from 0 to 1"):
            MODEL.score_table(pa.table(COLUMNS), abstain=wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="`on_bad_rows` must be one of"):
        MODEL.score_table(pa.table(COLUMNS), on_bad_rows="drop")
