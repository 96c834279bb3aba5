"""Where tokens start: on the side that they speak for, as far out as the recipe says."""

# pyright: reportMissingImports=false
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from hardmax.text.data.planted import plant
from hardmax.text.tokens.encoding import Encoded
from hardmax.train import Recipe, fit
from hardmax.train.examples import hold_out
from hardmax.train.layer import Hardmax
from hardmax.train.network import make_network
from hardmax.train.starting import Start, start_training

# Token c says the class c, token 3 is in every text; class 2 is rarer than the others.
TEXTS = Encoded(np.array([0, 3] * 4 + [1, 3] * 4 + [2, 3] * 2), np.ones(20, dtype=np.int32), np.arange(0, 21, 2))
LABELS = np.repeat([0, 1, 2], [4, 4, 2])
KINDS = ("odds", "linear", "bag")


def first_says(texts: Encoded, labels: np.ndarray, tokens: int, recipe: Recipe) -> np.ndarray:
    """What tokens say for the second of two classes."""
    return start_training(texts, labels.astype(np.int64), np.ones(tokens, dtype=bool), recipe).vectors[:, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_start_on_the_side_they_speak_for(kind):
    says = first_says(TEXTS, LABELS == 1, 4, Recipe(init=kind))
    assert says.shape == (4,)
    assert np.sign(says[:3]).tolist() == [-1, 1, -1]
    assert abs(says[3]) < np.abs(says[:3]).min()


@pytest.mark.parametrize("kind", KINDS)
def test_the_spread_of_the_words_in_texts_is_that_of_the_recipe(kind):
    says = first_says(TEXTS, LABELS == 1, 4, Recipe(init=kind, init_std=0.7))
    np.testing.assert_allclose(np.sqrt((says[TEXTS.ids] ** 2).mean()), 0.7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neutral", [0.1, 0.2, 0.7])
def test_beside_a_neutral_leader_words_that_say_something_count(kind, neutral):
    says = first_says(TEXTS, LABELS == 1, 4, Recipe(init=kind, neutral=neutral))
    clouds = [says[TEXTS.ids[first : first + 2]] for first in TEXTS.offsets[:-1]]
    pulls = np.concatenate([np.outer(cloud, cloud).max(axis=1) for cloud in clouds])
    assert (pulls[pulls > 0] > neutral * (1 - neutral)).mean() > 0.94
    assert pulls[pulls > 0].min() < 1.2 * neutral * (1 - neutral)


@pytest.mark.parametrize("kind", KINDS)
def test_of_three_classes_each_has_its_direction(kind):
    recipe = Recipe(init=kind)
    network = make_network(4, 3, recipe, Hardmax(), start_training(TEXTS, LABELS, np.ones(4, dtype=bool), recipe))
    scores = (network.embeddings @ network.decoder.T).detach().numpy()
    assert scores[:3].argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_say_nothing_stay_at_the_origin(kind):
    same = Encoded(np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int32), np.arange(5))
    says = first_says(same, np.array([0, 0, 1, 1]), 1, Recipe(init=kind))
    assert says.tolist() == [0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_known_word_there_is_nothing_to_say(kind):
    empty = Encoded(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.zeros(5, dtype=np.int64))
    says = first_says(empty, np.array([0, 0, 1, 1]), 0, Recipe(init=kind))
    assert says.shape == (0,)


def test_noise_is_as_it_was_and_the_extra_token_keeps_its_place():
    start = Start(np.array([[1.0, 0.0], [2, 0], [3, 0], [4, 0]]), np.array([[8.0, 0.0]]), np.zeros(1))
    started = make_network(4, 2, Recipe(extra=True), Hardmax(), start)
    assert started.embeddings.detach().numpy().tolist() == [[1, 0], [2, 0], [3, 0], [4, 0], [0, 1]]
    noise = make_network(4, 2, Recipe(extra=True), Hardmax()).embeddings.detach().numpy()
    assert (noise[:4, 1] != 0).all()
    assert noise[4].tolist() == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_starts_from_what_words_say_needs_hardly_any_training(kind):
    corpus, unseen = plant(400, words=6, seed=1), plant(200, words=6, seed=2)
    hardly = Recipe(
        epochs=1, bag_of_words_epochs=0.0, alpha_warmup_epochs=0.0, learning_rate=1e-6, min_df=1, min_log_odds=0.7
    )

    def accuracy(recipe: Recipe) -> float:
        model = fit(corpus.texts, corpus.labels, recipe)
        return float((model.predict(unseen.texts) == np.array(unseen.labels)).mean())

    assert accuracy(replace(hardly, init=kind)) > 0.9
    assert accuracy(hardly) < 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_texts_held_out_have_no_say(kind):
    corpus = plant(200, words=6, seed=1)
    numbers = np.array([label == "positive" for label in corpus.labels], dtype=np.int64)
    recipe = Recipe(
        init=kind,
        validation_fraction=0.2,
        epochs=1,
        bag_of_words_epochs=0.0,
        alpha_warmup_epochs=0.0,
        max_tokens=200,
        batch_size=64,
    )
    held = np.flatnonzero(hold_out(numbers, 0.2, recipe.seed))
    # Who is held out follows from the labels: so texts are exchanged, between the classes.
    ones, zeros = held[numbers[held] == 1], held[numbers[held] == 0]
    texts = list(corpus.texts)
    for one, zero in zip(ones, zeros, strict=False):
        texts[one], texts[zero] = texts[zero], texts[one]
    right, wrong = fit(corpus.texts, numbers, recipe), fit(texts, numbers, recipe)
    assert right.embeddings.tolist() == wrong.embeddings.tolist()
