"""Editing words, and what another model says of texts."""

import numpy as np
import pytest
from text.test_counterfactual import model

import hardmax as hm
from hardmax._validation import InputError
from hardmax.text.vocabulary import Vocabulary


def test_a_forbidden_word_is_gone_in_phrases_too_and_the_model_stays_as_it_was():
    own = model()
    edited = own.edit({"Great": "forbid"})
    assert "great" in own.vocabulary.index
    assert set(own.vocabulary.surfaces) - set(edited.vocabulary.surfaces) == {"great", "not great"}
    assert edited.decision_function(["great film"])[0] == edited.decision_function(["unheard film"])[0]
    assert edited.metrics["edited"] == {"great": "forbid"}


def test_a_forbidden_phrase_leaves_its_words():
    assert set(model().vocabulary.surfaces) - set(model().edit({"not great": "forbid"}).vocabulary.surfaces) == {
        "not great"
    }


def test_a_word_says_what_it_shall_say():
    own = model(temperature=0.5)
    edited = own.edit({"film": -4.0, "superb": 9})
    index = edited.vocabulary.index
    assert edited.prepared.scores[index["film"], 0] == pytest.approx(-4.0, rel=1e-6)
    assert edited.prepared.scores[index["superb"], 0] == pytest.approx(9.0, rel=1e-6)
    assert edited.embeddings[index["superb"], 1] == pytest.approx(0.2)  # the height of words
    assert edited.predict(["a superb thing"])[0] == "positive"
    others = [v for v, word in enumerate(own.vocabulary.surfaces) if word != "film"]
    assert (edited.embeddings[others] == own.embeddings[others]).all()


def test_of_more_classes_numbers_come_by_label():
    known = Vocabulary(["one", "two"], [[1, 1, 1]] * 2)
    own = model(
        vocabulary=known,
        embeddings=np.eye(3)[:2],
        extra=None,
        decoder=np.eye(3),
        bias=[0, 0, 0],
        classes=["a", "b", "c"],
    )
    edited = own.edit({"two": {"c": 2.0, "a": -1.0}})
    assert edited.prepared.scores[1].tolist() == pytest.approx([-1.0, 0.0, 2.0])
    with pytest.raises(InputError, match="one number for more than two classes"):
        own.edit({"two": 1.0})
    with pytest.raises(InputError, match="expected labels of"):
        own.edit({"two": {"d": 1.0}})


def test_edits_add_up_and_are_saved(tmp_path):
    edited = model().edit({"great": "forbid"}).edit({"film": 1.5})
    assert edited.metrics["edited"] == {"great": "forbid", "film": 1.5}
    edited.save(tmp_path / "model")
    again = hm.load(tmp_path / "model")
    assert again.metrics["edited"] == edited.metrics["edited"]
    assert again.predict_proba(["a film"]).tobytes() == edited.predict_proba(["a film"]).tobytes()
    card = (tmp_path / "model" / "README.md").read_text()
    assert "Edited" in card
    assert "great" in card


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "`changes` must be a dict"),
        ("great", "`changes` must be a dict"),
        ({"great": "loud"}, 'expected "forbid", a number, or a dict'),
        ({"great": [1, 2]}, 'expected "forbid"'),
        ({"great": float("inf")}, "each weight"),
        ({"great": True}, 'expected "forbid"'),
        ({"great": None}, 'expected "forbid"'),
        ({"unheard": "forbid"}, "does not know"),
        ({"unheard phrase": "forbid"}, "does not know"),
        ({"a phrase of many words": 1.0}, "a phrase of at most 2 words"),
        ({"...": 1.0}, "expected a word"),
        ({3: 1.0}, "each token"),
        ({"great": 1.0, "GREAT": 2.0}, "twice, in different spellings"),
        (dict.fromkeys(["great", "awful", "fine", "dull", "film", "plot"], "forbid"), "forbids all tokens"),
    ],
)
def test_bad_changes_are_told(changes, why):
    with pytest.raises(InputError, match=why):
        model().edit(changes)
