"""The metric need not be learned: A = B'B is the identity, once every vector z is B z."""

# pyright: reportMissingImports=false, reportArgumentType=false
# ruff: noqa: E402
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from hardmax.text.data.planted import plant
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.vocabulary import Vocabulary
from hardmax.train.layer import Hardmax, Softmax

CHANGE = np.array([[2.0, 1.0], [0.0, 1.0]])  # B; its inverse is made of halves, so that no rounding decides
METRIC = CHANGE.T @ CHANGE


@pytest.mark.parametrize("extra", [None, [0.5, 4.0]], ids=["words alone", "an extra token"])
@pytest.mark.parametrize("seed", range(3))
def test_a_model_with_a_metric_decides_as_one_with_the_identity_and_other_vectors(seed, extra):
    rng = np.random.default_rng(seed)
    texts = plant(100, seed=seed).texts
    words = sorted({word.lower().strip(".") for text in texts for word in text.split()})
    with_metric = TextModel(
        vocabulary=Vocabulary(words, np.ones((len(words), 2), dtype=int)),
        embeddings=rng.integers(-20, 21, (len(words), 2)) / 4,
        decoder=[[1.0, -0.5]],
        bias=[0.25],
        classes=("negative", "positive"),
        layers=3,
        extra=extra,
        metric=METRIC,
    )
    without = replace(
        with_metric,
        embeddings=with_metric.embeddings @ CHANGE.T,
        extra=None if extra is None else CHANGE @ extra,
        decoder=with_metric.decoder @ np.linalg.inv(CHANGE),
        metric=None,
    )
    one, other = with_metric.analyse(texts), without.analyse(texts)
    assert one.leader_since.tolist() == other.leader_since.tolist()
    np.testing.assert_allclose(one.logits, other.logits, atol=1e-12)
    blind = replace(with_metric, metric=None).analyse(texts)
    assert blind.leader_since.tolist() != one.leader_since.tolist()


@pytest.mark.parametrize("make", [Hardmax, lambda metric=None: Softmax(0.5, metric)], ids=["hardmax", "softmax"])
def test_both_layers_walk_with_a_metric_as_without_it_in_other_coordinates(draw_clouds, make):
    clouds = draw_clouds(11)
    tokens = torch.tensor(np.random.default_rng(12).normal(size=(len(clouds.ids), 2)))
    change, alpha = torch.tensor(CHANGE), torch.tensor(0.5, dtype=torch.float64)
    walked = make(METRIC).walk(tokens, clouds, alpha, 3).tokens @ change.T
    torch.testing.assert_close(walked, make().walk(tokens @ change.T, clouds, alpha, 3).tokens)
