"""How many tokens are enough."""

import numpy as np
import pytest

from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.train.corpus import prepare
from hardmax.train.recipe import Recipe
from hardmax.train.thrift import enough_tokens


def corpus(labels, loud, tokens, seed=0):
    """Each text has one token of its class, of `loud` that share the classes among them, and ten that say nothing."""
    rng = np.random.default_rng(seed)
    classes = labels.max() + 1
    rows = [[rng.integers(loud // classes) * classes + label, *rng.integers(loud, tokens, 10)] for label in labels]
    distinct = [sorted(set(row)) for row in rows]
    offsets = np.cumsum([0, *map(len, distinct)])
    return Encoded(np.concatenate(distinct), np.ones(offsets[-1], dtype=np.int32), offsets)


def enough(labels, loud, tokens, seed=0, thrift=3.0):
    return enough_tokens(corpus(labels, loud, tokens, seed), labels, tokens, strength=1.0, thrift=thrift)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("classes", "loud"), [(2, 2), (2, 12), (3, 12), (2, 50)])
def test_the_tokens_that_tell_the_classes_apart_are_enough_and_needed(classes, loud, seed):
    assert enough(np.arange(2000) % classes, loud, 300, seed) == loud


def test_a_rare_class_counts_as_much_as_the_others():
    assert enough(np.array(([0] * 19 + [1]) * 100), 2, 60) == 2


def test_the_more_thrift_the_fewer_tokens():
    found = [enough(np.arange(300) % 2, 50, 300, thrift=thrift) for thrift in (0.0, 1.0, 10.0, 50.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1] > 0


def test_where_nothing_is_to_be_learned_no_token_is_too_many():
    same = Encoded(np.tile([0, 1, 2], 40), np.ones(120, dtype=np.int32), np.arange(0, 121, 3))
    assert enough_tokens(same, np.arange(40) % 2, 3, strength=1.0, thrift=3.0) == 3


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [0, 0, 0, 1]])
def test_a_handful_of_texts_is_no_trouble(labels):
    assert 1 <= enough(np.array(labels), 6, 20) <= 20


def test_texts_without_a_token_are_guessed():
    texts = corpus(np.arange(400) % 2, 2, 60)
    empty = Encoded(texts.ids, texts.counts, np.concatenate([texts.offsets, [texts.offsets[-1]] * 100]))
    assert enough_tokens(empty, np.arange(500) % 2, 60, strength=1.0, thrift=3.0) == 2


def test_a_few_tokens_fewer_are_not_worth_it():
    assert enough(np.arange(2000) % 2, 50, 200) == 50
    assert enough(np.arange(2000) % 2, 50, 199) == 199


def test_a_recipe_without_thrift_keeps_every_token():
    others = ["film", "plot", "cast", "scene", "story", "script", "music"]
    texts = read_texts([f"{word} {other}" for other in others * 6 for word in ("good", "bad")])
    labels, every = np.arange(84) % 2, np.ones(84, dtype=np.bool_)
    for thrift, known in ((3.0, {"bad", "good"}), (0.0, {"bad", "good", *others})):
        recipe = Recipe(thrift=thrift)
        assert set(prepare(texts, labels, every, Tokeniser(longest_phrase=1), recipe).vocabulary.surfaces) == known
