"""Training: planted words are found, folds choose, and what was chosen is what the model does."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refusals import refuses

import hardmax
from hardmax import load_model
from hardmax.text import describe, make_synthetic_corpus
from hardmax.text.encoding import encode
from hardmax.train import Settings, fit, tuning
from hardmax.train.bag import Bags, to_matrix
from hardmax.train.settings import GATES

WORDS = [f"w{chr(97 + number)}x" for number in range(20)]
# Nothing is left to be chosen, which takes most of the time.
GIVEN: dict[str, Any] = {"C": 1.0, "gate": 0.1, "alpha": "0", "vectors": None}
FIXED = Settings(ngram_range=(1, 1), scaling="contrast", **GIVEN)
SIZES = [(12, 8), (30, 30), (19, 1), (9, 6, 5)]
NO_LISTS = ["the,a", b"english", 3, ["the", 4], {"the": 1}]


@pytest.mark.parametrize("classes", ["pn", "abcd"])
def test_every_word_may_count(classes):
    labels = [classes[number % len(classes)] for number in range(20)] * 10
    model = fit(WORDS * 10, labels)
    assert (model.predict(WORDS * 10) == labels).all()
    assert model.analyse(WORDS).decided.all()


def test_no_text_is_certain_and_a_short_one_less_so_than_a_long_one():
    corpus = make_synthetic_corpus(200, words=6, length=20, disturbed=0.3, seed=1)
    model = fit(corpus.texts, corpus.labels, replace(FIXED, neutral_weight=50))
    good = corpus.words["positive"]
    both = " ".join(good[:2])
    short, long = model.predict_proba([good[0], both])[:, 1]
    assert 0.5 < short < long < 1


def test_undecided_is_an_answer():
    texts = ["a good film", "so good", "a bad film", "so bad"] * 5
    model = fit(texts, [1, 1, 0, 0] * 5, Settings(vectors=None))
    found = model.analyse(["good", "", "unknown words", "bad good"])
    assert found.decided.tolist() == [True, False, False, False]


def test_groups_count_once_and_stay_together():
    texts = ["film one", "film one", "film two", "film three"]
    labels = np.array([1, 1, 0, 0])
    groups = np.array([0, 0, 1, 2])
    settings = Settings(ngram_range=(1, 1), C=1.0, stop_words=(), vectors=None)
    often, together = np.tile(labels, 4), np.tile(groups, 4)
    model = fit(texts * 4, often, settings, groups=together)
    assert len(model.vocabulary) == 4
    found = encode(texts, model.vocabulary, model.tokeniser)
    matrix = to_matrix(found, 4)
    bag = Bags(matrix, labels, np.ones(4), groups, 2, np.zeros(4))
    for word, counts in (("one", [0, 1]), ("film", [2, 1])):
        token = model.vocabulary.index[word]
        assert bag.counts()[token].tolist() == counts


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_of_a_text_in_which_nothing_votes_the_probabilities_are_the_shares_of_the_classes(sizes):
    # A text of a class is as long as the class is rare: most tokens are not in the most frequent.
    labels = np.repeat(np.arange(len(sizes)), sizes)
    lengths = 20 - np.array(sizes) // 2
    said = [f"word{label} " + " ".join(WORDS[: lengths[label]]) for label in labels]
    model = fit(said, labels, FIXED)
    shares = np.array(sizes) / sum(sizes)
    for chances in model.predict_proba(["", "unheard"]):
        np.testing.assert_allclose(chances, shares, rtol=1e-6)
    assert model.predict(["unheard"]) == shares.argmax()
    weights = (1 / shares)[labels]
    weighted = fit(said, labels, FIXED, sample_weight=weights)
    [chances] = weighted.predict_proba([""])
    np.testing.assert_allclose(chances, 1 / len(sizes), rtol=1e-6)
    level = fit(said, labels, replace(FIXED, fit_intercept=False))
    np.testing.assert_allclose(level.predict_proba([""]), 1 / len(sizes))


def test_what_is_measured_on_few_texts_is_said_to_be_chance():
    lines: list[str] = []
    fit(["good", "bad"], [1, 0], FIXED, progress=lines.append)
    assert any("mostly chance" in line for line in lines)
    enough: list[str] = []
    fit(WORDS * 2, [1, 0] * 20, FIXED, progress=enough.append)
    assert not any("mostly chance" in line for line in enough)


def test_a_model_knows_when_and_from_what_it_was_trained():
    for source in ({}, {"file": "mine.csv", "sha256": "ab12"}):
        model = fit(["good", "bad"] * 6 + ["bad"], [1, 0] * 6 + [0], FIXED, source=source)
        known = {"texts": 13, "classes": {"0": 7, "1": 6}}
        assert model.metrics["sources"] == [known | source]
        training = model.metrics["training"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", training["date"])
        assert training["hardmax version"] == hardmax.__version__
        card = describe(model)
        for fact in (*source.values(), "0 7, 1 6", *training.values()):
            assert fact in card


@pytest.mark.parametrize("words", NO_LISTS, ids=repr)
def test_words_come_as_a_list(words):
    for name in ("stop_words", "exclude"):
        with refuses(name):
            Settings(**{name: words})
        given: dict[str, Any] = {name: {"the", "a"}}
        assert getattr(Settings(**given), name) == ("a", "the")


def test_no_token_of_a_consistent_model_speaks_against_its_counts():
    # More negative texts have "but", though of those that have "awful" it is in the positive ones.
    texts = ["awful but"] * 9 + ["awful"] * 6 + ["fine"] * 9 + ["fine but"]
    labels = np.repeat([0, 1, 0, 1], [6, 3, 7, 9])
    settings = Settings(ngram_range=(1, 1), C=10.0, stop_words=())
    free = fit(texts, labels, settings)
    assert free.weights[free.vocabulary.index["but"], 0] > 0
    consistent = fit(texts, labels, replace(settings, consistent=True))
    assert consistent.weights[consistent.vocabulary.index["but"], 0] < 0


def test_a_phrase_of_a_consistent_model_does_not_speak_against_its_counts_for_its_words():
    texts = ["great", "so great", "great film", "dull", "dull film", "bad"] * 10
    texts += ["that great film"] * 4
    labels = np.array([1, 1, 1, 0, 0, 0] * 10 + [0] * 4)
    how = {"C": 0.5, "scaling": "evidence", "consistent": True, "reading": False}
    model = fit(texts, labels, replace(FIXED, ngram_range=(1, 2), **how))
    known, weights = model.vocabulary, model.weights[:, 0]
    assert weights[known.index["great"]] > 0 > weights[known.index["that great"]]
    more = (known.counts @ [-1, 1]) * weights
    assert (more[known.counts[:, 0] != known.counts[:, 1]] >= 0).all()


def test_words_are_left_out_if_asked():
    texts = ["bob is good", "bob was bad", "it is good", "it was bad", "so good"] * 4
    settings = Settings(exclude=("Bob",), stop_words=("it", "IS", "was"), vectors=None)
    model = fit(texts, [1, 0, 1, 0, 1] * 4, settings)
    surfaces = model.vocabulary.surfaces
    assert not any("bob" in surface.split() for surface in surfaces)
    assert {"it", "is", "it is", "is good"}.isdisjoint(surfaces)
    assert {"good", "so good"} & {*surfaces}
    # The others keep their columns.
    against, towards = model.vocabulary.counts.T
    assert (np.sign(model.weights[:, 0]) == np.sign(towards - against)).all()


def test_of_many_texts_every_fold_is_still_measured(monkeypatch):
    corpus = make_synthetic_corpus(80, words=6, disturbed=0.3, seed=1)
    settings = Settings(C=1.0, scaling="contrast", min_df=1, stop_words=())
    few = fit(corpus.texts, corpus.labels, settings)
    monkeypatch.setattr(tuning, "MANY_TEXTS", 10)
    assert fit(corpus.texts, corpus.labels, settings).metrics == few.metrics


def test_the_same_texts_give_the_same_bits_and_settings_are_told():
    corpus = make_synthetic_corpus(80, words=6, seed=1)
    free = replace(FIXED, gate=None, alpha=None)
    first = fit(corpus.texts, corpus.labels, free)
    second = fit(corpus.texts, corpus.labels, free)
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.metrics == second.metrics
    assert first.metrics["settings"]["gate"] in GATES


def test_labels_must_fit():
    with refuses("only the label 1"):
        fit(["good", "bad"], [1, 1])
    with refuses("expected 2, one for each text"):
        fit(["good", "bad"], [1, 0, 1])


@pytest.mark.parametrize("kind", [Fraction, np.float32, np.float64])
def test_settings_of_any_type_of_number_are_saved(kind, tmp_path):
    corpus = make_synthetic_corpus(40)
    given: dict[str, Any] = dict.fromkeys(("gate", "C"), kind(0.25))
    given |= dict.fromkeys(("neutral_weight", "random_state", "min_df"), np.int64(1))
    model = fit(corpus.texts, corpus.labels, replace(FIXED, **given))
    model.save(tmp_path / "model")
    saved = load_model(tmp_path / "model").metrics["settings"]
    assert {name: saved[name] for name in given} == given
