"""Leaving out who can no longer win must change nothing."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from strategies import Problem, problems

import hardmax as hm
from hardmax.engines import arena
from hardmax.engines.arena import Arena


def settled_run(cloud, dynamics, fewest_points: float):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "_FEWEST_POINTS", fewest_points)
        return hm.simulate(cloud, dynamics, stop=hm.Settled())


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("alpha", ["1/10", "1/2", "3"])
@pytest.mark.parametrize("seed", range(4))
def test_everybody_attends_to_the_same_with_and_without_those_left_out(d, alpha, seed):
    rng = np.random.default_rng(seed)
    cloud = rng.standard_normal((600, d)) + rng.standard_normal(d) * (seed % 2)
    metric = None if seed < 2 else np.diag(np.arange(1.0, d + 1))
    few, all_of_them = (settled_run(cloud, hm.Dynamics(alpha, metric), least) for least in (0, np.inf))
    assert few.settled_at == all_of_them.settled_at
    for layer in range(few.settled_at + 1):
        assert np.array_equal(few.stretches[layer].choices.indices, all_of_them.stretches[layer].choices.indices)
    assert np.array_equal(few.at(few.settled_at), all_of_them.at(few.settled_at))
    assert (few.margins <= all_of_them.margins * (1 + 1e-9)).all()


def test_most_of_a_large_cloud_is_left_out():
    cloud = np.random.default_rng(0).standard_normal((20_000, 3))
    first = hm.simulate(cloud, hm.Dynamics("1/2"), layers=0).stretches[0]
    assert len(Arena.with_choices(first.positions, first.choices)) < 5_000


@settings(max_examples=200)
@given(problems(min_d=2, max_d=4))
def test_small_clouds_full_of_ties_too(problem: Problem):
    cloud, metric, alpha = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "_FEWEST_POINTS", 0)
        run = hm.simulate(cloud, hm.Dynamics(alpha, metric), layers=5)
    for layer, (_, sets) in enumerate(oracle.walk(cloud, alpha, metric, 5)):
        assert [set(attended.tolist()) for attended in run.attended(layer)] == sets


def test_after_many_layers_everybody_is_asked_again():
    looks, slack = np.ones((1, 2)), np.array([1e-14])
    late = Arena(np.array([0, 1]), 1.0)
    for _ in range(60):
        late = late.after_layer(0.5)
    assert not late.suffices(looks, slack)
