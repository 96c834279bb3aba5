"""Tables in files: every form, the same bytes for any batch, restarts without a row lost or repeated, bad rows told."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from text.scoring.tables import FORMS, read_table, texts, write_table
from text.small_models import small_model

from hardmax._parallel import limit_threads
from hardmax._validation import InputError
from hardmax.text.scoring import bulk, joining
from hardmax.text.scoring.ahead import ahead
from hardmax.text.scoring.bulk import Account, Plan, score_file
from hardmax.text.scoring.parts_folder import PartsFolder
from hardmax.text.scoring.scored import Asked
from hardmax.text.text_model import TextModel

MODEL = small_model()
SMALL = Plan(part_rows=9, part_bytes=1 << 20)


def score(source: Path | str, target: Path, plan: Plan = SMALL, model: TextModel = MODEL, **asked) -> Account:
    return score_file(model, source, target, Asked(**asked), plan)


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    return write_table(tmp_path / "reviews.parquet", {"id": list(range(50)), "text": texts()})


def answers(rows: list[dict]) -> list[dict]:
    ours = ("label", "probability", "margin", "leaders", "counting", "votes")
    return [{name: row[name] for name in ours} for row in rows]


# ---------------------------------------------------------------- forms


@pytest.mark.parametrize("suffix", FORMS)
def test_every_form_is_read_and_written(suffix: str, tmp_path: Path):
    expected = MODEL.score_table(pa.table({"id": range(50), "text": texts()})).to_pylist()
    given = write_table(tmp_path / f"in{suffix}", {"id": list(range(50)), "text": texts()})
    for out in FORMS:
        account = score(given, tmp_path / f"out{out}", replace(SMALL, part_rows=30))
        found = read_table(tmp_path / f"out{out}")
        assert (account.rows, account.scored, account.bad) == (50, 50, 0)
        assert answers(found) == answers(expected)
        assert [row["text"] for row in found] == texts()
        assert [int(row["id"]) for row in found] == list(range(50))
        (tmp_path / f"out{out}").unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"in{suffix}"]


def test_json_lines_stay_as_they_were_written(tmp_path: Path):
    lines = [
        '{"text":"great film" , "n": 1e2, "deep": {"a": [1, 2]}}',
        '{ "text": "dull", "big": 123456789012345678901}',
    ]
    (tmp_path / "in.jsonl").write_text("\n\n".join(lines))
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    for line, scored in zip(lines, (tmp_path / "out.jsonl").read_text().splitlines(), strict=True):
        assert scored.startswith(line[:-1].rstrip() + ', "label": ')


def test_json_values_get_columns_of_their_kind(tmp_path: Path):
    (tmp_path / "in.jsonl").write_text(
        '{"text": "great film", "n": 1, "x": 1, "ok": true, "mixed": 1, "deep": [1]}\n'
        '{"text": "dull film", "n": 2, "x": 0.5, "mixed": "a", "late": "b\\ud800"}\n'
    )
    score(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    found = parquet.read_table(tmp_path / "out.parquet")
    kinds = {name: str(found.schema.field(name).type) for name in ("n", "x", "ok", "mixed", "deep", "late")}
    assert kinds == {
        "n": "int64", "x": "double", "ok": "bool", "mixed": "string", "deep": "string", "late": "string"
    }  # fmt: skip
    assert found["deep"].to_pylist() == ["[1]", None]
    assert found["mixed"].to_pylist() == ["1", "a"]
    assert found["late"].to_pylist() == [None, "b�"]


def test_cells_of_csv_stay_the_texts_they_are(tmp_path: Path):
    (tmp_path / "in.csv").write_bytes(b'\xef\xbb\xbfcode;text\r\n007;"a ""great""\r\nfilm; yes"\r\n1.50;dull film\r\n')
    score(tmp_path / "in.csv", tmp_path / "out.parquet")
    found = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["code"] for row in found] == ["007", "1.50"]
    assert found[0]["text"] == 'a "great"\r\nfilm; yes'


def test_a_column_without_a_name_such_as_the_index_of_pandas_stays(tmp_path: Path):
    (tmp_path / "reviews.csv").write_text(",text\n0,A great film.\n")
    score(tmp_path / "reviews.csv", tmp_path / "scored.csv")
    (row,) = read_table(tmp_path / "scored.csv")
    assert (row[""], row["text"]) == ("0", "A great film.")


def test_columns_of_parquet_keep_their_types(tmp_path: Path):
    table = pa.table({
        "text": pa.array(["great film", "dull film"], pa.large_string()),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "when": pa.array([0, 1], pa.timestamp("ms")),
        "tags": pa.array([["x"], None], pa.list_(pa.string())),
        "raw": pa.array([b"\xff", None], pa.binary()),
        "half": pa.array([float("nan"), 0.5]),
    })  # fmt: skip
    parquet.write_table(table.replace_schema_metadata({"made by": "hand"}), tmp_path / "in.parquet")
    score(tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = parquet.read_table(tmp_path / "out.parquet")
    kept = found.select(table.column_names)
    assert kept.drop(["kind"]).equals(table.drop(["kind"])) or kept["half"].null_count == 0
    assert kept["kind"].to_pylist() == ["a", "b"]
    assert found.schema.metadata[b"made by"] == b"hand"
    for name in ("out.csv", "out.jsonl"):
        score(tmp_path / "in.parquet", tmp_path / name)
        row = read_table(tmp_path / name)[0]
        assert row["when"].startswith("1970-01-01")
        assert row["raw"] == "/w=="
    assert row["half"] is None  # JSON has no nan
    assert row["tags"] == ["x"]


# ---------------------------------------------------------------- the same bytes


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl.gz", ".csv.zst"])
def test_bytes_do_not_depend_on_batches_and_threads(suffix: str, reviews: Path, tmp_path: Path):
    found = set()
    for number, (batch, threads) in enumerate([(1, 1), (7, 2), (4096, 2), (4096, 1)]):
        out = tmp_path / f"{number}{suffix}"
        with limit_threads(threads):
            score(reviews, out, replace(SMALL, batch_size=batch))
        found.add(out.read_bytes())
    assert len(found) == 1


def test_parts_end_where_the_rows_say(reviews: Path, tmp_path: Path):
    score(reviews, tmp_path / "rows.parquet")
    metadata = parquet.ParquetFile(tmp_path / "rows.parquet").metadata
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [9, 9, 9, 9, 9, 5]
    account = score(reviews, tmp_path / "bytes.parquet", replace(SMALL, part_rows=1000, part_bytes=200))
    assert account.parts > 6
    assert read_table(tmp_path / "bytes.parquet") == read_table(tmp_path / "rows.parquet")


class Killed(BaseException):
    """As if the process had ended here."""


def interrupted(monkeypatch: pytest.MonkeyPatch, writes: int):
    """Has the process end instead of that write of a file."""
    left, before = iter(range(writes)), bulk.PartsFolder._write

    def write(self, path: Path, data: bytes) -> None:
        if next(left, None) is None:
            raise Killed
        before(self, path, data)

    monkeypatch.setattr(bulk.PartsFolder, "_write", write)


@pytest.mark.parametrize(
    ("suffix", "writes"),
    [*((".parquet", n) for n in range(14)), *((kind, n) for kind in (".csv", ".jsonl") for n in (5, 6))],
)
def test_an_interrupted_job_goes_on_to_the_same_bytes(
    suffix: str, writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    given = write_table(tmp_path / f"in{suffix}", {"id": list(range(50)), "text": [*texts(49), ""]})
    score(given, tmp_path / "whole.parquet")
    with monkeypatch.context() as patch:
        interrupted(patch, writes)
        if writes < 13:
            with pytest.raises(Killed):
                score(given, tmp_path / "out.parquet")
            assert not (tmp_path / "out.parquet").exists()
    account = score(given, tmp_path / "out.parquet", replace(SMALL, batch_size=5))
    assert account.kept == 9 * ((writes - 1) // 2 if 0 < writes < 13 else 0)
    assert (account.rows, account.scored, account.bad) == (50, 49, 1)
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not (tmp_path / "out.parquet.parts").exists()


@pytest.mark.parametrize("joined", [0, 3, 5])
def test_an_interruption_while_parts_are_joined_costs_the_joining_alone(
    joined: int, reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    score(reviews, tmp_path / "whole.csv")
    left = iter(range(joined))

    def killed(*given: Any) -> None:
        if next(left, None) is None:
            raise Killed
        append(*given)

    append = joining._Bytes.add
    with monkeypatch.context() as patch:
        patch.setattr(joining._Bytes, "add", killed)
        with pytest.raises(Killed):
            score(reviews, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv.parts" / "joined").exists()
    assert score(reviews, tmp_path / "out.csv").kept == min(9 * (joined + 1), 50)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_an_interruption_after_joining_leaves_a_whole_file_and_the_same_job_ends_well(
    reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(bulk.PartsFolder, "remove", lambda _: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            score(reviews, tmp_path / "out.csv")
    before = (tmp_path / "out.csv").read_bytes()
    assert len(read_table(tmp_path / "out.csv")) == 50
    score(reviews, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == before
    assert not (tmp_path / "out.csv.parts").exists()


def test_parts_of_another_job_are_not_gone_on_with(reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        interrupted(patch, 6)
        with pytest.raises(Killed):
            score(reviews, tmp_path / "out.csv")
    changes: list[tuple[dict[str, Any], str]] = [({"abstain": 0.5}, "asked"), ({"model": small_model(1)}, "model")]
    for changed, why in changes:
        with pytest.raises(InputError, match=rf"parts of another job \({why} changed\): force=True starts over"):
            score(reviews, tmp_path / "out.csv", **changed)
    reviews.touch()
    with pytest.raises(InputError, match=r"another job \(input changed\)"):
        score(reviews, tmp_path / "out.csv")
    assert score(reviews, tmp_path / "out.csv", replace(SMALL, force=True)).kept == 0


def test_a_file_is_whole_on_the_disk_before_it_is_put_in_its_place(
    reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    draft, seen = tmp_path / "out.parquet.parts" / "joined", []

    def look(descriptor: int) -> None:
        if draft.exists() and os.path.samestat(draft.stat(), os.fstat(descriptor)):
            seen.append(len(parquet.read_table(draft)))

    monkeypatch.setattr("hardmax.text.scoring.parts_folder.os.fsync", look)
    score(reviews, tmp_path / "out.parquet")
    assert seen == [50]


def test_a_full_disk_keeps_the_parts(reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("hardmax._files.os.fsync", full)
        with pytest.raises(InputError, match=r"no space left on device.* The parts that are done are kept"):
            score(reviews, tmp_path / "out.csv")
    with monkeypatch.context() as patch:
        patch.setattr(joining._Bytes, "add", full)
        with pytest.raises(InputError, match=r"`.*out.csv` cannot be written: no space left .* goes on from there"):
            score(reviews, tmp_path / "out.csv")
    assert score(reviews, tmp_path / "out.csv").kept == 9  # the part that was to be joined


# ---------------------------------------------------------------- bad rows


BAD = (
    '{"text": "great film"}\n{"text": null}\nnot json\n{"text": 7}\n{"text": " "}\n[1]\n{"text": "a", "text": "b"}\n'
    '{"other": 1}\n{"text": "dull film"}\n'
)
WHY = ["no text", "not JSON", "the text is a int", "the text is empty", "no JSON object", "a key twice in one object",
       "no text"]  # fmt: skip


def test_bad_rows_are_null_and_say_why(tmp_path: Path):
    (tmp_path / "in.jsonl").write_text(BAD)
    account = score(tmp_path / "in.jsonl", tmp_path / "out.jsonl", abstain=1.0)
    rows = read_table(tmp_path / "out.jsonl")
    assert [row["error"] for row in rows] == [None, *WHY, None]
    assert [row["label"] is None and row["votes"] is None and row["abstain"] is None for row in rows[1:-1]] == [
        True
    ] * 7
    assert [(bad.place, bad.reason) for bad in account.listed] == [(f"line {n}", why) for n, why in enumerate(WHY, 2)]
    assert (account.rows, account.scored, account.bad, account.abstained) == (9, 2, 7, 2)
    assert rows[3]["text"] == 7


def test_bad_rows_are_left_out_or_refused(tmp_path: Path):
    (tmp_path / "in.jsonl").write_text(BAD)
    account = score(tmp_path / "in.jsonl", tmp_path / "out.csv", on_bad_rows="skip")
    assert [row["text"] for row in read_table(tmp_path / "out.csv")] == ["great film", "dull film"]
    assert account.bad == 7
    with pytest.raises(InputError, match=r"line 2: no text. Mend it"):
        score(tmp_path / "in.jsonl", tmp_path / "no.csv", on_bad_rows="refuse")
    assert not (tmp_path / "no.csv").exists()
    assert not (tmp_path / "no.csv.parts").exists()


def test_bad_rows_of_csv_are_told_by_their_lines(tmp_path: Path):
    (tmp_path / "in.csv").write_bytes(
        b'text,n\n"two\nlines, great",1\nonly one\n,2\nn\xffo,3\nmany,4,5\ntext,n\na\x00b,6\ngreat,7\n'
    )
    account = score(tmp_path / "in.csv", tmp_path / "out.csv")
    assert [(bad.place, bad.reason) for bad in account.listed] == [
        ("line 4", "1 cells instead of 2"),
        ("line 5", "the text is empty"),
        ("line 6", "not UTF-8"),
        ("line 7", "3 cells instead of 2"),
        ("line 8", "the header again"),
        ("line 9", "a NUL byte"),
    ]
    assert read_table(tmp_path / "out.csv")[-1]["n"] == "7"


@pytest.mark.parametrize("line", ['"a "stray" one",1\n', '"never closed,1\n', '"two\nlines",1,2\n'])
def test_a_stray_quote_in_csv_swallows_nothing(line: str, tmp_path: Path):
    (tmp_path / "in.csv").write_text(f"text,n\ngreat,1\n{line}dull,2\nfilm,3\n")
    with pytest.raises(InputError, match=r"line 3: .* where the next row begins is not certain"):
        score(tmp_path / "in.csv", tmp_path / "out.csv")


def test_long_texts_and_broken_bytes_of_parquet_are_bad(tmp_path: Path):
    broken = pa.array([b"great film", b"n\xffo", b"x" * 10_000_001, b"a" * 1000]).cast(pa.binary())
    table = pa.table({"text": pa.Array.from_buffers(pa.string(), 4, broken.buffers()), "n": [1, 2, 3, 4]})
    parquet.write_table(table, tmp_path / "in.parquet")
    account = score(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert [(bad.place, bad.reason) for bad in account.listed] == [
        ("row 1", "not UTF-8"),
        ("row 2", "the text is longer than 10 MB"),
    ]
    assert [row["n"] for row in read_table(tmp_path / "out.parquet")] == [1, 2, 3, 4]


def test_a_column_that_is_all_numbers_holds_no_texts(tmp_path: Path):
    (tmp_path / "in.jsonl").write_text('{"text": 1}\n{"text": 2}\n')
    account = score(tmp_path / "in.jsonl", tmp_path / "out.csv")
    assert [bad.reason for bad in account.listed] == ["the text is a int"] * 2
    write_table(tmp_path / "in.parquet", {"text": [1, 2]})
    with pytest.raises(InputError, match=r"`text` is 'text', but that column of .* holds int64: expected texts"):
        score(tmp_path / "in.parquet", tmp_path / "out.parquet")


# ---------------------------------------------------------------- folders


def test_a_folder_is_one_table(tmp_path: Path):
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    all_texts = texts()
    for number, name in enumerate(["a.csv", "deeper/b.csv.gz", "z.csv.zst"]):
        part = all_texts[number * 10 : number * 10 + 10]
        write_table(tmp_path / "in" / name, {"n": [str(number)] * 10, "text": [*part, ""][-10:]})
    (tmp_path / "in" / "README.md").write_text("no table")
    (tmp_path / "in" / ".hidden.csv").write_text("no table")
    account = score(tmp_path / "in", tmp_path / "out.csv")
    found = read_table(tmp_path / "out.csv")
    assert [row["n"] for row in found] == ["0"] * 10 + ["1"] * 10 + ["2"] * 10
    assert account.others == 1
    assert [bad.place for bad in account.listed] == ["a.csv line 11", "deeper/b.csv.gz line 11", "z.csv.zst line 11"]


def test_files_of_a_folder_have_the_same_columns_and_form(tmp_path: Path):
    (tmp_path / "in").mkdir()
    write_table(tmp_path / "in" / "a.csv", {"text": ["a"]})
    write_table(tmp_path / "in" / "b.csv", {"review": ["a"]})
    with pytest.raises(InputError, match=r"`b.csv` has the columns review \(string\), but `a.csv` has text"):
        score(tmp_path / "in", tmp_path / "out.csv")
    write_table(tmp_path / "in" / "c.jsonl", {"text": ["a"]})
    with pytest.raises(InputError, match=r"several forms, csv \(`a.csv`\) and json lines \(`c.jsonl`\)"):
        score(tmp_path / "in", tmp_path / "out.csv")


def test_json_lines_of_a_folder_may_have_columns_of_their_own(tmp_path: Path):
    (tmp_path / "in").mkdir()
    write_table(tmp_path / "in" / "a.jsonl", {"text": ["great"], "n": [1]})
    write_table(tmp_path / "in" / "b.jsonl", {"text": ["dull"], "n": ["x"], "label": [3]})
    score(tmp_path / "in", tmp_path / "out.parquet")
    found = read_table(tmp_path / "out.parquet")
    assert [(row["n"], row["label"]) for row in found] == [("1", None), ("x", 3)]
    assert found[0]["hardmax_label"] in MODEL.classes


def damaged(folder: Path, kind: str) -> None:
    folder.mkdir()
    for name in ("a", "b", "c"):
        write_table(folder / f"{name}{kind}", {"n": [name] * 2000, "text": texts(20) * 100})
    data = (folder / f"b{kind}").read_bytes()
    (folder / f"b{kind}").write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("kind", [".parquet", ".csv.gz", ".jsonl.zst"])
def test_a_damaged_file_of_a_folder_is_refused_or_told(kind: str, tmp_path: Path):
    damaged(tmp_path / "in", kind)
    with pytest.raises(InputError, match=rf"b{kind}` is .*broke|b{kind}` is damaged, or breaks off"):
        score(tmp_path / "in", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
    account = score(tmp_path / "in", tmp_path / "no.parquet", replace(SMALL, part_rows=300), on_bad_rows="skip")
    assert [lost.place for lost in account.lost] == [f"b{kind}"]
    names = [row["n"] for row in read_table(tmp_path / "no.parquet")]
    assert (names.count("a"), names.count("c")) == (2000, 2000)


def test_going_on_after_a_damaged_file_loses_and_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    damaged(tmp_path / "in", ".csv.gz")
    plan = replace(SMALL, part_rows=300)
    score(tmp_path / "in", tmp_path / "whole.csv", plan, on_bad_rows="skip")
    for writes in (14, 16, 18, 20, 22):
        with monkeypatch.context() as patch:
            interrupted(patch, writes)
            with pytest.raises(Killed):
                score(tmp_path / "in", tmp_path / "out.csv", plan, on_bad_rows="skip")
        account = score(tmp_path / "in", tmp_path / "out.csv", plan, on_bad_rows="skip")
        assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
        assert len(account.lost) == 1
        (tmp_path / "out.csv").unlink()


# ---------------------------------------------------------------- one line for what cannot be


def test_what_cannot_be_scored_is_refused_in_one_line(reviews: Path, tmp_path: Path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("text\n")
    (tmp_path / "no.jsonl").write_text("\n")
    (tmp_path / "twice.csv").write_text("text,text\n1,2\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "there.csv").write_text("mine")
    cases = [
        ("missing.csv", "o.csv", {}, "does not exist"),
        (
            "reviews.parquet",
            "o.csv",
            {"text": "body"},
            "`text` is 'body', but `.*reviews.parquet` has the columns id, text",
        ),
        ("empty.csv", "o.csv", {}, "is empty"),
        ("header.csv", "o.csv", {}, "has no rows"),
        ("no.jsonl", "o.csv", {}, "holds no JSON objects"),
        ("twice.csv", "o.csv", {}, "has no header"),
        ("folder", "o.csv", {}, "holds no tables"),
        ("reviews.parquet", "o.txt", {}, r"`out` `.*o.txt` has an unknown suffix: expected .parquet, .csv"),
        ("there.csv", "there.csv", {}, "is the input"),
        ("reviews.parquet", "there.csv", {}, "exists: force=True replaces it"),
        ("reviews.parquet", "none/o.csv", {}, "the folder `.*none` does not exist"),
        (".", "folder/o.csv", {}, "lies in the folder that is read"),
        ("reviews.parquet", "folder", {}, "unknown suffix"),
    ]
    for given, out, asked, why in cases:
        with pytest.raises(InputError, match=why) as refused:
            score(tmp_path / given, tmp_path / out, **asked)
        assert "\n" not in str(refused.value)
        assert not list(tmp_path.glob("*.parts"))
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_two_processes_do_not_write_one_file(reviews: Path, tmp_path: Path):
    held = bulk.PartsFolder.beside(tmp_path / "out.csv")
    with pytest.raises(InputError, match="is being written by another process"):
        score(reviews, tmp_path / "out.csv")
    held.release()
    assert score(reviews, tmp_path / "out.csv").rows == 50


def test_a_finished_job_leaves_the_folder_of_the_next_one_alone(tmp_path: Path):
    first = PartsFolder.beside(tmp_path / "scored.csv")
    first.remove()
    second = PartsFolder.beside(tmp_path / "scored.csv")
    first.release()
    second.add(0, b"data", {})
    second.release()
    assert len(second.accounts()) == 1


def test_what_is_read_ahead_is_closed_when_nobody_wants_more():
    def lines():
        try:
            yield from range(5)
        finally:
            closed.append(True)

    closed, source = [], lines()
    read = ahead(source)
    assert next(read) == 0
    read.close()
    assert closed == [True]


@pytest.mark.parametrize("name", ["mine.txt", "000000.part/", "notes.json", "input/"])
def test_a_folder_with_files_of_others_is_not_touched(name: str, reviews: Path, tmp_path: Path):
    mine = tmp_path / "out.csv.parts" / name
    mine.parent.mkdir()
    if name.endswith("/"):
        mine.mkdir()
    else:
        mine.write_text("mine")
    for force in (False, True):
        with pytest.raises(InputError, match="is where parts are kept, but has"):
            score(reviews, tmp_path / "out.csv", plan=bulk.Plan(force=force))
    assert mine.is_dir() if name.endswith("/") else mine.read_text() == "mine"


def test_an_input_that_changes_meanwhile_is_told(reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = bulk.encode

    def touching(*arguments):
        reviews.touch()
        return before(*arguments)

    monkeypatch.setattr(bulk, "encode", touching)
    with pytest.raises(InputError, match="changed while it was read: score it again"):
        score(reviews, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_prefix_is_put_before_our_names(tmp_path: Path):
    given = write_table(tmp_path / "in.parquet", {"text": ["great"], "label": [1], "hardmax_label": [1]})
    with pytest.raises(
        InputError, match=r"names of ours \('hardmax_label'\): give ours another beginning with prefix="
    ):
        score(given, tmp_path / "out.parquet")
    account = score(given, tmp_path / "out.parquet", prefix="m_")
    assert parquet.read_schema(tmp_path / "out.parquet").names[3:] == [f"m_{name}" for name in account.names]


def test_a_text_that_stands_for_many_rows_does_not_fill_the_memory(tmp_path: Path):
    long = "great film " * 300_000  # 3.3 MB
    schema = pa.schema([("text", pa.string())])
    with parquet.ParquetWriter(tmp_path / "in.parquet", schema, dictionary_pagesize_limit=1 << 30) as writer:
        for _ in range(6):
            writer.write_table(pa.table({"text": [long] * 10}, schema=schema))
    file = bulk.open_source(tmp_path / "in.parquet", None, skip_damaged=False)
    assert max(len(rows) for rows in file.rows()) <= 3
