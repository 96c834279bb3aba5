"""`hardmax evaluate` as people use it: the numbers of the package, leaders, pictures."""

import json
from dataclasses import asdict

import pytest
from planted_files import CLASSES, TEST, make_model, write_csv
from running import Command, assert_refused, facts

from hardmax.text import Corpus
from hardmax.text.evaluation import evaluate_model


@pytest.fixture(autouse=True)
def texts(with_model):
    return write_csv(with_model / "test.csv", TEST)


def evaluate(hardmax: Command, line: str = "model test.csv") -> dict:
    return json.loads(hardmax(f"evaluate {line} --json").out)


def test_json_and_people_get_the_numbers_of_the_package(hardmax):
    document, model = evaluate(hardmax), make_model()
    found = evaluate_model(model, TEST.texts, TEST.labels)
    assert {name: document[name] for name in found.metrics} == found.metrics
    assert document["leaders"] == [asdict(leader) for leader in found.leaders[:30]]
    outcome = hardmax("evaluate model test.csv")
    told = facts(outcome.out)
    for name in ("accuracy", "f1_macro", "leaders_per_text"):
        assert told[name.replace("_", " ")] == f"{document[name]:.6g}"
    assert all(f"\n{leader.word}\t" in outcome.out for leader in found.leaders[:30])
    (right, wrong), _ = document["confusion"]
    assert f"\nnegative\t{right}\t{wrong}\t" in outcome.out


def test_labels_are_compared_by_what_they_read_and_can_be_mapped(hardmax, here):
    whole = evaluate(hardmax)
    labels = [str(int(label == "positive")) for label in TEST.labels]
    write_csv(here / "numbers.csv", Corpus(TEST.texts, labels))
    assert evaluate(hardmax, "model numbers.csv --map 1=positive --map 0=negative") == whole
    make_model(classes=(0, 1)).save(here / "numbers")
    assert evaluate(hardmax, "numbers numbers.csv")["confusion"] == whole["confusion"]


def test_bad_rows_are_listed_and_skipped_or_refused(hardmax, here):
    with (here / "test.csv").open("a") as stream:
        stream.write(",positive\n")
    skipped = hardmax("evaluate model test.csv")
    assert "line 42" in skipped.err
    assert facts(skipped.out)["texts"] == "40"
    assert_refused(hardmax("evaluate model test.csv --on-bad-rows refuse"), "line 42")


def test_texts_without_known_words_have_no_leaders(hardmax, here):
    write_csv(here / "test.csv", Corpus(["xyzzy", "plugh"], list(CLASSES)))
    assert evaluate(hardmax)["leaders"] == []
    assert hardmax("evaluate model test.csv").code == 0
