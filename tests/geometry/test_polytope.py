"""Polytopes: counted faces, known volumes, distances and membership against exact fractions."""

from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from effort import examples, some
from geometry import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds, problems, tokens

import hardmax as hm
from hardmax import InputError
from hardmax._tokens.rationals import root, to_fractions
from hardmax.geometry.polytope import Polytope
from hardmax.geometry.projection import project_exact


def placed(points: np.ndarray) -> list[np.ndarray]:
    """The same shape as it is, turned, and turned into a plane of a larger space away from the origin."""
    d = points.shape[1]
    return [points, points @ shapes.turn(d), np.pad(points, ((0, 0), (0, 2))) @ shapes.turn(d + 2) + 1]


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_f_vectors_and_volumes_of_cubes_cross_polytopes_and_simplices(d):
    for points, faces, volume in (
        (shapes.cube(d), [2 ** (d - k) * comb(d, k) for k in range(d)], 2**d),
        (shapes.cross_polytope(d), [2 ** (k + 1) * comb(d, k + 1) for k in range(d)], 2**d / factorial(d)),
        (shapes.simplex(d), [comb(d + 1, k + 1) for k in range(d)], 1 / factorial(d)),
    ):
        for polytope in map(Polytope, placed(points)):
            assert list(polytope.f_vector) == faces
            assert polytope.volume == pytest.approx(volume)


def test_f_vector_of_the_24_cell():
    roots = [
        np.eye(4)[i] * a + np.eye(4)[j] * b for i, j in combinations(range(4), 2) for a in (1, -1) for b in (1, -1)
    ]
    for points in placed(np.array(roots)):
        assert Polytope(points).f_vector == (24, 96, 96, 24)


@settings(max_examples=examples(200))
@given(clouds(max_n=10))
def test_eulers_relation_and_the_diamond_property_hold(cloud):
    polytope = Polytope(shapes.floats(cloud))
    assert polytope.faces(0) == tuple((v,) for v in range(len(polytope.vertices)))
    assert polytope.faces(polytope.dimension) == (tuple(range(len(polytope.vertices))),)
    signed = sum((-1) ** k * count for k, count in enumerate(polytope.f_vector))
    assert signed == (1 - (-1) ** polytope.dimension if polytope.dimension else 1)
    for k in range(polytope.dimension - 1):
        for low in polytope.faces(k):
            for high in polytope.faces(k + 2):
                between = [face for face in polytope.faces(k + 1) if set(low) <= set(face) <= set(high)]
                assert len(between) == (2 if set(low) <= set(high) else 0)


@pytest.mark.parametrize("d", [4, 6])
def test_inner_points_are_no_vertices_where_hulls_are_expensive(d):
    points = np.vstack([np.zeros((1, d)), shapes.cube(d), np.full((1, d), 0.5)])
    polytope = Polytope(points, metric=np.eye(d) * 3 - 1 / d)
    assert polytope.indices.tolist() == list(range(1, 2**d + 1))
    assert len(polytope.facets) == 2 * d


aimed = problems(max_n=8).flatmap(
    lambda problem: st.tuples(st.just(problem), st.lists(tokens(len(problem[0][0])), min_size=1, max_size=3))
)


@settings(max_examples=examples(200))
@given(aimed)
def test_distances_are_those_to_the_exact_projection(drawn):
    (cloud, metric, _), targets = drawn
    matrix = shapes.float_metric(metric, len(cloud[0]))
    ways = [shapes.floats([list(project_exact(cloud, metric, t)[0])])[0] - shapes.floats([t])[0] for t in targets]
    polytope = Polytope(shapes.floats(cloud), metric)
    expected = np.array([float(np.sqrt(way @ matrix @ way)) for way in ways])
    np.testing.assert_allclose(polytope.distance(shapes.floats(targets)), expected, atol=1e-9)
    assert polytope.contains(shapes.floats(targets), 1e-9).tolist() == (expected <= 1e-9).tolist()


def thin_hull(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in a slab of some thickness, turned and moved, and targets in, beside and far from it."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    n, thickness, flat = int(rng.integers(d + 1, 14)), 10 ** rng.uniform(-14, -6), int(rng.integers(1, d))
    points = rng.uniform(-1, 1, (n, d))
    points[:, -flat:] *= thickness
    if seed % 3:
        points = points @ shapes.turn(d, seed)
    if seed % 3 == 2:
        points += rng.normal(size=d)
    inside = rng.dirichlet(np.full(n, 0.3), size=5) @ points
    beside = inside + thickness * rng.uniform(0, 2, (5, 1)) * rng.normal(size=(5, d))
    return points, np.vstack([inside, beside, points[:2], rng.normal(size=(3, d)) * 1e3])


def exact_distance(points: np.ndarray, target: np.ndarray) -> float:
    way: Any = np.array(project_exact(points, None, target)[0], dtype=object) - to_fractions(target, "`target`")
    return root(way @ way)


@pytest.mark.parametrize("seed", some(range(60)))
def test_thin_hulls_are_measured_as_exactly_as_thick_ones(seed):
    points, targets = thin_hull(seed)
    truth = np.array([exact_distance(points, target) for target in targets])
    assert np.abs(Polytope(points).distance(targets) - truth).max() <= 1e-13 * np.abs(targets).max()
    assert np.abs(Polytope(points).distance(targets[:12]) - truth[:12]).max() <= 1e-13 * np.abs(points).max()


def test_where_floats_lead_astray_fractions_decide(monkeypatch):
    # Any point at all is taken for the nearest.
    monkeypatch.setattr("hardmax.geometry.polytope.nearest", lambda vertices, target: vertices[-1] - target)
    square = Polytope(shapes.cube(2), metric=[[4, 0], [0, 4]])
    assert square.distance([[0.0, 0.0], [4.0, 5.0], [1.0, 1.0], [-3.0, 0.0]]).tolist() == [0.0, 10.0, 0.0, 4.0]


def test_a_point_half_the_thickness_of_a_thin_triangle_away_is_outside():
    thickness = 4e-9
    triangle = Polytope([[0.0, 0.0], [1.0, 0.0], [0.5, thickness], [0.25, 0.0]])
    targets = [[0.5, thickness / 2], [0.5, 1.5 * thickness], [0.5, -thickness / 2], [0.5, -9e-13], [0.5, -1.1e-12]]
    assert triangle.contains(targets).tolist() == [True, False, False, True, False]
    assert triangle.distance(targets)[1] == pytest.approx(thickness / 2, rel=1e-6)


@pytest.mark.parametrize("size", [0.3, 1e-9, 1e-300])
def test_the_origin_among_small_points_is_a_point_like_any_other(size):
    polytope = Polytope(size * np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]]))
    assert polytope.distance([[0.0, 0.0], [size, -size]]).tolist() == [0.0, pytest.approx(size * np.sqrt(2))]
    assert polytope.contains([[0.0, 0.0], [size, -size]]).tolist() == [True, False]


@settings(max_examples=examples(100))
@given(problems(max_n=8))
def test_means_of_vertices_are_inside_at_distance_zero(problem):
    cloud, metric, _ = problem
    points = shapes.floats(cloud)
    means = np.random.default_rng(0).dirichlet(np.ones(len(points)), size=5) @ points
    polytope = Polytope(points, metric)
    assert polytope.contains(np.vstack([points, means])).all()
    assert polytope.distance(points).max() == 0
    assert polytope.distance(means).max() <= 1e-13


def test_distance_and_membership_in_fifty_dimensions():
    cross = Polytope(shapes.cross_polytope(50) @ shapes.turn(50))
    ways = (np.eye(50) * np.linspace(0.5, 3, 50)[:, None]) @ shapes.turn(50)
    np.testing.assert_allclose(cross.distance(ways), np.maximum(np.linspace(0.5, 3, 50) - 1, 0), atol=1e-12)
    assert cross.contains(ways).tolist() == (np.linspace(0.5, 3, 50) <= 1).tolist()
    assert repr(cross) == "Polytope(dimension 50 in R^50, 100 vertices)"


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_targets_of_all_sizes_are_measured_in_one_call(scale):
    square = Polytope(shapes.cube(2) * scale, metric=[[4, 0], [0, 4]])
    ways = np.array([[2.0, 0.0], [0.5, 0.5], [1e-30, 0.0], [4.0, 5.0]]) * scale
    far = np.array([[1e305, 0.0], [0.0, -1e250]])
    together = square.distance(np.vstack([far, ways]))
    assert together[2:] / scale == pytest.approx([2, 0, 0, 10], rel=1e-12)
    assert together[:2] == pytest.approx([2 * max(1e305 - scale, 0), 2 * max(1e250 - scale, 0)], rel=1e-12)
    assert square.contains(np.vstack([far, ways])).tolist()[2:] == [False, True, True, False]
    assert square.contains(ways, tolerance=2.01 * scale).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[1, 2]], "Polytope(dimension 0 in R^2, f-vector (1,))"),
        ([[0], [2], [1]], "Polytope(dimension 1 in R^1, f-vector (2,))"),
        (shapes.cube(2), "Polytope(dimension 2 in R^2, f-vector (4, 4))"),
        (shapes.cube(5), "Polytope(dimension 5 in R^5, 32 vertices)"),
    ],
)
def test_a_polytope_describes_itself(points, expected):
    assert repr(hm.geometry.Polytope(points)) == expected


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_points_known_to_be_vertices_are_kept_though_floats_do_not_find_them(far):
    # A regression: a leader 1e-13 off an edge of the others was lost, and so was the thin direction of close leaders.
    for points in ([[1, 1e-13], [1, -1e-13], [-1, 0]], [[1, 1], [1, -1], [1 + 1e-13, 0], [-2, 0]]):
        polytope = Polytope(np.array(points) * (1 + far), all_vertices=True)
        assert polytope.indices.tolist() == list(range(len(points)))
        assert polytope.dimension == 2
        assert repr(polytope) == f"Polytope(dimension 2 in R^2, {len(points)} vertices)"
        with pytest.raises(InputError, match=f"Of the {len(points)} vertices floats find"):
            _ = polytope.facets


seven = Polytope(np.vstack([np.zeros(7), np.eye(7)]))
square = Polytope(shapes.cube(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Polytope([]), "`points` is empty: a cloud needs at least one token."),
        (lambda: Polytope([[1.0, float("nan")]]), "`points` must be finite"),
        (lambda: Polytope([[1, 2]], metric=[[1]]), "`metric` must be 2 by 2, as the points have 2 coordinates, not 1"),
        (lambda: Polytope([[1]], metric=[[-1]]), "`metric` must be symmetric and positive definite"),
        (lambda: Polytope([[1, 2]], metric=[[1, 2], [3, 4]]), "`metric` must be symmetric and positive definite"),
        (lambda: Polytope([[1, 2]], [["1", "1"], ["1", "1.000000000000000000001"]]), "`metric` is too close to"),
        (lambda: square.distance([[1, 2, 3]]), "`points` must have 2 coordinates each, not 3."),
        (lambda: square.contains([[1, 2]], -0.5), "`tolerance` must be a finite number from 0 up, not -0.5."),
        (lambda: square.faces(3), "`dimension` must be a whole number from 0 to 2, not 3."),
        (
            lambda: seven.faces(1),
            "`facets`, `faces` and `volume` need points that span at most 6 dimensions, but these",
        ),
        (lambda: seven.volume, "`facets`, `faces` and `volume` need points that span at most 6 dimensions"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refusal:
        call()
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)
