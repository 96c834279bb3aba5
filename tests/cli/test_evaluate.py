"""`hardmax evaluate` as people use it: the numbers of the package, leaders, pictures, one line for
bad input."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from planted_files import CLASSES, TEST, make_model, write_csv
from running import Command, Outcome, assert_refused

from hardmax.text import Corpus
from hardmax.text.evaluation import evaluate_model


@pytest.fixture(autouse=True)
def texts(with_model: Path) -> Path:
    return write_csv(with_model / "test.csv", TEST)


def facts(outcome: Outcome) -> dict[str, str]:
    return dict(
        line[2:].split(": ", 1) for line in outcome.out.splitlines() if line.startswith("# ")
    )


def evaluate(hardmax: Command, *arguments: object) -> dict:
    return json.loads(hardmax("evaluate", *(arguments or ("model", "test.csv")), "--json").out)


def test_json_has_the_numbers_of_the_package(hardmax: Command):
    document, model = evaluate(hardmax), make_model()
    found = evaluate_model(model, TEST.texts, TEST.labels)
    assert {name: document[name] for name in found.metrics} == found.metrics
    assert document["leaders"] == [asdict(leader) for leader in found.leaders[:30]]
    assert document["model"] == {"tokens": 15, "modifiers": 1, "gate": 0.0, "alpha": "0"}


def test_people_get_the_same_numbers(hardmax: Command):
    document, outcome = evaluate(hardmax), hardmax("evaluate", "model", "test.csv")
    shown = facts(outcome)
    for name in ("accuracy", "f1_binary", "calibration_error", "leaders_per_text"):
        assert shown[name.replace("_", " ")] == f"{document[name]:.6g}"
    lines = outcome.out.splitlines()
    words = [leader["word"] for leader in document["leaders"]]
    assert [line.split("\t")[0] for line in lines[-len(words) :]] == words
    start = lines.index("true \\ predicted\tnegative\tpositive") + 1
    assert [list(map(int, line.split("\t")[1:])) for line in lines[start : start + 2]] == document[
        "confusion"
    ]


def test_pictures_and_a_card_are_written(hardmax: Command, here: Path):
    files = ("--picture", "calibration.png", "--card", "card.html")
    outcome = hardmax("evaluate", "model", "test.csv", *files)
    assert outcome.code == 0
    assert outcome.err == "wrote calibration.png\nwrote card.html\n"
    assert (here / "calibration.png").read_bytes().startswith(b"\x89PNG")
    assert "40 texts" in (here / "card.html").read_text()


def test_labels_are_compared_by_what_they_read_and_can_be_mapped(hardmax: Command, here: Path):
    whole = evaluate(hardmax)
    labels = [str(int(label == "positive")) for label in TEST.labels]
    write_csv(here / "numbers.csv", Corpus(TEST.texts, labels))
    assert evaluate(hardmax, "model", "numbers.csv", "--map", "1=positive, 0=negative") == whole
    make_model(classes=(0, 1)).save(here / "numbers")
    assert evaluate(hardmax, "numbers", "numbers.csv")["confusion"] == whole["confusion"]


def test_bad_rows_are_listed_and_skipped_or_refused(hardmax: Command, here: Path):
    with (here / "test.csv").open("a") as stream:
        stream.write(",positive\n")
    skipped = hardmax("evaluate", "model", "test.csv")
    assert "line 42" in skipped.err
    assert facts(skipped)["texts"] == "40"
    assert_refused(hardmax("evaluate", "model", "test.csv", "--on-bad-rows", "refuse"), "line 42")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--picture", "calibration.gif"), ("--picture", ".png")),
        (("--card", "card.pdf"), ("--card", ".html")),
        (("--text", "story"), ("--text", "story")),
        (("--map", "1"), ("--map", "1=positive")),
        (("--map", "1=a,1=b"), ("--map", "once")),
    ],
)
def test_a_bad_option_is_refused_before_the_work(options: tuple, words: tuple, hardmax: Command):
    assert_refused(hardmax("evaluate", "model", "test.csv", *options), *words)


def test_what_cannot_be_measured_is_refused(hardmax: Command, here: Path):
    write_csv(here / "test.csv", Corpus(["a film"], ["lukewarm"]))
    assert_refused(hardmax("evaluate", "model", "test.csv"), "'lukewarm'", "negative", "positive")
    assert_refused(hardmax("evaluate", "nobody", "test.csv"), "`nobody`", "folder")
    write_csv(here / "test.csv", Corpus(["xyzzy", "plugh"], list(CLASSES)))
    assert evaluate(hardmax)["leaders"] == []
    (here / "test.csv").write_bytes(b"")
    assert_refused(hardmax("evaluate", "model", "test.csv"), "test.csv", "empty")
