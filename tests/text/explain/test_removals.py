"""Words in the order in which to take them out: told from where they stand, held against reading the text again."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.small_models import WORDS, random_texts, small_model

import hardmax as hm
from hardmax.text.tokens.lexicon import lexicon_of
from hardmax.text.tokens.one_text import read_one
from hardmax.text.tokens.places import read_long
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.units import Units
from hardmax.text.tokens.vocabulary import Vocabulary

PHRASES = (
    "not good",
    "very not good",
    "good film",
    "the worst",
    "worst film",
    "the worst film",
    "a",
    "not",
    "good",
    "film",
)
SURFACES = (*PHRASES, "worst", "the", "very", "awful", "great", "awful plot", "plot a", "不", "好", "不好", "!")


def model(seed: int = 0, **changes) -> hm.TextModel:
    """A model that knows many phrases, one reaching into the other."""
    rng, classes = np.random.default_rng(seed), changes.get("classes", 2)
    order, d = rng.permutation(len(SURFACES)), changes.pop("dimension", 2)
    known = Vocabulary([SURFACES[n] for n in order], np.zeros((len(SURFACES), classes)))
    options = {"embeddings": rng.normal(size=(len(SURFACES), d)), "layers": 3, "vocabulary": known}
    rows = 1 if classes == 2 else classes
    options |= {"decoder": rng.normal(size=(rows, d)), "bias": rng.normal(size=rows)}
    options["tokeniser"] = Tokeniser(longest_phrase=3, overlapping=False, marks=True)
    return small_model(**(options | changes))


def neutral(seed: int = 0, **changes) -> hm.TextModel:
    """One with a neutral leader, on an axis of its own, and layers for ever."""
    own = np.random.default_rng(seed).normal(size=(len(SURFACES), 1))
    embeddings = np.hstack([own, np.full((len(SURFACES), 1), 0.3)])
    extra = {"extra": [0, 1], "embeddings": embeddings, "decoder": [[1.0, 0]], "layers": math.inf}
    return model(seed, **(extra | changes))


def texts(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [
        "not",
        "good",
        "film",
        "the",
        "worst",
        "a",
        "very",
        "awful",
        "plot",
        "great",
        "unknown",
        "不",
        "好",
        ".",
        "!",
    ]
    return [" ".join(rng.choice(words, size=rng.integers(0, 40))) for _ in range(count)]


def best_two(why) -> tuple[int, int]:
    """The label, and the most probable of the other classes."""
    best, chances = why.model.classes.index(why.label), why.found.probabilities[0]
    return best, max((c for c in range(len(chances)) if c != best), key=chances.__getitem__)


def says(why, ids: np.ndarray) -> np.ndarray:
    """What tokens say for the label, against the next class, that follow the leaders of a text."""
    own, prepared = why.model, why.model.prepared
    best, second = best_two(why)
    decoder = prepared.decoding.decoder.astype(float) / own.temperature
    direction = (decoder[0] if best else -decoder[0]) if len(decoder) == 1 else decoder[best] - decoder[second]
    metric = np.eye(own.dimension) if own.metric is None else own.metric
    stand = dict(zip(why.found.ids.tolist(), range(len(why.ends)), strict=True))
    keep = 0.0 if math.isinf(own.layers) else float(own.dynamics.contraction) ** own.layers
    leading = np.flatnonzero(why.leads)
    strengths = np.abs(own.embeddings).max(axis=1)
    here = why.found.ids[why.found.ids < len(strengths)]
    least = -1.0 if own.gate is None else own.gate * strengths[here].max(initial=0.0)
    found = []
    for token in ids.tolist():
        z = prepared.table[token]
        scores = [(metric @ z) @ why.ends[row] for row in leading]
        if token in stand:
            counts, end = why.found.counting[stand[token]], why.ends[stand[token]]
        elif strengths[token] <= least:
            counts, end = False, z
        elif scores and max(scores) > (metric @ z) @ z:
            leader = leading[int(np.argmax(scores))]
            end = why.ends[leader] + keep * (z - why.ends[leader])
            counts = not (own.has_neutral and why.found.ids[leader] == prepared.extra)
        else:
            counts, end = True, z
        found.append(float(end @ direction) if counts else 0.0)
    return np.array(found)


def alone(why, word: str) -> float:
    own, prepared = why.model, why.model.prepared
    number = own.vocabulary.index.get(word)
    if number is None:
        return 0.0
    z, metric = prepared.table[number], np.eye(own.dimension) if own.metric is None else own.metric
    if own.gate is not None and not z.any():
        return 0.0
    if own.has_neutral and (metric @ z) @ prepared.table[prepared.extra] > (metric @ z) @ z:
        return 0.0
    best, second = best_two(why)
    scores = prepared.scores[number]
    return float((scores[0] if best else -scores[0]) if len(scores) == 1 else scores[best] - scores[second])


def said(why, text: str) -> float:
    """What all tokens of a changed text say, as shares of the text that is explained; it is read anew."""
    found = why.model.read(text).encoded
    ids = found.ids[found.ids < len(why.model.vocabulary)]
    voices = why.model.prepared.voices(found)[: len(ids)]
    return float((voices * says(why, ids)).sum()) / max(why.voices.sum(), 1)


MODELS = {
    "segments": model(),
    "each token once": model(1, binary=True),
    "overlapping": model(2, tokeniser=Tokeniser(longest_phrase=3), binary=True),
    "four classes, 5 dimensions": model(3, classes=4, dimension=5),
    "layers for ever": model(4, layers=math.inf, binary=True),
    "a metric, no layers": model(5, layers=0, metric=[[2, 0.5], [0.5, 1]]),
    "a metric": model(6, metric=[[2, 0.5], [0.5, 1]]),
    "neutral": neutral(7, binary=True),
    "neutral, phrases of two": neutral(8, tokeniser=Tokeniser(longest_phrase=2, overlapping=False)),
    "gated": neutral(9, gate=0.4, neutral_weight=5),
    "gated, one layer": neutral(10, gate=0.2, neutral_weight=5, layers=1, binary=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_lost_is_what_the_text_read_anew_says_less(name):
    own = MODELS[name]
    for text in texts(60):
        why, units = own.explain(text), Units.of(text, own.tokeniser)
        left, before, gone = {removal.word for removal in why.removals}, said(why, text), []
        for place, removal in enumerate(why.removals):
            assert removal.spans == units.places[units.words.index(removal.word)]
            worth = {}
            for word in left if removal.worth > 0 or not place or why.removals[place - 1].worth > 0 else ():
                without = said(why, units.without([units.words.index(each) for each in (*gone, word)]))
                worth[word] = (before - without + 2 * alone(why, word) / max(why.voices.sum(), 1)) / 3
            if worth:
                assert worth[removal.word] == pytest.approx(removal.worth, abs=1e-9)
                assert removal.worth >= max(worth.values()) - 1e-9
            elif place:
                assert removal.worth <= why.removals[place - 1].worth
            if worth and removal.worth <= 0:  # the others are told as they are then
                told = {rest.word: rest.worth for rest in why.removals[place:]}
                assert told == pytest.approx(worth, abs=1e-9)
            if removal.worth > 0:
                left.remove(removal.word)
                gone.append(removal.word)
                after = said(why, units.without([units.words.index(each) for each in gone]))
                assert removal.loss == pytest.approx(before - after, abs=1e-9)
                before = after


@pytest.mark.parametrize("seed", range(6))
def test_the_model_says_so_of_the_changed_text_as_long_as_its_leaders_are_there(seed):
    own = neutral(seed, binary=bool(seed % 2))
    embeddings = own.embeddings.copy()
    embeddings[own.vocabulary.index["!"], 0] = 4  # a mark leads, which is not taken out
    own, asked = replace(own, embeddings=embeddings, bias=[2.0]), 0
    for text in texts(40, seed):
        why, units, gone, lost = own.explain(f"! {text}"), Units.of(f"! {text}", own.tokeniser), [], 0.0
        for removal in (each for each in why.removals if each.worth > 0 and why.label == "positive"):
            gone.append(units.words.index(removal.word))
            lost += removal.loss
            then = own.explain(units.without(gone))
            if {share.word for share in then.leaders} == {share.word for share in why.leaders}:
                votes = (why.logit - why.bias - lost) * why.voices.sum() / then.voices.sum()
                assert then.logit == pytest.approx(why.bias + votes, abs=1e-9)
                asked += 1
    assert asked > 40


def test_words_that_speak_for_the_label_come_first_and_those_against_it_last():
    own = small_model(embeddings=[[3, 0], [-2, 0], *[[0, 0.1]] * 11], decoder=[[1, 0]], bias=[0.0], layers=math.inf)
    why = own.explain("A great film, an awful plot. Great!")
    assert [removal.word for removal in why.removals] == ["great", "a", "film", "plot", "awful"]
    first = why.removals[0]
    assert (first.count, first.spans) == (2, ((2, 7), (29, 34)))
    assert first.loss == pytest.approx(next(vote.vote for vote in why.counting if vote.word == "great"))
    assert set(first.to_dict()) == {"word", "spans", "count", "worth", "loss"}


def test_what_a_phrase_hid_comes_instead():
    embeddings = [[0, 0.1]] * len(WORDS)
    embeddings[WORDS.index("not good")], embeddings[WORDS.index("good")] = [-3, 0], [3, 0]
    own = small_model(
        embeddings=embeddings, decoder=[[1, 0]], bias=[0.0], layers=math.inf, tokeniser=Tokeniser(overlapping=False)
    )
    first = own.explain("It is not good.").removals[0]
    assert first.word == "not"
    assert first.loss == pytest.approx(6.0)  # "not good" goes, "good" comes


def test_what_says_a_thing_once_is_missed_elsewhere_when_it_goes():
    says = {"film a": 5, "good film": 0, "not good": 1, "good": -2, "film": -4}
    own = small_model(
        vocabulary=Vocabulary(list(says), np.zeros((5, 2))),
        embeddings=[[x, 0.1] for x in says.values()],
        decoder=[[1, 0]],
        bias=[0.0],
        layers=0,
        binary=True,
        tokeniser=Tokeniser(overlapping=False),
    )
    why = own.explain("Good film a. It is not good.")
    first, second = why.removals[:2]
    assert (first.word, second.word) == ("a", "not")
    assert first.loss == pytest.approx((5 - 2) / 3)  # "good" goes, where "good film" comes
    assert second.loss == pytest.approx((1 + 2) / 3)  # and so "good" comes here, which had been said there


@pytest.mark.parametrize("text", ["", "xyzzy", "!", "..."])
def test_a_text_without_a_known_word_has_none(text):
    assert model().explain(text).removals == ()


@given(st.integers(0, 10**6))
def test_a_text_has_the_same_spots_by_the_definition_and_by_the_kernels(seed):
    own = list(MODELS.values())[seed % len(MODELS)]
    for text in [*texts(3, seed), *random_texts(2, seed)]:
        short = read_one(text, own.vocabulary, own.tokeniser, has_extra=False).spots
        long = read_long(text, lexicon_of(own.vocabulary, own.tokeniser), own.tokeniser, has_extra=False).spots
        for name in ("tokens", "rows"):
            assert np.array_equal(getattr(short, name), getattr(long, name)), name
        for first, last in (("begins", "firsts"), ("ends", "lasts")):
            for token in range(len(short.tokens)):
                at = [min(int(spots.firsts[token]), int(spots.lasts[token])) for spots in (short, long)]
                if last == "lasts":
                    at = [int(spots.lasts[token]) for spots in (short, long)]
                assert getattr(short, first)[at[0]] == getattr(long, first)[at[1]]


def test_a_long_text_said_over_and_over_is_ranked():
    why = model().explain("the worst film, not good. " * 20_000)
    assert {removal.count for removal in why.removals} == {20_000}
