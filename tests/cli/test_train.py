"""`hardmax train` as people use it: from a file to a folder, and refused in one line."""

import json
from pathlib import Path

import pytest
from planted_files import TEST, write_csv
from running import Command, Outcome, assert_refused

from hardmax.text.text_model import TextModel

GIVEN = """--C=1 --gate=0.25 --alpha=1/2 --neutral-weight=9 --longest-phrase=1 --max-features=12
--vectors=none"""


@pytest.fixture(autouse=True)
def data(here):
    return write_csv(here / "data.csv")


def train(hardmax: Command, options: str = "") -> Outcome:
    return hardmax(f"train data.csv -o model {options}")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_model_is_trained_told_of_and_read_again(hardmax, here):
    done = train(hardmax)
    assert done.code == 0
    assert "held out accuracy" in done.out
    assert "wrote model" in done.err
    model = TextModel.load(here / "model")
    assert (model.predict(TEST.texts) == TEST.labels).mean() >= 0.9


def test_options_are_not_chosen(hardmax, here):
    document = json.loads(train(hardmax, f"{GIVEN} --json").out)
    chosen = {"gate": 0.25, "alpha": "1/2", "neutral_weight": 9, "ngram_range": [1, 1]}
    assert {name: document["settings"][name] for name in chosen} == chosen


@pytest.mark.parametrize(("name", "expected"), [("none", None), ("own.txt", "own.txt")])
def test_word_vectors_are_named(name, expected, hardmax, here):
    (here / "own.txt").write_text("film 1 2\ngood 2 1\n")
    document = json.loads(train(hardmax, f"--vectors {name} --C=1 --json").out)
    assert document["settings"]["vectors"] == expected


def test_nothing_is_overwritten_unless_asked_and_other_things_never(hardmax, here):
    train(hardmax, GIVEN)
    before = files(here / "model")
    assert_refused(train(hardmax), "--output", "--force")
    assert files(here / "model") == before
    assert train(hardmax, f"{GIVEN} --force").code == 0
    assert files(here / "model") == before  # to the bit
    (here / "thesis").mkdir()
    (here / "thesis" / "thesis.txt").write_text("years of work")
    kept = hardmax(f"train data.csv -o thesis --force {GIVEN}")
    assert kept.code == 2
    assert "other files" in kept.err
    assert (here / "thesis" / "thesis.txt").read_text() == "years of work"


def test_an_encoding_is_suggested_and_labels_that_are_nearly_the_same_are_named(hardmax, here):
    rows = [("schön und größer", "Gut"), ("übel", "schlecht"), ("groß", "gut")] * 8
    lines = ["text;label", *(f"{text};{label}" for text, label in rows)]
    (here / "words.csv").write_bytes("\n".join(lines).encode("cp1252"))
    refused = hardmax("train words.csv -o model")
    assert_refused(refused, "`words.csv` line 2 is not UTF-8", "pass `--encoding cp1252`, or")
    with pytest.warns(UserWarning, match="differ only in case or spaces: 'Gut' and 'gut'. Rename"):
        done = hardmax("train words.csv -o model --C=1 --vectors none --encoding cp1252")
    assert done.code == 0
    assert "24 texts, 3 classes" in done.err
