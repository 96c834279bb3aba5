"""`hardmax evaluate` as people use it: the numbers of the package, leaders, pictures, one line for
bad input."""

import json
from dataclasses import asdict

import pytest
from planted_files import CLASSES, TEST, make_model, write_csv
from running import Command, Outcome, assert_refused

from hardmax.text import Corpus
from hardmax.text.evaluation import evaluate_model


@pytest.fixture(autouse=True)
def texts(with_model):
    return write_csv(with_model / "test.csv", TEST)


def facts(outcome: Outcome) -> dict[str, str]:
    return dict(
        line[2:].split(": ", 1) for line in outcome.out.splitlines() if line.startswith("# ")
    )


def evaluate(hardmax: Command, line: str = "model test.csv") -> dict:
    return json.loads(hardmax(f"evaluate {line} --json").out)


def test_json_has_the_numbers_of_the_package(hardmax):
    document, model = evaluate(hardmax), make_model()
    found = evaluate_model(model, TEST.texts, TEST.labels)
    assert {name: document[name] for name in found.metrics} == found.metrics
    assert document["leaders"] == [asdict(leader) for leader in found.leaders[:30]]
    assert document["model"] == {"tokens": 15, "modifiers": 1, "gate": 0.0, "alpha": "0"}


def test_people_get_the_same_numbers(hardmax):
    document, outcome = evaluate(hardmax), hardmax("evaluate model test.csv")
    shown = facts(outcome)
    for name in ("accuracy", "f1_macro", "calibration_error", "leaders_per_text"):
        assert shown[name.replace("_", " ")] == f"{document[name]:.6g}"
    lines = outcome.out.splitlines()
    words = [leader["word"] for leader in document["leaders"]]
    assert [line.split("\t")[0] for line in lines[-len(words) :]] == words
    start = lines.index("true \\ predicted\tnegative\tpositive\tF1") + 1
    cells = [line.split("\t")[1:] for line in lines[start : start + 2]]
    assert [list(map(int, row[:2])) for row in cells] == document["confusion"]
    assert [float(row[2]) for row in cells] == pytest.approx(document["f1"], abs=1e-5)


def test_pictures_and_a_card_are_written(hardmax, here):
    outcome = hardmax("evaluate model test.csv --picture calibration.png --card card.html")
    assert outcome.code == 0
    assert outcome.err == "wrote calibration.png\nwrote card.html\n"
    assert (here / "calibration.png").read_bytes().startswith(b"\x89PNG")
    assert "40 texts" in (here / "card.html").read_text()


def test_labels_are_compared_by_what_they_read_and_can_be_mapped(hardmax, here):
    whole = evaluate(hardmax)
    labels = [str(int(label == "positive")) for label in TEST.labels]
    write_csv(here / "numbers.csv", Corpus(TEST.texts, labels))
    assert evaluate(hardmax, "model numbers.csv --map '1=positive, 0=negative'") == whole
    make_model(classes=(0, 1)).save(here / "numbers")
    assert evaluate(hardmax, "numbers numbers.csv")["confusion"] == whole["confusion"]


def test_bad_rows_are_listed_and_skipped_or_refused(hardmax, here):
    with (here / "test.csv").open("a") as stream:
        stream.write(",positive\n")
    skipped = hardmax("evaluate model test.csv")
    assert "line 42" in skipped.err
    assert facts(skipped)["texts"] == "40"
    assert_refused(hardmax("evaluate model test.csv --on-bad-rows refuse"), "line 42")


def test_texts_without_known_words_have_no_leaders(hardmax, here):
    write_csv(here / "test.csv", Corpus(["xyzzy", "plugh"], list(CLASSES)))
    assert evaluate(hardmax)["leaders"] == []
