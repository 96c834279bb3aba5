"""The numbers of Table 1 against leaders counted by the definition, on small random reviews."""

import importlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest

import hardmax as hm

PAPER = Path(__file__).parents[2] / "examples" / "paper"
LAYERS, WORDS, REVIEWS = 8, 30, 40


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(str(PAPER))
    return importlib.import_module("measure")


def test_leaders_are_counted_by_the_definition_after_eight_layers(measure):
    rng = np.random.default_rng(0)
    # Small whole numbers, which tie; words are repeated, word 0 pads a review. In the first four
    # reviews a leader emerges.
    late = (60 * hm.clouds.emerging_leader()).astype(int)
    embedding = np.concatenate([rng.integers(-9, 10, (WORDS, 2)), late])
    ids = rng.integers(0, WORDS, (REVIEWS, 12))
    ids[::3, 5:] = 0
    ids[:4] = WORDS + np.arange(12) % len(late)
    weights = {"embedding": embedding, "alpha": np.array([0.5])}
    weights |= {"decoder": np.array([1.0, -0.5]), "bias": np.array([0.25])}
    since = []  # of each review: the leading words with the layer from which on they lead
    for review in ids:
        cloud = [[Fraction(int(x)) for x in embedding[word]] for word in review]
        leaders = oracle.leaders(cloud, Fraction(1, 2), layers=LAYERS)
        since.append({int(review[token]): layer for token, layer in leaders.items()})
    counts = [len(words) for words in since]
    at_start = [np.mean([layer == 0 for layer in words.values()]) for words in since]
    assert min(at_start) < 1
    labels = rng.integers(0, 2, REVIEWS)
    names = [str(word) for word in range(len(embedding))]
    found = measure.summarize(weights, ids, labels, names)
    assert found["mean"] == pytest.approx(np.mean(counts), abs=1e-3)
    assert found["deviation"] == pytest.approx(np.std(counts), abs=1e-3)
    assert (found["min"], found["max"]) == (min(counts), max(counts))
    assert found["since_layer_0"] == pytest.approx(np.mean(at_start), abs=1e-4)
