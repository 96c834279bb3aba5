"""Axes in units of their own: floats then prove what one unit for all axes leaves to integers, and prove the same."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float.bounds import float_metric
from hardmax._float.frame import Frame
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge
from hardmax.dynamics import Dynamics


def cloud_and_metric(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes of very different lengths, some of them 0, and a metric that makes up for that or does not."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 6))
    widths = 10.0 ** rng.uniform(-30, 10, d) * (rng.random(d) > 0.2)
    points = rng.standard_normal((n, d)).round(int(rng.integers(0, 4))) * widths
    factor = rng.standard_normal((d, d)) if rng.random() < 0.5 else np.eye(d)
    gram = factor @ factor.T
    scales = 10.0 ** rng.uniform(-30, 30, d)
    metric = (gram + gram.T + np.eye(d)) * np.sqrt(np.outer(scales, scales))
    return points, (metric + metric.T) / 2


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_whatever_the_units_of_axes_choices_margins_and_places_are_the_true_ones(seed):
    points, metric = cloud_and_metric(seed)
    dynamics = hm.Dynamics("1/2", metric)
    ours, truth = (hm.simulate(points, dynamics, layers=2, arithmetic=name) for name in ("certified", "exact"))
    for layer in range(3):
        assert ours.attended(layer).tolist() == truth.attended(layer).tolist()
        assert (
            np.linalg.norm(ours.at(layer) - truth.at(layer), axis=1).max()
            <= ours.error + 2.0**-52 * np.abs(points).max()
        )
    assert ours.margins == pytest.approx(truth.margins, rel=1e-6, abs=1e-9)


def test_a_metric_that_is_largest_where_tokens_are_smallest_needs_no_integers():
    points = np.random.default_rng(0).uniform(-1e-5, 1e-5, (400, 1)) ** np.arange(1, 9)
    dynamics = hm.Dynamics("1/2", np.diag(10.0 ** np.array([20, -26, -16, -51, -12, 2, 50, -49])))
    run = hm.simulate(points, dynamics, layers=1)
    assert not any("integers" in searches for searches in run.decided_by.values())


def test_axes_of_equal_length_keep_one_unit():
    points = np.random.default_rng(0).standard_normal((50, 3))
    metric = float_metric(Dynamics("1/2", [[2, 1, 0], [1, 2, 0], [0, 0, 1]]))
    assert Frame.of(merge(Cloud(points))).balanced(metric).is_plain
