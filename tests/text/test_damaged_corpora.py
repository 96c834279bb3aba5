"""Of 2,000 damaged files no row is lost without being counted, and what is read is what stood there."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import effort
import pytest

from hardmax.errors import InputError
from hardmax.text.corpora import Corpus, read_corpus

FILES = 2000 if effort.THOROUGH else 400
LABELS = ("neg", "pos", "mixed")
WORDS = ("a", "film", "that,", "of all;", 'so "good"', "né", "tab\there", "5", "'tis", "…")
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


def some_rows(chance: random.Random, many_lines: bool) -> list[tuple[str, str]]:
    def text(number: int) -> str:
        words = chance.choices(WORDS, k=chance.randint(2, 9))
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
    # What is cut off inside of the last cell only looks like another text: nobody can tell.
    return record[: chance.randint(1, record.rindex(shape.delimiter))]


def without_label(chance: random.Random, shape: Shape, record: str) -> str:
    cells = [next(iter(re.findall(r"row\d+x", record))), "", "7"]
    by_name = dict(zip(("text", "label", "id"), cells, strict=True))
    return shape.record(by_name)


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


def damaged(chance: random.Random, shape: Shape, rows: list[tuple[str, str]], harms: list[str]) -> tuple[bytes, set[int]]:
    records = [shape.record({"text": text, "label": label, "id": str(n)}) for n, (text, label) in enumerate(rows)]
    harmed = set(chance.sample(range(len(rows)), len(harms)))
    for number, harm in zip(sorted(harmed), harms, strict=True):
        records[number] = HARMS[harm](chance, shape, records[number])
    written = shape.end.join([shape.delimiter.join(shape.columns), *records])
    whole = chance.choice(["", "\ufeff"]) + written + chance.choice(["", shape.end])
    return whole.encode("utf-8", "surrogateescape"), harmed


# ---------------------------------------------------------------- the account


def bare(text: str) -> str:
    """A text without all that a harm may have put into it and left there."""
    return re.sub(r'[",;\t\ufeff\r\n\0 ]', "", text)


def check(corpus: Corpus, rows: list[tuple[str, str]], harmed: set[int], total: int) -> None:
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
    except InputError as refusal:
        assert "\n" not in str(refusal)
        assert re.search(r"` line \d+: ", str(refusal))
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
