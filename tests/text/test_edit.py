"""Tokens that are forbidden, or have weights that were set by hand."""

import pytest
from refusals import refuses
from text.small_models import word_model

import hardmax as hm
from hardmax.text.reading import Modifier

TABLE = {"great": 3, "not great": -2, "film": 0.5, "dull": -1}
MODEL = word_model(TABLE, modifiers=[Modifier("not", -0.5, 9)])
ROWS = {"one": [1, 0, 0], "two": [0, 1, 0]}
THREE = word_model(ROWS, classes=["a", "b", "c"])
ALL = dict.fromkeys(["great", "film", "dull"], "forbid")


def test_a_forbidden_word_is_gone_in_phrases_too_and_the_model_stays_as_it_was():
    edited = MODEL.edit({"Great": "forbid"})
    assert "great" in MODEL.vocabulary.index
    assert edited.vocabulary.surfaces == ("film", "dull")
    great, unheard = edited.analyse(["great film", "unheard film"]).logits
    assert great == unheard
    assert edited.metrics["edited_after_measuring"] == {"great": "forbid"}


def test_a_forbidden_phrase_leaves_its_words_and_a_forbidden_modifier_its_text():
    surfaces = MODEL.edit({"not great": "forbid"}).vocabulary.surfaces
    assert surfaces == ("great", "film", "dull")
    edited = MODEL.edit({"not": "forbid"})
    assert edited.modifiers == ()
    assert edited.vocabulary.surfaces == ("great", "film", "dull")


def test_a_token_says_what_it_shall_say_and_the_others_what_they_said():
    edited = MODEL.edit({"film": -4.0, "superb": 9}, add=True)
    assert edited.vocabulary.surfaces == (*MODEL.vocabulary.surfaces, "superb")
    assert edited.weights.ravel().tolist() == [3, -2, -4, -1, 9]
    edited = THREE.edit({"two": {"c": 2.0, "a": -1.0}, "three": {"b": 1}}, add=True)
    one, two, three = edited.weights.tolist()
    assert one == [1, 0, 0]
    assert two == [-1, 0, 2]
    assert three == [0, 1, 0]


def test_edits_add_up_and_are_saved(tmp_path):
    forbidden = MODEL.edit({"great": "forbid"})
    edited = forbidden.edit({"film": 1.5})
    edited.save(tmp_path / "model")
    again = hm.load_model(tmp_path / "model")
    assert again.metrics["edited_after_measuring"] == {"great": "forbid", "film": 1.5}
    texts = ["a film", "not a film"]
    chances = again.predict_proba(texts)
    assert chances.tobytes() == edited.predict_proba(texts).tobytes()
    assert "| great | forbid |" in (tmp_path / "model" / "README.md").read_text()


LOUD = "`changes` for 'great', unless \"forbid\", must be a finite"
CHANGES = [
    ("great", "`changes` must be a dict"),
    ({"great": "loud"}, LOUD),
    ({"unheard": "forbid"}, "'unheard', which the model does not know"),
    (
        {"graet": 1.0},
        r"'graet', which .* not know\. Did you mean 'great'\? .* or add it with `add=T",
    ),
    ({"Not": 2.0}, r"'not', which is a modifier: change it by `dataclasses\.replace\(model, mod"),
    ({"xyzzy": 1.0}, r"not know\. Correct it, or add it with `add=True`\."),
    ({"a phrase of many words": 1.0}, "a phrase of at most 2 words"),
    ({3: 1.0}, "each token"),
    (ALL, "forbids all tokens"),
]


@pytest.mark.parametrize(("changes", "pattern"), CHANGES)
def test_a_wrong_change_is_refused_in_one_line(changes, pattern):
    with refuses(pattern):
        MODEL.edit(changes)


def test_of_more_classes_changes_name_the_labels():
    with refuses('"forbid", or a dict from labels'):
        THREE.edit({"two": 1.0})
    with refuses("expected labels of"):
        THREE.edit({"two": {"d": 1.0}})
