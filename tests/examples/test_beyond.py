"""What the gallery beyond the paper shows."""

import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hardmax as hm

EXAMPLES = Path(__file__).parents[2] / "examples" / "beyond"


def test_layers_to_settle_are_a_time_and_a_few_layers_more():
    clouds: list[np.ndarray] = list(np.random.default_rng(0).standard_normal((300, 100, 2)))
    steps = np.array([1 / 64, 1 / 16, 1 / 4, 1, 16])
    every = [hm.Dynamics(alpha) for alpha in steps.tolist()]
    settled: list[Any] = [hm.limits(clouds, dynamics).settled_at for dynamics in every]
    layers = np.mean(settled, axis=1)
    times = np.log1p(steps)
    tau, c = np.linalg.lstsq(np.stack([np.ones_like(times), times], axis=1), layers * times)[0]
    assert np.allclose(layers, tau / times + c, rtol=0.1)
    assert 0.4 < tau < 0.8
    assert 0.8 < c < 1.3


def test_two_tokens_exceed_the_printed_bound():
    # By hand, in fractions: the first layer of the negative metric swaps two tokens around the
    # origin.
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    page = runpy.run_path(str(EXAMPLES / "plot_printed_bound.py"))
    plt.close("all")
    assert page["broken_at"] == {"1, -1/1000": 35, "3, -1": 575}
    for name, (first, second) in page["CLOUDS"].items():
        near, far = Fraction(second), Fraction(first)
        energies, bounds, _ = page["curves"][name]
        for t in range(600):
            assert energies[t] == max(near * near, far * far) / 2
            assert bounds[t] == Fraction(2, t + 1) * (first - second) ** 2
            assert (energies[t] > bounds[t]) == (t >= page["broken_at"][name])
            share = Fraction(2, t + 3)
            if near * far < 0:  # each attends to the other
                near, far = near + share * (far - near), far + share * (near - far)
            else:  # both to the one nearer to the origin
                least = min(near, far)
                near, far = near + share * (least - near), far + share * (least - far)
