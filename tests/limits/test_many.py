"""The limits of many clouds at once."""

import numpy as np
import pytest

import hardmax as hm

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
