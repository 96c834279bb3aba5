"""Batches at any depth: each cloud is walked until it settles, and what comes after costs the same at any layer."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax import _batch as batch
from hardmax._batch import Then, depths, walk_batch
from hardmax._exact.vectors import power

SLOW = hm.Dynamics("1/1000")
DEEP = 10**12


def clouds() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    tied = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]])
    return [*(rng.standard_normal((n, 2)) for n in (1, 3, 8, 20, 60)), tied]


@pytest.mark.parametrize("alpha", ["1/2", "1/50", "1/1000", "7"])
@pytest.mark.parametrize("stop", [hm.Settled(), hm.AfterLayers(3000)])
def test_a_batch_at_any_layer_is_its_clouds_at_that_layer_to_the_last_bit(alpha, stop):
    dynamics = hm.Dynamics(alpha)
    together = hm.simulate(clouds(), dynamics, stop=stop, record=hm.LastOnly())
    alone = [hm.simulate(cloud, dynamics, stop=stop, record=hm.LastOnly()) for cloud in clouds()]
    settled = [run.settled_at for run in alone]
    assert together.settled_at == settled
    assert None not in settled
    # Layers before the clouds settle, at which they do, and long after.
    for layer in {0, 1, *settled, max(settled) + 1, 16, 17, 256, 3000, stop.last_layer, stop.last_layer + 1, DEEP}:
        for tokens, run in zip(together.at(layer), alone, strict=True):
            assert np.array_equal(tokens, run.at(layer))


def test_a_batch_that_stopped_where_it_settled_goes_on_from_there():
    # At the layer asked for tokens have moved on; where the run stopped they are still under way.
    stack = np.random.default_rng(1).standard_normal((6, 25, 2))
    runs = hm.simulate(stack, hm.Dynamics("1/50"), stop=hm.Settled())
    last = max(settled for settled in runs.settled_at if settled is not None)
    assert last > 3
    now, later, ends = runs.at(last), runs.at(last + 30), runs.ends()
    for cloud in range(6):
        run = hm.simulate(stack[cloud], hm.Dynamics("1/50"), layers=last + 30)
        assert np.array_equal(now[cloud], run.at(last))
        assert np.array_equal(later[cloud], run.at(last + 30))
        assert np.array_equal(ends[cloud], run.ends())
    assert np.abs(later - ends).max() < np.abs(now - ends).max() / 1.5


def test_no_more_powers_are_made_than_there_are_layers_at_which_a_cloud_may_settle(monkeypatch):
    made = []
    whole = batch.float_powers

    def counted(keep, first, count):
        made.append((first, count))
        return whole(keep, first, count)

    monkeypatch.setattr(batch, "float_powers", counted)
    runs = hm.simulate(clouds(), hm.Dynamics("1/2"), stop=hm.Settled())
    runs.at(DEEP)
    assert made == [(DEEP - 16, 17)]
    made.clear()
    slow = hm.simulate(clouds(), SLOW, stop=hm.Settled())
    slow.at(DEEP)
    settled = max(layer for layer in slow.settled_at if layer is not None)
    assert settled > 16
    assert sum(count for _, count in made) < 20 * settled


@settings(max_examples=40)
@given(st.integers(0, 200), st.integers(0, 10**9), st.sampled_from(["1/2", "1e-6", "1/100"]))
def test_shares_are_those_of_the_layers_that_are_left(walked, further, alpha):
    dynamics, layers = hm.Dynamics(alpha), walked + further
    shares = Then.GO_ON.shares(dynamics, layers, walked)
    assert len(shares) == walked + 1
    for settled in {0, walked // 2, walked}:
        assert shares[walked - settled] == float(power(dynamics.contraction, layers - settled))
    assert set(Then.STAY.shares(dynamics, layers, walked)) == {1.0}
    assert set(Then.ARRIVE.shares(dynamics, layers, walked)) == {0.0}
    assert len(Then.STAY.shares(dynamics, walked)) == walked + 1


@settings(max_examples=100)
@given(st.integers(0, 10**7))
def test_depths_grow_and_end_with_the_layer_asked_for(layers):
    tried = list(depths(layers))
    assert tried[-1] == layers
    assert all(16 * one >= other > one for one, other in pairwise(tried))


@pytest.mark.parametrize("then", list(Then))
def test_clouds_that_settle_late_are_walked_as_far_as_it_takes(then):
    stack = np.random.default_rng(2).standard_normal((40, 12, 2))
    tokens, offsets = stack.reshape(-1, 2), np.arange(0, 481, 12)
    outcome = walk_batch(tokens, offsets, SLOW, 5000, then=then)
    assert {settled <= 16 for settled in outcome.settled.tolist()} == {True, False}
    for cloud, settled in enumerate(outcome.settled.tolist()):
        run = hm.simulate(stack[cloud], SLOW, layers=5000, record=hm.LastOnly())
        assert run.settled_at == settled
        wanted = {Then.GO_ON: run.at(5000), Then.STAY: run.at(settled), Then.ARRIVE: run.ends()}[then]
        assert np.array_equal(outcome.tokens[12 * cloud : 12 * cloud + 12], wanted)
