"""Starting clouds: what they hold, that they can be repeated, and that bad sizes are refused in one
line."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest
from refusals import refuses

import hardmax as hm
from hardmax import clouds

HALF = Fraction(1, 2)
AUTHORS = Path(__file__).parents[1] / "examples" / "paper" / "data" / "authors.json"


def exactly(cloud: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in token] for token in cloud.tolist()]


# The rows of the paper's Figure 2: leaders with the layer from which on they lead, the layer from
# which on no attended set changes, and the leaders that each token follows from then on.
FIGURE_2 = {
    "triangle": (clouds.triangle, {0: 0, 1: 0, 2: 0}, 1, "0 1 2 0 0 2 2 1 2"),
    "emerging leader": (clouds.emerging_leader, {0: 0, 1: 1, 2: 0}, 1, "0 1 2 0 2 2 0 0"),
}
CORNERS = dict.fromkeys(range(4), 0)
FIGURE_2["square"] = clouds.square, CORNERS, 0, "0 1 2 3 3 2 3 2 1 3"
NON_LEADERS = clouds.nonleader_clusters, CORNERS, 0, "0 1 2 3 0,3 1,2 1 1 2 2"
FIGURE_2["non-leader clusters"] = NON_LEADERS


@pytest.mark.parametrize("name", FIGURE_2)
def test_the_tokens_of_figure_2_are_the_authors(name):
    published = json.loads(AUTHORS.read_text("utf-8"))["figure2"][name]
    authors = sorted([Fraction(x) for x in token] for token in published)
    assert sorted(FIGURE_2[name][0]().tolist()) == authors


@pytest.mark.parametrize("name", FIGURE_2)
def test_the_tokens_of_figure_2_lead_follow_and_end_as_the_figure_shows(name):
    make, leaders, settled_at, follows = FIGURE_2[name]
    goals = [set(map(int, goal.split(","))) for goal in follows.split()]
    walk = list(oracle.walk(make().tolist(), HALF, layers=30))
    assert oracle.leaders_of(walk) == leaders
    sets = [now for _, now in walk]
    changed = [layer for layer in range(30) if sets[layer] != sets[layer + 1]]
    assert max(changed, default=-1) + 1 == settled_at
    assert sets[30] == goals
    run = hm.simulate(make(), hm.Dynamics(HALF), layers=30)
    lim = hm.limit(make(), hm.Dynamics(HALF))
    since = zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True)
    assert dict(since) == leaders
    assert (run.settled_at, lim.settled_at) == (settled_at, settled_at)
    for layer in (0, 1, 2, 5, 30):  # the columns of the figure
        assert [set(chosen.tolist()) for chosen in run.attended(layer)] == sets[layer]
        truth = np.array(walk[layer][0], dtype=float)
        assert np.allclose(run.at(layer), truth, atol=1e-15)
    last, _ = walk[30]
    vertices = {leader: np.array(last[leader]) for leader in leaders}
    ends = []
    for goal in goals:
        ends.append(sum(vertices[leader] for leader in goal) / Fraction(len(goal)))
    assert (lim.exact_limit_points() == np.array(ends)).all()
    assert {statement.verdict for statement in hm.check_theorem(lim)} == {"holds"}


def test_a_square_takes_inner_tokens_exactly_and_is_a_new_one():
    assert clouds.square(inside=[(0.1, 0)])[4, 0] == 0.1
    exact = clouds.square(inside=[("0.1", "0")])
    assert exact[4, 0] == Fraction(1, 10)
    clouds.square(inside=[])[:] = 7
    assert np.abs(clouds.square(inside=[])).max() == 1


def test_a_rotated_square_keeps_its_ties_and_further_coordinates():
    cloud = clouds.square(inside=[(0.5, 0.0)])
    sets = oracle.attended_sets(exactly(clouds.rotated(cloud)))
    assert sets == oracle.attended_sets(exactly(cloud))
    assert sets[4] == {0, 3}
    turned = clouds.rotated([[5, 0, 7]])
    assert turned.tolist() == [[3, 4, 7]]


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 12, 100, 1001])
def test_a_polygon_is_regular_and_its_own_mirror_image_to_the_last_bit(sides):
    turns = 2 * np.pi * np.arange(sides) / sides
    cloud = clouds.polygon(sides)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    assert np.allclose(cloud, circle, atol=2e-15)
    mirrors = [[1, -1], [-1, 1]] if sides % 2 == 0 else [[1, -1]]
    for mirror in mirrors:
        mirrored = (cloud * mirror).tolist()
        assert sorted(mirrored) == sorted(cloud.tolist())


def test_gaussian_clouds_follow_their_seed():
    four = clouds.gaussian(9, 2, seed=4)
    drawn = clouds.gaussian(9, 2, seed=np.random.default_rng(4))
    assert np.array_equal(drawn, four)
    assert not np.array_equal(four, clouds.gaussian(9, 2, seed=5))


@pytest.mark.parametrize("seed", range(20))
def test_whole_coordinates_are_small_and_nothing_ties(seed):
    cloud = clouds.integers(6, 2, seed)
    assert np.array_equal(cloud, cloud.round())
    assert np.abs(cloud).max() <= 9
    assert [len(each) for each in oracle.attended_sets(exactly(cloud))] == [1] * 6


def test_what_cannot_be_made_is_refused():
    with refuses("must"):
        clouds.square([(1, 2, 3)])
    with refuses("must"):
        clouds.rotated([[1.0]])
    with refuses("must"):
        clouds.gaussian(0, 2)
