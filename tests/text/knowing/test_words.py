"""Keywords of a class, and words that stand near a word."""

import numpy as np
import pytest
from text.test_counterfactual import WORDS, X, model

import hardmax as hm
from hardmax._validation import InputError


def test_keywords_are_those_furthest_out_on_the_side_of_the_class():
    own = model()
    assert [word.word for word in own.keywords("positive")] == ["great", "fine", "plot"]
    assert [word.word for word in own.keywords("negative", 2)] == ["awful", "not great"]
    first = own.keywords("positive", 1)[0]
    assert first.says == pytest.approx(3.0)
    assert (first.texts_of_class, first.texts) == (5, 10)
    assert own.keywords("positive", fewest_texts=11) == []
    assert first.to_dict()["word"] == "great"


def test_neighbours_are_those_at_the_smallest_angle():
    own = model()
    near = own.neighbours("Great", 3)
    vectors = np.array([[x, 0.2] for x in X])
    cosines = vectors @ vectors[0] / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(vectors[0]))
    expected = [WORDS[v] for v in np.argsort(-cosines) if v != 0][:3]
    assert [each.word for each in near] == expected
    assert near[0].cosine == pytest.approx(sorted(cosines)[-2], rel=1e-6)


def test_shipped_models_have_both():
    own = hm.load("imdb-2d")
    assert len(own.keywords("negative", 5)) == 5
    assert all(word.texts_of_class > word.texts / 2 for word in own.keywords("negative", 20))
    assert len(own.neighbours("awful", 7)) == 7


def test_bad_input_is_told():
    own = model()
    with pytest.raises(InputError, match="`label` must be one of"):
        own.keywords("neutral")
    with pytest.raises(InputError, match="`first`"):
        own.keywords("positive", 0)
    with pytest.raises(InputError, match="does not know"):
        own.neighbours("unheard")
    with pytest.raises(InputError, match="stands at the origin"):
        own.edit({"film": [0, 0]}).neighbours("film")
