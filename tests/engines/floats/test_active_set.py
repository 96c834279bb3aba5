"""Leaving out who can no longer win must change nothing; the hull in which they are is proved."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracle
import pytest
from agreement import assert_same_sets
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

import hardmax as hm
from hardmax._float import active_set
from hardmax._float.active_set import ActiveSet
from hardmax._float.bounds import Frame
from hardmax._float.hull import shell_of
from hardmax._layer.attended import AttendedIndices

# Without their types: scipy has no stubs, and to infer what its sources return takes half a minute.
linprog = pytest.importorskip("scipy.optimize").linprog
ConvexHull = pytest.importorskip("scipy.spatial").ConvexHull


def settled_run(cloud, dynamics, fewest_points: float):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active_set, "_FEWEST_POINTS", fewest_points)
        return hm.simulate(cloud, dynamics)


def assert_same_runs(few, all_of_them, layers: int) -> None:
    assert few.settled_at == all_of_them.settled_at
    for layer in range(layers):
        assert few.attended(layer).tolist() == all_of_them.attended(layer).tolist()
        off = np.abs(few.at(layer) - all_of_them.at(layer)).max()
        assert off <= few.error + all_of_them.error


def members(positions: np.ndarray) -> ActiveSet:
    count = len(positions)
    return ActiveSet(
        layer=0,
        contraction=Fraction(1, 2),
        frame=Frame(positions, Fraction(1), 0.0),
        multiplicities=np.ones(count, dtype=np.int64),
        positions=positions,
        errors=np.zeros(count),
        worst=0.0,
    )


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("alpha", ["1/10", "3"])
@pytest.mark.parametrize("seed", [1, 2])
def test_everybody_attends_to_the_same_with_and_without_those_left_out(d, alpha, seed):
    rng = np.random.default_rng(seed)
    centre = rng.standard_normal(d) * (seed % 2)
    cloud = rng.standard_normal((600, d)) + centre
    metric = None if seed < 2 else np.diag(np.arange(1.0, d + 1))
    dynamics = hm.Dynamics(alpha, metric)
    few, all_of_them = (settled_run(cloud, dynamics, least) for least in (0, np.inf))
    if d < 4 and alpha != "3":
        assert max(len(phase.source.inactive) for phase in few.phases) > 1
    assert_same_runs(few, all_of_them, few.settled_at + 3)
    assert (few.margins <= all_of_them.margins * (1 + 1e-9)).all()


@given(problems(min_d=2, max_d=4))
def test_small_clouds_full_of_ties_too(problem):
    cloud, metric, alpha = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active_set, "_FEWEST_POINTS", 0)
        run = hm.simulate(cloud, hm.Dynamics(alpha, metric), layers=5)
    assert_same_sets(run, oracle.walk(cloud, alpha, metric, 5))


@pytest.mark.parametrize("size", [1.0, 2.0**-470])
def test_a_point_that_comes_to_have_no_direction_attends_also_to_those_left_out(size):
    # Along the last axis the metric is negative: the token there goes to its opposite, and is 0 a
    # layer later.
    turns = 2 * np.pi * np.arange(20) / 20
    leaders = np.column_stack([10 * np.cos(turns), 10 * np.sin(turns), np.arange(20) % 2])
    followers = np.random.default_rng(0).uniform([1, -1, 0.2], [7, 1, 0.8], (60, 3))
    axis = np.array([[0, 0, size], [0, 0, -2 * size]])
    cloud = np.concatenate([leaders[1:], axis, followers, leaders[:1]])
    dynamics = hm.Dynamics("1/2", np.diag([1.0, 1.0, -1.0]))
    few, all_of_them = (settled_run(cloud, dynamics, least) for least in (0, np.inf))
    assert len(few.phases[1].source) < len(cloud)
    assert len(few.attended(1)[19]) == len(cloud)
    assert_same_runs(few, all_of_them, 4)


@pytest.mark.parametrize("size", [1.0, 2.0**-12])
def test_whoever_has_left_trails_by_the_lead_also_those_who_left_long_before(size, monkeypatch):
    # Those who left before once got the larger lead of those who leave now.
    monkeypatch.setattr(active_set, "_FEWEST_POINTS", 0)
    rng = np.random.default_rng(0)
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    edge = np.array([[0.99999, 0.0]])
    inside = rng.uniform(-0.9, 0.9, (59, 2))
    positions = np.concatenate([corners, edge, inside]) * size
    follows = np.concatenate([np.arange(4), rng.integers(0, 4, 60)])
    waits = follows.copy()
    waits[44:] = rng.integers(4, 44, 20)  # so far they attend to points that are no leaders
    now, turns = members(positions), np.linspace(0, 2 * np.pi, 720)
    directions = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    steps = (waits, 12, 25), (follows, 1, 6), (follows, 3, 5)
    for choices, layers, left in steps:
        now = now.after_layers(AttendedIndices.of_single(choices), layers)
        assert len(now) == left
        assert now.members is not None
        scores = now.all_positions() @ directions.T
        gone = np.setdiff1d(np.arange(64), now.members)
        furthest_left = scores[now.members].max(axis=0)
        assert 0 < now.lead <= (furthest_left - scores[gone].max(axis=0)).min()
        assert now.suffices(directions, np.full(720, now.lead * 0.99))
        assert not now.suffices(directions, np.full(720, now.lead * 1.01))
        found = now.search(directions, np.full(720, 1e-15))
        best = scores[found.winners, np.arange(720)]
        assert (best >= scores.max(axis=0) - 1e-12).all()
        assert found.gap <= now.lead * (1 + 1e-12)


def in_hull(points: np.ndarray, place: np.ndarray) -> bool:
    """Whether a place is a convex combination of the points, by linear programming."""
    sums = np.vstack([points.T, np.ones(len(points))])
    wanted, costs = np.append(place, 1.0), np.zeros(len(points))
    found = linprog(costs, A_eq=sums, b_eq=wanted, bounds=(0, None))
    return found.status == 0


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("flat", [1.0, 1e-6])
def test_what_is_inside_the_facets_by_the_error_is_in_the_hull(d, flat):
    rng = np.random.default_rng(d)
    widths = np.append(np.ones(d - 1), flat)
    points = rng.standard_normal((30, d)) * widths + 5
    shell = shell_of(points)
    assert shell is not None
    assert shell.off < 1e-10
    ways = points[rng.integers(0, 30, 200)] - shell.centre
    ways *= rng.uniform(0, 2, (200, 1))
    places = shell.centre + ways
    heights = ways @ shell.facets[:, :-1].T + shell.facets[:, -1]
    inside = (heights < -shell.off).all(axis=1)
    assert 20 < inside.sum() < 195
    assert all(in_hull(points, place) for place in places[inside])


def test_points_in_a_plane_and_slivers_have_no_shell():
    rng = np.random.default_rng(0)
    plane = rng.standard_normal((20, 2))
    assert shell_of(np.column_stack([plane, np.zeros(20)])) is None
    assert shell_of(rng.standard_normal((20, 2)) * [1, 1e-14]) is None


WRONG_HULLS = {"a facet missing": (1, 0.0), "facets lifted": (0, 1e-6)}


@pytest.mark.parametrize(("first", "lifted"), WRONG_HULLS.values(), ids=WRONG_HULLS)
def test_a_hull_that_qhull_gets_wrong_is_refused_or_widens_the_error(first, lifted, monkeypatch):
    class Wrong:
        def __init__(self, places):
            hull = ConvexHull(places)
            self.simplices = hull.simplices[first:]
            self.equations = hull.equations[first:] + np.array([0, 0, 0, lifted])

    points = np.random.default_rng(3).standard_normal((20, 3)) / 4
    usual = shell_of(points)
    monkeypatch.setattr("scipy.spatial.ConvexHull", Wrong)
    found = shell_of(points)
    assert usual is not None
    if first:
        assert found is None
    else:
        assert found is not None
        assert 0.9e-6 < found.off - usual.off < 1.1e-6


@settings(max_examples=examples(400))
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_every_point_is_within_its_error_of_where_it_is_in_fractions(seed, layers):
    """Also the means of many that are far away, of a point that is near."""
    random = np.random.default_rng(seed)
    count = 12
    sizes = 10.0 ** random.integers(-9, 10, (count, 1))
    positions = random.normal(size=(count, 2)) * sizes
    sets = [
        sorted(random.choice(count, random.choice([1, 1, 2, 9]), replace=False).tolist())
        for _ in range(count)
    ]
    weights = random.integers(1, 4, count)
    here = replace(members(positions), multiplicities=weights)
    later = here.after_layers(AttendedIndices.of_sets(sets), layers)
    share = Fraction(1, 2) ** layers
    exact = [[Fraction(x) for x in row] for row in positions.tolist()]
    for row, chosen in enumerate(sets):
        total = int(weights[chosen].sum())
        for axis in range(2):
            mean = sum(int(weights[j]) * exact[j][axis] for j in chosen) / total
            truth = mean + share * (exact[row][axis] - mean)
            found = Fraction(float(later.positions[row, axis]))
            assert abs(found - truth) <= Fraction(float(later.errors[row]))
            assert later.errors[row] <= later.worst
