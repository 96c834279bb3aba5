"""Layers in plain floats, where nothing is close: those of fractions, and softmax as it is
written."""

from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm

random = np.random.default_rng(7)
N, D = 12, 2
SOME = (random.random((N, N)) < 0.4) | np.eye(N, dtype=bool)
TURN = np.array([[1, 0.5], [-0.25, 1.5]])
BLOCK = hm.FeedForward(
    random.integers(-8, 9, (3, D)) / 16,
    random.integers(-8, 9, 3) / 16,
    random.integers(-8, 9, (D, 3)) / 16,
    [0.25, -0.5],
)
KINDS = {
    "paper": {},
    "metric": {"metric": [[2, 1], [1, 1]]},
    "indefinite": {"metric": [[1, 2], [2, -1]]},
    "value": {"value": TURN},
    "causal": {"mask": "causal"},
    "mask": {"mask": SOME},
    "steps": {"alpha": ["1", "1/3", "1/4"]},
    "topk": {"attention": hm.TopK(3)},
    "topk of few": {"attention": hm.TopK(3), "mask": "causal"},
    "localmax": {"attention": hm.Localmax("3/2")},
    "heads": {"heads": [hm.Head(), hm.Head(TURN + TURN.T, 2)], "mask": "causal"},
    "block": {"feed_forward": BLOCK, "value": TURN},
}


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("copied", [False, True])
def test_floats_are_near_to_fractions(kind, copied):
    tokens = np.random.default_rng(3).integers(-64, 65, (N, D)) / 32
    if copied:
        tokens[5:8] = tokens[2:5]
    dynamics, layers = hm.Dynamics(**{"alpha": "1/2"} | KINDS[kind]), 4
    floats, exact = (
        hm.simulate(tokens, dynamics, layers, arithmetic=name) for name in ("float", "exact")
    )
    for layer in range(layers + 1):
        assert floats.attended(layer).tolist() == exact.attended(layer).tolist()
        truth = np.array(exact.at(layer), dtype=float)
        assert np.abs(floats.at(layer) - truth).max() <= 1e-13 * (1 + np.abs(truth).max())


@pytest.mark.parametrize("beta", ["1/2", 3])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("copied", [False, True])
def test_softmax_is_as_it_is_written(beta, masked, copied):
    tokens = np.random.default_rng(4).normal(size=(N, D))
    if copied:
        tokens[5:8] = tokens[2:5]
    metric = [[2, 1], [1, 3]]
    parts = {"attention": hm.Softmax(beta), "mask": SOME if masked else None}
    run = hm.simulate(tokens, hm.Dynamics("1/3", metric, **parts), 3, arithmetic="float")
    here = tokens
    for layer in range(4):
        assert np.abs(run.at(layer) - here).max() < 1e-13
        weights = np.exp(float(Fraction(beta)) * here @ np.array(metric) @ here.T)
        weights = weights * SOME if masked else weights
        means = weights @ here / weights.sum(axis=1)[:, None]
        here = (here + means / 3) / (1 + 1 / 3)
