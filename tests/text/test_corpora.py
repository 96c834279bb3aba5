"""Labelled texts from every kind of file: no row is lost without being named, and what is read is
what was written."""

import csv
import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from hardmax._common.validation import InputError, MissingExtra
from hardmax.text import Corpus, make_synthetic_corpus
from hardmax.text.corpora import read_corpus

TEXTS = ["A film, good.", 'He said "no".\nTwice.', "Né 名"]
LABELS = ["pos", "neg", "pos"]
BAD_LINES = {
    "{": "not JSON",
    "[1]": "not a JSON object",
    '{"label": 1}': "no text",
    '{"text": null, "label": 1}': "no text",
    '{"text": 3, "label": 1}': "the text is of type int",
    '{"text": "x"}': "no label",
    '{"text": "x", "label": [1]}': "the label is of type list",
}
for line in ('{"text": "x", "label": NaN}', '{"text": "x", "label": 1, "label": 2}', "[" * 10**5):
    BAD_LINES[line] = "not JSON"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_rows(folder: Path, name: str, columns: dict[str, list[Any]]) -> Path:
    """The columns in a file of the kind that its name says."""
    rows = list(zip(*columns.values(), strict=True))
    if name.endswith(".parquet"):
        pq.write_table(pa.table(columns), folder / name)
        return folder / name
    if name.endswith(".jsonl"):
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        return write(folder, name, "\n".join(lines))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter="\t" if name.endswith(".tsv") else ",")
    writer.writerows([list(columns), *rows])
    return write(folder, name, stream.getvalue())


def faults(corpus: Corpus) -> list[tuple[str, str]]:
    return [(place, fault) for place, fault in corpus.bad]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_every_kind_of_file_is_read(name, tmp_path):
    columns = {"id": [1, 2, 3], "Review": TEXTS, "label": LABELS}
    corpus = read_corpus(write_rows(tmp_path, name, columns))
    assert (corpus.texts, corpus.labels) == (TEXTS, LABELS)
    assert not corpus.bad


@pytest.mark.parametrize("mark", [";", "\t"])
def test_csv_is_read_as_spreadsheets_write_it(mark, tmp_path):
    texts = [*TEXTS[:2], 40_000 * "word "]  # longer than Python's own limit of a cell
    quoted = ['"' + text.replace('"', '""') + '"' for text in texts]
    lines = [mark.join(row) for row in zip(quoted, LABELS, strict=True)]
    written = "\r\n".join([f"\ufefftext{mark}label", *lines, ""])
    corpus = read_corpus(write(tmp_path, "a.csv", written))
    assert (corpus.texts, corpus.labels) == (texts, LABELS)
    assert not corpus.bad


cells = st.text(st.sampled_from('ab ,;\t"\n\ré名'))


ends_of_rows = st.lists(cells, min_size=1, max_size=8)


@given(ends=ends_of_rows, place=st.integers(0, 200))
def test_a_stray_quote_in_csv_swallows_no_row_silently(ends, place, tmp_path_factory):
    texts = [f"row {number} {end}" for number, end in enumerate(ends)]
    folder = tmp_path_factory.mktemp("csv")
    path = write_rows(folder, "a.csv", {"text": texts, "label": ["pos"] * len(texts)})
    assert read_corpus(path).texts == texts
    header, written = path.read_bytes().decode().split("\r\n", 1)
    write(folder, "a.csv", f'{header}\r\n{written[:place]}"{written[place:]}')
    try:
        corpus = read_corpus(path)
    except InputError:
        return
    read = "".join([*corpus.texts, *corpus.labels]).replace('"', "")
    lost = [number for number in range(len(texts)) if f"row {number}" not in read]
    assert corpus.bad or not lost


def test_bad_rows_are_left_out_and_named_by_line(tmp_path):
    lines = 'text,label\ngood,1\n,1\nno label,\nshort\n"two\nlines",0\n'
    path = write(tmp_path, "a.csv", f'{lines}a,b,c\n\nfine,0\n"x\ny",1,2\n1,2,3\n')
    corpus = read_corpus(path)
    assert corpus.texts == ["good", "two\nlines", "fine"]
    wide = [(f"line {number}", "3 cells instead of 2") for number in (8, 11, 13)]
    assert faults(corpus)[:2] == [("line 3", "the text is empty"), ("line 4", "no label")]
    assert faults(corpus)[2:] == [("line 5", "1 cell instead of 2"), *wide]
    assert corpus.describe_bad().startswith("left out 6 bad rows (line 3: the text is empty; ")
    assert corpus.describe_bad().endswith("; and 1 more)")
    with refuses("line 3: the text is empty"):
        read_corpus(path, on_bad_rows="refuse")


def test_bad_lines_of_json_and_rows_of_parquet_are_named(tmp_path):
    lines = ['{"text": "good", "label": 1}', *BAD_LINES]
    corpus = read_corpus(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert (corpus.texts, corpus.labels) == (["good"], [1])
    expected = enumerate(BAD_LINES.values(), 2)
    assert faults(corpus) == [(f"line {number}", fault) for number, fault in expected]
    columns = {"text": [*TEXTS, None, "x"], "label": [1, 0, 1, 1, None]}
    corpus = read_corpus(write_rows(tmp_path, "a.parquet", columns))
    assert faults(corpus) == [("row 4", "no text"), ("row 5", "no label")]
    assert corpus.labels == [1, 0, 1]


def test_a_folder_of_class_folders_is_read_and_the_rest_is_named(tmp_path):
    for place in ("pos/2.txt", "pos/1.txt", "neg/1.txt", "neg/1.md", "unsup/1.txt"):
        write(tmp_path, f"train/{place}", place)
    write(tmp_path, "test/pos/1.txt", "unseen")
    with pytest.warns(UserWarning, match="left out of") as caught:
        corpus = read_corpus(tmp_path)
    assert corpus.texts == ["neg/1.txt", "pos/1.txt", "pos/2.txt"]
    assert corpus.labels == ["neg", "pos", "pos"]
    names = "test/pos/1.txt; train/neg/1.md; train/unsup/1.txt"
    assert f"`: {names} (only the .txt files" in str(caught[0].message)


def test_a_folder_of_parquet_files_is_one_corpus_and_what_else_it_has_is_named(tmp_path):
    kinds = {"label=neg/a.parquet": pa.string(), "label=pos/b.PARQUET": pa.large_string()}
    for name, kind in kinds.items():
        (tmp_path / name).parent.mkdir()
        numbers = [1, 2, 3] if "neg" in name else [0.5, None, None]
        texts = pa.array([*TEXTS[:2], None], kind)
        table = pa.table({"text": texts, "n": numbers})
        pq.write_table(table, tmp_path / name)
    for name in ["a\x1b[31m.csv", "_draft.parquet", "_SUCCESS", ".hidden"]:
        (tmp_path / name).write_text("text,label\nx,y\n")
    with pytest.warns(UserWarning, match="left out of") as caught:
        corpus = read_corpus(tmp_path)
    assert corpus.texts == TEXTS[:2] * 2
    assert corpus.labels == ["neg", "neg", "pos", "pos"]
    assert faults(corpus) == [(f"{name} row 3", "no text") for name in kinds]
    assert "`: a\\x1b[31m.csv (only Parquet files are read)" in str(caught[0].message)


def test_columns_are_chosen_by_name_or_by_their_usual_names(tmp_path):
    path = write(tmp_path, "a.csv", "id,Review,stars,body\n1,good,5,long\n")
    note = r"the text column is Review; body would be possible, too \(choose with `text`\)"
    with pytest.warns(UserWarning, match=note):
        corpus = read_corpus(path, label="stars")
    assert (corpus.texts, corpus.labels) == (["good"], ["5"])
    assert read_corpus(path, text="body", label="stars").texts == ["long"]


def test_without_pyarrow_parquet_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[tables\]"):
        read_corpus(write(tmp_path, "a.parquet", "x"))


@pytest.mark.parametrize("disturbed", [0.0, 0.5])
def test_planted_words_carry_the_class_and_some_texts_are_disturbed(disturbed):
    how: dict[str, Any] = {"classes": ("a", "b", "c"), "words": 3, "disturbed": disturbed}
    corpus = make_synthetic_corpus(300, seed=4, **how)
    assert make_synthetic_corpus(300, seed=4, **how).texts == corpus.texts
    mixed = 0
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        found = set(text.lower().replace(".", "").split())
        carried = {name for name, words in corpus.words.items() if found & set(words)}
        assert label in carried
        mixed += len(carried) > 1
    assert 300 * disturbed * 0.8 <= mixed <= 300 * disturbed * 1.2


UNUSABLE = [
    ("a.csv", "", "is empty: expected column names"),
    ("a.csv", "text,label\n", "no text with a label: it has no rows"),
    ("a.csv", "text,text\nx,y\n", "line 1 is not a header"),
    ("a.csv", 'text,label\nx,1\n"open,1\nfine,0\n', "line 3 is not CSV: unexpected end"),
    ("a.csv", b"text,label\nn\xff,1\n", "`.*a.csv` is not UTF-8: save it"),
    ("a.csv", "body,stars\ngood,1\n", "Cannot guess the label column"),
    ("a.jsonl", "\n{}\n", r"has no columns \(line 2: an empty object\): expected"),
    ("a.parquet", "not parquet", "a.parquet` cannot be read"),
    ("a.xlsx", "x", "has the suffix '.xlsx': expected one of .parquet, .csv"),
    ("folder/1/a.txt", b"\xff", "a.txt` is not UTF-8"),
    ("folder/a.md", "", "has no texts"),
]


@pytest.mark.parametrize(("name", "content", "pattern"), UNUSABLE)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(name, content, pattern, tmp_path):
    write(tmp_path, name, content)
    with refuses(pattern):
        read_corpus(tmp_path / Path(name).parts[0])


def test_wrong_arguments_are_refused_in_one_line(tmp_path):
    path = write(tmp_path, "a.csv", "text,label\ngood,1\n")
    with refuses("`text` is 'txt', but .* has the columns text, label"):
        read_corpus(path, text="txt")
    with refuses("`on_bad_rows` must be"):
        read_corpus(path, on_bad_rows="mend")
    with refuses("does not exist"):
        read_corpus(tmp_path / "nowhere.csv")
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    with refuses("device.csv` is a device"):
        read_corpus(tmp_path / "device.csv")
    with refuses("`classes` must be at least two texts"):
        make_synthetic_corpus(3, classes=("a", "a"))


def test_of_a_folder_the_hash_is_that_of_its_files_one_after_the_other(tmp_path):
    for name in ("pos/1.txt", "neg/1.txt"):
        write(tmp_path, name, f"a film {name}")
    source = read_corpus(tmp_path).source
    digest = sha256(b"a film neg/1.txta film pos/1.txt").hexdigest()
    assert source == {"file": tmp_path.name, "sha256": digest}
    path = write(tmp_path, "a.csv", "body,stars\ngood,1\n")
    source = read_corpus(path, label="stars").source
    assert source["sha256"] == sha256(path.read_bytes()).hexdigest()
    assert (source["text column"], source["label column"]) == ("body", "stars")
