"""`hardmax train` as people use it: from a file to a folder, and refused in one line."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from planted_files import TEST, write_csv
from running import Command, Outcome, assert_refused, in_a_shell

from hardmax.text.text_model import TextModel

GIVEN = (
    "--C=1",
    "--gate=0.25",
    "--alpha=1/2",
    "--neutral-weight=9",
    "--longest-phrase=1",
    "--max-features=12",
    "--vectors=none",
)


@pytest.fixture(autouse=True)
def data(here: Path) -> Path:
    return write_csv(here / "data.csv")


def train(hardmax: Command, *options: object, file: str = "data.csv") -> Outcome:
    return hardmax("train", file, "-o", "model", *options)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_model_is_trained_told_of_and_read_again(hardmax: Command, here: Path):
    done = train(hardmax)
    assert done.code == 0
    assert "held out accuracy" in done.out
    assert "wrote model" in done.err
    model = TextModel.load(here / "model")
    assert (model.predict(TEST.texts) == TEST.labels).mean() >= 0.9
    first = files(here / "model")
    assert train(hardmax, "--force").code == 0
    assert files(here / "model") == first


def test_options_are_not_chosen(hardmax: Command, here: Path):
    document = json.loads(train(hardmax, *GIVEN, "--json").out)
    chosen = {"gate": 0.25, "alpha": "1/2", "neutral_weight": 9, "ngram_range": [1, 1]}
    assert {name: document["settings"][name] for name in chosen} == chosen


@pytest.mark.parametrize(
    ("name", "expected"), [("none", None), ("english", "english"), ("own.txt", "own.txt")]
)
def test_word_vectors_are_named(name: str, expected: str | None, hardmax: Command, here: Path):
    (here / "own.txt").write_text("film 1 2\ngood 2 1\n")
    document = json.loads(train(hardmax, "--vectors", name, "--C=1", "--json").out)
    assert document["settings"]["vectors"] == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--alpha", "half"], ["--alpha", "half"]),
        (["--gate", "-0.5"], ["--gate"]),
        (["--max-features", "0"], ["--max-features"]),
        (["--on-bad-rows", "mend"], ["--on-bad-rows", "skip", "refuse", "mend"]),
        (["--output", "data.csv"], ["--output", "data.csv"]),
        (["--vectors", "german"], ["german", "english", "word vectors"]),
        (["--vectors", "bad.txt"], ["--vectors", "bad.txt", "line 2", "'b' has 1 numbers"]),
    ],
)
def test_a_bad_option_is_refused_in_one_line(
    options: list[str], words: list[str], hardmax: Command, here: Path
):
    (here / "bad.txt").write_text("a 1 2\nb 1\n")
    assert_refused(train(hardmax, *options), *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["data.csv"]),
        ("text,label\ngood,1\nfine,1\n", ["only the label", "two classes"]),
        ("a,b\ngood,1\nbad,0\n", ["--text"]),
    ],
)
def test_a_bad_file_is_refused_in_one_line(
    content: str, words: list[str], hardmax: Command, here: Path
):
    (here / "data.csv").write_text(content)
    assert_refused(train(hardmax), *words)
    assert not (here / "model").exists()


def test_a_file_that_is_not_there_is_refused(hardmax: Command, here: Path):
    assert_refused(train(hardmax, file="nowhere.csv"), "nowhere.csv", "does not exist")


def test_what_a_folder_has_beside_its_tables_is_one_line_on_stderr(here: Path):
    table = pa.table({"text": TEST.texts, "label": TEST.labels})
    (here / "in").mkdir()
    pq.write_table(table, here / "in" / "1.PARQUET")
    (here / "in" / "more.csv").write_text("text,label\ngreat,positive\n")
    done = in_a_shell("train", "in", "-o", "model", *GIVEN)
    assert done.code == 0
    lines = [line for line in done.err.splitlines() if "more.csv" in line]
    assert len(lines) == 1
    assert lines[0].startswith("warning: left out of `in`: more.csv (only Parquet files")
    assert f"{len(TEST.texts):,} texts, 2 classes" in done.err


def test_nothing_is_overwritten_unless_asked_and_other_things_never(hardmax: Command, here: Path):
    train(hardmax, *GIVEN)
    before = files(here / "model")
    assert_refused(train(hardmax), "--output", "--force")
    assert files(here / "model") == before
    (here / "thesis").mkdir()
    (here / "thesis" / "thesis.txt").write_text("years of work")
    kept = hardmax("train", "data.csv", "-o", "thesis", "--force", *GIVEN)
    assert kept.code == 2
    assert "other files" in kept.err
    assert (here / "thesis" / "thesis.txt").read_text() == "years of work"


def test_an_encoding_is_suggested_and_labels_that_are_nearly_the_same_are_named(here: Path):
    rows = [("schön und größer", "Gut"), ("übel", "schlecht"), ("groß", "gut")] * 8
    lines = ["text;label", *(f"{text};{label}" for text, label in rows)]
    (here / "words.csv").write_bytes("\n".join(lines).encode("cp1252"))
    refused = in_a_shell("train", "words.csv", "-o", "model")
    assert_refused(refused, "`words.csv` line 2 is not UTF-8", "pass --encoding cp1252, or")
    done = in_a_shell("train", "words.csv", "-o", "model", "--C=1", "--encoding", "cp1252")
    warned = "warning: labels differ only in case or spaces: 'Gut' and 'gut'. Rename"
    assert done.code == 0
    assert warned in done.err
    assert "24 texts, 3 classes" in done.err
