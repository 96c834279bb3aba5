"""What the table of follow-up papers in docs/any_attention.md says is found is found."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import hardmax as hm

# After a first layer that swaps both tokens, these take them 2/(t + 2) of the way at layer t.
FRANK_WOLFE = hm.Steps(lambda layer: Fraction(2, layer + 1), product=0)


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
@pytest.mark.parametrize(
    ("cloud", "steps", "end"),
    [
        ([[3], [-1]], "1/2", "1/3"),
        ([[3], [-1]], "1/10", "1519/14641"),
        ([[-1], [3]], FRANK_WOLFE, "1/3"),
    ],
)
def test_two_tokens_of_a_negative_metric_meet_away_from_the_origin(cloud, steps, end):
    limit = hm.limit(cloud, hm.Dynamics(steps, [[-1]]))
    assert limit.exact_limit_points.ravel().tolist() == [Fraction(end)] * 2


def test_where_vertices_are_in_their_own_cells_all_tokens_go_straight_to_the_vertex_of_their_cell():
    rng, settled = np.random.default_rng(0), 0
    for _ in range(200):
        angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
        # On a circle every vertex is in its own cell.
        vertices = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        inside = rng.dirichlet(np.ones(7), 10) @ vertices
        limit = hm.limit(np.vstack([vertices, inside]), hm.Dynamics("1/2"))
        cells = (inside @ vertices.T).argmax(axis=1)
        assert limit.leaders.tolist() == [*range(7)]
        assert np.array_equal(limit.limit_points[7:], vertices[cells])
        settled += limit.settled_at == 0
    assert settled == 200


def test_the_emerging_leader_is_a_vertex_that_is_not_in_its_own_cell():
    cloud = hm.clouds.emerging_leader()
    token = cloud.tolist().index([0, Fraction(1, 4)])
    assert token not in hm.attended(cloud, hm.Dynamics("1/2"))[token]
    assert hm.limit(cloud, hm.Dynamics("1/2")).exact_limit_points[token].tolist() == [
        1,
        Fraction(1, 3),
    ]


def test_localmax_does_not_come_to_rest_after_finitely_many_layers():
    rng, moved = np.random.default_rng(0), 0
    for number in range(200):
        shape = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        cloud, slack = rng.integers(-6, 7, shape), int(rng.integers(1, 6))
        steps = ("1", "1/2", "2")[number % 3]
        run = hm.simulate(cloud, hm.Dynamics(steps, attention=hm.Localmax(slack)), layers=12)
        path = [run.at(layer, exact=True).tolist() for layer in range(13)]
        rests = [before == after for before, after in pairwise(path)]
        assert len(set(rests)) == 1
        moved += not rests[0]
    assert moved > 100
