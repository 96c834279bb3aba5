import numpy as np
import pytest

from hardmax._validation import InputError
from hardmax.text.data.planted import plant
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import build_vocabulary


def test_the_same_seed_plants_the_same_texts():
    assert plant(50, seed=3).texts == plant(50, seed=3).texts
    assert plant(50, seed=3).texts != plant(50, seed=4).texts


@pytest.mark.parametrize("classes", [("negative", "positive"), ("a", "b", "c")])
def test_most_of_the_planted_words_of_a_text_are_those_of_its_class(classes):
    corpus = plant(200, classes=classes, disturbed=0.5)
    assert corpus.labels.count(classes[0]) == pytest.approx(200 / len(classes), abs=1)
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        found = [token.surface for token in Tokeniser(longest_phrase=1).tokens(text)]
        votes = {name: sum(word in planted for word in found) for name, planted in corpus.words.items()}
        assert max(votes, key=lambda name: votes[name]) == label


def test_only_planted_words_tell_the_classes_apart():
    corpus = plant(4000, disturbed=0.0)
    labels = np.array([label == "positive" for label in corpus.labels], dtype=int)
    known = build_vocabulary(corpus.texts, labels, Tokeniser(longest_phrase=1))
    planted = {word for words in corpus.words.values() for word in words}
    for surface, counts in zip(known.surfaces, known.counts, strict=True):
        uneven = (counts[0] - counts[1]) ** 2 / counts.sum()
        assert (uneven > 20) == (surface in planted)


@pytest.mark.parametrize("wrong", [{"classes": ("one",)}, {"disturbed": 2}, {"words": 0}, {"texts": 0}, {"length": 0}])
def test_what_cannot_be_planted_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        plant(**wrong)
