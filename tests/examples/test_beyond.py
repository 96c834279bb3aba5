"""What the gallery beyond the paper shows."""

import numpy as np

import hardmax as hm


def test_layers_to_settle_are_a_time_and_a_few_layers_more():
    clouds = np.random.default_rng(0).standard_normal((300, 100, 2))
    steps = np.array([1 / 64, 1 / 16, 1 / 4, 1, 16])
    layers = np.array([np.mean(hm.limit(clouds, hm.Dynamics(alpha)).settled_at) for alpha in steps.tolist()])
    times = np.log1p(steps)
    tau, c = np.linalg.lstsq(np.stack([np.ones_like(times), times], axis=1), layers * times)[0]
    assert np.allclose(layers, tau / times + c, rtol=0.1)
    assert 0.4 < tau < 0.8
    assert 0.8 < c < 1.3
