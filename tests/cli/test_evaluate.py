"""`hardmax evaluate` as people use it: the numbers of the package, leaders, pictures, one line for bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import Command, Outcome
from planted_files import TEST, write_csv

from hardmax.text import Corpus
from hardmax.text.evaluation.metrics import evaluate
from hardmax.text.evaluation.standing import measure_inside, measure_standing
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.vocabulary import Vocabulary

CLASSES = ("negative", "positive")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a model and test.csv."""
    monkeypatch.chdir(tmp_path)
    make_model().save(tmp_path / "model")
    write_csv(tmp_path / "test.csv", TEST)
    return tmp_path


def make_model(dimension: int = 2, classes: tuple = CLASSES) -> TextModel:
    """A model that knows the planted words, and some others badly."""
    rng = np.random.default_rng(0)
    side = {word: sign for sign, label in zip((-1, 1), CLASSES, strict=True) for word in TEST.words[label]}
    words = [*side, "film", "plot", "a"]
    vectors = rng.normal(size=(len(words), dimension)) * 0.3
    vectors[: len(side), 0] = [3.0 * sign for sign in side.values()]
    return TextModel(
        vocabulary=Vocabulary(words, np.ones((len(words), 2))),
        embeddings=vectors,
        decoder=np.eye(1, dimension),
        bias=np.array([0.1]),
        classes=classes,
        layers=8,
    )


def facts(outcome: Outcome) -> dict[str, str]:
    return dict(line[2:].split(": ", 1) for line in outcome.out.splitlines() if line.startswith("# "))


def is_refused(outcome: Outcome, *words: str) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1, outcome.err
    for word in words:
        assert word in outcome.err


def test_json_has_the_numbers_of_the_package(hardmax: Command, here: Path):
    document = json.loads(hardmax("evaluate", "model", "test.csv", "--json").out)
    model = make_model()
    truth = [CLASSES.index(label) for label in TEST.labels]
    found = model.analyse(TEST.texts)
    expected = evaluate(truth, found.probabilities)
    assert {name: document[name] for name in expected} == expected
    assert document["leaders_per_text"] == found.leaders_per_text.mean()
    assert document["mass_on_leaders"] == found.mass_on_leaders.mean()
    assert document["texts_without_a_known_word"] == 0
    assert document["model"] == {"tokens": 15, "dimension": 2, "layers": 8, "alpha": "1", "temperature": 1.0}


def test_people_get_the_same_numbers(hardmax: Command, here: Path):
    document = json.loads(hardmax("evaluate", "model", "test.csv", "--json").out)
    outcome = hardmax("evaluate", "model", "test.csv")
    told = facts(outcome)
    assert told["accuracy"] == f"{document['accuracy']:.4f}"
    assert told["F1 of positive"] == f"{document['f1_binary']:.4f}"
    assert told["calibration error"] == f"{document['calibration_error']:.4f}"
    assert told["leaders a text"] == f"{document['leaders_per_text']:.2f}"
    lines = outcome.out.splitlines()
    first = lines.index("leader\ttexts\tshare\tmass\tlean\tpull") + 1
    assert [line.split("\t")[0] for line in lines[first:]] == [leader["word"] for leader in document["leaders"]]
    start = lines.index("true \\ predicted\tnegative\tpositive") + 1
    assert [list(map(int, line.split("\t")[1:])) for line in lines[start : start + 2]] == document["confusion"]


def test_leaders_are_the_words_that_lead_most_texts(hardmax: Command, here: Path):
    document = json.loads(hardmax("evaluate", "model", "test.csv", "--json").out)
    texts = [leader["texts"] for leader in document["leaders"]]
    assert texts == sorted(texts, reverse=True)
    assert len(texts) <= 30
    planted = {word: label for label, words in TEST.words.items() for word in words}
    leaning = {leader["word"]: leader["lean"] for leader in document["leaders"] if leader["word"] in planted}
    assert leaning == planted
    for leader in document["leaders"]:
        assert (leader["pull"] > 0) == (leader["lean"] == "positive")


def test_pictures_are_drawn(hardmax: Command, here: Path):
    outcome = hardmax("evaluate", "model", "test.csv", "--picture", "honest.png", "--embedding", "words.svg")
    assert outcome.code == 0
    assert outcome.err == "wrote honest.png\nwrote words.svg\n"
    assert (here / "honest.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (here / "words.svg").read_bytes()


def test_texts_without_a_known_word_are_counted(hardmax: Command, here: Path):
    write_csv(here / "test.csv", Corpus([*TEST.texts, "xyzzy"], [*TEST.labels, "positive"]))
    assert facts(hardmax("evaluate", "model", "test.csv"))["texts"] == "41 (1 without a known word)"


def test_numbers_written_in_a_file_are_the_classes_of_a_model_that_has_numbers(hardmax: Command, here: Path):
    make_model(classes=(0, 1)).save(here / "numbers")
    labels = [str(int(label == "positive")) for label in TEST.labels]
    write_csv(here / "numbers.csv", Corpus(TEST.texts, labels))
    whole = json.loads(hardmax("evaluate", "model", "test.csv", "--json").out)
    document = json.loads(hardmax("evaluate", "numbers", "numbers.csv", "--json").out)
    assert document["confusion"] == whole["confusion"]


def test_labels_are_renamed_before_they_are_compared(hardmax: Command, here: Path):
    labels = [str(int(label == "positive")) for label in TEST.labels]
    write_csv(here / "numbers.csv", Corpus(TEST.texts, labels))
    whole = json.loads(hardmax("evaluate", "model", "test.csv", "--json").out)
    mapped = json.loads(hardmax("evaluate", "model", "numbers.csv", "--map", "1=positive, 0=negative", "--json").out)
    assert mapped == whole


def test_what_parts_of_texts_say_is_told(hardmax: Command, here: Path):
    document = json.loads(hardmax("evaluate", "model", "test.csv", "--json").out)
    assert document["standing"] == measure_standing(make_model(), TEST.texts).to_dict()
    assert document["words_that_count"] == make_model().analyse(TEST.texts).counting_per_text.mean()
    told = facts(hardmax("evaluate", "model", "test.csv"))
    assert told["same label from the leaders alone"] == f"{document['standing']['leaders_alone']:.3f} (of 40 texts)"
    assert told["words that count, a text"] == f"{document['words_that_count']:.1f}"
    assert json.loads(hardmax("evaluate", "model", "test.csv", "--sample", "7", "--json").out)["standing"]["texts"] == 7
    assert json.loads(hardmax("evaluate", "model", "test.csv", "--sample", "0", "--json").out)["standing"] is None


def write_marked(path: Path) -> list[list[tuple[int, int]]]:
    """The planted words of every other text are marked."""
    planted = [word for words in TEST.words.values() for word in words]
    spans = [
        [] if n % 2 else [(at, at + len(word)) for word in planted if (at := text.lower().find(word)) >= 0]
        for n, text in enumerate(TEST.texts)
    ]
    rows = zip(TEST.texts, TEST.labels, spans, strict=True)
    path.write_text("".join(json.dumps(dict(zip(("text", "label", "why"), row, strict=True))) + "\n" for row in rows))
    return spans


def test_leaders_are_held_against_what_people_marked(hardmax: Command, here: Path):
    spans = write_marked(here / "marked.jsonl")
    document = json.loads(hardmax("evaluate", "model", "marked.jsonl", "--spans", "why", "--json").out)
    inside = document["inside_spans"]
    assert inside == measure_inside(make_model(), TEST.texts, spans).to_dict()
    assert 0 < inside["marked"] < inside["first"] <= 0.5
    told = facts(hardmax("evaluate", "model", "marked.jsonl", "--spans", "why"))
    assert (
        told["leader of the predicted class inside the marks"] == f"{inside['first']:.3f} (of {inside['texts']} texts)"
    )
    assert told["it and the next one inside the marks"] == f"{inside['first_two']:.3f}"
    assert told["any word for the predicted class inside the marks"] == f"{inside['any_word']:.3f}"
    assert told["words of a text inside the marks"] == f"{inside['marked']:.3f}"
    assert json.loads(hardmax("evaluate", "model", "marked.jsonl", "--json").out)["inside_spans"] is None


def test_spans_that_cannot_be_read_are_told_with_their_line(hardmax: Command, here: Path):
    write_marked(here / "marked.jsonl")
    with (here / "marked.jsonl").open("a") as stream:
        stream.write('{"text": "a film", "label": "positive", "why": [[0, 7]]}\n')
    told = hardmax("evaluate", "model", "marked.jsonl", "--spans", "why").err
    assert told.startswith("left out 1 bad row (line 41: the spans are [[0, 7]]: expected pairs")
    is_refused(hardmax("evaluate", "model", "marked.jsonl", "--spans", "why", "--on-bad-rows", "refuse"), "line 41")


def test_bad_rows_are_listed_and_left_out_or_refused(hardmax: Command, here: Path):
    with (here / "test.csv").open("a") as stream:
        stream.write(",positive\n")
    skipped = hardmax("evaluate", "model", "test.csv")
    assert skipped.err == "left out 1 bad row (line 42: the text is empty)\n"
    assert facts(skipped)["texts"] == "40"
    is_refused(hardmax("evaluate", "model", "test.csv", "--on-bad-rows", "refuse"), "line 42", "--on-bad-rows skip")


def test_a_label_that_the_model_does_not_know_is_refused(hardmax: Command, here: Path):
    write_csv(here / "test.csv", Corpus(["a film"], ["lukewarm"]))
    is_refused(hardmax("evaluate", "model", "test.csv"), "'lukewarm'", "negative, positive", "--map lukewarm=negative")


def test_a_model_that_is_neither_shipped_nor_a_folder_is_refused(hardmax: Command, here: Path):
    is_refused(hardmax("evaluate", "nobody", "test.csv"), "`nobody`", "folder")


def test_a_model_with_a_wrong_hash_is_refused(hardmax: Command, here: Path):
    weights = bytearray((here / "model" / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (here / "model" / "model.safetensors").write_bytes(weights)
    is_refused(hardmax("evaluate", "model", "test.csv"), "model.safetensors", "hash")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--picture", "honest.gif"), ("--picture", ".png")),
        (("--embedding", "nowhere/words.png"), ("--embedding", "folder")),
        (("--text", "story"), ("--text", "story")),
        (("--spans", "why"), ("--spans", "why", "review, sentiment")),
        (("--map", "1"), ("--map", "1=positive")),
        (("--map", "1=a,1=b"), ("--map", "once")),
        (("--sample", "-1"), ("--sample", "from 0 up")),
    ],
)
def test_a_bad_option_is_refused_before_the_work(options: tuple, words: tuple, hardmax: Command, here: Path):
    is_refused(hardmax("evaluate", "model", "test.csv", *options), *words)


def test_an_empty_file_is_refused(hardmax: Command, here: Path):
    (here / "test.csv").write_bytes(b"")
    is_refused(hardmax("evaluate", "model", "test.csv"), "test.csv", "empty")


def test_without_a_known_word_there_is_no_picture_of_leaders(hardmax: Command, here: Path):
    write_csv(here / "test.csv", Corpus(["xyzzy", "plugh"], list(CLASSES)))
    is_refused(hardmax("evaluate", "model", "test.csv", "--embedding", "words.png"), "--embedding", "no leaders")
    assert not (here / "words.png").exists()
