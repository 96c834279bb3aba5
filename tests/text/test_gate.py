"""The gate: which tokens are active, against the definition in fractions; and when a text is undecided."""

import math
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax.text._analysis import Analysis, weigh_text
from hardmax.text.encoding import join_parts
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

WORDS = ("ant", "bee", "cat", "dog", "elk")
MANY = 70  # layers: (2/3)^70 < 1e-12


class Case(NamedTuple):
    model: hm.TextModel
    text: str
    as_trained: bool  # tokens are 0 on the last axis, and the extra token is on it


class Expected(NamedTuple):
    gate: list[bool]  # whether it is open, for each distinct word
    masses: list[Fraction]  # of these, then of the extra token
    logits: list[Fraction]


def build(embeddings: Any, **changes: Any) -> hm.TextModel:
    counts = np.array([[1, 2]] * len(embeddings))
    usual: dict[str, Any] = {
        "vocabulary": Vocabulary(WORDS[: len(embeddings)], counts),
        "embeddings": embeddings,
        "decoder": [[1, 0]],
        "bias": [0],
        "classes": ["negative", "positive"],
        "layers": 1,
        "extra": [0, 1],
        "gate": 0.25,
        "tokeniser": Tokeniser(longest_phrase=1),
    }
    return hm.TextModel(**usual | changes)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    several, as_trained = draw(st.booleans()), draw(st.booleans())
    d, rows = (3, 4) if several else (2, 1)
    number = st.integers(-4, 4)
    vector = st.lists(number, min_size=d, max_size=d)
    table = np.array(draw(st.lists(vector, min_size=len(WORDS), max_size=len(WORDS))))
    if draw(st.integers(0, 9)) == 0:
        table[:] = 0
    decoder, extra = np.array(draw(st.lists(vector, min_size=rows, max_size=rows))), np.array(draw(vector))
    if as_trained:
        table[:, -1], decoder[:, -1], extra = 0, 0, np.eye(d, dtype=int)[-1] * draw(st.integers(1, 4))
    more: dict[str, Any] = {
        "decoder": decoder,
        "extra": extra,
        "bias": draw(st.lists(number, min_size=rows, max_size=rows)),
    }
    if several:
        more |= {"classes": [*"pqrs"], "vocabulary": Vocabulary(WORDS, [[1, 2, 3, 3]] * len(WORDS))}
    more["layers"] = draw(st.sampled_from([0, 1, 3, math.inf]))
    more["alpha"] = draw(st.sampled_from(["1/2", "1"]))
    more["gate"] = draw(
        st.sampled_from([0, 0.25, 0.5, 0.75])
    )  # binary fractions: with whole numbers nothing is rounded
    more["neutral_weight"] = draw(st.sampled_from([1, 50]))
    more["binary"] = draw(st.booleans())
    more["temperature"] = draw(st.sampled_from([1, 2]))
    text = " ".join(draw(st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=8)))
    return Case(build(table, **more), text, as_trained)


def by_definition(model: hm.TextModel, text: str) -> Expected:
    """Everything in fractions, from the parameters of the model and the words of the text."""
    assert model.extra is not None
    assert model.gate is not None
    said = [word for word in text.split() if word in WORDS]
    words = list(dict.fromkeys(said))
    extra = [Fraction(float(x)) for x in model.extra]
    own = [[Fraction(float(x)) for x in model.embeddings[WORDS.index(word)]] for word in words]
    strengths = [max(map(abs, vector)) for vector in own]
    gate = [strength > Fraction(model.gate) * max(strengths) for strength in strengths]
    starts = [v if is_open else [x / 2 for x in extra] for v, is_open in zip(own, gate, strict=True)] + [extra]
    times = [1 if model.binary else said.count(word) for word in words] + [model.neutral_weight]
    cloud, alpha = starts, Fraction(model.alpha)
    parts = [[Fraction(i == j) for j in range(len(starts))] for i in range(len(starts))]  # of whom each is made up
    for _ in range(MANY if math.isinf(model.layers) else int(model.layers)):
        sets: Any = [[j for j in sorted(one) for _ in range(times[j])] for one in oracle.attended_sets(cloud)]
        cloud, parts = oracle.moved(cloud, sets, alpha), oracle.moved(parts, sets, alpha)
    means = [
        [
            sum(n * row[axis] for n, row in zip(times, rows, strict=True)) / Fraction(sum(times))
            for axis in range(len(rows[0]))
        ]
        for rows in (cloud, parts)
    ]
    logits = [
        (oracle.dot([Fraction(float(x)) for x in row], means[0]) + Fraction(float(bias))) / Fraction(model.temperature)
        for row, bias in zip(model.decoder, model.bias, strict=True)
    ]
    return Expected(gate, means[1], logits)


def assert_equal(one: Analysis, other: Analysis) -> None:
    for name in ("ids", "rows", "counts", "masses", "leader_since", "follows", "active", "logits", "probabilities"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@given(cases())
def test_masses_logits_and_active_tokens_are_those_of_the_definition(case: Case):
    model, text, as_trained = case
    found, expected = weigh_text(model, text)[1], by_definition(model, text)
    assert found.masses == pytest.approx(np.array(expected.masses, dtype=float), abs=1e-9)
    assert found.logits[0] == pytest.approx(np.array(expected.logits, dtype=float), abs=1e-9)
    active = found.active[:-1].tolist()
    if as_trained or not model.has_neutral:
        assert active == expected.gate
    assert not any(is_active and not is_open for is_active, is_open in zip(active, expected.gate, strict=True))
    assert not found.active[-1]


@given(cases(), cases())
def test_one_text_is_read_as_many_are(case: Case, other: Case):
    model, texts = case.model, [case.text, "", other.text]
    assert_equal(join_parts([weigh_text(model, text)[1] for text in texts]), model.analyse(texts))


@settings(max_examples=10)
@given(cases())
def test_a_saved_model_says_the_same(case: Case):
    with tempfile.TemporaryDirectory() as folder:
        case.model.save(Path(folder) / "model")
        loaded = hm.TextModel.load(Path(folder) / "model")
    assert (loaded.gate, loaded.neutral_weight) == (case.model.gate, case.model.neutral_weight)
    assert_equal(loaded.analyse([case.text]), case.model.analyse([case.text]))


@given(cases())
def test_both_ledgers_add_up_to_the_logit(case: Case):
    why = case.model.explain(case.text)
    assert why.bias + math.fsum(share.contribution for share in why.ledger) == pytest.approx(why.logit, abs=1e-9)
    votes = math.fsum(vote.vote for vote in why.active)
    assert why.bias + votes + why.rest == pytest.approx(why.logit, abs=1e-9)
    assert why.label == case.model.predict([case.text])[0]
    assert (why.answer == "undecided") == (not why.decided)


@pytest.mark.parametrize("neutral_weight", [1, 50])
@pytest.mark.parametrize("layers", [0, 1, 3, math.inf])
def test_every_text_with_a_known_word_that_speaks_is_decided(layers, neutral_weight):
    model = build([[0.01, 0], [-3, 0], [0, 0], [2, 0]], layers=layers, neutral_weight=neutral_weight, bias=[5])
    decided = ["ant", "ant unknown cat", "Bee!", "dog ant", "bee bee dog"]
    silent = ["", "unknown", "cat", "cat cat, unknown"]
    assert model.decided(decided).all()
    assert not model.decided(silent).any()
    assert set(model.predict(silent)) == {"positive"}  # the more frequent class
    assert {model.explain(text).answer for text in silent} == {"undecided"}


def test_a_logit_of_zero_is_undecided():
    model = build([[1, 0], [-1, 0]])
    assert model.decided(["ant", "ant bee"]).tolist() == [True, False]
    assert model.explain("ant bee").answer == "undecided"
