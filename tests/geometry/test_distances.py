"""Membership and distance against exact fractions: thin, flat, far-away and lopsided hulls, at any scale."""

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pytest
from effort import examples, some
from geometry import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds, spd_metrics

from hardmax._tokens.rationals import root
from hardmax.geometry import projection as distances
from hardmax.geometry.polytope import Polytope
from hardmax.geometry.projection import SLACK, Nearest, Ruler, project_exact


def exact_square(points: np.ndarray, target: np.ndarray, metric: np.ndarray | None = None) -> Fraction:
    point, _ = project_exact(points.tolist(), metric, target.tolist())
    way: Any = np.array(point, dtype=object) - np.array([Fraction(float(x)) for x in target], dtype=object)
    return way @ way if metric is None else way @ metric @ way


def thin_hull(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Points in a slab of some thickness, turned and moved, and targets in and about it."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    n, thickness, flat = int(rng.integers(d + 1, 12)), 10 ** rng.uniform(-14, -6), int(rng.integers(1, d))
    points = rng.uniform(-1, 1, (n, d))
    points[:, -flat:] *= thickness
    if seed % 3:
        points = points @ shapes.turn(d, seed)
    if seed % 3 == 2:
        points += rng.normal(size=d)
    inside = rng.dirichlet(np.full(n, 0.3), size=5) @ points
    beside = inside + thickness * rng.uniform(0, 2, (5, 1)) * rng.normal(size=(5, d))
    return points, np.vstack([inside, beside, points[:2]]), thickness


@pytest.mark.parametrize("seed", some(range(60)))
def test_thin_hulls_are_measured_as_exactly_as_thick_ones(seed):
    points, targets, _ = thin_hull(seed)
    polytope = Polytope(points)
    extent = np.ptp(points, axis=0).max()
    truth = [root(exact_square(points, target)) for target in targets]
    assert np.abs(polytope.distance(targets) - truth).max() <= 1e-13 * extent
    for tolerance in (0, "1e-12", 1e-9):
        near = Fraction(tolerance)
        wanted = [exact_square(points, target) <= near**2 for target in targets]
        assert polytope.contains(targets, tolerance).tolist() == wanted


def test_a_point_half_the_thickness_of_a_thin_triangle_away_is_outside():
    thickness = 4e-9
    triangle = Polytope([[0.0, 0.0], [1.0, 0.0], [0.5, thickness], [0.25, 0.0]])
    assert triangle.contains([0.5, thickness / 2])
    assert not triangle.contains([0.5, 1.5 * thickness])
    assert not triangle.contains([0.5, -thickness / 2])
    assert triangle.distance([0.5, 1.5 * thickness]) == pytest.approx(thickness / 2, rel=1e-6)
    # Off by a few times what its thickness is to the tolerance: 1e-12 of the extent.
    assert triangle.contains([0.5, -1e-12])
    assert not triangle.contains([0.5, -1.1e-12])


@settings(max_examples=examples(150))
@given(
    clouds(max_d=3, max_n=6).flatmap(
        lambda cloud: st.tuples(st.just(cloud), st.lists(st.integers(-8, 8), min_size=3, max_size=3))
    )
)
def test_with_no_tolerance_exactly_the_hull_is_contained(problem):
    cloud, coordinates = problem
    target = [Fraction(x, 4) for x in coordinates][: len(cloud[0])]
    dyadic = [[Fraction(float(x)) for x in token] for token in cloud]
    found = Polytope(shapes.floats(cloud)).contains([float(x) for x in target], tolerance=0)
    assert found == shapes.in_hull(target, dyadic)


@settings(max_examples=examples(150))
@given(clouds(max_d=3, max_n=6).flatmap(lambda cloud: st.tuples(st.just(cloud), spd_metrics(len(cloud[0])))), st.data())
def test_a_hair_more_than_the_distance_is_within_and_a_hair_less_is_not(problem, data):
    cloud, metric = problem
    points = shapes.floats(cloud)
    target = np.array(data.draw(st.lists(st.floats(-3, 3), min_size=points.shape[1], max_size=points.shape[1])))
    polytope = Polytope(points, metric)
    gram = polytope._ruler._gram
    square = exact_square(points, target, gram)
    if square < Fraction(1, 10**20):
        return
    # Rationals within 1e-40 of the root of the square.
    scale = 10**60
    below = Fraction(isqrt(int(square * scale**2)), scale)
    assert not polytope.contains(target, below * (1 - Fraction(1, 10**40)))
    assert polytope.contains(target, below * (1 + Fraction(1, 10**40)))
    assert polytope.distance(target) == pytest.approx(float(below), rel=1e-12, abs=1e-13)


def test_distances_that_are_exactly_the_tolerance_count():
    square = Polytope(shapes.cube(2))
    assert square.contains([[2.0, 0.0], [4.0, 5.0], [1.0, 1.0]], tolerance=1).tolist() == [True, False, True]
    assert square.contains([4.0, 5.0], tolerance=5)
    assert not square.contains([4.0, 5.0], tolerance=Fraction(5) - Fraction(1, 10**30))
    assert not square.contains([1.0 + 2.0**-52, 0.0], tolerance=0)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_targets_of_all_sizes_are_measured_in_one_call(scale):
    square = Polytope(shapes.cube(2) * scale)
    ways = np.array([[2.0, 0.0], [0.5, 0.5], [1e-30, 0.0], [4.0, 5.0]]) * scale
    far = np.array([[1e305, 0.0], [0.0, -1e250]])
    together = square.distance(np.vstack([far, ways]))
    assert together[2:] / scale == pytest.approx([1, 0, 0, 5], rel=1e-12)
    assert together[:2] == pytest.approx([max(1e305 - scale, 0), max(1e250 - scale, 0)], rel=1e-12)
    assert square.contains(np.vstack([far, ways])).tolist()[2:] == [False, True, True, False]
    assert square.contains(ways, tolerance=2 * Fraction(scale)).tolist() == [True, True, True, False]
    assert square.contains(ways, tolerance="1e350").all()


@pytest.mark.parametrize("seed", range(20))
def test_where_floats_lead_astray_integers_decide(seed, monkeypatch):
    def astray(vertices: np.ndarray, targets: np.ndarray) -> Nearest:
        """Any corner at all, at full weight."""
        corrals = np.full((len(targets), 1), seed % len(vertices))
        return Nearest(vertices[corrals[:, 0]] - targets, corrals, np.ones((len(targets), 1)))

    points, targets, _ = thin_hull(seed)
    polytope = Polytope(points)
    inside, found = polytope.contains(targets, 1e-9), polytope.distance(targets)
    monkeypatch.setattr(distances, "nearest", astray)
    misled = Ruler(points, np.arange(len(points)), None)
    assert misled.within(targets, Fraction(1e-9)).tolist() == inside.tolist()
    assert np.abs(misled.distances(targets) - found).max() <= 1e-13


@pytest.mark.parametrize("seed", range(20))
def test_points_that_were_taken_for_no_vertices_but_stick_out_are_measured(seed):
    points, targets, _ = thin_hull(seed)
    whole, some = Ruler(points, np.arange(len(points)), None), Ruler(points, np.arange(2), None)
    assert some.within(targets, Fraction(0)).tolist() == whole.within(targets, Fraction(0)).tolist()
    assert np.abs(some.distances(targets) - whole.distances(targets)).max() <= 1e-13


@pytest.mark.parametrize("seed", range(40))
def test_a_bracket_holds_the_distance_even_without_most_of_its_slack(seed):
    points, targets, _ = thin_hull(seed)
    rng = np.random.default_rng(seed)
    d = points.shape[1]
    root_of_metric = np.linalg.cholesky(np.eye(d) + 0.3) if seed % 2 else None
    ruler = Ruler(points, np.arange(len(points)), root_of_metric)
    targets = np.vstack([targets, rng.normal(size=(10, d))])
    for seen in ruler._brackets(targets):
        for k, row in enumerate(seen.rows):
            truth = Fraction(root(ruler._exact_square(targets[row]))) / Fraction(2) ** seen.exponent
            assert Fraction(seen.low[k]) - Fraction(seen.slack[k]) / 4 <= truth
            assert truth <= Fraction(seen.high[k]) + Fraction(seen.slack[k]) / 4
    assert SLACK == 16


def test_ordinary_hulls_need_no_integers(monkeypatch):
    def refuse(*_):
        raise AssertionError("floats should have known")

    monkeypatch.setattr(Ruler, "_exact_square", refuse)
    rng = np.random.default_rng(0)
    for d in (1, 2, 3, 6):
        points = rng.normal(size=(40, d))
        polytope = Polytope(points, np.eye(d) + 0.3)
        assert polytope.contains(rng.dirichlet(np.ones(40), size=50) @ points).all()
        assert polytope.contains(points).all()
        assert not polytope.contains(points + 20).any()
