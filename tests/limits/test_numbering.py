"""Clusters have numbers: in the order of the first token that ends there."""

import numpy as np
import pytest

import hardmax as hm


@pytest.mark.parametrize("arithmetic", ["float", "certified", "exact"])
def test_clusters_are_numbered_by_their_first_token_wherever_its_leader_stands(arithmetic):
    lim = hm.limit([[1.0], [-2.0], [0.5], [-1.0], [3.0]], hm.Dynamics(1), arithmetic=arithmetic)
    assert lim.leaders.tolist() == [1, 4]
    assert lim.clusters.labels.tolist() == [0, 1, 0, 1, 0]
    assert lim.clusters.points.tolist() == [[3.0], [-2.0]]


@pytest.mark.parametrize("arithmetic", ["float", "certified", "exact"])
def test_numbers_of_clusters_begin_in_order(arithmetic):
    lim = hm.limit(np.random.default_rng(3).normal(size=(60, 2)), hm.Dynamics("1/2"), arithmetic=arithmetic)
    _, first = np.unique(lim.clusters.labels, return_index=True)
    assert len(first) > 3
    assert (np.diff(first) > 0).all()
