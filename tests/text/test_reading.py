"""Words that attend to modifiers: definition, kernels and hardmax attention agree with an oracle in
fractions.

The oracle is written from the docstrings; it takes the words of a drawn text as they were drawn.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import listed_refusals
from text.small_models import Said, models, modifiers, random_texts, small_model, texts, word_model

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


class Expected(NamedTuple):
    places: list[Place]
    tokens: list[int]  # distinct, in order of first appearance
    factors: list[Fraction]
    active: list[bool]
    votes: list[list[Fraction]]
    logits: list[Fraction]


def names(modifier: Modifier, word: str) -> bool:
    first, _, rest = modifier.word.partition("*")
    return (
        word.startswith(first) and word.endswith(rest)
        if "*" in modifier.word
        else word == modifier.word
    )


def modifier_of(word: str, known: Sequence[Modifier]) -> Modifier | None:
    matching = [modifier for modifier in known if names(modifier, word)]
    return next((m for m in matching if "*" not in m.word), matching[0] if matching else None)


def known_places(model: TextModel, clauses: list[list[str]]) -> list[tuple[int, int, int, int]]:
    """(token, clause, first word, last word) in the order in which they end, the shorter first."""
    index, longest = model.vocabulary.index, model.tokeniser.longest_phrase
    found = [
        (index[" ".join(words[first : last + 1])], clause, first, last)
        for clause, words in enumerate(clauses)
        for last in range(len(words))
        for first in range(last, max(last - longest, -1), -1)
        if " ".join(words[first : last + 1]) in index
    ]
    if model.tokeniser.overlapping:
        return found
    taken: set[tuple[int, int]] = set()
    kept = []
    for place in sorted(found, key=lambda place: place[0]):  # stable: each from the left
        own = {(place[1], word) for word in range(place[2], place[3] + 1)}
        if not own & taken:
            taken |= own
            kept.append(place)
    return [place for place in found if place in kept]


def by_definition(model: TextModel, clauses: list[list[str]]) -> Expected:
    places = []
    for token, clause, first, last in known_places(model, clauses):
        words = clauses[clause]
        inside = [modifier_of(word, model.modifiers) for word in words[first : last + 1]]
        before = range(max(first - model.rule.scope, 0), first)
        reach = [(at, m) for at in before if (m := modifier_of(words[at], model.modifiers))]
        strongest = max(
            reach, key=lambda pair: (abs(Fraction(pair[1].factor) - 1), pair[0]), default=None
        )
        surface = model.vocabulary.surfaces[token]
        if strongest is None or any(inside):
            places.append(Place(token, surface, None, Fraction(1)))
        else:
            at, modifier = strongest
            places.append(Place(token, surface, words[at], Fraction(modifier.factor)))
    tokens = list(dict.fromkeys(place.token for place in places))
    own = [[place.factor for place in places if place.token == token] for token in tokens]
    factors = [sum(each) / Fraction(len(each)) for each in own]
    weights = [[Fraction(float(w)) for w in model.weights[token]] for token in tokens]
    votes = [[w * factor for w in row] for row, factor in zip(weights, factors, strict=True)]
    strengths = [max(map(abs, row)) for row in votes]
    gate = Fraction(model.rule.gate) * max(strengths, default=Fraction(0))
    active = [strength > gate for strength in strengths]
    if len(model.bias) == 1:
        share = 1 / (1 + Fraction(model.rule.alpha))
        sums = [row[0] for row, counts in zip(votes, active, strict=True) if counts]
        ends = max(sums, default=Fraction(0)), min(sums, default=Fraction(0))
        votes = [[share * v + (1 - share) * ends[v < 0]] for [v] in votes]
    size = len(tokens) + model.rule.neutral_weight
    votes = [[v / size * counts for v in row] for row, counts in zip(votes, active, strict=True)]
    bias = [Fraction(float(b)) for b in model.bias]
    logits = [b + sum(row[c] for row in votes) for c, b in enumerate(bias)]
    return Expected(places, tokens, factors, active, votes, logits)


# ---------------------------------------------------------------- definition, kernels and oracle


@given(models(), texts())
def test_the_definition_finds_the_tokens_and_modifiers_of_the_oracle(model, said):
    expected = by_definition(model, said.clauses)
    read = read_one(said.text, model.vocabulary, model.tokeniser, model._reader)
    assert read.encoded.ids.tolist() == expected.tokens
    for token, places, attended in zip(expected.tokens, read.places, read.attended, strict=True):
        own = [place for place in expected.places if place.token == token]
        spelt = [
            said.text[start:end].lower().replace("’", "'").replace("-", " ")
            for start, end in places
        ]
        assert [" ".join(each.split()) for each in spelt] == [place.word for place in own]
        seen = [
            said.text[a:b].lower().replace("’", "'") if n >= 0 else None for a, b, n in attended
        ]
        assert seen == [place.modifier for place in own]


@given(models(), st.lists(texts(), max_size=4))
def test_many_texts_are_read_as_the_oracle_says_with_kernels_and_without(model, several):
    written = [said.text for said in several]
    expected = [by_definition(model, said.clauses) for said in several]
    with pytest.MonkeyPatch.context() as patched:
        for now in (True, False):
            patched.setattr(compiling.Kernel, "is_ready", not now)
            found = model.analyse(written)
            bounds = list(pairwise(found.offsets.tolist()))
            assert [found.ids[a:b].tolist() for a, b in bounds] == [
                each.tokens for each in expected
            ]
            assert [found.active[a:b].tolist() for a, b in bounds] == [
                each.active for each in expected
            ]
            for (a, b), each, logits in zip(bounds, expected, found.logits, strict=True):
                assert found.factors[a:b] == pytest.approx(
                    np.array(each.factors, dtype=float), abs=1e-15
                )
                assert found.votes[a:b].ravel() == pytest.approx(
                    np.array(each.votes, dtype=float).ravel(), abs=1e-12
                )
                assert logits == pytest.approx(np.array(each.logits, dtype=float), abs=1e-12)
            for text, probabilities in zip(written, found.probabilities.tolist(), strict=True):
                assert list(model.explain(text).probabilities.values()) == probabilities


@given(models(), texts())
def test_bias_and_votes_add_up_to_the_logit_and_links_are_those_of_the_oracle(model, said):
    why, expected = model.explain(said.text), by_definition(model, said.clauses)
    assert why.bias + sum(entry.vote for entry in why.ledger) == pytest.approx(why.logit, abs=1e-9)
    assert why.logit == pytest.approx(float(expected.logits[why._row]), abs=1e-9)
    assert why.probabilities == dict(
        zip(model.classes, model.predict_proba([said.text])[0].tolist(), strict=True)
    )
    assert why.label == model.predict([said.text])[0]
    linked = [
        (place.word, place.modifier, float(place.factor))
        for place in expected.places
        if place.modifier
    ]
    assert sorted((link.word, link.modifier, link.factor) for link in why.links) == sorted(linked)
    for link in why.links:
        assert link.modifier_span[1] <= link.span[0]
    size = len(expected.tokens) + model.rule.neutral_weight
    for entry in why.ledger:
        token = expected.tokens.index(model.vocabulary.index[entry.word])
        own = [place.modifier for place in expected.places if place.word == entry.word]
        assert entry.count == len(own)
        assert entry.factor == pytest.approx(float(expected.factors[token]), abs=1e-15)
        assert entry.modifiers == tuple(dict.fromkeys(each for each in own if each))
        assert entry.weight == pytest.approx(
            float(model.weights[expected.tokens[token], why._row]) / size, abs=1e-15
        )


@given(models(), texts())
def test_without_its_modifiers_a_model_says_what_it_says_with_factors_of_one(model, said):
    bare = replace(model, modifiers=())
    ones = replace(model, modifiers=tuple(Modifier(m.word, 1) for m in model.modifiers))
    assert ones.predict_proba([said.text]).tobytes() == bare.predict_proba([said.text]).tobytes()


# ---------------------------------------------------------------- as hardmax attention


@given(models(), texts())
@example(
    word_model({"good": 1.5}, modifiers=[Modifier("not", -0.5)]),
    Said("not good", [["not", "good"]]),
)
def test_simulated_layers_multiply_each_weight_by_its_factor_exactly(model, said):
    reading = make_reading(model, said.text)
    expected = by_definition(model, said.clauses)
    rows, count = len(model.bias), len(expected.places)
    points = reading.cloud
    for number, layer in enumerate(reading.layers):
        run = hm.simulate(points, layer, layers=1)
        points = run.at(1)
        if not number:
            assert [list(chosen) for chosen in run.attended(0)] == [[to] for to in reading.attends]
    wanted = [
        [Fraction(float(w)) * p.factor for w in model.weights[p.token]] for p in expected.places
    ]
    assert [[Fraction(v) for v in row] for row in points[:count, :rows].tolist()] == wanted
    assert reading.votes.tolist() == points[:, :rows].tolist()
    assert not points[count:, :rows].any()
    assert reading.tokens[:count] == tuple(place.word for place in expected.places)
    for point, place in enumerate(expected.places):
        attended = reading.attends[point]
        assert (reading.tokens[attended] if attended != point else None) == place.modifier
    assert len(reading.attends) == len(reading.cloud)


# ---------------------------------------------------------------- leaders


def limit_of(votes: np.ndarray) -> tuple[np.ndarray, set[tuple[float, ...]]]:
    """Where tokens end in the exact limit, and the places of leaders."""
    lim = hm.limit(votes, hm.Dynamics(1), arithmetic="exact")
    return np.asarray(lim.limit_points, dtype=float), {
        tuple(votes[leader]) for leader in np.atleast_1d(lim.leaders)
    }


@given(models(), st.lists(texts(), min_size=1, max_size=3))
def test_leaders_and_followers_are_those_of_the_exact_limit(model, several):
    found = model.analyse([said.text for said in several])
    for a, b in pairwise(found.offsets.tolist()):
        active = np.flatnonzero(found.active[a:b])
        votes = (found.weights * found.factors[:, None])[a:b][active]
        follows, leads = found.follows[a:b], found.leads[a:b]
        assert (follows[~found.active[a:b]] == -1).all()
        assert not leads[~found.active[a:b]].any()
        ends, leaders = limit_of(votes) if len(votes) else (votes, set())
        for place, token in enumerate(active.tolist()):
            stays = tuple(votes[place]) in leaders
            first = place == next(n for n, row in enumerate(votes) if (row == votes[place]).all())
            assert leads[token] == (stays and first)
            led = follows[token]
            if led < 0:
                assert tuple(ends[place]) not in leaders
            else:
                assert leads[led]
                assert np.allclose(ends[place], votes[np.flatnonzero(active == led)[0]], atol=1e-12)


def test_of_three_classes_a_token_may_end_between_leaders():
    model = word_model(
        {"between": [0.5, 0.5, 0], "first": [1, 0, 0], "second": [0, 1, 0], "near": [0.5, 0, 0]}
    )
    found = model.analyse(["first, between, second, near"])
    words = [model.vocabulary.surfaces[token] for token in found.ids]
    assert dict(zip(words, found.follows.tolist(), strict=True)) == {
        "first": 0,
        "between": -1,
        "second": 2,
        "near": 0,
    }


# ---------------------------------------------------------------- modifiers


@pytest.mark.parametrize(
    ("modifiers", "text", "vote"),
    [
        ({"never": -0.5}, "It never gets boring.", 1.0),
        ({"never": -0.5}, "Never. It gets boring.", -2.0),
        ({"never": -0.5}, "never a b c boring", 1.0),
        ({"never": -0.5}, "never a b c d boring", -2.0),
        ({"never": -0.5, "very": 1.5}, "never very boring", 1.0),  # 3/2 from 1 is more than 1/2
        ({"never": -0.5, "very": 2.5}, "never very boring", -5.0),  # of equals the nearest
        ({"*n't": -0.5}, "wouldn’t be boring", 1.0),
        (
            {"*n't": -0.5, "didn't": 3},
            "didn't bore, boring. didn't look boring",
            -4.0,
        ),  # a name before a form
        ({"boring": -0.5}, "boring boring", -2.0),  # a modifier attends to itself
    ],
)
def test_a_word_is_read_with_the_strongest_modifier_before_it(modifiers, text, vote):
    found = [Modifier(word, factor) for word, factor in modifiers.items()]
    [entry] = word_model({"boring": -2}, modifiers=found).explain(text).ledger
    assert entry.vote == vote / 2  # beside one silent token


def test_a_phrase_with_a_modifier_in_it_says_what_it_says():
    known = word_model(
        {"not good": -1, "good": 2}, modifiers=[Modifier("not", -0.5), Modifier("very", 2)]
    )
    votes = {entry.word: entry.vote * 3 for entry in known.explain("very, not good").ledger}
    assert votes == {"not good": -1, "good": -1}
    links = [(link.word, link.modifier) for link in known.explain("very not good").links]
    assert links == [("good", "not")]
    inside = word_model({"quite bad": 2}, modifiers=[Modifier("bad", 2), Modifier("not", -1)])
    how = inside.vocabulary, inside.tokeniser, inside._reader
    assert encode(["not quite bad"], *how).factors.tolist() == [1.0]


@given(modifiers, st.integers(1, 100))
def test_a_word_is_the_first_modifier_that_names_it_else_the_first_whose_form_it_has(found, scope):
    reader = Reader(found, scope)
    for word in ("not", "don't", "wouldn't", "n'est", "n't", "t", "bat", "unheard-of", ""):
        expected = modifier_of(word, found)
        assert reader.number_of(word) == (found.index(expected) if expected else -1)


def test_modifiers_are_folded_and_their_factors_are_eighths():
    assert Modifier("DON’T", -0.5) == Modifier("don't", -0.5)
    assert [Modifier("not", factor).factor for factor in (0.3, 0.01, 1.07)] == [0.25, 0.125, 1.125]


def test_models_that_share_a_vocabulary_keep_their_own_modifiers():
    model, written = small_model(), random_texts(30)
    other = replace(model, modifiers=(Modifier("a", 3),))
    alone = small_model(modifiers=[Modifier("a", 3)]).predict_proba(written)
    expected = small_model().predict_proba(written)
    for _ in range(2):
        assert model.predict_proba(written).tobytes() == expected.tobytes()
        assert other.predict_proba(written).tobytes() == alone.tobytes()


def test_scripts_without_spaces_have_modifiers_too():
    model = word_model({"好": 2, "不好": 0}, modifiers=(Modifier("不", -1),))
    assert model.predict(["我不好", "好", "不。好"]).tolist() == [
        "negative",
        "positive",
        "positive",
    ]
    assert encode(["不很好"], model.vocabulary, Tokeniser(), model._reader).factors.tolist() == [
        -1.0
    ]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
