"""Training measures what models do with texts that they have not seen, and chooses by that."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax.text import make_synthetic_corpus
from hardmax.text._texts import read_texts
from hardmax.text.encoding import encode
from hardmax.text.explain import LENGTHS
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary, choose_tokens
from hardmax.train import Settings, fit, tuning
from hardmax.train.bag import TYPICAL_WEIGHT, Bags, Design, regress, scales, to_matrix
from hardmax.train.settings import GATES, SCALINGS
from hardmax.train.tuning import FIRST, FOLDS, NEUTRAL_WEIGHTS, STRENGTHS, find_folds

GIVEN = {"C": 2.0, "scaling": "contrast", "min_df": 1, "stop_words": (), "vectors": None}
FIXED = Settings(gate=0.1, alpha="0", neutral_weight=TYPICAL_WEIGHT, ngram_range=(1, 1), **GIVEN)


def corpus_of(classes: int, **options) -> tuple[np.ndarray, np.ndarray]:
    """Texts and the numbers of their classes; some words are in texts of another class."""
    names = ("one", "two", "three")[:classes]
    size = {"texts": 40 * classes, "words": 5, "length": 8}
    size |= {"disturbed": 0.5, "seed": 2} | options
    made = make_synthetic_corpus(classes=names, **size)
    labels = [names.index(label) for label in made.labels]
    return np.array(made.texts), np.array(labels)


def bags_of(texts: list[str], labels: np.ndarray, groups: np.ndarray | None = None) -> Bags:
    found, classes = read_texts(texts), int(labels.max()) + 1
    most = {"words": 10_000, "phrases": 10_000, "min_df": 1}
    surfaces = choose_tokens(found, 2, **most)
    known = Vocabulary(surfaces, np.zeros((len(surfaces), classes)))
    matrix = to_matrix(encode(found, known, Tokeniser()), len(known))
    rows = np.arange(len(texts))
    groups = rows if groups is None else groups
    weights = np.ones(len(texts))
    return Bags(matrix, labels, weights, groups, classes, 0 * rows)


class HeldOut(NamedTuple):
    classes: np.ndarray
    logits: np.ndarray
    active: np.ndarray


def held_out(texts: np.ndarray, labels: np.ndarray, settings: Settings) -> HeldOut:
    """Classes, logits and active tokens of texts, by models that were trained on the other
    folds."""
    folds = find_folds(bags_of(texts.tolist(), labels), settings.random_state)
    parts = []
    for fold in range(FOLDS):
        here = folds == fold
        model = fit(texts[~here], labels[~here], settings)
        found = model.analyse(texts[here].tolist())
        parts.append((labels[here], found.logits, found.active_per_text))
    classes, logits, active = map(np.concatenate, zip(*parts, strict=True))
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    return HeldOut(classes, logits, active)


OPTIONS = [{}, {"gate": 0.4, "alpha": "1/2"}, {"min_df": 3}, {"scaling": "rarity"}]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_is_measured_is_what_models_do_with_texts_that_they_have_not_seen(classes, options):
    texts, labels = corpus_of(classes)
    if classes > 2:
        options = options | {"alpha": "0"}
    # The share of a class is not the same in all folds.
    settings = replace(FIXED, fit_intercept=False, **options)
    model = fit(texts, labels, settings)
    truth, logits, active = held_out(texts, labels, settings)
    right = (logits.argmax(axis=1) == truth).mean()
    assert 0.5 < right < 1
    assert model.metrics["held_out_accuracy"] == pytest.approx(right)
    assert model.metrics["held_out_active_tokens"] == pytest.approx(active.mean())
    [summary] = model.metrics["evaluations"]  # for the model card
    found = truth[logits.argmax(axis=1) == truth]
    counts = [np.bincount(which, minlength=classes) for which in (truth, found)]
    assert summary["classes"] == np.transpose(counts).tolist()
    _, shares, sizes = np.transpose(summary["calibration"])
    assert shares @ sizes == pytest.approx(len(found), abs=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_scaling_and_strength_are_those_of_the_smallest_held_out_log_loss(classes):
    texts, labels = corpus_of(classes)
    said: list[str] = []
    free = replace(FIXED, C=None, scaling=None)
    model = fit(texts, labels, free, progress=said.append)
    losses = {}
    for line in said:
        if "scaling" in line:
            tried, loss = line.removeprefix("scaling ").split(": held-out log loss ")
            losses[tuple(tried.split(", C "))] = float(loss)
    scaling, strength = min(losses, key=losses.__getitem__)
    assert model.metrics["settings"]["scaling"] == scaling
    assert model.metrics["settings"]["C"] == float(strength)
    started = {tried for tried, at in losses if float(at) == STRENGTHS[FIRST]}
    assert started == set(SCALINGS[:2] if classes == 2 else ["rarity"])
    place = STRENGTHS.index(float(strength))
    for beside in STRENGTHS[max(place - 1, 0) : place + 2]:
        assert (scaling, f"{beside:g}") in losses or place > FIRST


CHOICES = [
    ("gate", GATES, 0.1),
    ("alpha", ("0", *tuning.ALPHAS), 0.1),
    ("neutral_weight", NEUTRAL_WEIGHTS, 1e-5),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("name", "options", "slack"), CHOICES)
def test_what_is_chosen_is_hardly_worse_than_the_best(classes, name, options, slack):
    # No text is longer than those that count as short.
    texts, labels = corpus_of(classes, length=3)
    options = options if classes == 2 or name != "alpha" else ["0"]
    losses = {}
    for option in options:
        model = fit(texts, labels, replace(FIXED, **{name: option}))
        losses[option] = model.metrics["held_out_log_loss"]
    free = replace(FIXED, **{name: None})
    chosen = getattr(fit(texts, labels, free).rule, name)
    least = min(losses.values())
    assert losses[chosen] == pytest.approx(least, abs=slack)
    if name == "gate":  # the fewest tokens of those that are as good
        good = [gate for gate in GATES if losses[gate] <= losses[chosen] + 1e-9]
        assert chosen == max(good)
    if name == "alpha":
        assert chosen == "0" or losses[chosen] < losses["0"]


def test_folds_are_of_one_size_with_all_classes_and_keep_groups_together():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, 300)
    labels = np.array([0, 1, 1, 2] * 15)[groups]
    bags = bags_of([f"word{n}" for n in range(300)], labels, groups)
    folds = find_folds(bags, 5)
    spread = np.zeros((3, FOLDS), dtype=int)
    for group in np.unique(groups):
        here = groups == group
        [fold], [label] = set(folds[here]), set(labels[here])
        spread[label, fold] += 1
    assert (np.ptp(spread, axis=1) <= 1).all()
    assert np.ptp(spread.sum(axis=0)) <= 1  # what is left of one class makes up for another
    assert (find_folds(bags, 5) == folds).all()
    assert (find_folds(bags, 6) != folds).any()


@given(seed=st.integers(0, 2**31 - 1))
def test_texts_of_the_same_words_stay_in_one_fold(seed):
    rng = np.random.default_rng(seed)
    words = [f"w{number}." for number in range(400)]
    originals = [rng.choice(words, 30, replace=False) for _ in range(40)]
    copies = [rng.permutation(text) for text in originals]
    texts = [" ".join(text) for text in [*originals, *copies]]
    bags = bags_of(texts, np.tile([0, 1], 40))
    folds = find_folds(bags, seed)
    assert (folds[:40] == folds[40:]).all()
    assert set(folds.tolist()) == set(range(FOLDS))  # texts that share few words are no reason


def test_copies_of_a_few_texts_are_spread_over_the_folds():
    bags = bags_of(["good film", "bad film"] * 12, np.tile([0, 1], 12))
    folds = find_folds(bags, 0)
    assert np.bincount(folds).tolist() == [8, 8, 8]


@pytest.mark.parametrize("scaling", SCALINGS)
def test_tokens_that_the_same_texts_have_weigh_the_same(scaling):
    texts = ["good film one two", "bad film three", "good six seven", "bad plot eight nine"] * 2
    different = [f"{text} {number}" for number, text in enumerate(texts)]
    bags = bags_of(different, np.tile([1, 0], 4))
    design = Design(bags)
    found = regress(design, 1.0, scales(design, scaling), bias=bags.prior, consistent=False)
    _, kinds = np.unique(bags.matrix.toarray(), axis=1, return_inverse=True)
    assert kinds.max() + 1 < bags.tokens
    for kind in range(kinds.max() + 1):
        assert np.ptp(found.weights[kinds == kind]) == 0


def test_equal_weights_are_as_none_and_a_heavier_text_is_fitted_more_closely():
    texts, labels = corpus_of(2, texts=60)
    plain = fit(texts, labels, FIXED)
    sevens = np.full(len(texts), 7.0)
    equal = fit(texts, labels, FIXED, sample_weight=sevens)
    assert equal.weights.tobytes() == plain.weights.tobytes()
    errors = np.abs(plain.predict_proba(texts)[:, 1] - labels)
    doubtful = int(errors.argmax())
    heavy = np.where(np.arange(len(texts)) == doubtful, 20.0, 1.0)
    heavier = fit(texts, labels, FIXED, sample_weight=heavy)
    text, label = texts[[doubtful]], labels[doubtful]
    before = plain.predict_proba(text)[0, label]
    after = heavier.predict_proba(text)[0, label]
    assert after > before + 0.1


def test_words_that_say_little_are_no_tokens_unless_stop_words_are_given(monkeypatch):
    monkeypatch.setattr(tuning, "ENOUGH", 0)
    texts, labels = corpus_of(2, texts=300, disturbed=0.0)
    texts = np.array([f"the {text}" for text in texts])
    chosen = fit(texts, labels, replace(FIXED, stop_words=None))
    assert "the" not in chosen.vocabulary.index
    assert "the" in fit(texts, labels, FIXED).vocabulary.index


def test_of_classes_of_any_size_a_word_says_little_if_as_large_a_share_of_each_has_it():
    # "this" is in half of each class; "few" in as many, all of one and a tenth of the other.
    shares = {
        0: ["this few good", "few good"],
        1: ["this few bad", *["this bad"] * 4, *["bad"] * 5],
    }
    texts = shares[0] * 10 + shares[1] * 20
    bags = bags_of(texts, np.repeat([0, 1], [20, 200]))
    surfaces = choose_tokens(read_texts(texts), 2, words=10_000, phrases=10_000, min_df=1)
    known = Vocabulary(surfaces, bags.counts(weighted=False).astype(int))
    assert tuning.weak_words(known, bags) == {"this"}


FEW = [["good", "bad"], ["", "good", "bad"], ["x"] * 4]


@pytest.mark.parametrize("texts", FEW, ids=str)
@pytest.mark.parametrize("options", [{}, {"max_features": 2, "vectors": None}], ids=str)
def test_a_handful_of_texts_gives_a_model_with_tokens(texts, options):
    labels = [number % 2 for number in range(len(texts))]
    model = fit(texts, labels, Settings(**options))
    assert len(model.vocabulary) > 0
    chances = model.predict_proba(texts)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


@pytest.mark.parametrize("many", [99, 100])
def test_how_long_texts_usually_are_is_counted_in_characters(many):
    texts = [f"{'é不😀'[number % 3]}{'x' * number} good" for number in range(many)]
    labels = [number % 2 for number in range(many)]
    model = fit(texts, labels, FIXED)
    lengths = [len(text) for text in texts]
    expected = np.quantile(lengths, [0.01, 0.99]).round().tolist()
    assert model.metrics.get(LENGTHS) == (expected if many >= 100 else None)
