"""Labelled texts from every kind of file: no row is lost without being named, and what is read is
what was written."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import listed_refusals, refuses

from hardmax._common.validation import InputError, MissingExtra
from hardmax.text import Corpus, make_synthetic_corpus
from hardmax.text.corpora import read_corpus

TEXTS = ["A film, good.", 'He said "no".\nTwice.', "Né 名"]
LABELS = ["pos", "neg", "pos"]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(
        content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    )
    return path


def write_rows(folder: Path, name: str, columns: dict[str, list[Any]]) -> Path:
    """The columns in a file of the kind that its name says."""
    rows = list(zip(*columns.values(), strict=True))
    if name.endswith(".parquet"):
        pq.write_table(pa.table(columns), folder / name)
        return folder / name
    if name.endswith(".jsonl"):
        return write(
            folder,
            name,
            "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows),
        )
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter="\t" if name.endswith(".tsv") else ",").writerows(
        [list(columns), *rows]
    )
    return write(folder, name, stream.getvalue())


def refusal(path: Path, **options: Any) -> str:
    with refuses() as caught:
        read_corpus(path, **options)
    return str(caught.value)


def faults(corpus: Corpus) -> list[tuple[str, str]]:
    return [(row.place, row.fault) for row in corpus.bad]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_every_kind_of_file_is_read(name, tmp_path):
    columns = {"id": [1, 2, 3], "Review": TEXTS, "label": LABELS}
    corpus = read_corpus(write_rows(tmp_path, name, columns))
    assert (corpus.texts, corpus.labels, corpus.bad) == (TEXTS, LABELS, ())
    assert repr(corpus) == "Corpus(3 texts, 0 bad rows)"


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv_is_read_as_spreadsheets_write_it(mark, tmp_path):
    lines = [
        mark.join('"' + cell.replace('"', '""') + '"' for cell in row)
        for row in zip(TEXTS, LABELS, strict=True)
    ]
    corpus = read_corpus(
        write(tmp_path, "a.csv", "\r\n".join([f"\ufefftext{mark}label", *lines, ""]))
    )
    assert (corpus.texts, corpus.labels, corpus.bad) == (TEXTS, LABELS, ())


cells = st.text(st.sampled_from('ab ,;\t"\n\ré名'))


@settings(max_examples=100)
@given(ends=st.lists(cells, min_size=1, max_size=8), place=st.integers(0, 200))
def test_a_stray_quote_in_csv_swallows_no_row_silently(ends, place, tmp_path_factory):
    texts = [f"row {number} {end}" for number, end in enumerate(ends)]
    path = write_rows(
        tmp_path_factory.mktemp("csv"), "a.csv", {"text": texts, "label": ["pos"] * len(texts)}
    )
    assert read_corpus(path).texts == texts
    header, written = path.read_bytes().decode().split("\r\n", 1)
    write(path.parent, "a.csv", f'{header}\r\n{written[:place]}"{written[place:]}')
    try:
        corpus = read_corpus(path)
    except InputError:
        return
    read = "".join([*corpus.texts, *corpus.labels]).replace('"', "")
    assert corpus.bad or all(f"row {number}" in read for number in range(len(texts)))


def test_bad_rows_are_left_out_and_named_by_line(tmp_path):
    lines = 'text,label\ngood,1\n,1\nno label,\nshort\n"two\nlines",0\n'
    lines += 'a,b,c\n\nbad \udcff,1\nfine,0\n"x\ny",1,2\n'
    corpus = read_corpus(write(tmp_path, "a.csv", lines), encoding="utf-8")
    assert corpus.texts == ["good", "two\nlines", "fine"]
    assert faults(corpus) == [
        ("line 3", "the text is empty"),
        ("line 4", "no label"),
        ("line 5", "1 cell instead of 2"),
        ("line 8", "3 cells instead of 2"),
        ("line 10", "not utf-8"),
        ("line 12", "3 cells instead of 2, up to line 13"),
    ]
    assert corpus.describe_bad().startswith("left out 6 bad rows (line 3: the text is empty; ")
    assert corpus.describe_bad().endswith("; and 1 more)")
    assert "line 3: the text is empty" in refusal(
        tmp_path / "a.csv", on_bad_rows="refuse", encoding="utf-8"
    )
    good = read_corpus(write(tmp_path, "b.csv", "text,label\ngood,1\n"), on_bad_rows="refuse")
    assert (good.describe_bad(), len(good)) == ("", 1)


def test_bad_lines_of_json_and_rows_of_parquet_are_named(tmp_path):
    lines = [
        '{"text": "good", "label": 1}',
        "{",
        "[1]",
        '{"label": 1}',
        '{"text": 3, "label": 1}',
        '{"text": "x"}',
    ]
    lines += [
        '{"text": "x", "label": [1]}',
        '{"text": null, "label": 1}',
        '{"text": "x", "label": NaN}',
        "[" * 10**5,
    ]
    corpus = read_corpus(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert (corpus.texts, corpus.labels) == (["good"], [1])
    why = ["not JSON", "not a JSON object", "no text", "the text is of type int", "no label"]
    why += ["the label is of type list", "no text", "NaN is not JSON", "not JSON"]
    assert faults(corpus) == [(f"line {number}", fault) for number, fault in enumerate(why, 2)]
    path = write_rows(
        tmp_path, "a.parquet", {"text": [*TEXTS, None, "x"], "label": [1, 0, 1, 1, None]}
    )
    assert faults(read_corpus(path)) == [("row 4", "no text"), ("row 5", "no label")]
    assert read_corpus(path).labels == [1, 0, 1]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no such devices")
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_device_is_no_table(name, tmp_path):
    (tmp_path / name).symlink_to("/dev/zero")
    with refuses(rf"{name}` is a device, not a file or a pipe: expected a table of texts"):
        read_corpus(tmp_path / name)


def test_lines_of_json_of_which_none_can_be_read_are_not_called_empty(tmp_path):
    for line, fault in (("{broken", "not JSON"), ("[1]", "not a JSON object"), ("{}", "an empty")):
        with refuses(rf"a\.jsonl` has no columns \(line 2: {fault}.*\): expected"):
            read_corpus(write(tmp_path, "a.jsonl", f"\n{line}\n"))
    with refuses(r"a\.jsonl` is empty: expected"):
        read_corpus(write(tmp_path, "a.jsonl", "\n"))


def test_a_folder_of_class_folders_is_read(tmp_path):
    for place in (
        "train/pos/2.txt",
        "train/pos/1.txt",
        "train/neg/1.txt",
        "train/unsup/1.txt",
        "test/pos/1.txt",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(place)
    (tmp_path / "train" / "neg" / "2.txt").write_bytes(b"bad \xff byte")
    for folder in (tmp_path, tmp_path / "train"):
        with pytest.warns(UserWarning, match="unsup"):
            corpus = read_corpus(folder, encoding="utf-8")
        assert corpus.texts == ["train/neg/1.txt", "train/pos/1.txt", "train/pos/2.txt"]
        assert corpus.labels == ["neg", "pos", "pos"]
        assert faults(corpus) == [("neg/2.txt", "not utf-8")]


WRITTEN = {
    "cp1252": "für größere Städte",
    "utf-16": "plain words",
    "cp1251": "хорошо",
    "shift_jis": "映画は良い",
}


@pytest.mark.parametrize("encoding", WRITTEN)
@pytest.mark.parametrize("form", ["a.csv", "a.jsonl", "folder"])
def test_bytes_that_are_not_utf8_are_refused_and_read_in_the_encoding_that_is_named(
    form, encoding, tmp_path
):
    text = WRITTEN[encoding]
    lines = {"a.csv": f"text,label\n{text},1\n", "folder": text}
    written = lines.get(form) or json.dumps({"text": text, "label": "1"}, ensure_ascii=False)
    path = tmp_path / form if form != "folder" else tmp_path / form / "1" / "a.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written.encode(encoding))
    told = refusal(tmp_path / form)
    assert "not UTF-8" in told
    assert (f"It looks like {encoding}: pass `encoding='{encoding}'`" in told) == (
        encoding in ("cp1252", "utf-16")
    )
    corpus = read_corpus(tmp_path / form, encoding=encoding)
    assert (corpus.texts, corpus.labels, corpus.bad) == ([text], ["1"], ())


def test_an_encoding_is_one_of_texts_and_parquet_has_none(tmp_path):
    path = write_rows(tmp_path, "a.csv", {"text": TEXTS, "label": [1, 0, 1]})
    for wrong in ("utf-99", "base64", "", 8):
        assert "`encoding` must be one that Python knows" in refusal(path, encoding=wrong)
    path = write_rows(tmp_path, "a.parquet", {"text": TEXTS, "label": [1, 0, 1]})
    assert "Parquet is always UTF-8" in refusal(path, encoding="cp1252")


def test_a_folder_of_parquet_files_is_one_corpus_with_its_partitions(tmp_path):
    for label in ("pos", "neg"):
        (tmp_path / f"label={label}").mkdir()
        write_rows(tmp_path / f"label={label}", "a.parquet", {"text": TEXTS})
    corpus = read_corpus(tmp_path)
    assert (corpus.texts, corpus.labels) == (TEXTS * 2, ["neg"] * 3 + ["pos"] * 3)


def test_parquet_suffixes_of_any_case_are_read_and_what_else_a_folder_has_is_named(tmp_path):
    folder = tmp_path / "data"
    (folder / "deep" / "er").mkdir(parents=True)
    for number, name in enumerate(["1.PARQUET", "2.Parquet", "deep/er/3.parquet"]):
        pq.write_table(pa.table({"text": [f"text {number}"], "label": ["pos"]}), folder / name)
    for name in ["a.csv", "deep/b.jsonl", "_draft.parquet", "_SUCCESS", ".hidden"]:
        (folder / name).write_text("text,label\nx,y\n")
    write_rows(tmp_path, "out.parquet", {"text": ["outside"], "label": ["neg"]})
    (folder / "linked").symlink_to(tmp_path)  # a circle: this folder is in it
    (folder / "to nowhere.parquet").symlink_to(tmp_path / "nowhere")
    (folder / "to out.parquet").symlink_to(tmp_path / "out.parquet")
    with pytest.warns(UserWarning, match="left out of") as caught:
        corpus = read_corpus(folder)
    assert sorted(corpus.texts) == ["outside", "text 0", "text 1", "text 2"]
    (warning,) = caught
    names = ["_draft.parquet", "a.csv", "deep/b.jsonl", "linked", "to nowhere.parquet"]
    rule = "only Parquet files are read, and links to folders are not followed"
    assert str(warning.message) == f"left out of `{folder}`: {', '.join(names)} ({rule})"


def test_many_files_that_are_left_out_are_counted_and_the_first_named(tmp_path):
    write_rows(tmp_path, "a.parquet", {"text": ["x"], "label": ["pos"]})
    for number in range(12):
        (tmp_path / f"{number:02}\x1b[31m.csv").write_text("")
    with pytest.warns(UserWarning, match="left out of") as caught:
        read_corpus(tmp_path)
    message = str(caught[0].message)
    assert "04\\x1b[31m.csv, and 7 more (only" in message
    assert "05" not in message.removeprefix(f"left out of `{tmp_path}`")
    assert "\x1b" not in message


def test_the_rest_of_a_folder_of_class_folders_is_named(tmp_path):
    for place in ["pos/1.TXT", "neg/1.txt", "neg/1.md", "neg/old/2.txt", "unsup/1.txt"]:
        (tmp_path / "train" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "train" / place).write_text(place)
    (tmp_path / "train" / "neg" / "3.txt" / "deep").mkdir(parents=True)
    (tmp_path / "train" / "neg" / "4.txt").symlink_to("/dev/zero")
    (tmp_path / "test" / "pos").mkdir(parents=True)
    (tmp_path / "README").write_text("about")
    with pytest.warns(UserWarning, match="left out of") as caught:
        assert read_corpus(tmp_path).texts == ["neg/1.txt", "pos/1.TXT"]
    names = "README, test, train/neg/1.md, train/neg/3.txt, train/neg/4.txt, and 2 more"
    assert f": {names} (only the .txt files" in str(caught[0].message)


def test_texts_may_be_stored_in_a_different_way_in_each_file_of_a_folder(tmp_path):
    dictionary = pa.dictionary(pa.int8(), pa.string())
    kinds = [pa.string(), pa.large_string(), pa.string_view(), dictionary]
    for number, kind in enumerate(kinds):
        texts = pa.array([f"text {number}", None]).cast(kind)
        labels = pa.array(["pos", "neg"]).cast(kinds[-number])
        table = pa.table({"text": texts, "label": labels, "n": [1, 2]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    corpus = read_corpus(tmp_path)
    assert (corpus.texts, corpus.labels) == ([f"text {n}" for n in range(4)], ["pos"] * 4)
    assert faults(corpus) == [(f"{n}.parquet row 2", "no text") for n in range(4)]
    pq.write_table(pa.table({"text": ["x"], "label": ["pos"], "n": ["y"]}), tmp_path / "4.parquet")
    assert "n has incompatible types: int64 vs" in refusal(tmp_path)


def test_columns_are_chosen_by_name_or_by_their_usual_names(tmp_path):
    path = write(tmp_path, "a.csv", "id,Review,stars,body\n1,good,5,long\n")
    note = r"the text column is Review; body would be possible, too \(choose with `text`\)"
    with pytest.warns(UserWarning, match=note):
        corpus = read_corpus(path, label="stars")
    assert (corpus.texts, corpus.labels) == (["good"], ["5"])
    assert read_corpus(path, text="body", label="stars").texts == ["long"]
    assert "id, Review, stars, body" in refusal(path, text="body")
    assert "`text` is 'txt'" in refusal(path, text="txt", label="stars")


def test_what_does_not_exist_is_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "a.csv")
    assert "has no texts" in refusal(tmp_path)
    assert "`on_bad_rows` must be" in refusal(tmp_path, on_bad_rows="mend")


def test_a_cell_of_ten_megabytes_is_read(tmp_path):
    corpus = read_corpus(write(tmp_path, "a.csv", f"text,label\n{'word ' * 2_000_000},1\n"))
    assert len(corpus.texts[0]) == 10_000_000


def test_without_pyarrow_parquet_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[tables\]"):
        read_corpus(write(tmp_path, "a.parquet", "x"))


# ---------------------------------------------------------------- made up


def test_planted_words_carry_the_class():
    corpus = make_synthetic_corpus(
        300, classes=("sport", "music", "food"), words=3, length=7, disturbed=0.0, seed=4
    )
    assert len(corpus) == 300
    assert set(corpus.labels) == {"food", "music", "sport"}
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        found = set(text.lower().replace(".", "").split())
        assert found & set(corpus.words[label])
        assert not any(
            found & set(words) for other, words in corpus.words.items() if other != label
        )
    again = make_synthetic_corpus(
        300, classes=("sport", "music", "food"), words=3, length=7, disturbed=0.0, seed=4
    )
    assert again.texts == corpus.texts
    assert make_synthetic_corpus(50, seed=1).texts != make_synthetic_corpus(50, seed=2).texts


def test_some_planted_texts_are_disturbed():
    corpus = make_synthetic_corpus(400, disturbed=0.5, seed=1)
    other = {"negative": "positive", "positive": "negative"}
    disturbed = [
        any(word in text.lower() for word in corpus.words[other[label]])
        for text, label in zip(corpus.texts, corpus.labels, strict=True)
    ]
    assert 0.4 < sum(disturbed) / 400 < 0.6
    with refuses("`classes` must be at least two texts"):
        make_synthetic_corpus(classes=("one",))


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
