"""The linear model that chooses the vocabulary, and the descent that fits it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.choosing import choose_tokens, log_odds, weigh
from hardmax.train.descent import descend


def corpus(texts, tokens, loud, seed=0):
    """Texts of ten random tokens; token c < loud says the class c % 2, and stands in few texts of the other."""
    rng = np.random.default_rng(seed)
    labels = np.arange(texts) % 2
    rows = []
    for label in labels:
        row = set(rng.integers(loud, tokens, 10).tolist())
        row |= {c for c in range(loud) if rng.random() < (0.6 if c % 2 == label else 0.1)}
        rows.append(sorted(row))
    offsets = np.cumsum([0, *map(len, rows)])
    return Encoded(np.concatenate(rows), np.ones(offsets[-1], dtype=np.int32), offsets), labels


def test_the_tokens_that_tell_the_classes_apart_are_chosen():
    texts, labels = corpus(300, tokens=200, loud=6)
    assert set(range(6)) <= set(choose_tokens(texts, labels, 200, keep=20, strength=1.0).tolist())


def test_weights_have_the_sign_of_what_they_say():
    texts, labels = corpus(300, tokens=100, loud=4)
    assert np.sign(weigh(texts, labels == 1, log_odds(texts, labels == 1, 100), 1.0)[:4]).tolist() == [-1, 1, -1, 1]


def test_with_several_classes_every_class_has_its_say():
    texts, labels = corpus(400, tokens=100, loud=4)
    both = np.where(np.arange(400) % 4 == 3, 2, labels)
    assert set(range(4)) <= set(choose_tokens(texts, both, 100, keep=10, strength=1.0).tolist())


def test_all_are_kept_where_there_are_no_more_than_asked_for():
    texts, labels = corpus(20, tokens=30, loud=2)
    assert choose_tokens(texts, labels, 30, keep=30, strength=1.0).tolist() == list(range(30))


def test_tokens_that_both_classes_use_alike_are_left_out_on_demand():
    texts, labels = corpus(2000, tokens=60, loud=6)
    assert choose_tokens(texts, labels, 60, keep=60, strength=1.0, least_odds=0.7).tolist() == list(range(6))


def test_smoothing_takes_most_from_the_rarest():
    texts = Encoded(np.array([0] * 9 + [1]), np.ones(10, dtype=np.int32), np.arange(11))
    odds = [log_odds(texts, np.arange(10) % 9 == 0, 2, smoothing) for smoothing in (1.0, 4.0)]
    kept = np.abs(odds[1] / odds[0])
    assert kept[1] < kept[0] < 1


def test_smoothing_decides_who_is_clear_enough():
    texts, labels = corpus(40, tokens=60, loud=6)
    few, many = (
        choose_tokens(texts, labels, 60, keep=60, strength=1.0, least_odds=0.5, smoothing=smoothing)
        for smoothing in (8.0, 1.0)
    )
    assert set(few) < set(many)


@pytest.mark.parametrize("strength", [0.01, 0.3, 10.0])
def test_the_linear_model_is_a_logistic_regression_with_a_penalty_over_strength(strength):
    texts, labels = corpus(60, tokens=40, loud=6)
    odds, signs = log_odds(texts, labels == 1, 40), np.where(labels == 1, 1.0, -1.0)
    features = np.zeros((60, 40))
    features[np.repeat(np.arange(60), np.diff(texts.offsets)), texts.ids] = odds[texts.ids]
    features *= 3.0 / np.linalg.norm(features, axis=1, keepdims=True)

    def objective(point):
        margins = signs * (features @ point[:-1] + point[-1])
        pull = -signs / (1 + np.exp(margins))
        loss = np.logaddexp(0, -margins).sum() + (point[:-1] ** 2).sum() / (2 * strength)
        return float(loss), np.append(features.T @ pull + point[:-1] / strength, pull.sum())

    theirs = minimize(objective, np.zeros(41), jac=True, options={"gtol": 1e-8}).x[:-1] * odds
    ours = weigh(texts, labels == 1, odds, strength, steps=200)
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(5))
def test_the_descent_finds_the_minimum_that_scipy_finds(seed):
    rng = np.random.default_rng(seed)
    features, signs = rng.normal(size=(80, 6)), rng.choice([-1.0, 1.0], 80)

    def objective(w):
        margins = signs * (features @ w)
        pull = -signs / (1 + np.exp(margins))
        return float(np.logaddexp(0, -margins).sum() + (w**2).sum()), features.T @ pull + 2 * w

    theirs = minimize(objective, np.zeros(6), jac=True).x
    np.testing.assert_allclose(descend(objective, np.zeros(6), 100), theirs, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_descent_ends_when_nothing_better_can_be_told(seed):
    rng = np.random.default_rng(seed)
    features, signs, asked = rng.normal(size=(80, 6)), rng.choice([-1.0, 1.0], 80), []

    def objective(w):
        asked.append(w)
        margins = signs * (features @ w)
        pull = -signs / (1 + np.exp(margins))
        return float(np.logaddexp(0, -margins).sum() + (w**2).sum()), features.T @ pull + 2 * w

    found = descend(objective, np.zeros(6), 1000)
    assert len(asked) < 50
    assert np.abs(objective(found)[1]).max() < 1e-5


def test_the_descent_stays_where_it_is_at_a_minimum():
    start = np.array([1.0, 2.0])
    assert descend(lambda x: (float(((x - start) ** 2).sum()), 2 * (x - start)), start, 5).tolist() == start.tolist()
