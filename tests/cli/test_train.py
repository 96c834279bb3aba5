"""`hardmax train` as people use it: from a file to a folder, and refused in one line."""

import hashlib
import json

import pytest
from planted_files import TEST, write_csv
from running import assert_refused

from hardmax import load_model

TRAIN = "train data.csv -o model --vectors none --C 1"


@pytest.fixture(autouse=True)
def data(here):
    return write_csv(here / "data.csv")


def test_a_model_is_trained_told_of_and_read_again(hardmax, here):
    done = hardmax("train data.csv -o model")
    assert done.code == 0
    assert "accuracy, with 95 % interval" in done.out
    assert "wrote model" in done.err
    model, file = load_model(here / "model"), here / "data.csv"
    [source] = model.metrics["sources"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (source["file"], source["sha256"]) == ("data.csv", digest)
    assert (source["text column"], source["label column"]) == ("review", "sentiment")
    assert sum(source["classes"].values()) == source["texts"]
    assert digest in (here / "model" / "README.md").read_text("utf-8")
    assert (model.predict(TEST.texts) == TEST.labels).mean() >= 0.9


def test_options_are_not_chosen(hardmax, here):
    document = json.loads(hardmax(f"{TRAIN} --gate 0.25 --json").out)
    settings = document["settings"]
    assert (settings["gate"], settings["C"], settings["vectors"]) == (0.25, 1, None)


def test_nothing_is_overwritten_unless_asked_and_other_things_never(hardmax, here):
    hardmax(TRAIN)
    config = here / "model" / "config.json"
    before = config.read_bytes()
    assert_refused(hardmax(f"{TRAIN} --gate 0.9"), "`model` exists", "--force")
    assert config.read_bytes() == before
    assert hardmax(f"{TRAIN} --gate 0.9 --force").code == 0
    assert config.read_bytes() != before
    (here / "thesis").mkdir()
    (here / "thesis" / "thesis.txt").write_text("years of work")
    kept = hardmax(TRAIN.replace("model", "thesis"), "--force")
    assert kept.code == 2
    assert (here / "thesis" / "thesis.txt").read_text() == "years of work"


def test_other_encodings_are_refused_and_labels_are_named(hardmax, here):
    rows = [("schön und größer", "Gut"), ("übel", "schlecht"), ("groß", "gut")] * 8
    lines = ["text;label", *(f"{text};{label}" for text, label in rows)]
    (here / "words.csv").write_bytes("\n".join(lines).encode("cp1252"))
    assert_refused(hardmax("train words.csv -o model"), "`words.csv` is not UTF-8")
    (here / "words.csv").write_text("\n".join(lines), encoding="utf-8")
    done = hardmax("train words.csv -o model --C=1 --vectors none")
    assert done.code == 0
    assert "24 texts, 3 classes: 'Gut', 'gut', 'schlecht'" in done.err
