"""The bag of words that training starts from is the minimum it claims to be, and the network that starts so decides as
it does."""

# pyright: reportMissingImports=false

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from hardmax.text.tokens.encoding import Encoded
from hardmax.train import Recipe
from hardmax.train.bag import Way, solve_bag
from hardmax.train.clouds import as_clouds
from hardmax.train.layer import Hardmax
from hardmax.train.loop import decide
from hardmax.train.network import make_network
from hardmax.train.starting import start_training

TOKENS = 12
ALL = np.ones(TOKENS, dtype=np.bool_)


def texts(classes: int, seed: int = 0, many: int = 60) -> tuple[Encoded, np.ndarray]:
    """Texts of a few tokens, each more or less likely in every class."""
    rng = np.random.default_rng(seed)
    labels, likely = np.arange(many) % classes, rng.uniform(0.05, 0.7, (classes, TOKENS))
    rows = [np.flatnonzero(rng.random(TOKENS) < likely[c]) for c in labels]
    ids = np.concatenate(rows)
    return Encoded(ids, np.ones(len(ids), dtype=np.int32), np.cumsum([0, *map(len, rows)])), labels


def objective(found: Encoded, labels: np.ndarray, says: np.ndarray, bias: np.ndarray, way: Way) -> float:
    """What is to be smallest, text by text."""
    documents = np.bincount(found.ids, minlength=TOKENS)
    rarity = np.log((1 + len(found)) / (1 + documents)) + 1
    total = float(((says / rarity) ** 2).sum()) / (2 * way.strength)
    for text, label in enumerate(labels):
        ids = found.ids[found.offsets[text] : found.offsets[text + 1]]
        logits = bias + says[:, ids].sum(axis=1) / max(len(ids) + way.neutral, 1)
        logits = np.array([0.0, logits[0]]) if len(bias) == 1 else logits
        total += float(np.log(np.exp(logits - logits[label]).sum()))
    return total


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("way", [Way(0.5), Way(20.0), Way(20.0, neutral=True), Way(20.0, bias=False)])
@pytest.mark.parametrize("silent", [[], [1, 5]])
def test_nowhere_near_is_anything_better(classes, way, silent):
    found, labels = texts(classes)
    loud = ~np.isin(np.arange(TOKENS), silent)
    bag = solve_bag(found, labels, loud, way, steps=100)
    best = objective(found, labels, *bag, way)
    assert (bag.says[:, silent] == 0).all()
    assert way.bias or (bag.bias == 0).all()
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            says, bias = (value + size * rng.normal(size=value.shape) for value in bag)
            assert objective(found, labels, says * loud, bias * way.bias, way) > best


@pytest.mark.parametrize(("classes", "dimension"), [(2, None), (3, None), (6, None), (2, 4)])
@pytest.mark.parametrize("neutral", [0.0, 0.3])
def test_without_layers_the_network_decides_as_the_bag_does(classes, dimension, neutral):
    found, labels = texts(classes)
    recipe = Recipe(init="bag", dimension=dimension, neutral=neutral, layers=0)
    network = make_network(TOKENS, classes, recipe, Hardmax(), start_training(found, labels, ALL, recipe))
    logits, _ = decide(network, as_clouds(found, extra=TOKENS if neutral else None), recipe.alpha)
    bag = solve_bag(found, labels, ALL, Way(recipe.bag_strength, neutral=neutral > 0))
    wished = np.array(
        [
            bag.bias + bag.says[:, found.ids[a:b]].sum(axis=1) / max(b - a + (neutral > 0), 1)
            for a, b in zip(found.offsets, found.offsets[1:], strict=False)
        ]
    )
    if classes > 2:  # the same for every class makes no difference
        logits, wished = (each - each.mean(axis=1, keepdims=True) for each in (logits, wished))
    np.testing.assert_allclose(logits, wished, atol=1e-4)


def test_a_class_that_no_token_tells_is_told_by_the_bias():
    found = Encoded(np.zeros(8, dtype=np.int64), np.ones(8, dtype=np.int32), np.arange(9))
    bag = solve_bag(found, np.array([0, 1, 1, 1, 1, 1, 1, 1]), ALL[:1], Way(1e-6))
    np.testing.assert_allclose(bag.bias, np.log(7), atol=1e-3)
