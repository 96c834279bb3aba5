"""Words that attend to modifiers: definition, kernels and hardmax attention agree with an oracle in
fractions.

The oracle is written from the docstrings; it takes the words of a drawn text as they were drawn.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import listed_refusals
from text.small_models import (
    NOT,
    Said,
    models,
    modifiers,
    random_texts,
    small_model,
    texts,
    word_model,
)

import hardmax as hm
from hardmax._kernels import compiling
from hardmax.text.cloud import make_reading
from hardmax.text.encoding import encode, read_one
from hardmax.text.reading import Modifier, Reader
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser


class Place(NamedTuple):
    """A known token somewhere in a text, and the modifier it attends to."""

    token: int
    word: str
    modifier: str | None
    factor: Fraction
    shift: Fraction


class Expected(NamedTuple):
    places: list[Place]
    tokens: list[int]  # distinct, in order of first appearance
    factors: list[Fraction]
    shifts: list[Fraction]
    active: list[bool]
    votes: list[list[Fraction]]
    logits: list[Fraction]


def names(modifier: Modifier, word: str) -> bool:
    first, _, rest = modifier.word.partition("*")
    if "*" not in modifier.word:
        return word == modifier.word
    return word.startswith(first) and word.endswith(rest)


def modifier_of(word: str, known: Sequence[Modifier]) -> Modifier | None:
    matching = [modifier for modifier in known if names(modifier, word)]
    by_name = [modifier for modifier in matching if "*" not in modifier.word]
    return next(iter(by_name + matching), None)


class Known(NamedTuple):
    """Where a known token stands: from its first word to its last, in a clause."""

    token: int
    clause: int
    first: int
    last: int


def known_places(model: TextModel, clauses: list[list[str]]) -> list[Known]:
    """In the order in which they end, the shorter first."""
    index, longest = model.vocabulary.index, model.tokeniser.longest_phrase
    found = []
    for clause, words in enumerate(clauses):
        for last in range(len(words)):
            for first in range(last, max(last - longest, -1), -1):
                surface = " ".join(words[first : last + 1])
                if surface in index:
                    found.append(Known(index[surface], clause, first, last))
    if model.tokeniser.overlapping:
        return found
    taken: set[tuple[int, int]] = set()
    kept = []
    for place in sorted(found, key=lambda place: place.token):  # stable: each from the left
        own = {(place.clause, word) for word in range(place.first, place.last + 1)}
        if not own & taken:
            taken |= own
            kept.append(place)
    return [place for place in found if place in kept]


def read_place(model: TextModel, words: list[str], place: Known) -> Place:
    """A token with the strongest modifier before it, unless it has modifiers in it."""
    surface = model.vocabulary.surfaces[place.token]
    own = words[place.first : place.last + 1]
    if any(modifier_of(word, model.modifiers) for word in own):
        return Place(place.token, surface, None, Fraction(1), Fraction(0))
    strongest = Fraction(0)
    found = Place(place.token, surface, None, Fraction(1), Fraction(0))
    for word in words[max(place.first - model.rule.scope, 0) : place.first]:
        modifier = modifier_of(word, model.modifiers)
        if modifier is None:
            continue
        factor = Fraction(modifier.factor)
        if abs(factor - 1) >= strongest:  # of equals the nearest
            strongest = abs(factor - 1)
            shift = Fraction(modifier.shift)
            found = Place(place.token, surface, word, factor, shift)
    return found


def by_definition(model: TextModel, clauses: list[list[str]]) -> Expected:
    known = known_places(model, clauses)
    places = [read_place(model, clauses[place.clause], place) for place in known]
    tokens = list(dict.fromkeys(place.token for place in places))
    factors, shifts, votes = [], [], []
    for token in tokens:
        own = [place for place in places if place.token == token]
        factor = sum(place.factor for place in own) / Fraction(len(own))
        shift = sum(place.shift for place in own) / Fraction(len(own))
        factors.append(factor)
        shifts.append(shift)
        votes.append([Fraction(float(w)) * factor + shift for w in model.weights[token]])
    strengths = [max(map(abs, row)) for row in votes]
    gate = Fraction(model.rule.gate) * max(strengths, default=Fraction(0))
    active = [strength > gate for strength in strengths]
    if len(model.bias) == 1:
        votes = towards_the_ends(votes, active, model.rule.alpha)
    size = len(tokens) + model.rule.neutral_weight
    for row, counts in zip(votes, active, strict=True):
        row[:] = [v / size * counts for v in row]
    logits = [Fraction(float(b)) for b in model.bias]
    for row in votes:
        logits = [logit + v for logit, v in zip(logits, row, strict=True)]
    return Expected(places, tokens, factors, shifts, active, votes, logits)


def towards_the_ends(
    votes: list[list[Fraction]], active: list[bool], alpha: str
) -> list[list[Fraction]]:
    """Votes for one of two classes, drawn to the largest active vote of their sign."""
    share = 1 / (1 + Fraction(alpha))
    sums = [Fraction(0)]
    sums += [vote for [vote], counts in zip(votes, active, strict=True) if counts]
    drawn = []
    for [vote] in votes:
        end = min(sums) if vote < 0 else max(sums)
        drawn.append([share * vote + (1 - share) * end])
    return drawn


def floats(fractions: Sequence[Any]) -> np.ndarray:
    return np.array(fractions, dtype=float)


def spelt(text: str, start: int, end: int) -> str:
    """A piece of a text, as vocabularies spell it."""
    words = text[start:end].lower().replace("’", "'").replace("-", " ").split()
    return " ".join(words)


# ---------------------------------------------------------------- definition, kernels and oracle


@given(models(), texts())
def test_the_definition_finds_the_tokens_and_modifiers_of_the_oracle(model, said):
    expected = by_definition(model, said.clauses)
    read = read_one(said.text, model.vocabulary, model.tokeniser, model._reader)
    assert read.encoded.ids.tolist() == expected.tokens
    for token, places, attended in zip(expected.tokens, read.places, read.attended, strict=True):
        own = [place for place in expected.places if place.token == token]
        words = [spelt(said.text, start, end) for start, end in places]
        assert words == [place.word for place in own]
        seen = [spelt(said.text, a, b) if n >= 0 else None for a, b, n in attended]
        assert seen == [place.modifier for place in own]


@given(models(), st.lists(texts(), max_size=4))
def test_many_texts_are_read_as_the_oracle_says_with_kernels_and_without(model, several):
    written = [said.text for said in several]
    expected = [by_definition(model, said.clauses) for said in several]
    with pytest.MonkeyPatch.context() as patched:
        for now in (True, False):
            patched.setattr(compiling.Kernel, "is_ready", not now)
            found = model.analyse(written)
            for text, each in enumerate(expected):
                a, b = found.offsets[text : text + 2]
                assert found.ids[a:b].tolist() == each.tokens
                assert found.active[a:b].tolist() == each.active
                assert found.factors[a:b] == pytest.approx(floats(each.factors), abs=1e-15)
                assert found.shifts[a:b] == pytest.approx(floats(each.shifts), abs=1e-15)
                votes = floats(each.votes).ravel()
                assert found.votes[a:b].ravel() == pytest.approx(votes, abs=1e-12)
                logits = pytest.approx(floats(each.logits), abs=1e-12)
                assert found.logits[text] == logits
            for text, probabilities in zip(written, found.probabilities.tolist(), strict=True):
                assert list(model.explain(text).probabilities.values()) == probabilities


@given(models(), texts())
def test_bias_and_votes_add_up_to_the_logit_and_links_are_those_of_the_oracle(model, said):
    why = model.explain(said.text)
    expected = by_definition(model, said.clauses)
    votes = sum(entry.vote for entry in why.ledger)
    assert why.bias + votes == pytest.approx(why.logit, abs=1e-9)
    logit = float(expected.logits[why._row])
    assert why.logit == pytest.approx(logit, abs=1e-9)
    [chances] = model.predict_proba([said.text]).tolist()
    assert why.probabilities == dict(zip(model.classes, chances, strict=True))
    assert why.label == model.predict([said.text])[0]
    linked = []
    for place in expected.places:
        if place.modifier:
            linked.append((place.word, place.modifier, float(place.factor)))
    links = [(link.word, link.modifier, link.factor) for link in why.links]
    assert sorted(links) == sorted(linked)
    for link in why.links:
        assert link.modifier_span[1] <= link.span[0]
    size = len(expected.tokens) + model.rule.neutral_weight
    for entry in why.ledger:
        token = expected.tokens.index(model.vocabulary.index[entry.word])
        own = [place.modifier for place in expected.places if place.word == entry.word]
        assert entry.count == len(own)
        factor = float(expected.factors[token])
        assert entry.factor == pytest.approx(factor, abs=1e-15)
        assert entry.modifiers == tuple(dict.fromkeys(each for each in own if each))
        weight = float(model.weights[expected.tokens[token], why._row])
        assert entry.weight == pytest.approx(weight / size, abs=1e-15)


@given(models(), texts())
def test_without_its_modifiers_a_model_says_what_it_says_with_factors_of_one(model, said):
    bare = replace(model, modifiers=())
    indifferent = tuple(Modifier(modifier.word, 1) for modifier in model.modifiers)
    ones = replace(model, modifiers=indifferent)
    chances = ones.predict_proba([said.text])
    assert chances.tobytes() == bare.predict_proba([said.text]).tobytes()


# ---------------------------------------------------------------- as hardmax attention


NEGATED = word_model({"good": 1.5}, modifiers=[Modifier("not", -0.5)])
# The first is a bit stronger, the second nearer.
NEARLY = [Modifier("not", -0.5), Modifier("very", 2.375)]
RIVALS = word_model({"good": 1.5}, modifiers=NEARLY)
RIVALRY = ["not", "a", "very", "good"]


@given(models(), texts())
@example(NEGATED, Said("not good", [["not", "good"]]))
@example(RIVALS, Said(" ".join(RIVALRY), [RIVALRY]))
def test_simulated_layers_multiply_each_weight_by_its_factor_exactly(model, said):
    reading = make_reading(model, said.text)
    expected = by_definition(model, said.clauses)
    rows, count = len(model.bias), len(expected.places)
    points = reading.cloud
    for number, layer in enumerate(reading.layers):
        run = hm.simulate(points, layer, layers=1)
        points = run.at(1)
        if not number:
            attended = [list(chosen) for chosen in run.attended(0)]
            assert attended == [[to] for to in reading.attends]
    for place, point in zip(expected.places, points, strict=False):
        weights = model.weights[place.token]
        wanted = [Fraction(float(w)) * place.factor + place.shift for w in weights]
        assert [Fraction(v) for v in point[:rows].tolist()] == wanted
    assert reading.votes.tolist() == points[:, :rows].tolist()
    assert not points[count:, :rows].any()
    assert reading.tokens[:count] == tuple(place.word for place in expected.places)
    for point, place in enumerate(expected.places):
        attended = reading.attends[point]
        seen = reading.tokens[attended] if attended != point else None
        assert seen == place.modifier
    assert len(reading.attends) == len(reading.cloud)


# ---------------------------------------------------------------- leaders


@given(models(), st.lists(texts(), min_size=1, max_size=3))
def test_leaders_are_the_first_of_the_strongest_of_each_class(model, several):
    found = model.analyse([said.text for said in several])
    for a, b in pairwise(found.offsets.tolist()):
        votes = found.weights * found.factors[:, None] + found.shifts[:, None]
        votes = votes[a:b]
        if votes.shape[1] == 1:
            votes = np.hstack([-votes, votes])
        strongest = dict[int, int]()
        classes = votes.argmax(axis=1).tolist()
        for token in np.flatnonzero(found.active[a:b]).tolist():
            leader = strongest.setdefault(classes[token], token)
            if votes[token].max() > votes[leader].max():
                strongest[classes[token]] = token
        leads = np.flatnonzero(found.leads[a:b]).tolist()
        assert leads == sorted(strongest.values())


def test_of_two_classes_leaders_are_those_of_the_exact_limit_of_the_votes():
    model = word_model({"great": 3, "good": 1, "awful": -2, "dull": -1})
    found = model.analyse(["good, dull, great, awful"])
    lim = hm.limit(found.weights, hm.Dynamics(1), arithmetic="exact")
    assert np.flatnonzero(found.leads).tolist() == np.sort(lim.leaders).tolist()


# Modifiers, a text, and the vote of "boring" beside one silent token. Of several modifiers the one
# with the factor farthest from 1 counts, and of equals the nearest; a name comes before a form; a
# modifier attends to itself.
READ = """
never -0.5: It never gets boring. => 1
never -0.5: Never. It gets boring. => -2
never -0.5: never a b c boring => 1
never -0.5: never a b c d boring => -2
never -0.5, very 1.5: never very boring => 1
never -0.5, very 2.5: never very boring => -5
*n't -0.5: wouldn’t be boring => 1
*n't -0.5, didn't 3: didn't bore, boring. didn't look boring => -4
boring -0.5: boring boring => -2
""".strip()


@pytest.mark.parametrize("line", READ.split("\n"))
def test_a_word_is_read_with_the_strongest_modifier_before_it(line):
    named, text, vote = re.split(": | => ", line)
    pairs = [pair.split() for pair in named.split(", ")]
    found = [Modifier(word, float(factor)) for word, factor in pairs]
    model = word_model({"boring": -2}, modifiers=found)
    [entry] = model.explain(text).ledger
    assert entry.vote == float(vote) / 2


def test_a_phrase_with_a_modifier_in_it_says_what_it_says():
    some = [Modifier("not", -0.5), Modifier("very", 2)]
    known = word_model({"not good": -1, "good": 2}, modifiers=some)
    ledger = known.explain("very, not good").ledger
    votes = {entry.word: entry.vote * 3 for entry in ledger}
    assert votes == {"not good": -1, "good": -1}
    [link] = known.explain("very not good").links
    assert (link.word, link.modifier) == ("good", "not")
    inside = word_model({"quite bad": 2}, modifiers=[Modifier("bad", 2), NOT])
    how = inside.vocabulary, inside.tokeniser, inside._reader
    found = encode(["not quite bad"], *how)
    assert found.factors.tolist() == [1.0]


@given(modifiers, st.integers(1, 100))
def test_a_word_is_the_first_modifier_that_names_it_else_the_first_whose_form_it_has(found, scope):
    reader = Reader(found, scope)
    for word in ("not", "don't", "wouldn't", "n'est", "n't", "t", "bat", "unheard-of", ""):
        expected = modifier_of(word, found)
        number = found.index(expected) if expected else -1
        assert reader.number_of(word) == number


def test_modifiers_are_folded_and_their_factors_are_eighths():
    assert Modifier("DON’T", -0.5) == Modifier("don't", -0.5)
    for factor, eighths in ((0.3, 2), (0.01, 1), (1.07, 9)):
        assert Modifier("not", factor).factor == eighths / 8


def test_models_that_share_a_vocabulary_keep_their_own_modifiers():
    model, written = small_model(), random_texts(30)
    other = replace(model, modifiers=(Modifier("a", 3),))
    alone = small_model(modifiers=other.modifiers).predict_proba(written)
    expected = small_model().predict_proba(written)
    for _ in range(2):
        assert model.predict_proba(written).tobytes() == expected.tobytes()
        assert other.predict_proba(written).tobytes() == alone.tobytes()


def test_scripts_without_spaces_have_modifiers_too():
    model = word_model({"好": 2, "不好": 0}, modifiers=(Modifier("不", -1),))
    labels = model.predict(["我不好", "好", "不。好"])
    assert labels.tolist() == ["negative", "positive", "positive"]
    found = encode(["不很好"], model.vocabulary, Tokeniser(), model._reader)
    assert found.factors.tolist() == [-1.0]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
