"""An explanation in one sentence."""

import math

from text.small_models import random_texts, small_model

from hardmax.text.explain.sentence import sentence
from hardmax.text.vocabulary import Vocabulary


def said(why) -> str:
    return "".join(bit.text for bit in sentence(why))


def neutral_model(**changes):
    vectors = [[3, 0.1], [-3, 0.1], [0.01, 0.1], [0.5, 0.1], [0, 0.1], [0, 0.1], [0.6, 0.1]] + [[0, 0.1]] * 6
    return small_model(embeddings=vectors, extra=[0.0, 1.0], decoder=[[4.0, 0.0]], layers=math.inf, **changes)


def test_it_says_how_many_words_follow_whom_and_how_many_say_nothing():
    model = neutral_model()
    assert said(model.explain("great film, plot but the awful good")) == (
        "2 words follow great, none follow awful; 2 say nothing."
    )
    assert said(model.explain("great plot the")) == "1 word follows great; 1 says nothing."
    assert said(model.explain("great")) == "No words follow great."
    for text in ("the film", "film", "xyzzy", ""):
        assert said(model.explain(text)) == "Undecided: no known word speaks."


def test_leaders_carry_the_class_for_which_they_speak():
    bits = sentence(neutral_model().explain("great film, plot but the awful"))
    assert [(bit.text, bit.side) for bit in bits if bit.side is not None] == [("great", 1), ("awful", 0)]


def test_of_many_leaders_some_are_named_and_nobody_is_forgotten():
    import numpy as np

    words = [f"w{chr(97 + n)}" for n in range(26)]
    turns = np.linspace(0, 2 * np.pi, 26, endpoint=False)
    reach = np.where(np.arange(26) % 2, 1.0, 0.2)[:, None]
    vectors = reach * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    model = small_model(vocabulary=Vocabulary(words, np.ones((26, 2))), embeddings=vectors)
    told = said(model.explain(" ".join(words)))
    assert told.count("follow") >= 5
    assert "other leaders" in told


def test_without_layers_nobody_follows_anybody():
    told = said(small_model(layers=0).explain("great awful film"))
    assert told == "No words follow great, none follow film, 1 follows nobody alone."


def test_everybody_is_counted_once():
    for classes in (2, 3):
        model = small_model(classes=classes, extra=[0.3, -1.5])
        for text in random_texts(30):
            why = model.explain(text)
            numbers = [int(part) for part in said(why).replace(",", "").replace(";", "").split() if part.isdigit()]
            leaders = sum(share.word != "(extra token)" for share in why.leaders)
            further = max(0, len(why.leaders) - 4)
            assert sum(numbers) - further + leaders == why.known
