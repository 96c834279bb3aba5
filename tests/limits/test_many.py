"""The limits of many clouds at once."""

import pickle

import numpy as np
import pytest

import hardmax as hm
from hardmax._run import Together

HALF = hm.Dynamics("1/2")
SQUARE = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]])


def clouds() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [*(rng.standard_normal((n, 2)) for n in (1, 7, 40)), SQUARE]


def test_the_limits_of_a_batch_are_those_of_its_clouds():
    many = hm.limit(clouds(), HALF)
    for cloud, points, leaders, lim in zip(clouds(), many.points, many.leaders, many, strict=True):
        alone = hm.limit(cloud, HALF)
        assert np.array_equal(points, alone.points)
        assert np.array_equal(lim.points, alone.points)
        assert leaders.tolist() == alone.leaders.tolist()
    assert many.settled_at == [lim.settled_at for lim in many]
    assert repr(many) == "Limits(4 clouds, 4 settled)"


def test_they_come_back_in_the_form_in_which_the_clouds_came():
    stack = np.random.default_rng(1).standard_normal((3, 9, 2))
    assert hm.limit(stack, HALF).points.shape == (3, 9, 2)


def test_where_a_cloud_that_has_not_settled_ends_is_not_told():
    slow = np.random.default_rng(3).standard_normal((2, 200, 3))
    with pytest.raises(hm.InputError, match="Cloud 0 has not settled"):
        _ = hm.limit(slow, hm.Dynamics("1/10"), at_most=0).points


def _batch() -> np.ndarray:
    clouds = np.random.default_rng(3).normal(size=(40, 12, 2))
    clouds[::3, 5] = clouds[::3, 4]  # some tokens come twice
    return clouds


def test_what_the_kernel_knows_is_read_out_without_walking_again(monkeypatch):
    limits, single = hm.limit(_batch(), HALF), [hm.limit(cloud, HALF) for cloud in _batch()]
    monkeypatch.setattr(Together, "make", lambda *_: pytest.fail("a cloud is walked again"))
    for one, alone in zip(limits, single, strict=True):
        assert (one.settled_at, one.stopped, repr(one)) == (alone.settled_at, alone.stopped, repr(alone))
        assert one.leaders.tolist() == alone.leaders.tolist()
        assert one.leader_layers.tolist() == alone.leader_layers.tolist()
        assert np.array_equal(one.points, alone.points)
        assert one.clusters.labels.tolist() == alone.clusters.labels.tolist()
        assert one.clusters.kinds == alone.clusters.kinds
        assert np.array_equal(one.run.at(one.run.layers), alone.run.at(alone.run.layers))
    table = limits.to_pandas()
    assert table[table.cloud == 7].drop(columns="cloud").reset_index(drop=True).equals(single[7].to_pandas())


def test_what_it_does_not_know_is_walked_once(monkeypatch):
    limits, walked = hm.limit(_batch(), HALF), []
    run = Together.make
    monkeypatch.setattr(Together, "make", lambda batch, cloud: walked.append(cloud) or run(batch, cloud))
    for _ in range(3):
        assert [lim.run.attended(0).tolist()[0] for lim in limits]
        assert all(lim.run.points.count in (11, 12) and lim.certificate for lim in limits)
    assert sorted(walked) == list(range(40))


def test_a_limit_of_a_batch_can_be_pickled_without_the_batch():
    lim = hm.limit(np.random.default_rng(0).normal(size=(1000, 20, 2)), HALF)[3]
    data = pickle.dumps(lim)
    assert len(data) < 50_000
    again = pickle.loads(data)
    assert again.run.attended(0).tolist() == lim.run.attended(0).tolist()
    assert np.array_equal(again.points, lim.points)
