"""Clouds walked together by the kernel against the same clouds walked one by one, and against integers."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import alphas, clouds

import hardmax as hm
from hardmax._batch_runs import Together
from hardmax._parallel import limit_threads

HALF = hm.Dynamics("1/2")


def assert_same_as_one_by_one(batch, dynamics, layers):
    runs = hm.simulate(batch, dynamics, layers=layers)
    assert isinstance(runs.runs, Together)
    for layer in {0, layers // 2, layers}:
        together = runs.at(layer)
        for cloud, tokens in zip(batch, together, strict=True):
            assert np.array_equal(tokens, hm.simulate(cloud, dynamics, layers=layers).at(layer))
    for cloud, leaders, settled_at, run in zip(batch, runs.leaders, runs.settled_at, runs, strict=True):
        alone = hm.simulate(cloud, dynamics, layers=layers)
        assert leaders.tolist() == alone.leaders.tolist() == run.leaders.tolist()
        assert settled_at == alone.settled_at
        assert run.arithmetic == alone.arithmetic


@settings(max_examples=examples(150))
@given(st.lists(clouds(min_d=3, max_d=3), min_size=1, max_size=5), alphas)
def test_clouds_full_of_ties_are_left_to_integers_and_the_rest_is_the_same(batch, alpha):
    floats = [np.array(cloud, dtype=np.float64) for cloud in batch]
    assert_same_as_one_by_one(floats, hm.Dynamics(alpha), 6)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 16])
@pytest.mark.parametrize("metric", [False, True])
@pytest.mark.parametrize("layers", [0, 1, 4, 40])
def test_random_clouds_of_all_sizes_are_walked_to_the_same_bits(d, metric, layers):
    rng = np.random.default_rng(d)
    batch = [rng.standard_normal((int(n), d)) for n in rng.integers(1, 90, size=40)]
    batch += [np.repeat(cloud, 3, axis=0) for cloud in batch[:5]]
    matrix = np.eye(d) * 2 + 0.3 * np.ones((d, d)) if metric else None
    assert_same_as_one_by_one(batch, hm.Dynamics("1/3", matrix), layers)


def test_a_batch_until_settled_stops_cloud_by_cloud():
    rng = np.random.default_rng(0)
    batch = rng.standard_normal((50, 30, 2))
    runs = hm.simulate(batch, HALF, stop=hm.Settled())
    assert runs.settled_at == [hm.simulate(cloud, HALF, stop=hm.Settled()).settled_at for cloud in batch]
    assert np.array_equal(runs.at(100)[7], hm.simulate(batch[7], HALF, layers=100).at(100))


def test_a_layer_beyond_an_unsettled_cloud_is_refused():
    runs = hm.simulate([hm.clouds.gaussian(60, 2, seed=1), [[1.0, 0.0]]], hm.Dynamics("1/1000"), layers=1)
    with pytest.raises(hm.InputError, match="cloud 0 has not settled"):
        runs.at(5)


def test_limits_are_known_where_every_cloud_is_left_to_integers():
    square = np.array(hm.clouds.square(inside=[(0.5, 0.0)]))
    runs = hm.simulate([square, square], HALF, layers=2)
    assert runs.decided_by_integers == 2
    assert [ends[4].tolist() for ends in runs.ends()] == [[1.0, 0.0]] * 2


def test_slices_and_negative_numbers_name_clouds():
    runs = hm.simulate(np.random.default_rng(0).standard_normal((6, 5, 2)), HALF, layers=3)
    assert len(runs[1:3]) == 2
    assert np.array_equal(runs[-1].tokens, runs[5].tokens)
    assert repr(runs) == "Trajectories(6 clouds, 6 settled, 0 decided by integers)"


def test_the_same_bits_at_any_number_of_threads():
    batch = np.random.default_rng(3).standard_normal((5000, 40, 2))
    results = []
    for threads in (1, 2, 7):
        with limit_threads(threads):
            results.append(hm.simulate(batch, HALF, layers=8).at(8).tobytes())
    assert len(set(results)) == 1
