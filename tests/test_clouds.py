"""Starting clouds: what they hold, that they can be repeated, and that bad sizes are refused in one line."""

from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest

from hardmax import InputError, clouds

HALF = Fraction(1, 2)


def exactly(cloud: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in token] for token in cloud.tolist()]


@pytest.mark.parametrize(
    ("make", "leaders"),
    [
        (clouds.triangle, {0: 0, 1: 0, 2: 0}),
        (clouds.emerging_leader, {0: 0, 1: 1, 2: 0}),  # the second leads from layer 1
        (clouds.square, {0: 0, 1: 0, 2: 0, 3: 0}),
        (clouds.nonleader_clusters, {0: 0, 1: 0, 2: 0, 3: 0}),
    ],
)
def test_the_vertices_lead(make, leaders):
    assert oracle.leaders(exactly(make()), HALF, layers=30) == leaders


def test_a_square_takes_inner_tokens_exactly_and_is_a_new_one():
    assert clouds.square(inside=[(0.1, 0)])[4, 0] == 0.1
    assert clouds.square(inside=[("0.1", "0")])[4, 0] == Fraction(1, 10)
    clouds.square(inside=[])[:] = 7
    assert np.abs(clouds.square(inside=[])).max() == 1


def test_a_rotated_square_keeps_its_ties_and_further_coordinates():
    cloud = clouds.square(inside=[(0.5, 0.0)])
    sets = oracle.attended_sets(exactly(clouds.rotated(cloud)))
    assert sets == oracle.attended_sets(exactly(cloud))
    assert sets[4] == {0, 3}
    assert clouds.rotated([[5, 0, 7]]).tolist() == [[3, 4, 7]]


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 7, 8, 12, 100, 1001])
def test_a_polygon_is_regular_and_its_own_mirror_image_to_the_last_bit(sides):
    turns = 2 * np.pi * np.arange(sides) / sides
    cloud = clouds.polygon(sides)
    assert np.allclose(cloud, np.stack([np.cos(turns), np.sin(turns)], axis=1), atol=2e-15)
    for mirror in ([1, -1], [-1, 1])[: 1 + (sides % 2 == 0)]:
        assert set(map(tuple, (cloud * mirror).tolist())) == set(map(tuple, cloud.tolist()))


def test_gaussian_clouds_follow_their_seed():
    assert np.array_equal(clouds.gaussian(9, 2, seed=np.random.default_rng(4)), clouds.gaussian(9, 2, seed=4))
    assert not np.array_equal(clouds.gaussian(9, 2, seed=4), clouds.gaussian(9, 2, seed=5))


def test_what_cannot_be_made_is_refused():
    refused: list[tuple[Any, tuple[Any, ...]]] = [
        (clouds.square, ([(1, 2, 3)],)),
        (clouds.rotated, ([[1.0]],)),
    ]
    for make, arguments in refused:
        with pytest.raises(InputError, match="must"):
            make(*arguments)
