"""Random clouds, where floats nearly always suffice: they must never choose otherwise than integers
do."""

import numpy as np
from effort import examples

import hardmax as hm


def test_certified_never_disagrees_with_exact_and_hands_over_less_than_one_cloud_in_a_hundred():
    rng = np.random.default_rng(20250701)
    dynamics = hm.Dynamics("1/2")
    handed_over = 0
    count = examples(5_000)
    for number in range(count):
        cloud = rng.standard_normal((50, 2 + number % 7))
        run = hm.simulate(cloud, dynamics)
        truth = hm.simulate(cloud, dynamics, arithmetic="exact")
        handed_over += run.arithmetic == "exact"
        assert run.settled_at == truth.settled_at
        assert np.array_equal(run.leader_since, truth.leader_since)
        for layer in range(truth.settled_at + 1):
            assert run.attended(layer).choices.same_as(truth.attended(layer).choices)
    assert 100 * handed_over < count
