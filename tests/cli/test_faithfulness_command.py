"""`hardmax faithfulness`: a row for each attribution, and what such numbers do not tell."""

import json
from pathlib import Path

import pytest
from command import Command

TEXTS = ["A great film, a wonderful cast.", "An awful waste of time.", "The plot makes no sense and is boring."]


@pytest.fixture
def reviews(tmp_path: Path) -> str:
    lines = [{"text": text, "label": label} for text, label in zip(TEXTS, (1, 0, 0), strict=True)]
    path = tmp_path / "reviews.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_a_table_and_a_document_with_the_same_numbers(hardmax: Command, reviews: str):
    told = hardmax("faithfulness", "imdb-2d", reviews)
    assert told.code == 0
    head, ours, votes, left_out, chance = told.out.splitlines()
    assert head.startswith("attribution\tcomp\tsuff")
    assert ours.startswith("words by what goes with them")
    assert votes.startswith("votes of the words that count")
    assert left_out.startswith("leave one out")
    assert chance.startswith("chance")
    assert "not texts that anybody wrote" in told.err
    found = json.loads(hardmax("faithfulness", "imdb-2d", reviews, "--json", "--sample", "2").out)
    assert found["texts"] == 2
    assert found["rows"][0]["measures"]["comprehensiveness"] > 0


def test_tfidf_learns_from_a_file_with_labels_by_other_names(hardmax: Command, reviews: str):
    pytest.importorskip("sklearn")
    peers = ("--peers", "tfidf", "--train", reviews)
    told = hardmax("faithfulness", "imdb-2d", reviews, *peers, "--map", "1=positive,0=negative")
    assert told.code == 0
    assert "TF-IDF weights" in told.out
    wrong = hardmax("faithfulness", "imdb-2d", reviews, *peers)
    assert wrong.code == 2
    assert "TF-IDF learned the labels 0, 1" in wrong.err


def test_scores_made_elsewhere_come_from_a_file(hardmax: Command, reviews: str, tmp_path: Path):
    outside = tmp_path / "scores.jsonl"
    outside.write_text("".join(json.dumps({"row": row, "scores": {"The": 1}}) + "\n" for row in range(3)))
    told = hardmax("faithfulness", "imdb-2d", reviews, "--attributions", str(outside), "--json")
    assert [row["attribution"] for row in json.loads(told.out)["rows"]][2] == "from the file"
    for text, why in (
        ("{}\n", "line 1"),
        ('{"row": 9, "scores": {}}', "line 1"),
        ('{"row": -1, "scores": {}}', "line 1"),
        ('{"row": 0, "scores": {"a": "x"}}', "line 1"),
        ('{"row": 0, "scores": {"a": Infinity}}', "no finite number"),
        ('{"row": 0, "scores": {}}', "no line for row 1"),
    ):
        outside.write_text(text)
        wrong = hardmax("faithfulness", "imdb-2d", reviews, "--attributions", str(outside))
        assert wrong.code == 2
        assert why in wrong.err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--peers", "magic"), "expected some of lime, shap, tfidf"),
        (("--peers", "tfidf"), "`--train` names the texts"),
        (("--train", "reviews.jsonl"), "`--train` names the texts"),
        (("--sample", "0"), "`--sample` must be"),
        (("--attributions", "nowhere.jsonl"), "is no file"),
        (("--map", "1"), "`--map` must be pairs"),
    ],
)
def test_bad_input_is_told(hardmax: Command, reviews: str, options: tuple[str, ...], why: str):
    told = hardmax("faithfulness", "imdb-2d", reviews, *options)
    assert told.code == 2
    assert why in told.err
