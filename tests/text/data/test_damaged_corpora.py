"""Of 2,000 damaged files no row is lost without being counted, and what is read is what stood there."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import effort
import pytest

from hardmax._validation import InputError
from hardmax.text.data.corpora import Corpus, read_corpus

FILES = 2000 if effort.THOROUGH else 300
LABELS = ("neg", "pos", "mixed")
WORDS: tuple[str, ...] = ("a", "film", "that,", "of all;", 'so "good"', "né", "tab\there", "5", "'tis", "…")
Rows = list[tuple[str, str]]
TAG = re.compile(r"row(\d+)x")


@dataclass(frozen=True)
class Shape:
    """How a file of this kind is written."""

    suffix: str
    columns: tuple[str, ...]
    delimiter: str
    end: str
    quotes_all: bool
    many_lines: bool

    def record(self, cells: dict[str, str]) -> str:
        return self.delimiter.join(self.cell(cells[name]) for name in self.columns)

    def cell(self, content: str) -> str:
        if self.quotes_all or any(mark in content for mark in ('"', self.delimiter, "\n", "\r")):
            return '"' + content.replace('"', '""') + '"'
        return content

    def is_cell(self, written: str) -> bool:
        return bool(re.fullmatch(rf'[^"{self.delimiter}]*|"([^"]|"")*"', written))


def shapes(chance: random.Random) -> Shape:
    delimiter = chance.choice(",;\t")
    return Shape(
        ".tsv" if delimiter == "\t" and chance.random() < 0.5 else ".csv",
        chance.choice([("text", "label"), ("label", "text"), ("id", "text", "label"), ("text", "label", "id")]),
        delimiter,
        chance.choice(["\n", "\r\n"]),
        chance.random() < 0.3,
        chance.random() < 0.3,
    )


def some_rows(chance: random.Random, many_lines: bool) -> Rows:
    def text(number: int) -> str:
        words: list[str] = chance.choices(WORDS, k=chance.randint(2, 9))
        if many_lines and chance.random() < 0.5:
            words.insert(chance.randint(1, len(words)), "\n")
        return " ".join([f"row{number}x", *words]).strip() + "."

    return [(text(number), chance.choice(LABELS)) for number in range(chance.randint(12, 60))]


# ---------------------------------------------------------------- what happens to a row, written out, and its line end

Harm = Callable[[random.Random, Shape, str], str]


def put(mark: str) -> Harm:
    def harm(chance: random.Random, shape: Shape, record: str) -> str:
        place = chance.randint(0, len(record))
        return record[:place] + mark + record[place:]

    return harm


def cut_short(chance: random.Random, shape: Shape, record: str) -> str:
    # A label or a text that is cut only looks like another one: nobody can tell. A quote that is never closed tells.
    last_cell = next(cell for cell in (record[n:] for n in range(len(record))) if shape.is_cell(cell))
    places = range(1, len(record) - len(last_cell))
    if last_cell.startswith('"') and chance.random() < 0.5:
        inside = range(len(record) - len(last_cell) + 1, len(record))
        places = [n for n in inside if '"' not in record[n - 1 : n + 1]] or places
    return record[: chance.choice(places)]


def without_label(chance: random.Random, shape: Shape, record: str) -> str:
    tag = re.search(r"row\d+x", record)
    assert tag
    return shape.record({"text": tag.group(), "label": "", "id": "7"})


def doubled_delimiter(chance: random.Random, shape: Shape, record: str) -> str:
    place = chance.choice([n for n, mark in enumerate(record) if mark == shape.delimiter])
    return record[:place] + shape.delimiter + record[place:]


HARMS: dict[str, Harm] = {
    "stray quote": put('"'),
    "quote at the front": lambda chance, shape, record: '"' + record,
    "two quotes": lambda chance, shape, record: put('"')(chance, shape, put('"')(chance, shape, record)),
    "bad byte": put("\udcff"),
    "NUL": put("\0"),
    "cut short": cut_short,
    "too long": lambda chance, shape, record: record + shape.delimiter + "more",
    "no label": without_label,
    "doubled delimiter": doubled_delimiter,
    "byte order mark": lambda chance, shape, record: "\ufeff" + record,
    "blank lines": lambda chance, shape, record: shape.end + record + shape.end + shape.end,
    "another line end": lambda chance, shape, record: record + "\r",
    "old line end": lambda chance, shape, record: record + "\r\n\r",
}


def damaged(chance: random.Random, shape: Shape, rows: Rows, harms: list[str]) -> tuple[bytes, set[int]]:
    records = [shape.record({"text": text, "label": label, "id": str(n)}) for n, (text, label) in enumerate(rows)]
    # Never two in a row: one that is cut inside of its quotes and one with a quote too many are together a sound one.
    harmed = set(chance.sample(range(chance.randint(0, 1), len(rows), 2), len(harms)))
    for number, harm in zip(sorted(harmed), harms, strict=True):
        records[number] = HARMS[harm](chance, shape, records[number])
    written = shape.end.join([shape.delimiter.join(shape.columns), *records])
    whole = chance.choice(["", "\ufeff"]) + written + chance.choice(["", shape.end])
    return whole.encode("utf-8", "surrogateescape"), harmed


# ---------------------------------------------------------------- the account


def bare(text: str) -> str:
    """A text without all that a harm may have put into it and left there."""
    return re.sub(r'[",;\t\ufeff\r\n\0 ]', "", text)


def check(corpus: Corpus, rows: Rows, harmed: set[int], total: int) -> None:
    assert len(corpus) + len(corpus.bad) == total, corpus.account()
    seen = set()
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        tags = TAG.findall(bare(text))
        assert len(tags) == 1, f"one row made of {len(tags)}: {text!r}"
        number = int(tags[0])
        assert number not in seen
        seen.add(number)
        truth, right = rows[number]
        assert label == right
        assert bare(text) == bare(truth) if number in harmed else text == truth
    assert len(rows) - len(seen) <= len(corpus.bad)
    assert not corpus.bad or re.match(r"[\d,]+ rows? left out \(line \d+: .+\)\.$", corpus.account())


def read_damaged(path: Path, data: bytes) -> Corpus | None:
    path.write_bytes(data)
    try:
        return read_corpus(path, text="text", label="label")
    except InputError as error:
        refusal = str(error)
    assert re.fullmatch(r"`.*` line \d+: .*", refusal), "one line that names the line"
    return None


@pytest.mark.parametrize("harm", HARMS)
def test_one_damaged_row_costs_one_row_at_most(tmp_path: Path, harm: str):
    chance = random.Random(f"one {harm}")
    for _ in range(max(4, FILES // (4 * len(HARMS)))):
        shape = shapes(chance)
        rows = some_rows(chance, shape.many_lines)
        data, harmed = damaged(chance, shape, rows, [harm])
        corpus = read_damaged(tmp_path / f"a{shape.suffix}", data)
        if corpus is None:
            assert shape.many_lines, "where every text is one line there is no doubt"
            continue
        check(corpus, rows, harmed, len(rows))
        assert len(corpus.bad) <= 1


def test_of_many_damaged_rows_each_is_read_or_counted_or_the_file_refused(tmp_path: Path):
    chance, refused = random.Random(7), 0
    files = 3 * FILES // 4
    for _ in range(files):
        shape = shapes(chance)
        rows = some_rows(chance, shape.many_lines)
        harms = chance.choices(list(HARMS), k=chance.randint(2, 5))
        data, harmed = damaged(chance, shape, rows, harms)
        corpus = read_damaged(tmp_path / f"a{shape.suffix}", data)
        refused += corpus is None
        if corpus is not None:
            check(corpus, rows, harmed, len(rows))
    assert refused < files / 5, "a reader that refuses everything would pass, too"


def test_a_sound_file_is_read_whole_whatever_its_texts(tmp_path: Path):
    chance = random.Random(11)
    for _ in range(FILES // 10):
        shape = shapes(chance)
        rows = some_rows(chance, shape.many_lines)
        data, _ = damaged(chance, shape, rows, [])
        corpus = read_damaged(tmp_path / f"a{shape.suffix}", data)
        assert corpus is not None
        assert (list(zip(corpus.texts, corpus.labels, strict=True)), corpus.bad) == (rows, ())


@pytest.mark.parametrize("place", [0, 9, 500, 999])
def test_one_quote_among_a_thousand_rows_costs_one_of_them(tmp_path: Path, place: int):
    lines = [f"row{number}x is a film,{LABELS[number % 3]}" for number in range(1000)]
    lines[place] = '"' + lines[place]
    corpus = read_damaged(tmp_path / "a.csv", "\n".join(["text,label", *lines, ""]).encode())
    assert corpus is not None
    assert len(corpus) == 999
    assert [row.place for row in corpus.bad] == [f"line {place + 2}"]


def test_rows_between_two_stray_quotes_are_not_one_text(tmp_path: Path):
    lines = ["one,pos", '"two,neg', "three,pos", "four,neg", 'five",pos', "six,neg"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["text,label", *lines]))
    with pytest.raises(InputError, match=r"line 3: a quoted cell goes on over lines that look like rows"):
        read_corpus(path)


def test_a_file_that_breaks_off_anywhere_gives_no_wrong_row(tmp_path: Path):
    rows = [("row0x is good", "pos"), ("row1x, a film", "neg"), ("row2x is bad", "neg"), ("row3x is so, so", "pos")]
    shape = Shape(".csv", ("text", "label"), ",", "\n", quotes_all=False, many_lines=False)
    whole, _ = damaged(random.Random(0), shape, rows, [])
    first, last = whole.index(b"row3x"), whole.rindex(b"pos") + 3
    for end in range(first, last):
        corpus = read_damaged(tmp_path / "a.csv", whole[:end])
        assert corpus is not None
        assert list(zip(corpus.texts, corpus.labels, strict=True)) == rows[:3]
        assert len(corpus.bad) == 1


def test_a_header_in_the_middle_is_no_row(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes("text,label\none,pos\n\ufefftext,label\ntwo,neg\n".encode())
    corpus = read_corpus(tmp_path / "a.csv")
    assert corpus.texts == ["one", "two"]
    assert [(row.place, row.reason) for row in corpus.bad] == [("line 3", "the header again")]


def test_a_file_in_utf_16_is_named(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes("text,label\none,pos\n".encode("utf-16"))
    with pytest.raises(InputError, match="is UTF-16 text: save it as UTF-8"):
        read_corpus(tmp_path / "a.csv")


# ---------------------------------------------------------------- JSON lines


def cut(chance: random.Random, line: str) -> str:
    return line[: chance.randint(1, len(line) - 1)]


def marked(mark: str) -> Callable[[random.Random, str], str]:
    def harm(chance: random.Random, line: str) -> str:
        place = chance.randint(0, len(line))
        return line[:place] + mark + line[place:]

    return harm


JSON_HARMS: dict[str, Callable[[random.Random, str], str]] = {
    "cut": cut,
    "stray quote": marked('"'),
    "bad byte": marked("\udcff"),
    "NUL": marked("\0"),
    "two values": lambda chance, line: '{"text": "another", ' + line[1:],
    "no label": lambda chance, line: json.dumps({"text": json.loads(line)["text"]}),
    "a list": lambda chance, line: f"[{line}]",
    "nested": lambda chance, line: "[" * 100_000,
    "byte order mark": lambda chance, line: "\ufeff" + line,
    "blank": lambda chance, line: f"\r\n{line}\r\n  ",
    "old line end": lambda chance, line: line + "\r",
}


@pytest.mark.parametrize("harm", JSON_HARMS)
def test_every_line_of_json_is_read_or_counted(tmp_path: Path, harm: str):
    chance = random.Random(f"json {harm}")
    for _ in range(max(3, FILES // 100)):
        rows = some_rows(chance, many_lines=True)
        lines = [json.dumps({"text": text, "label": label}, ensure_ascii=False) for text, label in rows]
        harmed = set(chance.sample(range(len(rows)), 3))
        for number in harmed:
            lines[number] = JSON_HARMS[harm](chance, lines[number])
        end = chance.choice(["\n", "\r\n", "\r"])
        data = (chance.choice(["", "\ufeff"]) + end.join(lines)).encode("utf-8", "surrogateescape")
        corpus = read_damaged(tmp_path / "a.jsonl", data)
        assert corpus is not None
        check(corpus, rows, harmed, len(rows))


# ---------------------------------------------------------------- Parquet


def test_a_parquet_file_with_checksums_is_read_as_written_or_refused(tmp_path: Path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    chance, path = random.Random(3), tmp_path / "a.parquet"
    rows = [*some_rows(chance, many_lines=True), ("a text", None), (None, "pos")]
    texts, labels = zip(*rows, strict=True)
    parquet.write_table(pyarrow.table({"text": texts, "label": labels}), path, write_page_checksum=True)
    whole, sound, refused = path.read_bytes(), rows[:-2], 0
    for _ in range(FILES // 8):
        broken = bytearray(whole)
        broken[chance.randrange(len(whole))] ^= chance.randint(1, 255)
        path.write_bytes(broken if chance.random() < 0.7 else whole[: chance.randrange(len(whole))])
        try:
            corpus = read_corpus(path, text="text", label="label")
        except InputError:
            refused += 1
            continue
        assert list(zip(corpus.texts, corpus.labels, strict=True)) == sound
        assert len(corpus.bad) == 2
    assert refused > FILES // 16


def test_texts_of_parquet_that_are_not_utf_8_are_counted(tmp_path: Path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = pyarrow.array([b"good", b"bad \xff", b"fine"]).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": texts, "label": ["pos", "neg", "neg"]}), tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet")
    assert corpus.texts == ["good", "fine"]
    assert [(row.place, row.reason) for row in corpus.bad] == [("row 1", "the text is not UTF-8")]


def test_texts_with_quotes_of_their_own_lose_no_more_than_others(tmp_path: Path):
    lines = [f'row{number}x is ""so"" "good" a film,{LABELS[number % 3]}' for number in range(100)]
    lines[7] = '"' + lines[7].replace('"', "")
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *lines]))
    corpus = read_corpus(tmp_path / "a.csv")
    assert corpus.texts[0] == 'row0x is ""so"" "good" a film'
    assert (len(corpus), [row.place for row in corpus.bad]) == (99, ["line 9"])
