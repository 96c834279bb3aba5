"""Alpha, given or learned: the derivative of the loss, the training, and the model that comes of it."""

# pyright: reportMissingImports=false, reportArgumentType=false
# ruff: noqa: E402
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from small_training import LEARNS_ALPHA, RECIPE, TOKENS, examples, train_small

from hardmax.text.data.planted import plant
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.encoding import encode
from hardmax.train import Recipe, fit
from hardmax.train.clouds import as_clouds
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.loop import decide
from hardmax.train.network import Network, make_network
from hardmax.train.starting import Start

QUICK = Recipe(
    alpha=0.3,
    alpha_learning_rate=2.0,
    layers=3,
    epochs=8,
    bag_of_words_epochs=1.0,
    alpha_warmup_epochs=1.0,
    batch_size=32,
    learning_rate=0.05,
)


@pytest.mark.parametrize("layer", [Hardmax(), Softmax(0.5)], ids=["hardmax", "softmax"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_derivative_of_the_loss_by_alpha_is_that_of_finite_differences(layer, classes):
    network = make_network(TOKENS, classes, replace(LEARNS_ALPHA, alpha=0.7), layer).double()
    data = examples(texts=20, classes=classes)

    def loss(growth):
        with torch.no_grad():
            network.growth.fill_(growth)
        logits = network(data.clouds, network.alpha).logits
        return (torch.logaddexp(torch.zeros(()), -logits) * torch.arange(1.0, 1 + logits.shape[1])).mean()

    loss(0.2).backward()
    with torch.no_grad():
        slope = (loss(0.2 + 1e-6) - loss(0.2 - 1e-6)) / 2e-6
    assert abs(float(slope)) > 1e-5
    assert float(network.growth.grad) == pytest.approx(float(slope), rel=1e-5)


def test_alpha_rises_as_told_and_is_learned_from_then_on():
    reports = train_small(recipe=replace(LEARNS_ALPHA, bag_of_words_epochs=1.5, alpha_warmup_epochs=1.5))[1]
    assert [report.alpha for report in reports[:3]] == [0.0, pytest.approx(1 / 3), 1.0]
    assert len({report.alpha for report in reports[2:]}) == 4


def test_alpha_that_is_given_stays_to_the_bit():
    network, reports = train_small(recipe=replace(RECIPE, alpha=0.3))
    assert {report.alpha for report in reports[1:]} == {0.3}
    assert network.alpha.item() == 0.3
    assert fit(*reviews(), replace(QUICK, alpha_learning_rate=0.0)).alpha == "3/10"


def test_alpha_stays_positive_however_fast_it_is_learned():
    network, _ = train_small(recipe=replace(LEARNS_ALPHA, layers=1, alpha_learning_rate=50.0, word_dropout=0.7))
    assert 0 < network.alpha.item() < np.inf


def test_a_training_that_stops_early_keeps_the_alpha_of_its_best_epoch():
    unseen = examples(texts=100, seed=2)
    recipe = replace(LEARNS_ALPHA, layers=1, epochs=40, patience=2, validation_fraction=0.5, learning_rate=0.1)
    network, reports = train_small(recipe=recipe, validation=unseen)
    best = min(reports[1:], key=lambda report: report.validation_loss or 0.0)
    assert best is reports[-3]
    assert best.alpha < recipe.alpha
    assert network.alpha.item() == best.alpha


def reviews(seed=3):
    corpus = plant(400, seed=seed)
    return corpus.texts, corpus.labels


def test_the_model_walks_with_exactly_the_alpha_that_was_learned(tmp_path):
    texts, labels = reviews()
    told = []
    fit(texts, labels, replace(QUICK, validation_fraction=0.25), progress=told.append).save(tmp_path / "model")
    model = TextModel.load(tmp_path / "model")
    learned = told[-1].alpha
    assert abs(learned - QUICK.alpha) > 0.01
    assert model.dynamics.alpha == Fraction(repr(learned))
    clouds = as_clouds(encode(texts, model.vocabulary, model.tokeniser), model.binary)
    logits, leaders = decide(as_network(model), clouds, learned)
    found = model.analyse(texts)
    np.testing.assert_allclose(found.logits * model.temperature, logits, atol=1e-4)
    assert (found.leaders_per_text == leaders).mean() > 0.98  # training counts in float32
    others, _ = decide(as_network(model), clouds, QUICK.alpha)
    assert np.abs(found.logits * model.temperature - others).max() > 0.01


def as_network(model):
    start = Start(model.embeddings, model.decoder, model.bias)
    return Network(start, Recipe(layers=model.layers, alpha=float(model.dynamics.alpha)), Hardmax())
