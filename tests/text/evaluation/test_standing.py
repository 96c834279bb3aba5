"""What is left of an answer if only a part of the text is left."""

import math

import numpy as np
import pytest
from text.small_models import random_texts, small_model

from hardmax.errors import InputError
from hardmax.text.evaluation.standing import find_places, measure_standing, merged, share_inside

# great and awful lead, dull follows awful, all others follow the neutral leader.
VECTORS = [[3, 0.1], [-3, 0.1], [0.01, 0.2], *[[0, 0.1]] * 5, [-1, 0.1], *[[0, 0.1]] * 4]
MODEL = small_model(embeddings=VECTORS, extra=[0.0, 1.0], decoder=[[4.0, 0.0]], bias=[-0.01], layers=math.inf)
GOOD, BAD = "A great film, the plot: very witty", "The awful film and a dull plot, very dull"


def test_words_are_found_where_they_stand():
    places = find_places(MODEL, BAD)
    assert [BAD[a:b] for a, b in places.leaders] == ["awful"]
    assert [BAD[a:b] for a, b in places.counting] == ["awful", "dull", "dull"]
    both = find_places(MODEL, "great awful awful")
    assert both.first_leaders == [[(6, 11), (12, 17)], [(0, 5)]]


def test_the_shares_are_those_of_texts_put_together_by_hand():
    found = measure_standing(MODEL, [GOOD, BAD])
    # Without the words that count nothing speaks but the bias, which is negative.
    assert found.to_dict() == {
        "texts": 2, "leaders_alone": 1.0, "counting_alone": 1.0, "without_counting": 0.5, "without_others": 1.0,
    }  # fmt: skip


def test_other_words_are_as_many_and_never_those_that_count():
    # Of four words two count; the two others are the only ones that can be drawn.
    seen = []
    whole = type(MODEL).predict_proba

    class Watched(type(MODEL)):
        def predict_proba(self, texts):
            seen.append(list(texts))
            return whole(self, texts)

    fields = ("vocabulary", "embeddings", "decoder", "bias", "classes", "layers", "alpha", "extra", "tokeniser")
    measure_standing(Watched(**{name: getattr(MODEL, name) for name in fields}), ["great film dull plot"])
    assert [text for (text,) in seen] == [
        "great film dull plot", "great . dull", "great . dull", " .  film  .  plot", "great  .  dull  . ",
    ]  # fmt: skip


def test_a_sample_is_drawn_once_and_for_all():
    model, texts = small_model(3), random_texts(60)
    assert measure_standing(model, texts, at_most=20, seed=1) == measure_standing(model, texts, at_most=20, seed=1)
    assert measure_standing(model, texts, at_most=20).texts == 20
    assert measure_standing(model, texts).texts == 60


def test_texts_of_no_known_word_pass():
    assert measure_standing(MODEL, ["", "xyzzy"]).without_counting == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_leaders_stand_inside_marks_that_cover_everything_and_outside_none(seed):
    model, texts = small_model(seed), random_texts(20)
    assert share_inside(model, texts, [[(0, len(text))] for text in texts], first=2) == 1.0
    assert share_inside(model, texts, [[] for _ in texts]) == 0.0
    assert np.isnan(share_inside(model, ["xyzzy"], [[]]))


def test_leaders_count_one_by_one_where_they_stand():
    text = "great awful awful"
    assert share_inside(MODEL, [text], [[(8, 9)]]) == 1.0
    assert share_inside(MODEL, [text], [[(8, 9)]], first=2) == 0.5
    assert share_inside(MODEL, [text], [[(5, 6)]], first=2) == 0.0  # the space between them


@pytest.mark.parametrize("spans", [[], [[(0,)]], [[(0, 99)]], [[(0.5, 1)]], [["ab"]]])
def test_marks_that_fit_no_text_are_refused(spans):
    with pytest.raises(InputError, match="`spans`"):
        share_inside(MODEL, ["great"], spans)


def test_places_that_touch_stay_apart():
    assert merged([(0, 3), (3, 5), (4, 6)]) == [(0, 3), (3, 6)]
    with pytest.raises(InputError, match="`texts` is empty"):
        measure_standing(MODEL, [])
