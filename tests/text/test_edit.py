"""Editing words, and what another model says of texts."""

import pytest
from refusals import listed_refusals, refuses
from text.small_models import word_model
from text.test_counterfactual import model

import hardmax as hm
from hardmax.text.reading import Modifier
from hardmax.text.text_model import TextModel

READING = model(modifiers=[Modifier("not", -0.75, 9), Modifier("*n't", -0.5, 5)])


def test_a_forbidden_word_is_gone_in_phrases_too_and_the_model_stays_as_it_was():
    own = model()
    edited = own.edit({"Great": "forbid"})
    assert "great" in own.vocabulary.index
    assert set(own.vocabulary.surfaces) - set(edited.vocabulary.surfaces) == {"great", "not great"}
    assert edited.analyse(["great film"]).logits == edited.analyse(["unheard film"]).logits
    assert edited.metrics["edited"] == {"great": "forbid"}


def test_a_forbidden_phrase_leaves_its_words():
    assert set(model().vocabulary.surfaces) - set(
        model().edit({"not great": "forbid"}).vocabulary.surfaces
    ) == {"not great"}


def test_a_word_says_what_it_shall_say():
    own = model()
    edited = own.edit({"film": -4.0, "superb": 9})
    index = edited.vocabulary.index
    assert edited.weights[[index["film"], index["superb"]], 0].tolist() == [-4.0, 9.0]
    assert edited.predict(["a superb thing"])[0] == "positive"
    others = [v for v, word in enumerate(own.vocabulary.surfaces) if word != "film"]
    assert (edited.weights[others] == own.weights[others]).all()
    assert own.edit({"film": {"positive": 1.0, "negative": 3.0}}).weights[index["film"], 0] == -2.0


def test_of_more_classes_numbers_come_by_label():
    own = word_model({"one": [1, 0, 0], "two": [0, 1, 0]}, classes=["a", "b", "c"])
    edited = own.edit({"two": {"c": 2.0, "a": -1.0}})
    assert edited.weights[1].tolist() == [-1.0, 0.0, 2.0]
    with refuses("one number for more than two classes"):
        own.edit({"two": 1.0})
    with refuses("'three', which the model does not know yet, one number"):
        own.edit({"three": 1.0})
    with refuses("expected labels of"):
        own.edit({"two": {"d": 1.0}})


# ---------------------------------------------------------------- modifiers


def factors(edited: TextModel) -> dict[str, float]:
    return {modifier.word: modifier.factor for modifier in edited.modifiers}


@pytest.mark.parametrize(
    ("wish", "factor"),
    [
        ("times -1/2", -0.5),
        ("times 2", 2),
        ("times 0.25", 0.25),
        ("times -3", -3),
        ("times 1/3", 0.375),
    ],
)
def test_a_word_or_a_form_becomes_a_modifier(wish, factor):
    edited = READING.edit({"hardly": wish, "n'*": wish, "NOT": wish})
    assert factors(edited) == {"not": factor, "*n't": -0.5, "hardly": factor, "n'*": factor}
    assert edited.modifiers[0].texts == 9  # is kept
    assert edited.explain("hardly great").links[0].factor == factor
    assert edited.explain("n'estly great").links[0].factor == factor
    assert edited.metrics["edited"]["not"] == wish


def test_a_modifier_is_forbidden_or_multiplies_by_one_no_longer():
    for wish in ("forbid", "times 1"):
        assert factors(READING.edit({"not": wish})) == {"*n't": -0.5}
        assert factors(READING.edit({"*n't": wish})) == {"not": -0.75}
    assert (
        "not great" not in READING.edit({"not": "forbid"}).vocabulary.index
    )  # unknown in phrases, too
    assert "not great" in READING.edit({"not": "times 1"}).vocabulary.index


def test_a_word_of_a_form_may_be_left_out_of_it():
    edited = READING.edit({"don't": "times 1"})
    votes = [edited.explain(text).ledger[0].factor for text in ("don't be dull", "can't be dull")]
    assert votes == [1, -0.5]


def test_edits_add_up_and_are_saved(tmp_path):
    edited = READING.edit({"great": "forbid"}).edit({"film": 1.5, "hardly": "times -1/2"})
    assert edited.metrics["edited"] == {"great": "forbid", "film": 1.5, "hardly": "times -1/2"}
    edited.save(tmp_path / "model")
    again = hm.load_model(tmp_path / "model")
    assert again.metrics["edited"] == edited.metrics["edited"]
    texts = ["a film", "hardly a film", "not a film"]
    assert again.predict_proba(texts).tobytes() == edited.predict_proba(texts).tobytes()
    card = (tmp_path / "model" / "README.md").read_text()
    assert "Edited" in card
    assert "great" in card


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
