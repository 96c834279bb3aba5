"""Training measures what models do with texts that they have not seen, and chooses by that."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hardmax.text import plant
from hardmax.text.explain import LENGTHS
from hardmax.train import Settings, fit, fitting
from hardmax.train.bag import TYPICAL_WEIGHT
from hardmax.train.fitting import ALPHAS, FOLDS, NEUTRAL_WEIGHTS, STRENGTHS
from hardmax.train.settings import GATES

FIXED = Settings(
    strength=1.0, gate=0.1, alpha="1/2", neutral_weight=TYPICAL_WEIGHT, longest_phrase=1, sentences=0, vectors=None
)


def corpus_of(classes: int, **options) -> tuple[np.ndarray, np.ndarray]:
    """Texts and the numbers of their classes; some words are in texts of another class."""
    names = ("one", "two", "three")[:classes]
    made = plant(
        **{"texts": 40 * classes, "words": 5, "length": 8, "disturbed": 0.5, "seed": 2} | options, classes=names
    )
    return np.array(made.texts), np.array([names.index(label) for label in made.labels])


def held_out(texts: np.ndarray, labels: np.ndarray, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes, logits of temperature 1 and active tokens of texts, by models that were trained on the other folds."""
    folds = fitting._folds(labels, np.arange(len(labels)), int(labels.max()) + 1, settings.seed)
    parts = []
    for fold in range(FOLDS):
        here = folds == fold
        model = fit(texts[~here], labels[~here], settings)
        found = model.analyse(texts[here].tolist())
        parts.append((labels[here], found.logits * model.temperature, found.active_per_text))
    classes, logits, active = map(np.concatenate, zip(*parts, strict=True))
    return classes, np.hstack([np.zeros_like(logits), logits]) if logits.shape[1] == 1 else logits, active


def log_loss(classes: np.ndarray, logits: np.ndarray) -> float:
    """As if there were one text more, of any class: no text is certain."""
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    right = logs[np.arange(len(logs)), classes]
    return float(-(right.sum() + logs.mean()) / (len(logs) + 1))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"alpha": "0"}, {"gate": 0.4, "bias": False}], ids=str)
def test_what_is_measured_is_what_models_do_with_texts_that_they_have_not_seen(classes: int, options: dict):
    texts, labels = corpus_of(classes)
    settings = replace(FIXED, **options)
    model = fit(texts, labels, settings)
    truth, logits, active = held_out(texts, labels, settings)
    right = np.where(active == 0, 0.5, logits.argmax(axis=1) == truth).mean()
    assert 0.5 < right < 1
    assert model.metrics["held_out_accuracy"] == pytest.approx(right)
    assert model.metrics["held_out_active_tokens"] == pytest.approx(active.mean())
    assert model.metrics["temperature"] == model.temperature
    losses = {factor: log_loss(truth, logits / (factor * model.temperature)) for factor in (0.9, 1.0, 1.1)}
    assert model.metrics["held_out_log_loss"] == pytest.approx(losses[1.0], rel=1e-6)
    assert losses[1.0] == min(losses.values())  # the temperature suits them best


def test_texts_that_say_nothing_count_half():
    texts = np.array(["good film", "bad film"] * 15 + ["unheard", "of"] * 3)
    model = fit(texts, np.array([1, 0] * 18), replace(FIXED, min_df=4, bias=False))
    assert model.metrics["held_out_accuracy"] == pytest.approx((30 + 6 / 2) / 36)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_strength_is_raised_as_long_as_held_out_texts_are_better_predicted(classes: int):
    texts, labels = corpus_of(classes)
    said: list[str] = []
    model = fit(texts, labels, replace(FIXED, strength=None), progress=said.append)
    lines = [line.removeprefix("strength ").split(": held-out log loss ") for line in said if "strength" in line]
    tried, losses = ([float(each[part]) for each in lines] for part in (0, 1))
    assert tuple(tried) == STRENGTHS[: len(tried)]
    assert losses == sorted(losses, reverse=True) or np.argmin(losses) == len(losses) - 2
    assert model.metrics["settings"]["strength"] == tried[int(np.argmin(losses))]
    for strength, loss in zip(tried, losses, strict=True):
        alone = fit(texts, labels, replace(FIXED, strength=strength, alpha="0"))
        assert alone.metrics["held_out_log_loss"] == pytest.approx(loss, abs=2e-4)


@pytest.mark.parametrize(("classes", "disturbed"), [(2, 0.5), (2, 0.0), (3, 0.3)])
def test_few_tokens_are_active_and_they_gather_at_hardly_any_price(classes: int, disturbed: float):
    texts, labels = corpus_of(classes, texts=24 * classes, disturbed=disturbed)
    fixed = {
        (gate, alpha): fit(texts, labels, replace(FIXED, gate=gate, alpha=alpha)).metrics["held_out_accuracy"]
        for gate, alpha in product(GATES, ALPHAS)
    }
    model = fit(texts, labels, replace(FIXED, gate=None, alpha=None))
    chosen = model.metrics["settings"]["gate"], model.metrics["settings"]["alpha"]
    top = max(fixed.values())
    price = np.sqrt(top * (1 - top) / len(texts)) / 4  # a quarter of a standard error
    good = {pair: accuracy for pair, accuracy in fixed.items() if accuracy >= top - price}
    assert chosen in good
    assert chosen[0] == max(gate for gate, _ in good)
    rivals = {alpha: accuracy for (gate, alpha), accuracy in good.items() if gate == chosen[0]}
    assert (chosen[1] != "0") == (set(rivals) != {"0"})
    assert rivals[chosen[1]] == max(
        accuracy for alpha, accuracy in rivals.items() if (alpha == "0") == (chosen[1] == "0")
    )
    assert model.layers == (chosen[1] != "0")


@pytest.mark.parametrize("classes", [2, 3])
def test_the_weight_of_the_neutral_leader_suits_short_texts(classes: int):
    texts, labels = corpus_of(classes, length=3)  # no text is longer than those that count as short
    losses = {
        weight: fit(texts, labels, replace(FIXED, neutral_weight=weight)).metrics["held_out_log_loss"]
        for weight in NEUTRAL_WEIGHTS
    }
    model = fit(texts, labels, replace(FIXED, neutral_weight=None))
    assert model.neutral_weight == min(losses, key=losses.__getitem__)
    assert len({round(loss, 6) for loss in losses.values()}) > 3


def test_folds_are_of_one_size_with_all_classes_and_keep_groups_together():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, 300)
    labels = np.array([0, 1, 1, 2] * 15)[groups]
    folds = fitting._folds(labels, groups, 3, seed=5)
    assert all(len(set(folds[groups == group])) == 1 for group in np.unique(groups))
    of_group = np.array([folds[groups == group][0] for group in np.unique(groups)])
    of_label = np.array([labels[groups == group][0] for group in np.unique(groups)])
    counts = np.array([np.bincount(of_group[of_label == label], minlength=FOLDS) for label in range(3)])
    assert (np.ptp(counts, axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1  # what is left of one class makes up for another
    assert (fitting._folds(labels, groups, 3, seed=5) == folds).all()
    assert (fitting._folds(labels, groups, 3, seed=6) != folds).any()


@pytest.mark.parametrize("many", [99, 100])
def test_how_long_texts_usually_are_is_counted_in_characters(many: int):
    texts = [f"{'é不😀'[number % 3]}{'x' * number} good" for number in range(many)]
    model = fit(texts, [number % 2 for number in range(many)], FIXED)
    lengths = [len(text) for text in texts]
    expected = np.quantile(lengths, [0.01, 0.99]).round().tolist()
    assert model.metrics.get(LENGTHS) == (expected if many >= 100 else None)
