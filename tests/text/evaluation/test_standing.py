"""What is left of an answer if only a part of the text is left."""

import math

import numpy as np
import pytest
from text.small_models import random_texts, small_model

from hardmax._validation import InputError
from hardmax.text.evaluation.standing import (
    Inside,
    find_furthest,
    find_places,
    measure_inside,
    measure_standing,
    merged,
    share_inside,
)
from hardmax.text.tokens.tokeniser import Tokeniser

# great and awful lead, dull follows awful, all others follow the neutral leader.
VECTORS = [[3, 0.1], [-3, 0.1], [0.01, 0.2], *[[0, 0.1]] * 5, [-1, 0.1], *[[0, 0.1]] * 4]
MODEL = small_model(embeddings=VECTORS, extra=[0.0, 1.0], decoder=[[4.0, 0.0]], bias=[-0.01], layers=math.inf)
GOOD, BAD = "A great film, the plot: very witty", "The awful film and a dull plot, very dull"


def cut(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with something unknown in these places."""
    for start, end in spans:
        text = text[:start] + "x" * (end - start) + text[end:]
    return text


def test_words_are_found_where_they_stand():
    places = find_places(MODEL, BAD)
    assert [BAD[a:b] for a, b in places.leaders] == ["awful"]
    assert [BAD[a:b] for a, b in places.counting] == ["awful", "dull", "dull"]


def test_the_shares_are_those_of_texts_put_together_by_hand():
    found = measure_standing(MODEL, [GOOD, BAD])
    # Without its active tokens a text is undecided, whatever the bias.
    assert found.to_dict() == {
        "texts": 2, "leaders_alone": 1.0, "counting_alone": 1.0, "without_counting": 0.0, "undecided_without": 1.0,
        "without_others": 1.0,
    }  # fmt: skip


def test_other_words_are_as_many_and_never_those_that_count():
    # Of four words two count; the two others are the only ones that can be drawn.
    seen = []
    whole = type(MODEL).analyse

    class Watched(type(MODEL)):
        def analyse(self, texts):
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


def test_the_leader_of_the_predicted_class_comes_first_and_then_who_would_lead_without_it():
    text = "dull great awful film awful"
    assert MODEL.predict([text]).tolist() == ["negative"]
    assert find_furthest(MODEL, text, 9) == [[(11, 16), (22, 27)], [(0, 4)]]  # great is for the other class
    assert find_furthest(MODEL, "great dull great", 1) == [[(0, 5), (11, 16)]]
    assert find_furthest(MODEL, "film", 1) == []  # the bias alone speaks


def test_without_the_first_the_second_leads():
    for seed in range(20):
        model = small_model(seed, dimension=1, tokeniser=Tokeniser(longest_phrase=1))
        for text in random_texts(10, seed):
            first, second, *_ = *find_furthest(model, text, 2), [], []
            if second and model.predict([rest := cut(text, first)]) == model.predict([text]):
                assert [rest[a:b] for a, b in find_furthest(model, rest, 1)[0]] == [text[a:b] for a, b in second]


def test_of_many_classes_the_words_that_lean_to_the_predicted_one_are_ranked_by_its_row():
    vectors = np.zeros((13, 2))
    vectors[[0, 1, 8, 9]] = [[3, 0], [0, 3], [1, 1.5], [2, 0]]  # great and witty for the first class
    rows = [[1, 0], [0, 1], [-1, -1]]
    model = small_model(classes=3, embeddings=vectors, decoder=rows, bias=[0, 0, 0], layers=8)
    text = "dull witty awful great"
    assert model.predict([text]).tolist() == ["class 0"]
    assert find_furthest(model, text, 9) == [[(17, 22)], [(5, 10)]]


def test_words_count_one_by_one_where_they_stand():
    text = "dull awful awful great"
    assert share_inside(MODEL, [text], [[(13, 14)]]) == 1.0
    assert share_inside(MODEL, [text], [[(13, 14)]], first=2) == 0.5
    assert share_inside(MODEL, [text], [[(4, 5), (16, 22)]], first=2) == 0.0  # a space, and the other class


def test_what_people_marked_is_measured_beside_how_much_they_marked():
    texts, spans = ["awful dull film", "great film", "film", ""], [[(0, 5)], [], [(0, 4)], []]
    found = measure_inside(MODEL, texts, spans)
    # Two texts have words for their class: awful and dull, of which awful is marked, and great, which is not.
    assert (found.texts, found.first, found.any_word) == (2, 0.5, 0.25)
    assert (found.first_two, found.marked) == pytest.approx((1 / 3, 1 / 6))
    assert set(measure_inside(MODEL, ["film"], [[]]).to_dict().values()) == {0, None}


def test_a_text_of_marks_alone_has_words():
    lone = small_model(embeddings=[*[[0.0, 0.0]] * 12, [1.0, 0.0]], decoder=[[1.0, 0.0]], bias=[0.0])
    assert measure_inside(lone, ["! !"], [[(2, 3)]]) == Inside(texts=1, first=1, first_two=1, any_word=1, marked=0.5)


@pytest.mark.parametrize("seed", range(3))
def test_both_measures_agree(seed):
    model, texts = small_model(seed, classes=2 + seed), random_texts(20, seed)
    spans = [[(at, at + 3) for at in range(0, len(text) - 3, 11)] for text in texts]
    found = measure_inside(model, texts, spans)
    assert (found.first, found.first_two) == tuple(share_inside(model, texts, spans, first) for first in (1, 2))


@pytest.mark.parametrize("spans", [[], [[(0,)]], [[(0, 99)]], [[(0.5, 1)]], [["ab"]], [[(3, 1)]], [None]])
def test_marks_that_fit_no_text_are_refused(spans):
    with pytest.raises(InputError, match="`spans`"):
        share_inside(MODEL, ["great"], spans)


def test_places_that_touch_stay_apart():
    assert merged([(0, 3), (3, 5), (4, 6)]) == [(0, 3), (3, 6)]
    with pytest.raises(InputError, match="`texts` is empty"):
        measure_standing(MODEL, [])
