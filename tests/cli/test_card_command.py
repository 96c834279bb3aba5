"""`hardmax card`: a page about a model, alone and measured on texts."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import Command

import hardmax as hm
from hardmax.text.card_page import card_page
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_page_about_a_model_that_ships(hardmax: Command, tmp_path: Path):
    path = tmp_path / "card.html"
    told = hardmax("card", "imdb-2d", "-o", str(path))
    assert (told.code, told.out) == (0, "")
    page = path.read_text("utf-8")
    model = hm.load("imdb-2d")
    for word in (*model.keywords("positive", 3), *model.keywords("negative", 3)):
        assert f"<bdi>{word.word}</bdi>" in page
    assert "default-src 'none'" in page
    assert "Measured on" not in page
    assert "words and phrases" in page


def test_measured_on_texts_it_says_where_it_fails(hardmax: Command, tmp_path: Path):
    rows = [("An awful waste of time.", 0), ("A wonderful, perfect film!", 1), ("Excellent, superb, perfect.", 0)]
    data = tmp_path / "reviews.jsonl"
    data.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    path = tmp_path / "card.html"
    told = hardmax("card", "imdb-2d", str(data), "-o", str(path), "--map", "0=negative,1=positive")
    assert told.code == 0
    page = path.read_text("utf-8")
    assert "Measured on 3 texts" in page
    assert "1 error in all" in page
    assert "text 3, in truth <bdi>negative</bdi>" in page
    assert "How honest its probabilities are" in page


def test_nothing_that_a_model_brings_reaches_the_page_raw():
    model = TextModel(
        vocabulary=Vocabulary(["great", "awful"], [[0, 9], [9, 0]]),
        embeddings=np.array([[2.0], [-2.0]]),
        decoder=np.array([[1.0]]),
        bias=np.array([0.0]),
        classes=(HOSTILE, "other"),
        layers=8,
        metrics={HOSTILE: HOSTILE, "edited": {HOSTILE: HOSTILE}},
    )
    page = card_page(model, HOSTILE)
    assert "<img" not in page
    assert "Edited by hand" in page
    assert "&lt;img" in page


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("imdb-2d", "-o", "card.pdf"), "must end in .html or .htm"),
        (("imdb-2d", "nowhere.csv"), "nowhere.csv"),
        (("nowhere",), "nowhere"),
    ],
)
def test_bad_input_is_told(hardmax: Command, arguments: tuple[str, ...], why: str):
    told = hardmax("card", *arguments)
    assert told.code == 2
    assert why in told.err
