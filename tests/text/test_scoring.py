"""Tables scored, in memory and in files: what `explain` says of each text, to the bit, also after
an interruption."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses
from text.small_models import random_texts, small_model
from text.test_corpora import BAD_LINES, write_rows

from hardmax.text import Modifier, score_files, tables
from hardmax.text.score_files import ScoringReport, score_file
from hardmax.text.scoring import columns_of
from hardmax.text.text_model import TextModel

MODEL = small_model()
OURS = columns_of(votes=True)
TEXTS = [f"{text} film" for text in random_texts(50)]
COLUMNS = {"id": list(range(50)), "text": TEXTS}
TABLE = pa.table(COLUMNS)
KINDS = (".parquet", ".csv", ".tsv", ".jsonl")
MODELS = (MODEL, small_model(classes=4, gate=0.5), small_model(alpha="1/2", gate=0.2))


def score(source: Path, target: Path, model: TextModel = MODEL, **options: Any) -> ScoringReport:
    return score_file(model, str(source), target, **options)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows in a file; lists in CSV are JSON."""
    if path.suffix == ".parquet":
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


# ---------------------------------------------------------------- tables in memory


def named(model: TextModel, words: Sequence[str]) -> str:
    """The modifiers that words are, as the model has them."""
    numbers = model._reader.numbers_of(words)
    return ", ".join(model.modifiers[number].word for number in sorted(set(numbers)))


@pytest.mark.parametrize("model", MODELS)
def test_answers_are_those_of_explanations(model):
    scored = model.score_table(TABLE, votes=True).to_pylist()
    for text, row in zip(TEXTS, scored, strict=True):
        why = model.explain(text)
        for name in ("text", "label", "decided", "probability"):
            assert row[name] == getattr(why, name)
        assert row["leaders"] == [entry.word for entry in why.leaders]
        for name, column in (("word", "active"), ("vote", "votes")):
            assert row[column] == [getattr(entry, name) for entry in why.active]
        assert row["attends_to"] == [named(model, entry.modifiers) for entry in why.active]
        assert row["error"] is None


@pytest.mark.parametrize("several", [1, 5000], ids=["few texts", "many texts"])
def test_a_token_names_all_modifiers_that_it_attends_to(several):
    text = "Not great film. The film is very good, didn't reach great; very film, not the"
    scored = MODEL.score_table(pa.table({"text": [text] * several}), votes=True).to_pylist()
    told = dict(zip(scored[-1]["active"], scored[-1]["attends_to"], strict=True))
    assert told["great"] == "not, *n't"
    assert (told["film"], told["good"]) == ("not, very", "very")
    assert told["the"] == "not"
    table = pa.table({"text": [text]})
    plain = replace(MODEL, modifiers=()).score_table(table, votes=True).to_pylist()
    assert set(plain[0]["attends_to"]) == {""}


def test_of_very_many_modifiers_the_last_are_not_named():
    listed = [Modifier(f"word{number}", 2) for number in range(80)]
    text = "word62 great. word63 awful, word79 film"
    table = pa.table({"text": [text]})
    scored = replace(MODEL, modifiers=listed).score_table(table, votes=True).to_pylist()
    told = dict(zip(scored[0]["active"], scored[0]["attends_to"], strict=True))
    assert (told["great"], told["awful"], told["film"]) == ("word62", "…", "…")


def test_without_votes_there_are_the_same_labels_and_probabilities():
    scored = MODEL.score_table(TABLE)
    assert scored.column_names == [*COLUMNS, "label", "decided", "probability", "error"]
    assert scored.equals(MODEL.score_table(TABLE, votes=True).select(scored.column_names))


@pytest.mark.parametrize("classes", [(0, 1), (False, True), ("1", 1)])
def test_labels_keep_their_type(classes):
    scored = replace(MODEL, classes=classes).score_table(TABLE)
    kinds = {int: pa.int64(), bool: pa.bool_(), str: pa.string()}
    assert scored.schema.field("label").type == kinds[type(classes[0])]


@pytest.mark.parametrize("kind", ["object", "category", "string[pyarrow]"])
def test_a_table_of_pandas_gives_one_with_its_index(kind):
    table = pd.DataFrame(COLUMNS, index=[3, 3, *range(48)])
    table = table.astype({"text": kind})
    found = MODEL.score_table(table, votes=True)
    assert found.index.equals(table.index)
    assert found[["id", "text"]].equals(table)
    answers = pa.Table.from_pandas(found[list(OURS)], preserve_index=False)
    expected = MODEL.score_table(TABLE, votes=True).select(list(OURS))
    assert answers.to_pylist() == expected.to_pylist()


def test_bad_rows_have_nothing_but_an_error_or_are_refused():
    texts = ["great", None, 7, " ", "dull"]
    table = pd.DataFrame({"text": texts}, dtype=object)
    found = MODEL.score_table(table)
    why = ["no text", "the text is of type int", "the text is empty"]
    assert found["error"].tolist()[1:4] == why
    assert found["label"].isna().tolist() == [False, True, True, True, False]
    assert found["probability"][4] == MODEL.explain("dull").probability
    with refuses("row 1: no text. Fix it"):
        MODEL.score_table(table, on_bad_rows="refuse")
    assert len(MODEL.score_table(table[:0])) == 0


def test_columns_of_the_same_names_stay_beside_ours():
    table = pa.table({"review": ["great"], "label": ["mine"]})
    renamed = MODEL.score_table(table)
    assert renamed.column_names[:3] == ["review", "label", "hardmax_label"]
    with refuses("hardmax_label, which scoring adds"):
        MODEL.score_table(renamed)


TITLES = pa.table({"a": ["great"]})
NO_TABLES = [
    (["great"], {}, "`table` must be a table .*, not list"),
    (pd.Series(TEXTS), {}, "`table` must be a table .*, not Series"),
    (TITLES, {}, "Cannot guess the text column: `table` has the columns a"),
    (TABLE, {"text": "c"}, "`text` is 'c', but `table` has the columns id, text"),
    (TABLE, {"on_bad_rows": "drop"}, "`on_bad_rows` must be one of"),
]


@pytest.mark.parametrize(("table", "options", "why"), NO_TABLES)
def test_what_is_no_table_or_has_no_texts_is_refused(table, options, why):
    with refuses(why):
        MODEL.score_table(table, **options)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_read_and_written(kind, tmp_path, small_parts):
    expected = MODEL.score_table(TABLE, votes=True).to_pylist()
    given = write_rows(tmp_path, f"in{kind}", COLUMNS)
    for out in KINDS:
        report = score(given, tmp_path / f"out{out}", votes=True)
        found = read_rows(tmp_path / f"out{out}")
        for row in found:
            row["id"] = int(row["id"])
        assert found == expected
        assert (report.rows, report.bad) == (50, 0)
        assert report.labels.total() == 50
    assert not list(tmp_path.glob(".*"))


def test_values_of_json_and_csv_stay_what_they_are(tmp_path):
    first = '{"text": "great", "n": 1, "x": 1, "ok": true, "mixed": 1, "deep": {"a": [1]}, "id": '
    first += '9007199254740993, "big": 9999999999999999999999, "both": 9007199254740993}'
    second = '{"text": "dull", "n": 2, "x": 0.5, "mixed": "a", "late": "b\\ud800", "both": 0.5}'
    (tmp_path / "in.jsonl").write_text(f"{first}\n{second}")
    score(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    schema = pq.read_schema(tmp_path / "out.parquet")
    kinds = [str(schema.field(name).type) for name in ("n", "id", "x", "ok")]
    assert kinds == ["int64", "int64", "double", "bool"]
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    rows = read_rows(tmp_path / "out.jsonl")
    for row, line in zip(rows, (first, second), strict=True):
        given = json.loads(line.replace("\\ud800", "\\ufffd"))
        assert {name: row[name] for name in given} == given
    assert rows[1]["deep"] is None
    (tmp_path / "in.csv").write_text(';code;text\n0;007;"a ""great"" film"\n1;1.50;dull film\n')
    score(tmp_path / "in.csv", tmp_path / "csv.parquet")
    found = read_rows(tmp_path / "csv.parquet")
    assert [row["code"] for row in found] == ["007", "1.50"]
    assert found[0]["text"] == 'a "great" film'


def test_columns_of_parquet_keep_their_types(tmp_path):
    texts = pa.array(["great film", "dull film"])
    columns = {"text": texts.dictionary_encode()}
    columns["when"] = pa.array([0, 1], pa.timestamp("ms"))
    columns["tags"] = pa.array([["x"], None], pa.list_(pa.large_string()))
    columns["half"] = pa.array([float("nan"), float("inf")])
    table = pa.table(columns).replace_schema_metadata({"made by": "hand"})
    pq.write_table(table, tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.types[:4] == table.schema.types
    assert found.select(range(3)).equals(table.drop(["half"]))
    assert found.schema.metadata[b"made by"] == b"hand"
    assert json.loads(found.schema.metadata[b"hardmax"]) == MODEL._made_by
    score(tmp_path / "in.parquet", tmp_path / "out.jsonl")
    first, second = read_rows(tmp_path / "out.jsonl")
    assert first["when"].startswith("1970-01-01")
    assert (first["text"], first["tags"]) == ("great film", ["x"])
    assert first["half"] is second["half"] is None  # JSON has no nan and no infinity


def test_no_rows_are_no_rows(tmp_path):
    (tmp_path / "in.csv").write_text("text\n")
    for out in KINDS:
        assert score(tmp_path / "in.csv", tmp_path / f"out{out}", votes=True).rows == 0
        assert read_rows(tmp_path / f"out{out}") == []
    assert pq.read_schema(tmp_path / "out.parquet").names == ["text", *OURS]


def test_bad_rows_of_files_are_kept_with_an_error_or_refused(tmp_path, small_parts):
    bad = {line: fault for line, fault in BAD_LINES.items() if "label" not in fault}
    given = tmp_path / "in.jsonl"
    given.write_text("\n".join(['{"text": "great film"}', *bad, '{"text": "dull film"}']))
    report = score(given, tmp_path / "out.jsonl", votes=True)
    rows = read_rows(tmp_path / "out.jsonl")
    assert [row["error"] for row in rows] == [None, *bad.values(), None]
    for row in rows[1:-1]:
        assert row["votes"] is None
        # Lines that are bad have a column `label`, and ours has another name.
        assert row["hardmax_label"] is None
    expected = [[f"line {number}", fault] for number, fault in enumerate(bad.values(), 2)]
    assert report.bad_rows == expected
    assert (report.rows, report.bad) == (len(bad) + 2, len(bad))
    assert report.labels.total() == 2
    with refuses(r"line 2: not JSON. Fix it"):
        score(given, tmp_path / "no.csv", on_bad_rows="refuse")
    assert not list(tmp_path.glob("*no.*"))


def test_a_folder_becomes_one_file_with_its_partitions(tmp_path, small_parts):
    texts = [*TEXTS[:9], None]
    for language, late in (("de", {}), ("en", {"late": [1] * 10})):
        folder = tmp_path / "in" / f"lang={language}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"text": texts} | late), folder / "a.parquet")
    report = score(tmp_path / "in", tmp_path / "out.parquet")
    found = read_rows(tmp_path / "out.parquet")
    for number, language in enumerate(("de", "en")):
        rows = found[10 * number : 10 * number + 10]
        assert [row["text"] for row in rows] == texts
        assert {row["lang"] for row in rows} == {language}
        assert {row["late"] for row in rows} == {[None, 1][number]}
    places = [f"lang={language}/a.parquet row 10" for language in ("de", "en")]
    assert report.bad_rows == [[place, "no text"] for place in places]


# ---------------------------------------------------------------- interrupted


@pytest.fixture
def interrupted(monkeypatch):
    """Score until the disk is full, after so many parts."""

    def run(source: Path, target: Path, parts: int) -> None:
        left, before = iter(range(parts)), score_files._write_part

        def write(*part: Any) -> None:
            if next(left, None) is None:
                raise OSError(28, "No space left on device")
            before(*part)

        with monkeypatch.context() as patch:
            patch.setattr(score_files, "_write_part", write)
            with refuses("cannot be written: no space left .* continues after them"):
                score(source, target)
        assert not target.exists()

    return run


@pytest.mark.parametrize(("out", "parts"), [("out.parquet", 0), ("out.csv", 3)])
def test_an_interrupted_job_goes_on_to_the_same_rows(
    parts, out, tmp_path, small_parts, interrupted
):
    given = write_rows(tmp_path, "in.parquet", {"text": [*TEXTS[:49], ""]})
    other = tmp_path / f"whole{Path(out).suffix}"
    whole = score(given, other)
    interrupted(given, tmp_path / out, parts)
    report = score(given, tmp_path / out)
    assert report.scored_before == 9 * parts
    assert replace(report, scored_before=0) == whole
    assert read_rows(tmp_path / out) == read_rows(other)
    assert not list(tmp_path.rglob(".*.parts"))


@pytest.mark.parametrize("change", ["model", "votes", "input", "damage"])
def test_parts_of_another_job_and_damaged_parts_are_not_used(
    change, tmp_path, small_parts, interrupted
):
    given = write_rows(tmp_path, "in.jsonl", COLUMNS)
    model, texts, votes = MODEL, list(TEXTS), False
    interrupted(given, tmp_path / "out.jsonl", 4)
    if change == "model":
        model = small_model(1)
    elif change == "votes":
        votes = True
    elif change == "input":
        texts[0] = "great"
        write_rows(tmp_path, "in.jsonl", COLUMNS | {"text": texts})
    else:
        part = next(tmp_path.rglob(".*.parts/*"))
        data = bytearray(part.read_bytes())
        data[len(data) // 3] ^= 1
        part.write_bytes(data)
    report = score(given, tmp_path / "out.jsonl", model, votes=votes)
    assert report.scored_before == (0 if change in ("model", "votes") else 27)
    expected = model.score_table(pa.table(COLUMNS | {"text": texts}), votes=votes)
    assert read_rows(tmp_path / "out.jsonl") == expected.to_pylist()


UNUSABLE = """
numbers.parquet o.csv: `text` is 'text', but that column .* type int64
bytes.parquet o.csv: bytes.parquet` is not UTF-8
folder o.csv: has no .parquet files
there.csv o.txt: `out` `.*o.txt` has the suffix '.txt': expected one of
there.csv there.csv: is the input
bytes.parquet there.csv: exists: name another output
there.csv none/o.csv: the folder `.*none` does not exist
. folder/o.csv: lies in it
""".strip()


@pytest.mark.parametrize("line", UNUSABLE.split("\n"))
def test_what_cannot_be_read_or_written_is_refused_in_one_line(line, tmp_path):
    places, why = line.split(": ", 1)
    given, out = places.split()
    write_rows(tmp_path, "numbers.parquet", {"text": [1]})
    (tmp_path / "there.csv").write_text("text\nmine")
    (tmp_path / "folder").mkdir()
    binary = pa.array([b"n\xffo"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 1, binary.buffers())
    pq.write_table(pa.table({"text": broken}), tmp_path / "bytes.parquet")
    with refuses(why):
        score(tmp_path / given, tmp_path / out)
    assert not list(tmp_path.glob("*o.*"))
    assert (tmp_path / "there.csv").read_text() == "text\nmine"
