"""Tokens that are forbidden, or have weights that were set by hand."""

import pytest
from refusals import refuses
from text.small_models import word_model

import hardmax as hm
from hardmax.text.reading import Modifier

MODEL = word_model(
    {"great": 3, "not great": -2, "film": 0.5, "dull": -1}, modifiers=[Modifier("not", -0.5, 9)]
)
THREE = word_model({"one": [1, 0, 0], "two": [0, 1, 0]}, classes=["a", "b", "c"])
ALL = dict.fromkeys(["great", "film", "dull"], "forbid")


def test_a_forbidden_word_is_gone_in_phrases_too_and_the_model_stays_as_it_was():
    edited = MODEL.edit({"Great": "forbid"})
    assert "great" in MODEL.vocabulary.index
    assert edited.vocabulary.surfaces == ("film", "dull")
    assert edited.analyse(["great film"]).logits == edited.analyse(["unheard film"]).logits
    assert edited.metrics["edited"] == {"great": "forbid"}


def test_a_forbidden_phrase_leaves_its_words_and_a_forbidden_modifier_its_text():
    surfaces = MODEL.edit({"not great": "forbid"}).vocabulary.surfaces
    assert surfaces == ("great", "film", "dull")
    edited = MODEL.edit({"not": "forbid"})
    assert edited.modifiers == ()
    assert edited.vocabulary.surfaces == ("great", "film", "dull")


def test_a_token_says_what_it_shall_say_and_the_others_what_they_said():
    edited = MODEL.edit({"film": -4.0, "superb": 9})
    assert edited.vocabulary.surfaces == (*MODEL.vocabulary.surfaces, "superb")
    assert edited.weights[:, 0].tolist() == [3, -2, -4, -1, 9]
    edited = THREE.edit({"two": {"c": 2.0, "a": -1.0}, "three": {"b": 1}})
    assert edited.weights.tolist() == [[1, 0, 0], [-1, 0, 2], [0, 1, 0]]


def test_edits_add_up_and_are_saved(tmp_path):
    edited = MODEL.edit({"great": "forbid"}).edit({"film": 1.5})
    edited.save(tmp_path / "model")
    again = hm.load_model(tmp_path / "model")
    assert again.metrics["edited"] == {"great": "forbid", "film": 1.5}
    texts = ["a film", "not a film"]
    assert again.predict_proba(texts).tobytes() == edited.predict_proba(texts).tobytes()
    assert "| great | forbid |" in (tmp_path / "model" / "README.md").read_text()


@pytest.mark.parametrize(
    ("model", "changes", "pattern"),
    [
        (MODEL, "great", "`changes` must be a dict"),
        (MODEL, {"great": "loud"}, "`changes` for 'great', unless \"forbid\", must be a finite"),
        (MODEL, {"unheard": "forbid"}, "'unheard', which the model does not know"),
        (MODEL, {"a phrase of many words": 1.0}, "a phrase of at most 2 words"),
        (MODEL, {3: 1.0}, "each token"),
        (MODEL, ALL, "forbids all tokens"),
        (THREE, {"two": 1.0}, '"forbid", or a dict from labels'),
        (THREE, {"two": {"d": 1.0}}, "expected labels of"),
    ],
)
def test_a_wrong_change_is_refused_in_one_line(model, changes, pattern):
    with refuses(pattern):
        model.edit(changes)
