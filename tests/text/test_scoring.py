"""Tables scored, in memory and in files: what `explain` says of each text, to the bit, also after
an interruption."""

import csv
import json
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
from text.test_corpora import BAD_LINES, write_rows

from hardmax.text import score_files, tables
from hardmax.text.score_files import ScoringReport, score_file
from hardmax.text.scoring import COLUMNS as OURS
from hardmax.text.scoring import ScoreOptions
from hardmax.text.text_model import TextModel

MODEL = small_model()
TEXTS = [f"{text} film" for text in random_texts(50)]
COLUMNS = {"id": list(range(50)), "text": TEXTS}
KINDS = (".parquet", ".csv", ".tsv", ".jsonl")
NAMES = ["lang=de/a.parquet", "lang=en/a.parquet", "lang=en/deeper/b.PARQUET"]


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
    for row in rows:
        for name, cell in row.items():
            row[name] = json.loads(cell) if name in parsed and cell else cell or None
    return rows


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(tables, "PART_ROWS", 9)


@pytest.fixture
def folder(tmp_path):
    """Three Parquet files in a folder of partitions, a bad row in each."""
    for number, name in enumerate(NAMES):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        texts = [*TEXTS[number * 10 : number * 10 + 9], None]
        late = {"late": [1] * 10} if number else {}
        table = pa.table({"id": range(10 * number, 10 * number + 10), "text": texts} | late)
        pq.write_table(table, tmp_path / "in" / name)
    return tmp_path / "in"


# ---------------------------------------------------------------- answers

MODELS = {
    "two classes": MODEL,
    "four classes, a gate": small_model(classes=4, gate=0.5),
    "gathered": small_model(alpha="1/2", gate=0.2, neutral_weight=9),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_answers_are_those_of_explanations(model):
    scored = model.score_table(pa.table({"text": TEXTS}), abstain=0.6).to_pylist()
    for text, row in zip(TEXTS, scored, strict=True):
        why = model.explain(text)
        others = [p for label, p in why.probabilities.items() if label != why.label]
        assert row == {
            "text": text,
            "label": why.label,
            "decided": why.decided,
            "probability": why.probability,
            "margin": why.probability - max(others),
            "leaders": [entry.word for entry in why.leaders],
            "active": [entry.word for entry in why.active],
            "votes": [entry.vote for entry in why.active],
            "factors": [entry.factor for entry in why.active],
            "abstain": why.probability < 0.6,
            "error": None,
        }


@pytest.mark.parametrize(
    ("classes", "kind"),
    [((0, 1), pa.int64()), ((False, True), pa.bool_()), (("1", 1), pa.string())],
)
def test_labels_keep_their_type(classes, kind):
    scored = replace(MODEL, classes=classes).score_table(pa.table({"text": ["great film"]}))
    assert scored.schema.field("label").type == kind


# ---------------------------------------------------------------- tables in memory

TABLES = {
    "arrow": pa.table(COLUMNS),
    "dictionary": pa.table(COLUMNS).set_column(1, "text", pa.array(TEXTS).dictionary_encode()),
    "polars": pl.DataFrame(COLUMNS),
    "pandas, rows by one name": pd.DataFrame(COLUMNS, index=[3, 3, *range(48)]),
    "objects": pd.DataFrame(COLUMNS).astype({"text": object}),
    "categories": pd.DataFrame(COLUMNS).astype({"text": "category"}),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_gives_a_table_of_its_kind(table):
    found = MODEL.score_table(table)
    assert type(found) is type(table)
    if isinstance(found, pd.DataFrame):
        assert found.index.equals(table.index)
        assert found[["id", "text"]].equals(table)
    rows = found.to_pylist() if isinstance(found, pa.Table) else pl.DataFrame(found).to_dicts()
    expected = MODEL.score_table(TABLES["arrow"]).to_pylist()
    for row, wanted in zip(rows, expected, strict=True):
        lists = {name: list(row[name]) for name in ("leaders", "active", "votes", "factors")}
        assert {**row, **lists, "error": None} == wanted


def test_bad_rows_have_nothing_but_an_error_or_are_left_out_or_refused():
    texts = ["great", None, 7, " ", "dull"]
    table = pd.DataFrame({"text": texts, "n": range(5)}, index=list("abcde"), dtype=object)
    found = MODEL.score_table(table)
    why = ["no text", "the text is of type int", "the text is empty"]
    assert found["error"].tolist()[1:4] == why
    assert found["label"].isna().tolist() == [False, True, True, True, False]
    left = MODEL.score_table(table, on_bad_rows="skip")
    assert (left.index.tolist(), left["n"].tolist()) == (["a", "e"], [0, 4])
    assert left["probability"].tolist() == found["probability"].dropna().tolist()
    with refuses("row 1: no text"):
        MODEL.score_table(table, on_bad_rows="refuse")
    assert len(MODEL.score_table(pl.DataFrame({"text": ["great"]})[:0])) == 0


def test_columns_of_the_same_names_stay_beside_ours():
    renamed = MODEL.score_table(pl.DataFrame({"review": ["great"], "label": ["mine"]}))
    assert renamed.columns[:3] == ["review", "label", "hardmax_label"]


def test_an_arrow_stream_is_scored_batch_by_batch():
    taken = []
    batches = (taken.append(1) or each for each in TABLES["arrow"].to_batches(max_chunksize=7))
    reader = pa.RecordBatchReader.from_batches(TABLES["arrow"].schema, batches)
    scored = MODEL.score_table(reader)
    assert not taken
    assert scored.read_all().equals(MODEL.score_table(TABLES["arrow"]))


@pytest.mark.check
def test_a_relation_of_duckdb_becomes_an_arrow_stream():
    duckdb = pytest.importorskip("duckdb")
    given = duckdb.from_arrow(TABLES["arrow"]).filter("id < 30").order("id")
    scored = duckdb.connect().from_arrow(MODEL.score_table(given))
    assert scored.aggregate("count(*), sum(id)").fetchall() == [(30, 435)]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_read_and_written(kind, tmp_path, small_parts):
    expected = MODEL.score_table(TABLES["arrow"]).to_pylist()
    given = write_rows(tmp_path, f"in{kind}", COLUMNS)
    for out in KINDS:
        report = score(given, tmp_path / f"out{out}")
        found = read_rows(tmp_path / f"out{out}")
        assert [{**row, "id": int(row["id"])} for row in found] == expected
        assert (report.rows, report.bad, sum(report.labels.values())) == (50, 0, 50)
    assert not list(tmp_path.glob(".*"))


def test_values_of_json_and_csv_stay_what_they_are(tmp_path):
    lines = [
        '{"text": "great", "n": 1, "x": 1, "ok": true, "mixed": 1, "deep": {"a": [1]}, '
        '"id": 9007199254740993, "big": 9999999999999999999999, "both": 9007199254740993}',
        '{"text": "dull film", "n": 2, "x": 0.5, "mixed": "a", "late": "b\\ud800", "both": 0.5}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    score(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    kinds = {each.name: str(each.type) for each in pq.read_schema(tmp_path / "out.parquet")}
    typed = {"n": "int64", "id": "int64", "x": "double", "ok": "bool", "deep": "string"}
    assert {name: kinds[name] for name in typed} == typed
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    rows = read_rows(tmp_path / "out.jsonl")
    for row, line in zip(rows, lines, strict=True):
        given = json.loads(line.replace("\\ud800", "\\ufffd"))
        assert {name: row[name] for name in given} == given
    assert rows[1]["deep"] is None
    written = '\ufeff;code;text\r\n0;007;"a ""great""\r\nfilm; yes"\r\n1;1.50;dull film\r\n'
    (tmp_path / "in.csv").write_bytes(written.encode())
    score(tmp_path / "in.csv", tmp_path / "csv.parquet")
    found = read_rows(tmp_path / "csv.parquet")
    assert [(row[""], row["code"]) for row in found] == [("0", "007"), ("1", "1.50")]
    assert found[0]["text"] == 'a "great"\r\nfilm; yes'


def test_columns_of_parquet_keep_their_types(tmp_path):
    table = pa.table({
        "text": pa.array(["great film", "dull film"], pa.large_string()),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "when": pa.array([0, 1], pa.timestamp("ms")),
        "tags": pa.array([["x"], None], pa.list_(pa.string())),
        "half": pa.array([float("nan"), float("inf")]),
    })  # fmt: skip
    pq.write_table(table.replace_schema_metadata({"made by": "hand"}), tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.types[:5] == table.schema.types
    assert found.select(range(4)).equals(table.drop(["half"]))
    assert found.schema.metadata[b"made by"] == b"hand"
    score(tmp_path / "in.parquet", tmp_path / "out.jsonl")
    first, second = read_rows(tmp_path / "out.jsonl")
    assert first["when"].startswith("1970-01-01")
    assert (first["kind"], first["tags"]) == ("a", ["x"])
    assert first["half"] is second["half"] is None  # JSON has no nan and no infinity


def test_no_rows_are_no_rows(tmp_path):
    (tmp_path / "in.csv").write_text("text\n")
    for out in ("out.parquet", "out.csv", "out.jsonl"):
        assert score(tmp_path / "in.csv", tmp_path / out).rows == 0
        assert read_rows(tmp_path / out) == []
    assert pq.read_schema(tmp_path / "out.parquet").names == ["text", *OURS]


def test_bad_rows_of_files_are_kept_with_an_error_left_out_or_refused(tmp_path, small_parts):
    bad = {line: fault for line, fault in BAD_LINES.items() if "label" not in fault}
    given = tmp_path / "in.jsonl"
    given.write_text("\n".join(['{"text": "great film"}', *bad, '{"text": "dull film"}']))
    report = score(given, tmp_path / "out.jsonl", abstain=1.0)
    rows = read_rows(tmp_path / "out.jsonl")
    kept = [row["error"] for row in rows]
    assert kept == [None, *bad.values(), None]
    # Ours have other names: lines that are bad have a column `label`.
    assert all(row["hardmax_label"] is row["votes"] is None for row in rows[1:-1])
    assert report.bad_rows == [[f"line {n}", fault] for n, fault in enumerate(bad.values(), 2)]
    assert (report.rows, report.bad) == (len(bad) + 2, len(bad))
    assert (report.abstained, sum(report.labels.values())) == (2, 2)
    score(given, tmp_path / "out.csv", on_bad_rows="skip")
    assert [row["text"] for row in read_rows(tmp_path / "out.csv")] == ["great film", "dull film"]
    with refuses(r"line 2: not JSON. Fix it"):
        score(given, tmp_path / "no.csv", on_bad_rows="refuse")
    assert not list(tmp_path.glob("*no.*"))


# ---------------------------------------------------------------- folders


@pytest.mark.parametrize("columns", [None, ("id", "lang"), ("late", "id")])
def test_every_file_of_a_folder_becomes_one_of_its_name(columns, folder):
    out = folder.parent / "out"
    report = score(folder, out, columns=columns)
    for name in NAMES:
        given, found = pq.ParquetFile(folder / name), pq.ParquetFile(out / name).read()
        kept = [each for each in columns or given.schema.names if each in given.schema.names]
        assert found.column_names == [*kept, *OURS]
        expected = MODEL.score_table(given.read().select(["id", "text"]))
        assert found.select(list(OURS)).equals(expected.select(list(OURS)))
    assert (report.rows, report.bad, report.scored_before) == (30, 3, 0)
    assert report.bad_rows == [[f"{name} row 10", "no text"] for name in NAMES]
    assert pq.read_table(out)["lang"].to_pylist() == ["de"] * 10 + ["en"] * 20


def test_a_folder_becomes_one_file_with_its_partitions(folder, small_parts):
    report = score(folder, folder.parent / "out.parquet")
    found = read_rows(folder.parent / "out.parquet")
    assert [row["id"] for row in found] == list(range(30))
    assert [row["lang"] for row in found] == ["de"] * 10 + ["en"] * 20
    assert (found[0]["late"], found[29]["late"]) == (None, 1)
    assert report.bad_rows == [[f"{name} row 10", "no text"] for name in NAMES]


def test_what_is_finished_is_not_scored_again_and_what_is_damaged_is(folder):
    out = folder.parent / "out"
    first = score(folder, out)
    part = out / NAMES[1]
    whole = part.read_bytes()
    again = score(folder, out)
    assert (again.scored_before, again.labels) == (30, first.labels)
    for place in (50, len(whole) // 2, len(whole) - 9):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        for damaged in (bytes(flipped), whole[:place]):
            part.write_bytes(damaged)
            assert score(folder, out).scored_before == 20
            assert part.read_bytes() == whole


@pytest.mark.parametrize("change", ["input", "model", "options", "a file of mine"])
def test_parts_of_another_job_and_other_files_are_replaced_by_force_alone(change, folder):
    out, mine = folder.parent / "out", folder.parent / "out" / NAMES[1]
    options: dict[str, Any] = {}
    if change != "a file of mine":
        score(folder, out)
    if change == "input":
        write_rows(folder / "lang=en", "a.parquet", COLUMNS)
    elif change == "model":
        options = {"model": small_model(1)}
    elif change == "options":
        options = {"abstain": 0.5}
    else:
        mine.parent.mkdir(parents=True)
        mine.write_text("mine")
    before = mine.read_bytes()
    with refuses("exists: name another output, or replace it with `force=True`"):
        score(folder, out, **options)
    assert mine.read_bytes() == before
    report = score(folder, out, force=True, **options)
    assert report.scored_before == (20 if change == "input" else 10 * (change == "a file of mine"))


# ---------------------------------------------------------------- interrupted


class Killed(BaseException):
    """As if the process had ended here."""


@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out"])
@pytest.mark.parametrize("writes", [0, 3])
def test_an_interrupted_job_goes_on_to_the_same_rows(
    writes, out, tmp_path, small_parts, monkeypatch
):
    (tmp_path / "in").mkdir()
    given = write_rows(tmp_path / "in", "a.parquet", {"id": range(50), "text": [*TEXTS[:49], ""]})
    given = given.parent if out == "out" else given
    whole = score(given, tmp_path / f"whole{Path(out).suffix}", on_bad_rows="skip")
    left, before = iter(range(writes)), score_files._write_part

    def write(*part: Any) -> None:
        if next(left, None) is None:
            raise Killed
        before(*part)

    with monkeypatch.context() as patch:
        patch.setattr(score_files, "_write_part", write)
        with pytest.raises(Killed):
            score(given, tmp_path / out, on_bad_rows="skip")
    report = score(given, tmp_path / out, on_bad_rows="skip")
    assert report.scored_before == 9 * writes
    assert (report.rows, report.bad, report.labels) == (50, 1, whole.labels)
    assert report.bad_rows == whole.bad_rows
    assert read_rows(tmp_path / out) == read_rows(tmp_path / f"whole{Path(out).suffix}")
    assert not list(tmp_path.rglob(".*.parts"))


def test_parts_of_another_job_are_not_used(tmp_path, small_parts, monkeypatch):
    given = write_rows(tmp_path, "in.jsonl", COLUMNS)
    for change in ("model", "options", "input"):
        with monkeypatch.context() as patch:
            patch.setattr(score_files.shutil, "rmtree", lambda *_, **__: None)
            score(given, tmp_path / f"{change}.csv")
        (tmp_path / f"{change}.csv").unlink()
        assert list(tmp_path.rglob("000001.parquet"))
    assert score(given, tmp_path / "model.csv", model=small_model(1)).scored_before == 0
    assert score(given, tmp_path / "options.csv", abstain=0.5).scored_before == 0
    rows = ["great", *TEXTS[1:]]
    write_rows(tmp_path, "in.jsonl", COLUMNS | {"text": rows})
    assert score(given, tmp_path / "input.csv").scored_before == 41
    assert [row["text"] for row in read_rows(tmp_path / "input.csv")] == rows


def test_a_full_disk_keeps_the_parts(tmp_path, small_parts, monkeypatch):
    given = write_rows(tmp_path, "in.parquet", COLUMNS)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(score_files, "_cell", full)
        with refuses(r"out.csv` cannot be written: no space left .* continues after them"):
            score(given, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    assert score(given, tmp_path / "out.csv").scored_before == 9


@pytest.mark.parametrize(
    ("given", "out", "options", "why"),
    [
        ("missing.csv", "o.csv", {}, "does not exist"),
        ("in.parquet", "o.csv", {"text": "id"}, "`text` is 'id', but that column .* type int64"),
        ("in.parquet", "o.csv", {"columns": ("year",)}, "`columns` is 'year', but .* id, text"),
        ("bytes.parquet", "o.csv", {}, "bytes.parquet` is not UTF-8"),
        ("bytes.csv", "o.csv", {}, "bytes.csv` is not UTF-8"),
        ("quote.csv", "o.csv", {}, "line 2 is not CSV"),
        ("folder", "o.csv", {}, "has no .parquet files"),
        ("in.parquet", "o.txt", {}, r"`out` `.*o.txt` has the suffix '.txt': expected one of"),
        ("there.csv", "there.csv", {}, "is the input"),
        ("in.parquet", "there.csv", {}, "exists: name another output"),
        ("in.parquet", "none/o.csv", {}, "the folder `.*none` does not exist"),
        (".", "folder/o.csv", {}, "lies in it"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused_in_one_line(given, out, options, why, tmp_path):
    write_rows(tmp_path, "in.parquet", COLUMNS)
    (tmp_path / "bytes.csv").write_bytes(b"text\nn\xffo\n")
    (tmp_path / "quote.csv").write_text('text\n"a "stray" one"\n')
    (tmp_path / "there.csv").write_text("text\nmine")
    (tmp_path / "folder").mkdir()
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"n\xffo"], pa.binary()).buffers())
    pq.write_table(pa.table({"text": broken}), tmp_path / "bytes.parquet")
    with refuses(why):
        score(tmp_path / given, tmp_path / out, **options)
    assert not list(tmp_path.glob("*o.*"))
    assert (tmp_path / "there.csv").read_text() == "text\nmine"


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
