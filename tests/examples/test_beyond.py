"""What the gallery beyond the paper shows."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi, norm

import hardmax as hm


@pytest.mark.parametrize(("n", "d"), [(30, 2), (100, 3), (30, 8)])
def test_as_many_gaussian_tokens_lead_at_once_as_the_integral_has(n, d):
    expected = n * quad(lambda r: norm.cdf(r) ** (n - 1) * chi.pdf(r, d), 0, np.inf)[0]
    runs = hm.simulate(np.random.default_rng(0).standard_normal((400, n, d)), hm.Dynamics(1), layers=0)
    counts = [len(leaders) for leaders in runs.leaders]
    assert abs(np.mean(counts) - expected) < 3.5 * np.std(counts) / np.sqrt(len(counts))


def test_zero_temperature_and_infinite_depth_do_not_commute_at_a_tie():
    def softmax_end(cloud, temperature):
        z = np.asarray(cloud, dtype=float)
        for _ in range(300):
            scores = z @ z.T / temperature
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            z = (z + weights @ z / weights.sum(axis=1, keepdims=True) / 2) / 1.5
        return z

    half = hm.Dynamics("1/2")
    free, tied = hm.clouds.emerging_leader().astype(float), hm.clouds.nonleader_clusters()
    assert np.abs(softmax_end(free, 1e-3) - hm.limit(free, half).points).max() < 0.1
    for temperature in (1e-1, 1e-2, 1e-3):
        assert np.linalg.norm(softmax_end(tied, temperature)[4] - hm.limit(tied, half).points[4]) > 0.5


def test_layers_to_settle_are_a_time_and_a_few_layers_more():
    clouds = np.random.default_rng(0).standard_normal((300, 100, 2))
    steps = np.array([1 / 64, 1 / 16, 1 / 4, 1, 16])
    layers = np.array([np.mean(hm.limit(clouds, hm.Dynamics(alpha)).settled_at) for alpha in steps.tolist()])
    times = np.log1p(steps)
    tau, c = np.linalg.lstsq(np.stack([np.ones_like(times), times], axis=1), layers * times)[0]
    assert np.allclose(layers, tau / times + c, rtol=0.1)
    assert 0.4 < tau < 0.8
    assert 0.8 < c < 1.3
