"""Whom every word follows, where it ends, and which words count."""

import math

import numpy as np
import pytest
from text.model.test_endless import said, tied, word_model
from text.small_models import random_texts, small_model

from hardmax.text.model.masses import ends, follows, walk_cloud

DEPTHS = [0, 1, 3, 8, math.inf]
NEUTRAL: dict = {"extra": [0.0, 1.5], "decoder": [[4.0, 0.0]]}


@pytest.mark.parametrize("layers", DEPTHS)
@pytest.mark.parametrize("seed", range(4))
def test_words_follow_whom_they_attend_to_at_the_last_layer(seed, layers):
    model = small_model(seed, layers=layers, **NEUTRAL)
    found = model.analyse(random_texts(40, seed))
    for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True):
        run = walk_cloud(model.prepared.table[found.ids[a:b]], found.counts[a:b], model.dynamics, layers)
        wanted = follows(run) if layers else np.full(b - a, -1)
        assert found.follows[a:b].tolist() == wanted.tolist()
        led = found.follows[a:b][found.follows[a:b] >= 0]
        assert (found.leader_since[a:b][led] >= 0).all()
        leads = np.flatnonzero(found.leader_since[a:b] >= 0)
        if layers:
            assert found.follows[a:b][leads].tolist() == leads.tolist()


@pytest.mark.parametrize("layers", DEPTHS)
@pytest.mark.parametrize("seed", range(6))
def test_words_end_where_the_run_ends(seed, layers):
    cloud, counts = tied(seed)
    model = word_model(cloud, layers=layers, alpha="1/2")
    read = model.read(said(counts)).encoded
    found, places = model.weigh_words(read)
    run = walk_cloud(cloud.astype(float), counts, model.dynamics, layers)
    assert np.allclose(places, ends(run, layers), atol=1e-12)
    says = model.prepared.decoding.says(places)
    assert found.logits[0] == pytest.approx(model.bias + counts @ says / counts.sum(), abs=1e-12)


@pytest.mark.parametrize("layers", DEPTHS)
def test_where_words_end_adds_up_to_the_logits(layers):
    several: list[dict] = [{}, NEUTRAL, {"temperature": 2.5}]
    for changes in several:
        model = small_model(2, layers=layers, **changes)
        for text in random_texts(20):
            found, places = model.weigh_words(model.read(text).encoded)
            says = model.prepared.decoding.says(places)
            shares = found.counts / max(found.counts.sum(), 1)
            assert found.logits[0] == pytest.approx(model.prepared.bias + shares @ says, abs=1e-12)


def test_a_word_between_two_leaders_follows_nobody():
    # (0, 1/2) and (0, 1) attend to both ends of the edge above them, whatever the depth.
    for layers in (1, 8, math.inf):
        found = word_model([[-1, 1], [1, 1], [0, 1], [0, 0.5]], layers=layers).analyse([said([2, 2, 1, 4])])
        assert found.follows.tolist() == [0, 1, -1, -1]
        assert found.counting.all()


def test_words_with_one_vector_are_one_leader_of_which_the_last_tells():
    found = word_model([[2, 0], [2, 0], [1, 0]]).analyse([said([1, 1, 1])])
    assert found.follows.tolist() == [1, 1, 1]
    assert found.leader_since.tolist() == [0, 0, -1]


def test_words_that_follow_the_neutral_leader_do_not_count():
    # The last lies where the neutral leader is.
    words = [[1, 0.1], [-1, 0.1], [0.01, 0.2], [0.5, 0.1], [0, 1]]
    found = word_model(words, decoder=[[3, 0]], extra=[0, 1]).analyse([said([1, 1, 3, 1, 1]), said([0, 0, 1]), ""])
    assert found.counting.tolist() == [True, True, False, True, False, False, False, False, False]
    assert found.counting_per_text.tolist() == [3, 0, 0]
    assert found.follows[:6].tolist() == [0, 1, 5, 0, 5, 5]


@pytest.mark.parametrize(
    ("decoder", "extra", "is_neutral"),
    [
        ([[3, 0]], [0, 1], True),
        ([[3, 0.5]], [0, 1], False),
        ([[3, 0]], None, False),
        ([[1, 2], [0, 2], [5, 2]], [0, 1], True),
        ([[1, 2], [0, 2], [5, 3]], [0, 1], False),
    ],
)
def test_a_leader_is_neutral_if_it_says_the_same_of_every_class(decoder, extra, is_neutral):
    classes = max(2, len(decoder))
    model = small_model(classes=classes, decoder=decoder, extra=extra)
    assert model.has_neutral == is_neutral
    found = model.analyse(random_texts(40))
    others = found.ids < len(model.vocabulary)
    assert (found.counting == others).all() == (not is_neutral)
    assert not found.counting[~others].any()


def test_the_analysis_of_many_texts_is_that_of_each():
    model, texts = small_model(1, **NEUTRAL), random_texts(30)
    whole, parts = model.analyse(texts), [model.analyse([text]) for text in texts]
    assert whole.follows.tolist() == [place for part in parts for place in part.follows]
    assert whole.counting.tolist() == [counts for part in parts for counts in part.counting]
