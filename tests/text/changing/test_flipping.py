"""The fewest words that change an answer: verified by the model, and by brute force on short texts."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import hardmax as hm
from hardmax._validation import InputError
from hardmax.text.changing import flipping
from hardmax.text.spans import cut, merged
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary

WORDS = ["great", "awful", "fine", "dull", "film", "not great", "plot"]
X = [1.0, -1.2, 0.5, -0.4, 0.0, -0.8, 0.1]


def model(**changes) -> TextModel:
    usual: dict[str, Any] = {
        "vocabulary": Vocabulary(WORDS, [[5, 5]] * len(WORDS)),
        "embeddings": [[x, 0.2] for x in X],
        "extra": [0, 1],
        "decoder": [[3, 0]],
        "bias": [-0.05],
        "classes": ["negative", "positive"],
        "layers": 8,
    }
    return TextModel(**usual | changes)


def by_brute_force(own: TextModel, text: str) -> int | None:
    """How many words it takes, trying all sets of them; None if none does, or there is no answer to change."""
    places: dict[str, list[tuple[int, int]]] = {}
    for token in hm.text.Tokeniser(longest_phrase=1).tokens(text):
        places.setdefault(token.surface, []).append((token.start, token.end))
    label = own.predict([text])[0]
    for size in range(1, len(places) + 1):
        for words in combinations(places, size):
            changed = [cut(text, merged([s for w in words for s in places[w]]))]
            if own.decided([text])[0] and own.decided(changed)[0] and own.predict(changed)[0] != label:
                return size
    return None


@pytest.mark.parametrize("seed", range(12))
def test_on_short_texts_it_is_what_brute_force_finds(seed: int):
    rng = np.random.default_rng(seed)
    own = model(bias=[float(rng.normal() / 10)], layers=[1, 8][seed % 2])
    text = " ".join(rng.choice([*WORDS, "unknown", "great.", "not"], rng.integers(1, 8)))
    found = own.flip(text)
    assert found.smallest
    truth = by_brute_force(own, text)
    assert (len(found.changes) if found.found else None) == truth
    assert found.before == own.predict([text])[0]
    assert found.after == own.predict([found.text])[0]
    assert found.decided == own.decided([text])[0]
    assert found.found == (found.after != found.before)
    assert found.probability == own.predict_proba([found.text])[0][own.classes.index(found.after)]


def test_every_place_of_a_word_goes_and_nothing_else():
    found = model().flip("Great film, GREAT plot, fine, awful.", tries=1)
    gone = {change.word: change.spans for change in found.changes}
    assert gone["great"] == ((0, 5), (12, 17))
    assert "film" in found.text


def test_words_can_be_replaced():
    own = model()
    found = own.flip("a great film", instead=["awful", "plot"])
    assert [(change.word, change.instead) for change in found.changes] in ([("great", "awful")], [("film", "awful")])
    assert own.predict([found.text])[0] == "negative"
    assert found.smallest
    assert "→ awful" in str(found)


def test_a_replacement_by_itself_is_no_change():
    assert not model().flip("great", instead=["great"]).found


def test_of_more_classes_one_can_be_asked_for():
    of_three: dict[str, Any] = {"decoder": [[1, 0], [-1, 0], [0, 0]], "bias": [0.0, 0.0, 0.1]}
    own = model(vocabulary=Vocabulary(WORDS, [[5, 5, 5]] * len(WORDS)), classes=["up", "down", "flat"], **of_three)
    text = "great great awful film"
    assert own.predict([text])[0] != "down"
    found = own.flip(text, to="down")
    assert found.after == "down"
    assert [change.word for change in found.changes] == ["great"]
    with pytest.raises(InputError, match="which is the answer: expected another class"):
        own.flip(text, to=own.predict([text])[0])
    with pytest.raises(InputError, match="`to` must be one of"):
        own.flip(text, to="sideways")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *((text, "undecided: no class to flip from") for text in ("", "nothing known here", "film")),
        ("great", "positive, whatever was tried (2 texts)"),  # without it the text is undecided
    ],
)
def test_where_nothing_helps_it_is_said(text: str, told: str):
    found = model(bias=[-1.0]).flip(text)
    assert not found.found
    assert found.smallest
    assert found.text == text
    assert found.after == found.before
    assert str(found) == told


def test_an_undecided_text_has_no_class_to_flip_from():
    found = model().flip("film", to="positive", instead=["great"])
    assert (found.found, found.decided, found.tried) == (False, False, 0)


def test_too_many_to_try_is_told():
    text = "great great great fine fine fine plot film awful"
    few, enough = model().flip(text, tries=3), model().flip(text)
    assert len(few.changes) == len(enough.changes) > 1
    assert (few.smallest, enough.smallest) == (False, True)
    assert "not all that are smaller were tried" in str(few)


def test_of_very_many_words_many_go_at_once(monkeypatch: pytest.MonkeyPatch):
    own, text = model(), "great great great fine fine fine plot film, awful"
    monkeypatch.setattr(flipping, "_MOST_CHARACTERS", 1)
    found = own.flip(text, tries=1)
    assert found.found
    assert own.predict([found.text])[0] == found.after != found.before
    assert len(found.changes) == len(own.flip(text).changes)  # what is not needed is left in


def test_it_is_plain_data():
    told = model().flip("a great, great film, awful").to_dict()
    assert told["found"]
    assert told["changes"][0]["word"] == "great"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"instead": "awful"}, "`instead` must be a list of words"),
        ({"instead": []}, "`instead` must be a list of words"),
        ({"instead": [1]}, "`instead` \\(each\\)"),
        ({"tries": 0}, "`tries`"),
    ],
)
def test_bad_input_is_told(options, why):
    with pytest.raises(InputError, match=why):
        model().flip("great", **options)
