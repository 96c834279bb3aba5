"""Tables scored, in memory and in files: what `explain` says of each text, to the bit, also after
an interruption."""

import csv
import json
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import listed_refusals, refuses
from text.small_models import random_texts, small_model
from text.test_corpora import write_rows

from hardmax.text import score_files
from hardmax.text.score_files import ScoringReport, score_file
from hardmax.text.scoring import ScoreOptions
from hardmax.text.text_model import TextModel

MODEL = small_model()
TEXTS = [f"{text} film" for text in random_texts(50)]
COLUMNS = {"id": list(range(50)), "text": TEXTS}
OURS = [
    "label",
    "decided",
    "probability",
    "margin",
    "leaders",
    "active",
    "votes",
    "factors",
    "abstain",
    "error",
]
KINDS = (".parquet", ".csv", ".tsv", ".jsonl")


def score(
    source: Path | str, target: Path, *, force: bool = False, model: TextModel = MODEL, **options
) -> ScoringReport:
    return score_file(model, str(source), target, ScoreOptions(**options), force=force)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows in a file or folder; lists in CSV are JSON."""
    if path.is_dir() or path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))
    parsed = {*OURS, "id"} - {"label", "error"}
    return [
        {
            name: json.loads(cell) if name in parsed and cell else cell or None
            for name, cell in row.items()
        }
        for row in rows
    ]


@pytest.fixture
def reviews(tmp_path):
    return write_rows(tmp_path, "reviews.parquet", COLUMNS)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr("hardmax.text.tables._ROWS", 3)
    monkeypatch.setattr(score_files, "PART_ROWS", 9)


# ---------------------------------------------------------------- answers


MODELS = {
    "two classes": small_model(),
    "four classes": small_model(classes=4),
    "gathered": small_model(alpha="1/2", gate=0.2, neutral_weight=9),
    "a gate": small_model(classes=3, gate=0.5),
    "no modifiers": small_model(modifiers=()),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_answers_are_those_of_explanations(model):
    for text, row in zip(
        TEXTS, model.score_table(pa.table({"text": TEXTS})).to_pylist(), strict=True
    ):
        told = model.explain(text)
        others = [p for label, p in told.probabilities.items() if label != told.label]
        assert row == {
            "text": text,
            "label": told.label,
            "decided": told.decided,
            "probability": told.probability,
            "margin": told.probability - max(others),
            "leaders": [share.word for share in told.leaders],
            "active": [vote.word for vote in told.active],
            "votes": [vote.vote for vote in told.active],
            "factors": [vote.factor for vote in told.active],
            "abstain": False,
            "error": None,
        }


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (("no", "yes"), pa.string()),
        ((0, 1), pa.int64()),
        ((False, True), pa.bool_()),
        (("1", 1), pa.string()),
    ],
)
def test_labels_keep_their_type(classes, kind):
    model = replace(MODEL, classes=classes)
    assert model.score_table(pa.table({"text": ["great film"]})).schema.field("label").type == kind


# ---------------------------------------------------------------- tables in memory


@pytest.mark.parametrize(
    "table",
    [
        pa.table(COLUMNS),
        pl.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[3, 3, *range(48)]),
        pd.DataFrame(COLUMNS).astype({"text": object}),
        pd.DataFrame(COLUMNS).astype({"text": "category"}),
        pa.table(COLUMNS).set_column(1, "text", pa.array(TEXTS).dictionary_encode()),
    ],
    ids=[
        "arrow",
        "polars",
        "pandas",
        "pandas, rows by one name",
        "objects",
        "categories",
        "dictionary",
    ],
)
def test_a_table_gives_a_table_of_its_kind(table):
    found = MODEL.score_table(table)
    assert type(found) is type(table)
    if isinstance(found, pd.DataFrame):
        assert found.index.equals(table.index)
        assert found[["id", "text"]].equals(table)
    expected = MODEL.score_table(pa.table(COLUMNS)).to_pylist()
    rows = found.to_pylist() if isinstance(found, pa.Table) else pl.DataFrame(found).to_dicts()
    for row, wanted in zip(rows, expected, strict=True):
        lists = {name: list(row[name]) for name in ("leaders", "active", "votes", "factors")}
        assert {**row, **lists, "error": None} == wanted


def test_bad_rows_have_nothing_but_an_error_or_are_left_out_or_refused():
    table = pd.DataFrame(
        {"text": ["great", None, 7, " ", "dull"], "n": range(5)}, index=list("abcde"), dtype=object
    )
    found = MODEL.score_table(table)
    assert found["error"].tolist()[1:4] == [
        "no text",
        "the text is of type int",
        "the text is empty",
    ]
    assert found["label"].isna().tolist() == [False, True, True, True, False]
    left = MODEL.score_table(table, on_bad_rows="skip")
    assert left.index.tolist() == ["a", "e"]
    assert left["n"].tolist() == [0, 4]
    assert left["probability"].tolist() == found["probability"].dropna().tolist()
    with refuses("row 1: no text"):
        MODEL.score_table(table, on_bad_rows="refuse")
    assert len(MODEL.score_table(pl.DataFrame({"text": ["great"]})[:0])) == 0


def test_options_of_a_table():
    found = MODEL.score_table(pa.table(COLUMNS), abstain=0.6).to_pydict()
    assert found["abstain"] == [probability < 0.6 for probability in found["probability"]]
    assert set(found["abstain"]) == {True, False}
    renamed = MODEL.score_table(pl.DataFrame({"review": ["great"], "label": ["mine"]}))
    assert renamed.columns[:3] == ["review", "label", "hardmax_label"]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_read_and_written(kind, tmp_path, small_parts):
    expected = MODEL.score_table(pa.table(COLUMNS)).to_pylist()
    given = write_rows(tmp_path, f"in{kind}", COLUMNS)
    for out in (*KINDS, ""):
        report = score(given, tmp_path / f"out{out}")
        found = read_rows(tmp_path / f"out{out}")
        assert [{**row, "id": int(row["id"])} for row in found] == expected
        assert (report.rows, report.bad, sum(report.labels.values())) == (50, 0, 50)
    assert not list(tmp_path.glob("*.parts"))
    assert len(list((tmp_path / "out").iterdir())) == 6


def test_values_of_a_table_stay_what_they_are(tmp_path):
    (tmp_path / "in.jsonl").write_text(
        '{"text": "great", "n": 1, "x": 1, "ok": true, "mixed": 1, "deep": {"a": [1]}, '
        '"big": 9999999999999999999999}\n'
        '{"text": "dull film", "n": 2, "x": 0.5, "mixed": "a", "late": "b\\ud800"}\n'
    )
    score(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    kinds = {each.name: str(each.type) for each in pq.read_schema(tmp_path / "out.parquet")}
    assert {kinds["n"], kinds["x"], kinds["ok"], kinds["deep"]} == {
        "int64",
        "double",
        "bool",
        "string",
    }
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    first, second = read_rows(tmp_path / "out.jsonl")
    assert first["deep"] == {"a": [1]}
    assert first["mixed"] == 1
    assert first["big"] == 9999999999999999999999
    assert (second["deep"], second["mixed"], second["late"]) == (None, "a", "b\ufffd")
    (tmp_path / "in.csv").write_bytes(
        b'\xef\xbb\xbf;code;text\r\n0;007;"a ""great""\r\nfilm; yes"\r\n1;1.50;dull film\r\n'
    )
    score(tmp_path / "in.csv", tmp_path / "csv.parquet")
    found = read_rows(tmp_path / "csv.parquet")
    assert [(row[""], row["code"]) for row in found] == [("0", "007"), ("1", "1.50")]
    assert found[0]["text"] == 'a "great"\r\nfilm; yes'


def test_numbers_of_json_are_kept_exactly(tmp_path):
    columns = {
        "text": ['"great"', '"dull"', '"dull film"'],
        "wide": ["9223372036854775808", "2.5", "null"],
        "mixed": ["1", "9007199254740993", "0.1"],
        "whole": ["9007199254740993", "1", "null"],
        "half": ["1", "0.5", "null"],
        "deep": ['{"a": 9223372036854775808}', "[0.5]", "null"],
    }
    rows = ([f'"{name}": {cells[n]}' for name, cells in columns.items()] for n in range(3))
    lines = ["{" + ", ".join(row) + "}" for row in rows]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    rows = read_rows(tmp_path / "out.jsonl")
    assert [row["wide"] for row in rows] == [2**63, 2.5, None]
    assert [row["mixed"] for row in rows] == [1, 2**53 + 1, 0.1]
    assert [row["whole"] for row in rows] == [2**53 + 1, 1, None]
    assert [row["half"] for row in rows] == [1, 0.5, None]
    assert [row["deep"] for row in rows] == [{"a": 2**63}, [0.5], None]
    score(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    kinds = {column.name: str(column.type) for column in pq.read_schema(tmp_path / "out.parquet")}
    assert [kinds[name] for name in ("wide", "mixed")] == ["string", "string"]
    assert [kinds[name] for name in ("whole", "half")] == ["int64", "double"]


@pytest.mark.parametrize("number", ["1e400", "-1e999999999", "1e99999999999999999999", "1" * 5000])
def test_a_number_that_is_too_large_is_named_by_its_line(number, tmp_path):
    lines = '{"text": "great", "n": 1}\n{"text": "dull", "n": NUMBER}\n'
    (tmp_path / "in.jsonl").write_text(lines.replace("NUMBER", number))
    report = score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert report.bad_rows == [("line 2", "a number that is too large")]
    assert [row["n"] for row in read_rows(tmp_path / "out.jsonl")] == [1, None]


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        ("NaN", "NaN is not JSON"),
        ("[1, -Infinity]", "-Infinity is not JSON"),
        ('{"a": 1, "a": 2}', "a key appears twice in one object"),
        ('1, "n": 2', "a key appears twice in one object"),
    ],
)
def test_what_readers_of_json_differ_about_is_a_bad_row(cell, fault, tmp_path):
    (tmp_path / "in.jsonl").write_text(f'{{"text": "great"}}\n{{"text": "dull", "n": {cell}}}\n')
    assert score(tmp_path / "in.jsonl", tmp_path / "out.jsonl").bad_rows == [("line 2", fault)]


def test_infinite_numbers_of_parquet_are_written_to_text_files(tmp_path):
    some = [[float("-inf"), float("nan"), 0.5]]
    write_rows(tmp_path, "in.parquet", {"text": ["great"], "x": [float("inf")], "some": some})
    for name, x in (("out.jsonl", "Infinity"), ("out.csv", "inf")):
        score(tmp_path / "in.parquet", tmp_path / name)
        (row,) = read_rows(tmp_path / name)
        nested = json.loads(row["some"]) if name == "out.csv" else row["some"]
        assert (row["x"], nested) == (x, ["-Infinity", None, 0.5])


@pytest.mark.parametrize("suffix", [".TSV", ".PARQUET"])
def test_the_case_of_a_suffix_does_not_matter(suffix, tmp_path):
    given = write_rows(tmp_path, f"in{suffix.lower()}", COLUMNS).rename(tmp_path / f"In{suffix}")
    score(given, tmp_path / f"out{suffix}")
    written = (tmp_path / f"out{suffix}").rename(tmp_path / f"again{suffix.lower()}")
    assert [(int(row["id"]), row["text"]) for row in read_rows(written)] == list(enumerate(TEXTS))


def test_columns_of_parquet_keep_their_types(tmp_path):
    table = pa.table({
        "text": pa.array(["great film", "dull film"], pa.large_string()),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "when": pa.array([0, 1], pa.timestamp("ms")),
        "tags": pa.array([["x"], None], pa.list_(pa.string())),
        "half": pa.array([float("nan"), 0.5]),
    })  # fmt: skip
    pq.write_table(table.replace_schema_metadata({"made by": "hand"}), tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.types[:5] == table.schema.types
    assert found.drop(["half"]).select(range(4)).equals(table.drop(["half"]))
    assert found.schema.metadata[b"made by"] == b"hand"
    for name in ("out.csv", "out.jsonl"):
        score(tmp_path / "in.parquet", tmp_path / name)
        row = read_rows(tmp_path / name)[0]
        assert row["when"].startswith("1970-01-01")
        assert row["kind"] == "a"
    assert row["half"] is None  # JSON has no nan
    assert row["tags"] == ["x"]


def test_partition_and_file_columns_of_a_folder_stay(tmp_path, small_parts):
    for number, name in enumerate(
        ["lang=de/a.parquet", "lang=en/a.parquet", "lang=en/deeper/b.parquet"]
    ):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        columns = {"text": [*TEXTS[number * 10 : number * 10 + 9], None]} | (
            {"late": [1] * 10} if number else {}
        )
        write_rows(tmp_path / "in", name, columns)
    (tmp_path / "in" / "README.md").write_text("no table")
    (tmp_path / "in" / "_hidden.parquet").write_text("no table")
    with pytest.warns(UserWarning, match=r"left out of .*in`: README.md, _hidden.parquet \(only"):
        report = score(tmp_path / "in", tmp_path / "out.parquet")
    found = read_rows(tmp_path / "out.parquet")
    assert [row["lang"] for row in found] == ["de"] * 10 + ["en"] * 20
    assert found[0]["file"] == "lang=de/a.parquet"
    assert (found[0]["late"], found[29]["late"]) == (None, 1)
    places = [f"lang={name}.parquet row 10" for name in ("de/a", "en/a", "en/deeper/b")]
    assert report.bad_rows == [(place, "no text") for place in places]
    (tmp_path / "in" / "lang=en" / "a.parquet").write_bytes(b"PAR1 broken")
    (tmp_path / "in" / "README.md").unlink()
    (tmp_path / "in" / "_hidden.parquet").unlink()
    with refuses(r"in` cannot be read: .*lang=en/a\.parquet"):
        score(tmp_path / "in", tmp_path / "again.parquet")


def test_no_rows_are_no_rows(tmp_path):
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "in.parquet")
    (tmp_path / "in.csv").write_text("text\n")
    for given in ("in.parquet", "in.csv"):
        for out in ("out.parquet", "out.csv", "out.jsonl", "out"):
            assert score(tmp_path / given, tmp_path / out, force=True).rows == 0
        assert (
            read_rows(tmp_path / "out.parquet")
            == read_rows(tmp_path / "out.csv")
            == read_rows(tmp_path / "out")
            == []
        )
        assert pq.read_schema(tmp_path / "out.parquet").names == ["text", *OURS]


def test_bad_rows_are_kept_with_an_error_left_out_or_refused(tmp_path, small_parts):
    lines = [
        '{"text": "great film"}',
        '{"text": null}',
        "not json",
        '{"text": 7}',
        '{"text": " "}',
        "[1]",
        '{"other": 1}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, '{"text": "dull film"}']))
    report = score(tmp_path / "in.jsonl", tmp_path / "out.jsonl", abstain=1.0)
    rows = read_rows(tmp_path / "out.jsonl")
    why = [
        "no text",
        "not JSON",
        "the text is of type int",
        "the text is empty",
        "not a JSON object",
        "no text",
    ]
    assert [row["error"] for row in rows] == [None, *why, None]
    assert all(row[name] is None for row in rows[1:-1] for name in OURS[:-1])
    assert report.bad_rows == [(f"line {n}", fault) for n, fault in enumerate(why, 2)]
    assert report.rows == 8
    assert report.bad == 6
    assert report.abstained == 2
    assert sum(report.labels.values()) == 2
    report = score(tmp_path / "in.jsonl", tmp_path / "out.csv", on_bad_rows="skip")
    assert [row["text"] for row in read_rows(tmp_path / "out.csv")] == ["great film", "dull film"]
    assert (report.rows, report.bad) == (8, 6)
    with refuses(r"line 2: no text. Fix it"):
        score(tmp_path / "in.jsonl", tmp_path / "no.csv", on_bad_rows="refuse")
    assert not list(tmp_path.glob("no.*"))


def test_a_ragged_row_of_csv_keeps_its_cells(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"id,text,n\n1,great,1\n2,only one\n3,n\xffo,3\n4,many,4,5\n")
    with refuses(r"line 4 is not UTF-8. It looks like cp1252: pass"):
        score(tmp_path / "in.csv", tmp_path / "out.csv")
    score(tmp_path / "in.csv", tmp_path / "out.csv", encoding="utf-8")
    found = [(row["id"], row["text"], row["error"]) for row in read_rows(tmp_path / "out.csv")]
    assert found == [
        (1, "great", None),
        (2, "only one", "2 cells instead of 3"),
        (3, "n\ufffdo", "not utf-8"),
        (4, "many", "4 cells instead of 3"),
    ]


# ---------------------------------------------------------------- interrupted


class Killed(BaseException):
    """As if the process had ended here."""


def kill_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    left, before = iter(range(writes)), score_files._write_part

    def write(path: Path, *part: Any, **how: Any) -> None:
        if next(left, None) is None:
            (path.parent / ".part.hardmax-draft-elsewhere").write_bytes(b"half")
            raise Killed
        before(path, *part, **how)

    monkeypatch.setattr(score_files, "_write_part", write)


@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out"])
@pytest.mark.parametrize(
    ("writes", "name", "place"),
    [(0, "in.jsonl", "line 50"), (3, "in.parquet", "row 50"), (5, "in.jsonl", "line 50")],
)
def test_an_interrupted_job_goes_on_to_the_same_rows(
    writes,
    name,
    place,
    out,
    tmp_path,
    small_parts,
    monkeypatch,
):
    given = write_rows(tmp_path, name, {"id": list(range(50)), "text": [*TEXTS[:49], ""]})
    whole = score(given, tmp_path / f"whole{Path(out).suffix}", on_bad_rows="skip")
    with monkeypatch.context() as patch:
        kill_after(patch, writes)
        with pytest.raises(Killed):
            score(given, tmp_path / out, on_bad_rows="skip")
    report = score(given, tmp_path / out, on_bad_rows="skip")
    assert report.scored_before == 9 * writes
    assert report.rows == 50
    assert report.bad == 1
    assert report.labels == whole.labels
    assert report.bad_rows == [(place, "the text is empty")]
    assert read_rows(tmp_path / out) == read_rows(tmp_path / f"whole{Path(out).suffix}")
    assert not list(tmp_path.rglob("*.parts"))
    assert score(given, tmp_path / out, on_bad_rows="skip", force=True).scored_before == (
        50 if out == "out" else 0
    )


def test_parts_of_another_job_are_not_used(reviews, tmp_path, small_parts, monkeypatch):
    for out in ("out.csv", "out"):
        with monkeypatch.context() as patch:
            kill_after(patch, 3)
            with pytest.raises(Killed):
                score(reviews, tmp_path / out)
    assert score(reviews, tmp_path / "out.csv", model=small_model(1)).scored_before == 0
    changes: list[dict[str, Any]] = [{"abstain": 0.5}, {"model": small_model(1)}]
    for changed in changes:
        with refuses(r"rows of another input, model or options: `force=True` replaces them"):
            score(reviews, tmp_path / "out", **changed)
    reviews.touch()
    with refuses(r"another input"):
        score(reviews, tmp_path / "out")
    assert score(reviews, tmp_path / "out", force=True).scored_before == 0
    assert len(read_rows(tmp_path / "out")) == 50


def test_a_folder_with_other_files_is_not_touched(reviews, tmp_path):
    for folder in ("out", "out.csv.parts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part-000000.parquet").write_text("mine")
        with refuses("has other files in it"):
            score(reviews, tmp_path / folder.removesuffix(".parts"), force=True)
        assert (tmp_path / folder / "part-000000.parquet").read_text() == "mine"
    (tmp_path / "papers" / "drafts").mkdir(parents=True)
    (tmp_path / "papers" / ".thesis.part").write_text("mine")
    with refuses("has other files in it"):
        score(reviews, tmp_path / "papers", force=True)
    assert (tmp_path / "papers" / ".thesis.part").read_text() == "mine"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "half": lambda whole: whole[: len(whole) // 2],
}


def flipped(data: bytes, bit: int) -> bytes:
    """The data with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_part_that_is_not_as_it_was_written_is_scored_again(reviews, tmp_path, small_parts):
    out = tmp_path / "out"
    score(reviews, out)
    whole = read_rows(out)
    part = out / "part-000002.parquet"
    data = part.read_bytes()
    report = data.index(b'"scored_before"')
    places = 100, len(data) // 3, len(data) // 2, report + 1, len(data) - 9
    for damaged in (data[:-1], *(flipped(data, 8 * byte + 1) for byte in places)):
        part.write_bytes(damaged)
        assert score(reviews, out).scored_before == 2 * 9
        assert read_rows(out) == whole


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_is_named_and_force_scores_it_again(damage, reviews, tmp_path, small_parts):
    score(reviews, tmp_path / "out")
    part = tmp_path / "out" / "part-000002.parquet"
    part.write_bytes(damage(part.read_bytes()))
    with refuses(r"part-000002.parquet` is damaged, .*: `force=True` scores"):
        score(reviews, tmp_path / "out")
    assert score(reviews, tmp_path / "out", force=True).scored_before == 2 * 9
    assert [row["id"] for row in read_rows(tmp_path / "out")] == list(range(50))


def test_a_full_disk_keeps_the_parts(reviews, tmp_path, small_parts, monkeypatch):
    @contextmanager
    def full(*_):
        def write(table):
            raise OSError(28, "No space left on device")

        yield write

    with monkeypatch.context() as patch:
        patch.setattr(score_files, "_writer", full)
        with refuses(r"out.csv` cannot be written: no space left .* continues after them"):
            score(reviews, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    assert score(reviews, tmp_path / "out.csv").scored_before == 9
    assert len(read_rows(tmp_path / "out.csv")) == 50


@pytest.mark.parametrize("out", ["out.csv", "out"])
def test_where_nothing_could_be_written_no_parts_are_promised(out, reviews, tmp_path, monkeypatch):
    def read_only(*_):
        raise OSError(30, "Read-only file system")

    (tmp_path / "in").mkdir()
    write_rows(tmp_path / "in", "a.parquet", COLUMNS)
    monkeypatch.setattr(score_files, "locked", read_only)
    for source in (reviews, tmp_path / "in"):
        with refuses(r"cannot be written: read-only file system\.$"):
            score(source, tmp_path / out)


@pytest.mark.parametrize(
    ("given", "out", "options", "why"),
    [
        ("missing.csv", "o.csv", {}, "does not exist"),
        (
            "reviews.parquet",
            "o.csv",
            {"text": "body"},
            "`text` is 'body', but `.*reviews.parquet` has the columns id, text",
        ),
        (
            "reviews.parquet",
            "o.csv",
            {"text": "id"},
            "`text` is 'id', but that column .* has type int64",
        ),
        ("bytes.parquet", "o.csv", {}, "bytes.parquet` cannot be read: .*UTF8"),
        ("empty.csv", "o.csv", {}, "is empty"),
        ("quote.csv", "o.csv", {}, "line 2 is not CSV"),
        ("folder", "o.csv", {}, "has no .parquet files"),
        (
            "reviews.parquet",
            "o.txt",
            {},
            r"`out` `.*o.txt` has the suffix '.txt': expected one of .parquet, .csv",
        ),
        ("there.csv", "there.csv", {}, "is the input"),
        ("reviews.parquet", "there.csv", {}, "exists: `force=True` replaces it"),
        ("reviews.parquet", "none/o.csv", {}, "the folder `.*none` does not exist"),
        (".", "folder/o.csv", {}, "lies in it"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused_in_one_line(
    given, out, options, why, reviews, tmp_path
):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "quote.csv").write_text('text\n"a "stray" one"\n')
    (tmp_path / "there.csv").write_text("mine")
    (tmp_path / "folder").mkdir()
    broken = pa.array([b"great", b"n\xffo"], pa.binary())
    pq.write_table(
        pa.table({"text": pa.Array.from_buffers(pa.string(), 2, broken.buffers())}),
        tmp_path / "bytes.parquet",
    )
    with refuses(why):
        score(tmp_path / given, tmp_path / out, **options)
    assert not list(tmp_path.glob("o.*"))
    assert (tmp_path / "there.csv").read_text() == "mine"


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
