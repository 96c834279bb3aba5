"""The models that ship: sound, small, and as right as their cards say."""

import numpy as np
import pytest
from text.reviews import read_split

import hardmax as hm
from hardmax.text.files.finding import MODELS, available

NAMES = ["imdb-16d", "imdb-2d", "imdb-2d-best"]


def test_all_of_them_are_there():
    assert available() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_reads_what_everybody_would(name):
    model = hm.load(name)
    texts = ["A wonderful film, one of the best I have seen.", "Awful. The worst film of the year, a waste of time."]
    assert model.predict(texts).tolist() == ["positive", "negative"]


@pytest.mark.parametrize("name", ["imdb-2d", "imdb-2d-best"])
def test_two_words_explain_a_review(name):
    why = hm.load(name).explain("A dull and boring script, but the acting is excellent and the music is great.")
    assert len(why.leaders) == 2  # one for, one against, beside the neutral one
    assert {"boring", "excellent"} <= {word.word for word in why.active}
    assert why.bias == 0
    assert np.isclose(sum(share.contribution for share in why.ledger), why.logit)
    assert np.isclose(sum(word.vote for word in why.active) + why.rest, why.logit)


@pytest.mark.parametrize("name", NAMES)
def test_the_words_that_count_say_it_by_themselves(name):
    model = hm.load(name)
    review = "An awful waste of time, and the plot makes no sense at all; only the music is wonderful."
    why = model.explain(review)
    assert model.explain(" . ".join(word.word for word in why.active)).label == why.label == "negative"


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_is_small_and_has_a_card(name):
    assert sum(path.stat().st_size for path in (MODELS / name).iterdir()) < 10_000_000
    assert " once" in (MODELS / name / "README.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_card_tells_the_truth(name):
    table, model = read_split("test", 2000), hm.load(name)
    right = np.mean(model.predict(table["text"]) == np.array(["negative", "positive"])[table["label"].to_numpy()])
    # A sample of 2,000 is off by less than this in 99.9 of 100 cases.
    assert abs(right - model.metrics["accuracy"]) < 0.022
