"""Words in the order in which to take them out."""

import math

import numpy as np
import pytest
from text.small_models import WORDS, random_texts, small_model

from hardmax.text.spans import Units
from hardmax.text.tokeniser import Tokeniser


@pytest.mark.parametrize("changes", [{}, {"classes": 4}, {"extra": [0.0, 1.5], "decoder": [[4.0, 0.0]], "gate": 0.3}])
def test_a_loss_is_what_the_text_read_again_loses(changes):
    model = small_model(**changes, tokeniser=Tokeniser(overlapping=False))
    for text in random_texts(15):
        why, units = model.explain(text), Units.of(text, model.tokeniser)
        best = model.classes.index(why.label)
        second = max((c for c in range(len(model.classes)) if c != best), key=why.found.probabilities[0].__getitem__)
        gone = []
        for removal in (each for each in why.removals if each.worth > 0):
            before = np.log(model.predict_proba([units.without(gone)])[0])
            gone.append(units.words.index(removal.word))
            after = np.log(model.predict_proba([units.without(gone)])[0])
            lost = (before[best] - before[second]) - (after[best] - after[second])
            assert removal.loss == pytest.approx(lost, abs=1e-9)
            assert removal.spans == units.places[gone[-1]]


def test_words_that_speak_for_the_label_come_first_and_what_a_phrase_hid_comes_instead():
    own = small_model(embeddings=[[3, 0], [-2, 0], *[[0, 0.1]] * 11], decoder=[[1, 0]], bias=[0.0], layers=math.inf)
    found = [removal.word for removal in own.explain("A great film, an awful plot. Great!").removals]
    assert (found[0], found[-1], len(found)) == ("great", "awful", 5)
    embeddings = [[0, 0.1]] * len(WORDS)
    embeddings[WORDS.index("not good")], embeddings[WORDS.index("good")] = [-3, 0], [3, 0]
    hidden = small_model(embeddings=embeddings, decoder=[[1, 0]], bias=[0.0], tokeniser=Tokeniser(overlapping=False))
    assert hidden.explain("It is not good.").removals[0].word == "not"


@pytest.mark.parametrize("text", ["", "xyzzy", "..."])
def test_a_text_without_a_known_word_has_none(text):
    assert small_model().explain(text).removals == ()
