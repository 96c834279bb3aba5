import json

import pytest

from hardmax._validation import InputError, MissingExtra
from hardmax.text.data.corpora import Corpus, read_corpus

TEXTS, LABELS = ["A film, good.", 'He said "no".\nTwice.', "Né"], ["pos", "neg", "pos"]


def write(tmp_path, name: str, content: str | bytes):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path, **columns) -> str:
    with pytest.raises(InputError) as caught:
        read_corpus(path, **columns)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
def test_columns_of_text_are_read_as_spreadsheets_write_them(tmp_path, name, mark):
    rows = [("id", "text", "label"), *((str(n), *row) for n, row in enumerate(zip(TEXTS, LABELS, strict=True)))]
    lines = [mark.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    corpus = read_corpus(write(tmp_path, name, "\ufeff" + "\r\n".join(lines) + "\r\n"))
    assert (corpus.texts, corpus.labels, corpus.bad) == (TEXTS, LABELS, ())


def test_json_lines_are_read(tmp_path):
    lines = [json.dumps({"review": t, "y": n}) for n, t in enumerate(TEXTS)]
    corpus = read_corpus(write(tmp_path, "a.jsonl", "\n".join([*lines, ""])))
    assert (corpus.texts, corpus.labels) == (TEXTS, [0, 1, 2])


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"text": [*TEXTS, None, "x"], "label": [1, 0, 1, 1, None]})
    parquet.write_table(table, tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet")
    assert (corpus.texts, corpus.labels) == (TEXTS, [1, 0, 1])
    assert [(row.place, row.reason) for row in corpus.bad] == [("row 3", "no text"), ("row 4", "no label")]


SPANS = [[(2, 6), (8, 12)], [], [(0, 2)]]


def test_spans_are_read_from_every_kind_of_file(tmp_path):
    rows = list(zip(TEXTS, LABELS, SPANS, strict=True))
    lines = [
        ",".join('"' + str(cell).replace('"', '""') + '"' for cell in (t, label, [*map(list, s)]))
        for t, label, s in rows
    ]
    write(tmp_path, "a.csv", "\n".join(["text,label,marked", *lines]))
    write(tmp_path, "a.jsonl", "\n".join(json.dumps({"text": t, "label": label, "marked": s}) for t, label, s in rows))
    files = ["a.csv", "a.jsonl"]
    if pyarrow := _parquet():
        table = pyarrow.table(
            {"other": [1, 2, 3], "text": TEXTS, "label": LABELS, "marked": [[*map(list, s)] for s in SPANS]}
        )
        pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
        files.append("a.parquet")
    for name in files:
        corpus = read_corpus(tmp_path / name, spans="marked")
        assert (corpus.texts, corpus.labels, corpus.spans, corpus.bad) == (TEXTS, LABELS, SPANS, ())
        assert read_corpus(tmp_path / name).spans is None


def _parquet():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow


def test_spans_that_cannot_be_read_are_listed_with_their_lines(tmp_path):
    cells = [
        "[[0, 5]]",
        "",
        "[[0, 6]]",
        "[[3, 1]]",
        "[0, 3]",
        "[[0, 1, 2]]",
        "[[0, 1.5]]",
        "[[true, 2]]",
        "nothing",
        "[" * 10**5,
    ]
    corpus = read_corpus(
        write(tmp_path, "a.tsv", "text\tlabel\tspans\n" + "".join(f"films\t1\t{c}\n" for c in cells)), spans="spans"
    )
    assert corpus.spans == [[(0, 5)]]
    assert [row.place for row in corpus.bad] == [f"line {n}" for n in range(3, 12)]
    assert corpus.bad[0].reason == "no spans"
    wish = "expected pairs [start, end] of whole numbers from 0 to 5, start before end"
    assert corpus.bad[1].reason == f"the spans hold [0, 6]: {wish}"
    assert corpus.bad[7].reason == f"the spans are 'nothing': {wish}"
    assert refusal(tmp_path / "a.tsv", spans="marks").startswith("`spans` is 'marks', but")


def test_a_folder_of_classes_is_read(tmp_path):
    for place in ("train/pos/2.txt", "train/pos/1.txt", "train/neg/1.txt", "train/unsup/1.txt", "test/pos/1.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(place)
    (tmp_path / "train" / "neg" / "2.txt").write_bytes(b"bad \xff byte")
    (tmp_path / "train" / "readme.txt").write_text("not a review")
    for folder in (tmp_path, tmp_path / "train"):
        corpus = read_corpus(folder)
        assert corpus.texts == ["train/neg/1.txt", "train/pos/1.txt", "train/pos/2.txt"]
        assert corpus.labels == ["neg", "pos", "pos"]
        assert corpus.bad[0].place == "neg/2.txt"


def test_bad_rows_are_listed_with_their_lines_and_left_out(tmp_path):
    content = (
        b'text,label\ngood,1\n,1\nno label,\nshort\n"two\nlines",0\na,b,c\n"x"y,1\n\nbad \xff,1\nfine,0\n"open,1\n'
    )
    corpus = read_corpus(write(tmp_path, "a.csv", content))
    assert corpus.texts == ["good", "two\nlines", "fine"]
    assert [row.place for row in corpus.bad] == ["line 3", "line 4", "line 5", "line 8", "line 9", "line 11", "line 13"]
    reasons = [row.reason for row in corpus.bad]
    assert reasons[:4] == ["the text is empty", "no label", "1 cells instead of 2", "3 cells instead of 2"]
    assert "broken line" in reasons[4]
    assert reasons[5] == "the text is not UTF-8"
    assert "7 rows left out (line 3: the text is empty; " in corpus.account()
    assert "and 2 more" in corpus.account()
    with pytest.raises(InputError, match="7 rows"):
        corpus.refuse_bad()


def test_bad_lines_of_json_are_listed(tmp_path):
    lines = ['{"text": "good", "label": 1}', "{", "[1]", '{"label": 1}', '{"text": 3, "label": 1}', '{"text": "x"}']
    lines += ['{"text": "x", "label": [1]}', '{"text": null, "label": 1}', '{"text": "x", "label": NaN}']
    corpus = read_corpus(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert corpus.texts == ["good"]
    assert [row.place for row in corpus.bad] == [f"line {number}" for number in range(2, 10)]


def test_a_good_corpus_is_not_refused_and_has_nothing_to_account_for():
    corpus = Corpus(TEXTS, LABELS)
    assert corpus.refuse_bad() is corpus
    assert corpus.account() == ""


def test_columns_are_chosen_by_name_or_by_their_usual_names(tmp_path):
    path = write(tmp_path, "a.csv", "id,Review,stars,body\n1,good,5,long\n")
    assert read_corpus(path, label="stars").texts == ["good"]
    assert read_corpus(path, text="body", label="stars").texts == ["long"]
    assert "id, Review, stars, body" in refusal(path)
    assert "id, Review, stars, body" in refusal(path, text="txt", label="stars")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", "", "empty"),
        ("a.csv", "text,label\n", "no text with a label"),
        ("a.csv", "text,text\nx,y\n", "header"),
        ("a.jsonl", "1\n2\n", "no JSON objects"),
        ("a.parquet", "not parquet", "not a Parquet"),
        ("a.xlsx", "x", r".csv, .tsv"),
    ],
)
def test_a_file_of_no_use_is_refused_in_one_line(tmp_path, name, content, complaint):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    assert complaint in refusal(write(tmp_path, name, content))


def test_what_is_not_there_is_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "a.csv")
    (tmp_path / "empty").mkdir()
    assert "holds no texts" in refusal(tmp_path / "empty")


def test_a_cell_of_ten_megabytes_is_read(tmp_path):
    corpus = read_corpus(write(tmp_path, "a.csv", f"text,label\n{'word ' * 2_000_000},1\n"))
    assert len(corpus.texts[0]) == 10_000_000


def test_labels_are_numbered_in_order_and_must_differ():
    classes, numbers = Corpus(["a", "b", "c"], ["pos", "neg", "pos"]).numbered()
    assert (classes, numbers.tolist()) == (("neg", "pos"), [1, 0, 1])
    assert Corpus(["a", "b"], [10, 9]).numbered()[0] == (9, 10)
    with pytest.raises(InputError, match="'pos' alone"):
        Corpus(["a"], ["pos"]).numbered()


def test_without_pyarrow_parquet_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"hardmax\[tables\]"):
        read_corpus(write(tmp_path, "a.parquet", "x"))
