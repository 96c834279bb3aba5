"""Recipes are data: they go to JSON and come back, and say what is wrong with them."""

import json
import sys
from dataclasses import replace

import pytest

from hardmax import train
from hardmax._validation import InputError, MissingExtra
from hardmax.text.files.finding import available
from hardmax.train import PRESETS, Recipe
from hardmax.train.presets import PRESET_NAMES, find_preset


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_comes_back_from_json(name):
    assert Recipe.from_json(PRESETS[name].to_json()) == PRESETS[name]


def test_the_presets_in_the_plane_are_planar_and_cluster_in_earnest():
    for name in ("imdb_2d", "imdb_2d_best"):
        assert PRESETS[name].dimension == 2
        assert PRESETS[name].alpha >= 1
    assert PRESETS["imdb_2d"].layers == 8
    assert PRESETS["imdb_16d"].dimension == 16


def test_presets_have_the_names_of_the_models_that_ship():
    assert set(available()) == set(PRESET_NAMES)
    assert [find_preset(name) for name in PRESET_NAMES] == [*PRESETS.values()]


def test_alpha_is_zero_then_rises_then_stays():
    recipe = Recipe(alpha=2.0, bag_of_words_epochs=1.0, alpha_warmup_epochs=2.0)
    assert [recipe.alpha_at(epoch) for epoch in (0, 0.9, 1, 2, 3, 9)] == [0, 0, 0, 1, 2, 2]
    assert [recipe.has_risen(epoch) for epoch in (0, 1, 2.9, 3, 9)] == [False, False, False, True, True]
    assert replace(recipe, alpha_warmup_epochs=0.0).alpha_at(1.0) == 2.0


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"dimension": 0}, "`dimension`"),
        ({"dimension": 2.0}, "`dimension`"),
        ({"epochs": True}, "`epochs`"),
        ({"alpha": 0}, "`alpha`"),
        ({"alpha_learning_rate": -0.1}, "`alpha_learning_rate`"),
        ({"thrift": "some"}, "`thrift`"),
        ({"learning_rate": float("nan")}, "`learning_rate`"),
        ({"learning_rate": "fast"}, "`learning_rate`"),
        ({"word_dropout": 1.0}, "`word_dropout`"),
        ({"validation_fraction": 1.5}, "`validation_fraction`"),
        ({"binary": "some"}, "`binary`"),
        ({"init": "zero"}, "`init`"),
        ({"smoothing": 0.0}, "`smoothing`"),
        ({"patience": 2, "validation_fraction": 0}, "`patience`"),
        ({"colour": 1}, "'colour'"),
        (["dimension"], "'dimension'"),
    ],
)
def test_a_wrong_entry_is_told_in_one_line(entry, word):
    with pytest.raises(InputError, match=word) as error:
        Recipe.from_json(json.dumps(entry))
    assert "\n" not in str(error.value)


def test_what_is_not_json_is_told():
    with pytest.raises(InputError, match="not JSON"):
        Recipe.from_json("{")


def test_recipes_need_no_torch_and_training_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="hardmax\\[train\\]"):
        train.fit(["good", "bad"], [1, 0])
