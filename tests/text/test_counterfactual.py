"""The fewest words that change a label: verified by the model, and by brute force on short
texts."""

from itertools import combinations

import numpy as np
import pytest
from refusals import listed_refusals, refuses
from text.small_models import word_model
from text.units import cut

from hardmax.text import counterfactual
from hardmax.text.reading import Modifier
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser

TABLE = {"great": 3, "awful": -3.6, "fine": 1.5, "dull": -1.2}
TABLE |= {"film": 0, "not great": -2.4, "plot": 0.3, "lovely": 3}
WORDS = list(TABLE)


def model(**changes) -> TextModel:
    return word_model(TABLE, **{"bias": [-0.05], "gate": 0.05} | changes)


def by_brute_force(own: TextModel, text: str, protected: tuple[str, ...] = ()) -> int | None:
    """How many words it takes, trying all sets of them; minus so many if they only leave it
    undecided; None if there is no label to change, or none does even that."""
    if not own.analyse([text]).decided[0]:
        return None
    places: dict[str, list[tuple[int, int]]] = {}
    for token in Tokeniser(longest_phrase=1).tokens(text):
        places.setdefault(token.surface, []).append(token[1:])
    label = own.predict([text])[0]
    free = [word for word in places if word not in protected]
    lost = None
    for size in range(1, len(free) + 1):
        for words in combinations(free, size):
            spans = [span for word in words for span in places[word]]
            changed = [cut(text, sorted(spans))]
            decided = own.analyse(changed).decided[0]
            if decided and own.predict(changed)[0] != label:
                return size
            if not decided and lost is None:
                lost = -size
    return lost


@pytest.mark.parametrize("seed", range(16))
def test_on_short_texts_it_is_what_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    some = [Modifier("not", -1), Modifier("*n't", -0.5)] if seed % 2 else []
    bias = [float(rng.normal() / 10)]
    own = model(bias=bias, alpha=["0", "1"][seed // 2 % 2], modifiers=some)
    choices = [*WORDS, "unknown", "great.", "not", "don't"]
    text = " ".join(rng.choice(choices, rng.integers(1, 8)))
    first = text.split()[0].strip(".")
    protected = (first,) if seed % 3 == 0 else ()
    found = own.flip(text, protected=protected)
    assert found.proved_smallest
    fewest = len(found.changes) * (-1 if found.lost else 1) or None
    assert fewest == by_brute_force(own, text, protected)
    assert {change.word for change in found.changes}.isdisjoint(protected)
    assert found.before == own.predict([text])[0]
    assert found.after == own.predict([found.text])[0]
    assert found.decided == own.analyse([text]).decided[0]
    assert found.found == (bool(found.changes) and not found.lost)
    assert own.analyse([found.text]).decided[0] == (found.decided and not found.lost)
    chances = own.predict_proba([found.text])[0]
    assert found.probability == chances[own.classes.index(found.after)]
    if found.found:
        assert found.after != found.before
        assert found.probability > 0.5


def test_a_modifier_may_go():
    own = model(modifiers=[Modifier("never", -1)])
    found = own.flip("It was never dull.", protected=["dull"])
    [change] = found.changes
    assert change.word == "never"
    assert found.proved_smallest
    assert (found.before, found.after) == ("positive", "negative")
    assert own.flip("It was dull.", replacements=["never"]).found  # and may come


def test_every_place_of_a_word_goes_and_nothing_else():
    found = model().flip("Great film, GREAT plot, fine, awful.")
    spans = {change.word: change.spans for change in found.changes}
    assert spans["great"] == ((0, 5), (12, 17))
    assert "film" in found.text
    assert found.to_dict()["changes"][0]["word"] == "great"


def test_words_can_be_replaced_and_must_become_others():
    own = model()
    found = own.flip("a great film", replacements=["awful", "plot"])
    [change] = found.changes
    assert change.word in ("great", "film")
    assert change.replacement == "awful"
    assert own.predict([found.text])[0] == "negative"
    assert "→ awful; proved smallest" in str(found)
    assert not own.flip("great", replacements=["Great"]).found


def test_phrases_can_be_kept():
    own, text = model(bias=[0.05]), "great, not great, fine"
    assert by_brute_force(own, text, ("not", "great")) is None
    assert not own.flip(text, protected=["not great"], to="negative").found
    with refuses("`protected` has 'dull', which is not in the text"):
        own.flip(text, protected=["dull"])


def test_a_probability_of_one_half_is_no_flip():
    table = {"great": 3, "awful": -3, "fine": 3}
    own = word_model(table)
    # Without "great" both classes are level.
    found = own.flip("great fine awful", protected=["awful", "fine"])
    assert not found.found
    nearly = word_model(table, bias=[1e-8])
    assert nearly.flip("great awful awful", protected=["great"]).after == "positive"
    level = nearly.flip("awful great fine", to="negative", protected=["awful", "fine"])
    assert not level.found


def test_of_more_classes_one_can_be_asked_for():
    rows = {word: [weight, -weight, 0] for word, weight in TABLE.items()}
    own = word_model(rows, bias=[0.0, 0.0, 0.1], classes=["up", "down", "flat"])
    text = "great fine awful film"
    found = own.flip(text, to="down")
    assert found.after == "down"
    assert [change.word for change in found.changes] == ["great"]
    now = own.predict([text])[0]
    with refuses("which is the label now"):
        own.flip(text, to=now)
    with refuses("`to` must be one of"):
        own.flip(text, to="sideways")


@pytest.mark.parametrize("text", ["", "nothing known here", "film"])
def test_an_undecided_text_has_no_label_to_flip(text):
    found = model(bias=[-1.0]).flip(text, to="positive", replacements=["great"])
    assert not found.found
    assert not found.decided
    assert (found.evaluations, found.text) == (0, text)
    assert str(found) == "undecided: there is no label to flip"


def test_where_no_other_label_is_reached_it_names_the_words_without_which_there_is_none():
    own = model(bias=[0.5])
    found = own.flip("great film, great fine unknown")
    assert found.lost
    assert not found.found
    assert found.proved_smallest
    assert [change.word for change in found.changes] == ["great", "fine"]
    assert not own.analyse([found.text]).decided[0]
    assert found.to_dict() | {"found": False, "lost": True} == found.to_dict()
    assert "→ undecided without 2 words: great, fine; no set of words gives another" in str(found)


def test_where_nothing_changes_it_says_so():
    found = model().flip("great film", protected=["great"])
    assert not found.found
    assert not found.lost
    assert found.proved_smallest
    assert (found.text, found.after) == ("great film", found.before)
    assert str(found).endswith("%: no set of words gives another label (4 variants tried)")


@pytest.mark.parametrize("words", [3, 40])
def test_another_label_is_preferred_to_none(words):
    text = " ".join(f"good{number}" for number in range(words))
    own = word_model({"awful": -0.5} | dict.fromkeys(text.split(), 1.0))
    lost, found = own.flip(text), own.flip(f"{text} awful")
    assert lost.lost
    assert found.found
    assert len(lost.changes) == len(found.changes) == words
    assert (found.after, found.lost) == ("negative", False)


def test_what_is_not_proved_says_so(monkeypatch):
    text = "great great fine lovely film, awful"
    enough = model().flip(text)
    monkeypatch.setattr(counterfactual, "_MOST_TRIED", 3)
    few = model().flip(text)
    assert len(few.changes) == len(enough.changes) > 1
    assert enough.proved_smallest
    assert not few.proved_smallest
    assert "smallest found, not proved" in str(few)


@pytest.mark.parametrize("words", [9, 40])
def test_of_many_words_no_more_go_than_are_needed(words):
    table = {f"good{number}": 1 + number % 5 for number in range(words)}
    own = word_model({"awful": -2.5} | table)
    text = " ".join(own.vocabulary.surfaces)
    found = own.flip(text)
    assert (found.before, found.after) == ("positive", "negative")
    for kept in range(len(found.changes)):
        rest = found.changes[:kept] + found.changes[kept + 1 :]
        fewer = [change.spans[0] for change in rest]
        assert own.predict([cut(text, fewer)])[0] == "positive"


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
