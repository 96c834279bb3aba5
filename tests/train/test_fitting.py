"""Training: planted words are found, folds choose, and what was chosen is what the model does."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refusals import refuses
from scipy.special import expit

from hardmax.text import make_synthetic_corpus
from hardmax.text.card import describe
from hardmax.text.encoding import encode
from hardmax.text.text_model import TextModel
from hardmax.train import Settings, fit, fit_tables, tuning
from hardmax.train.bag import Bag, Design, regress, scales, to_matrix
from hardmax.train.corpus import cut_sentences
from hardmax.train.kernels import gather
from hardmax.train.settings import GATES, SCALINGS

WORDS = [f"w{chr(97 + number)}x" for number in range(20)]
# Nothing is left to be chosen, which takes most of the time.
FIXED = Settings(C=1.0, gate=0.1, alpha="0", ngram_range=(1, 1), scaling="contrast", vectors=None)


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
    short, long = model.predict_proba([good[0], " ".join(good[:2])])[:, 1]
    assert 0.5 < short < long < 1


def test_undecided_is_an_answer():
    model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
    assert model.analyse(["good", "", "unknown words", "bad good"]).decided.tolist() == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(("classes", "alpha"), [(2, "0"), (2, "1/2"), (2, "1"), (4, "0")])
def test_the_kernel_of_the_folds_computes_what_the_model_does(classes, alpha):
    names = ("one", "two", "three", "four")[:classes]
    corpus = make_synthetic_corpus(60 * classes, classes=names, length=12, disturbed=0.2, seed=3)
    settings = replace(FIXED, gate=0.2, alpha=alpha, neutral_weight=7)
    model = fit(corpus.texts, corpus.labels, settings)
    found = encode(corpus.texts, model.vocabulary, model.tokeniser)
    weights = model.weights.astype(np.float64)
    shape = 1, len(corpus.texts), weights.shape[1]
    own, lead, active = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2], dtype=np.int64)
    said = found.ids.astype(np.int64), found.factors, found.offsets
    gather(*said, weights, np.array([0.2]), own, lead, active)
    share = 1.0 if alpha == "0" else 1 / (1 + float(Fraction(alpha)))
    mean = (share * own[0] + (1 - share) * lead[0]) / (np.diff(found.offsets) + 7)[:, None]
    logits = mean + model.bias
    analysis = model.analyse(corpus.texts)
    np.testing.assert_allclose(analysis.logits, logits, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(analysis.active_per_text, active[0])


def test_groups_count_once_and_stay_together():
    texts = ["film one", "film one", "film two", "film three"]
    labels, groups = np.array([1, 1, 0, 0]), np.array([0, 0, 1, 2])
    settings = Settings(ngram_range=(1, 1), C=1.0, stop_words=(), vectors=None)
    model = fit(texts * 4, np.tile(labels, 4), settings, groups=np.tile(groups, 4))
    assert len(model.vocabulary) == 4
    found = encode(texts, model.vocabulary, model.tokeniser)
    bag = Bag(to_matrix(found, 4), labels, np.ones(4), groups, 2)
    assert bag.counts()[model.vocabulary.index["one"]].tolist() == [0, 1]
    assert bag.counts()[model.vocabulary.index["film"]].tolist() == [2, 1]


@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_regression_is_scikit_learns(scaling):
    sklearn = pytest.importorskip("sklearn.linear_model")
    corpus = make_synthetic_corpus(120, words=6, length=12, disturbed=0.3, seed=5)
    labels = (np.array(corpus.labels) == "positive").astype(np.int64)
    model = fit(corpus.texts, corpus.labels, replace(FIXED, C=0.5))
    found = encode(corpus.texts, model.vocabulary, model.tokeniser)
    bag = Bag(
        to_matrix(found, len(model.vocabulary)),
        labels,
        np.ones(len(labels)),
        np.arange(len(labels)),
        2,
    )
    design = Design([bag], 7.0)
    scale = scales(design, scaling)
    table = bag.matrix.toarray() * ((7.0 + 50) / (bag.sizes + 50))[:, None] * scale[:, 0]
    how = {"tol": 1e-10, "max_iter": 10_000, "fit_intercept": False}
    peer = sklearn.LogisticRegression(C=0.5, **how).fit(table, labels)
    how = {"bias": np.zeros(1), "consistent": False}
    found = regress(design, 0.5, scale, **how)
    again = regress(design, 0.5, scale, **how, start=found)
    elsewhere = regress(design, 10.0, 2 * scale, **how)
    from_there = regress(design, 0.5, scale, **how, start=elsewhere)
    for fitted in (found, again, from_there):
        np.testing.assert_allclose(fitted.weights[:, 0], peer.coef_[0] * scale[:, 0], atol=4e-2)
    # Beside a bias of 1, the weights are where the slope of the penalised loss is 0.
    beside = regress(design, 0.5, scale, **how | {"bias": np.ones(1)})
    weights = beside.weights[:, 0] / scale[:, 0]
    slopes = 0.5 * table.T @ (expit(table @ weights + 1) - labels) + weights
    np.testing.assert_allclose(slopes, 0, atol=4e-2)
    assert beside.bias == 1


@pytest.mark.parametrize("sizes", [(12, 8), (30, 30), (19, 1), (9, 6, 5)], ids=str)
def test_of_a_text_in_which_nothing_votes_the_probabilities_are_the_shares_of_the_classes(sizes):
    # A text of a class is as long as the class is rare: most tokens are not in the most frequent.
    labels = np.repeat(np.arange(len(sizes)), sizes)
    said = [f"word{label} " + " ".join(WORDS[: 20 - sizes[label] // 2]) for label in labels]
    model = fit(said, labels, FIXED)
    shares = np.array(sizes) / sum(sizes)
    np.testing.assert_allclose(model.predict_proba(["", "unheard"]), [shares, shares], rtol=1e-6)
    assert model.predict(["unheard"]) == shares.argmax()
    weighted = fit(said, labels, FIXED, sample_weight=(1 / shares)[labels])
    np.testing.assert_allclose(weighted.predict_proba([""]), 1 / len(sizes), rtol=1e-6)
    level = fit(said, labels, replace(FIXED, fit_intercept=False))
    np.testing.assert_allclose(level.predict_proba([""]), 1 / len(sizes))


def test_what_is_measured_on_few_texts_is_said_to_be_chance():
    lines: list[str] = []
    fit(["good", "bad"], [1, 0], FIXED, progress=lines.append)
    assert any("mostly chance" in line for line in lines)
    fit(WORDS * 2, [1, 0] * 20, FIXED, progress=(enough := []).append)
    assert not any("mostly chance" in line for line in enough)


def test_a_model_knows_when_and_from_what_it_was_trained(tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\n" + "good,1\nbad,0\n" * 6)
    for model, name in (
        (fit(["good", "bad"] * 6, [1, 0] * 6, FIXED), "12 texts"),
        (fit_tables(str(tmp_path / "mine.csv"), FIXED), "12 texts of mine.csv"),
    ):
        [(what, rights)] = model.metrics["sources"]
        assert re.fullmatch(rf"{name}, \d{{4}}-\d\d-\d\d", what)
        assert rights == "not recorded"
        assert what in describe(model)


@pytest.mark.parametrize("name", ["stop_words", "exclude"])
@pytest.mark.parametrize("words", ["the,a", b"english", 3, ["the", 4], {"the": 1}], ids=repr)
def test_words_come_as_a_list(name, words):
    with refuses(name):
        Settings(**{name: words})
    assert getattr(Settings(**{name: {"the", "a"}}), name) == ("a", "the")


def test_english_stop_words_are_those_of_scikit_learn():
    sklearn = pytest.importorskip("sklearn.feature_extraction.text")
    texts = ["the film of theirs is good", "the cast of theirs is bad"] * 6
    model = fit(texts, [1, 0] * 6, replace(FIXED, stop_words="english"))
    assert set(model.vocabulary.surfaces) == {"film", "cast", "good", "bad"}
    assert Settings(stop_words="english").stopped == sklearn.ENGLISH_STOP_WORDS


def test_no_token_of_a_consistent_model_speaks_against_its_counts():
    # More negative texts have "but", though of those that have "awful" it is in the positive ones.
    texts = ["awful but"] * 9 + ["awful"] * 6 + ["fine"] * 9 + ["fine but"]
    labels = np.array([0] * 6 + [1] * 3 + [0] * 6 + [0] + [1] * 8 + [1])
    settings = Settings(ngram_range=(1, 1), C=10.0, stop_words=())
    free, consistent = (
        fit(texts, labels, replace(settings, consistent=each)) for each in (False, True)
    )
    but = free.vocabulary.index["but"]
    assert free.weights[but, 0] > 0 > consistent.weights[consistent.vocabulary.index["but"], 0]


def test_sentences_of_a_text_count_beside_it():
    long = "the plot goes on and on and on. good film, good cast. "
    long += "a second sentence, which is long enough!"
    other = long.replace("good", "poor")
    texts, labels = [long, other, "good", "poor"] * 8, [1, 0, 1, 0] * 8
    without, beside = (fit(texts, labels, Settings(sentences=weight, C=0.3)) for weight in (0, 1))
    good = without.vocabulary.surfaces.index("good cast")
    assert (
        without.vocabulary.surfaces == beside.vocabulary.surfaces
    )  # sentences bring no tokens of their own
    assert (
        beside.vocabulary.counts[good].tolist()
        == without.vocabulary.counts[good].tolist()
        == [0, 8]
    )
    assert beside.weights[good, 0] > without.weights[good, 0] > 0
    assert (
        beside.metrics["held_out_accuracy"] == 1
    )  # of whole texts: many of the sentences say nothing
    single = [text.replace(".", "").replace("!", "") for text in texts]
    same = [
        fit(single, labels, Settings(sentences=weight, C=0.3)).weights.tobytes()
        for weight in (0, 1)
    ]
    assert same[0] == same[1]


def test_words_are_left_out_if_asked():
    texts = ["bob is good", "bob was bad", "it is good", "it was bad", "so good"] * 4
    model = fit(
        texts, [1, 0, 1, 0, 1] * 4, Settings(exclude=("bob",), stop_words=("it", "is", "was"))
    )
    assert not any("bob" in surface.split() for surface in model.vocabulary.surfaces)
    assert {"it", "is", "it is"}.isdisjoint(model.vocabulary.surfaces)
    assert "is good" in model.vocabulary.surfaces
    towards, against = model.vocabulary.counts.T[::-1]
    assert (
        np.sign(model.weights[:, 0]) == np.sign(towards - against)
    ).all()  # the others keep their columns


@pytest.mark.parametrize("end", [". ", "。"])
def test_sentences_end_with_the_full_stops_of_any_script(end):
    assert [part.strip(b"\xe3\x80\x82.") for part in cut_sentences(f"one{end}two".encode())] == [
        b"one",
        b"two",
    ]


def test_of_many_texts_every_fold_is_still_measured(monkeypatch):
    corpus = make_synthetic_corpus(80, words=6, disturbed=0.3, seed=1)
    settings = Settings(C=1.0, scaling="contrast", min_df=1, stop_words=())
    few = fit(corpus.texts, corpus.labels, settings)
    monkeypatch.setattr(tuning, "MANY_TEXTS", 10)
    assert fit(corpus.texts, corpus.labels, settings).metrics == few.metrics


def test_the_same_texts_give_the_same_bits_and_settings_are_told():
    corpus = make_synthetic_corpus(80, words=6, seed=1)
    free = replace(FIXED, gate=None, alpha=None)
    first, second = (fit(corpus.texts, corpus.labels, free) for _ in range(2))
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.metrics == second.metrics
    assert first.metrics["settings"]["gate"] in GATES


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 1], "only the label 1"), ([1, 0, 1], "expected 2, one for each text")],
)
def test_labels_must_fit(labels, message):
    with refuses(message):
        fit(["good", "bad"], labels)


@pytest.mark.parametrize("kind", [Fraction, np.float32, np.float64])
def test_settings_of_any_type_of_number_are_saved(kind, tmp_path):
    corpus = make_synthetic_corpus(40)
    given: dict[str, Any] = dict.fromkeys(("gate", "C", "sentences"), kind(0.25))
    given |= dict.fromkeys(("neutral_weight", "random_state", "min_df"), np.int64(1))
    model = fit(corpus.texts, corpus.labels, replace(FIXED, **given))
    model.save(tmp_path / "model")
    saved = TextModel.load(tmp_path / "model").metrics["settings"]
    assert {name: saved[name] for name in given} == given
