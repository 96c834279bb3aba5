"""Polytopes: counted faces, known volumes, distances by definition."""

from itertools import combinations
from math import comb, factorial, prod

import numpy as np
import pytest
from effort import examples
from geometry import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds, problems, tokens

from hardmax._validation import InputError
from hardmax.geometry.polytope import Polytope
from hardmax.geometry.projection import project_exact

DIMENSIONS = [2, 3, 4, 5]


def placed(points: np.ndarray) -> list[np.ndarray]:
    """The same shape as it is, turned, and turned into a flat of a larger space away from the origin."""
    d = points.shape[1]
    return [points, points @ shapes.turn(d), np.pad(points, ((0, 0), (0, 2))) @ shapes.turn(d + 2) + 1]


@pytest.mark.parametrize("d", DIMENSIONS)
def test_f_vector_and_volume_of_the_cube(d):
    for points in placed(shapes.cube(d)):
        cube = Polytope(points)
        assert cube.f_vector == tuple(2 ** (d - k) * comb(d, k) for k in range(d))
        assert cube.volume == pytest.approx(2**d)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_f_vector_and_volume_of_the_cross_polytope(d):
    for points in placed(shapes.cross_polytope(d)):
        cross = Polytope(points)
        assert cross.f_vector == tuple(2 ** (k + 1) * comb(d, k + 1) for k in range(d))
        assert cross.volume == pytest.approx(2**d / factorial(d))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_f_vector_and_volume_of_the_simplex(d):
    for points in placed(shapes.simplex(d)):
        simplex = Polytope(points)
        assert simplex.f_vector == tuple(comb(d + 1, k + 1) for k in range(d))
        assert simplex.volume == pytest.approx(1 / factorial(d))


def test_f_vector_of_the_24_cell():
    roots = [
        np.eye(4)[i] * a + np.eye(4)[j] * b for i, j in combinations(range(4), 2) for a in (1, -1) for b in (1, -1)
    ]
    for points in placed(np.array(roots)):
        assert Polytope(points).f_vector == (24, 96, 96, 24)


@settings(max_examples=examples(200))
@given(clouds(max_n=10))
def test_eulers_relation_holds(cloud):
    polytope = Polytope(shapes.floats(cloud))
    signed = sum((-1) ** k * count for k, count in enumerate(polytope.f_vector))
    assert signed == (1 - (-1) ** polytope.dimension if polytope.dimension else 1)


@settings(max_examples=60)
@given(clouds(max_d=4, max_n=9))
def test_each_face_is_exposed_by_the_normals_of_the_facets_through_it(cloud):
    polytope = Polytope(shapes.floats(cloud))
    for k in range(polytope.dimension):
        for face in polytope.faces(k):
            through = [set(face) <= set(facet) for facet in polytope.facets]
            assert polytope.face_of_direction(polytope.normals[through].sum(axis=0)) == face


@settings(max_examples=60)
@given(clouds(max_d=4, max_n=9))
def test_between_a_face_and_one_two_dimensions_higher_lie_two_faces(cloud):
    polytope = Polytope(shapes.floats(cloud))
    for k in range(polytope.dimension - 1):
        for low in polytope.faces(k):
            for high in polytope.faces(k + 2):
                between = [face for face in polytope.faces(k + 1) if set(low) <= set(face) <= set(high)]
                assert len(between) == (2 if set(low) <= set(high) else 0)


@given(clouds(max_n=10))
def test_vertices_are_points_in_their_order_and_faces_speak_of_vertices(cloud):
    points = shapes.floats(cloud)
    polytope = Polytope(points)
    assert polytope.vertices.tolist() == points[polytope.indices].tolist()
    assert (np.diff(polytope.indices) > 0).all()
    assert polytope.faces(0) == tuple((v,) for v in range(len(polytope.vertices)))
    assert polytope.faces(polytope.dimension) == (tuple(range(len(polytope.vertices))),)


@pytest.mark.parametrize("d", [4, 6])
def test_inner_points_are_no_vertices_where_hulls_are_dear(d):
    points = np.vstack([np.zeros((1, d)), shapes.cube(d), np.full((1, d), 0.5)])
    assert Polytope(points, metric=np.eye(d) * 3 - 1 / d).indices.tolist() == list(range(1, 2**d + 1))
    assert len(Polytope(points).facets) == 2 * d


aimed = problems(max_n=8).flatmap(
    lambda problem: st.tuples(st.just(problem), st.lists(tokens(len(problem[0][0])), min_size=1, max_size=3))
)


@given(aimed)
def test_distances_are_those_to_the_exact_projection(drawn):
    (cloud, metric, _), targets = drawn
    matrix = shapes.float_metric(metric, len(cloud[0]))
    ways = [shapes.floats([list(project_exact(cloud, metric, t).point)])[0] - shapes.floats([t])[0] for t in targets]
    expected = [float(np.sqrt(way @ matrix @ way)) for way in ways]
    found = Polytope(shapes.floats(cloud), metric).distance(shapes.floats(targets))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("size", [0.3, 1e-9, 1e-300])
def test_the_origin_among_small_points_is_a_point_like_any_other(size):
    polytope = Polytope(size * np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]]))
    assert polytope.distance([[0.0, 0.0], [size, -size]]).tolist() == [0.0, pytest.approx(size * np.sqrt(2))]
    assert polytope.contains([[0.0, 0.0], [size, -size]]).tolist() == [True, False]


@settings(max_examples=50)
@given(problems(max_n=8))
def test_means_of_vertices_are_inside_at_distance_nought(problem):
    cloud, metric, _ = problem
    points = shapes.floats(cloud)
    weights = np.random.default_rng(0).dirichlet(np.ones(len(points)), size=20)
    polytope = Polytope(points, metric)
    assert polytope.contains(points).all()
    assert polytope.contains(weights @ points).all()
    assert polytope.distance(points).max() == 0
    assert polytope.distance(weights @ points).max() <= 1e-13


def test_distance_and_membership_in_fifty_dimensions():
    cross = Polytope(shapes.cross_polytope(50) @ shapes.turn(50))
    ways = (np.eye(50) * np.linspace(0.5, 3, 50)[:, None]) @ shapes.turn(50)
    np.testing.assert_allclose(cross.distance(ways), np.maximum(np.linspace(0.5, 3, 50) - 1, 0), atol=1e-12)
    assert cross.contains(ways).tolist() == (np.linspace(0.5, 3, 50) <= 1).tolist()
    assert repr(cross) == "Polytope(dimension 50 in R^50, 100 vertices)"


def test_a_point_off_the_flat_is_as_far_as_it_stands_off():
    square = Polytope([[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    np.testing.assert_allclose(square.distance([[0.5, 0.5, 4], [2, 0.5, 1], [4, 0.5, 5]]), [3, 1, 5])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_distances_scale_with_the_unit(scale):
    segment = Polytope(np.array([[0.0, 0.0], [1.0, 0.0]]) * scale, metric=[["2", "1"], ["1", "1"]])
    assert segment.distance([0.0, scale]) / scale == pytest.approx(project_length(0, 1), rel=1e-12)
    assert segment.contains(np.array([[0.5, 0.0], [0.5, 1e-6]]) * scale).tolist() == [True, False]


def project_length(x: float, y: float) -> float:
    """The distance in the metric ((2, 1), (1, 1)) from (x, y) to the segment from (0, 0) to (1, 0)."""
    along = np.clip(x + y / 2, 0, 1)
    return float(np.sqrt(2 * (x - along) ** 2 + 2 * (x - along) * y + y**2))


def test_one_point_gives_one_answer():
    square = Polytope(shapes.cube(2))
    assert square.distance([4, 5]) == 5.0
    assert square.contains([0.0, 0.0])
    assert not square.contains([0.0, 1.1])
    assert square.contains([0.0, 1.1], tolerance=0.2)


def test_the_face_of_a_direction_is_what_lies_furthest_along_it():
    cube = Polytope(shapes.cube(3) @ shapes.turn(3))
    for direction in ([1, 0, 0], [1, 1, 0], [1, -2, 0.5], [0, 0, 0]):
        expected = np.flatnonzero(np.isclose(shapes.cube(3) @ direction, np.abs(direction).sum()))
        assert cube.face_of_direction(np.array(direction) @ shapes.turn(3)) == tuple(expected)


def test_an_outline_goes_round_a_face():
    cube = Polytope(shapes.cube(3))
    for facet in cube.facets:
        ring = cube.outline(facet)
        edges = {tuple(sorted(pair)) for pair in zip(ring, ring[1:] + ring[:1], strict=True)}
        assert edges <= set(cube.faces(1))
        assert sorted(ring) == sorted(facet)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[1, 2]], "Polytope(dimension 0 in R^2, f-vector (1,))"),
        ([[0], [2], [1]], "Polytope(dimension 1 in R^1, f-vector (2,))"),
        (shapes.cube(2), "Polytope(dimension 2 in R^2, f-vector (4, 4))"),
        (shapes.cube(5), "Polytope(dimension 5 in R^5, 32 vertices)"),
    ],
)
def test_a_polytope_says_what_it_is(points, expected):
    assert repr(Polytope(points)) == expected


def test_volumes_of_boxes_are_products():
    sides = [2.0, 3.0, 0.5, 7.0]
    assert Polytope(shapes.cube(4) * sides / 2).volume == pytest.approx(prod(sides))


seven = Polytope(np.vstack([np.zeros(7), np.eye(7)]))
square = Polytope(shapes.cube(2))
dear = "needs points that span at most 6 dimensions, but these span 7."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Polytope([]), "`points` is empty: a cloud needs at least one token."),
        (
            lambda: Polytope([[1, 2]], metric=[[1]]),
            "`metric` must be 2 by 2, as the points have 2 coordinates, not 1 by 1.",
        ),
        (lambda: Polytope([[1]], metric=[[-1]]), "`metric` must be positive definite: its smallest eigenvalue is -1."),
        (lambda: Polytope([[1, 2]], metric=[[1, 2], [3, 4]]), "`metric` must be symmetric: |A - A.T| reaches 1."),
        (lambda: square.distance([[1, 2, 3]]), "`points` must have 2 coordinates each, not 3."),
        (lambda: square.distance([[1, 2], [3]]), "`points`: token 1 has 1 coordinates, the tokens before it have 2."),
        (lambda: square.contains([[1, 2]], -0.5), "`tolerance` must be a distance from 0 up, not -0.5."),
        (lambda: square.contains([[1, 2]], float("nan")), "`tolerance` must be a finite number"),
        (lambda: square.faces(3), "`dimension` must be a whole number from 0 to 2, not 3."),
        (lambda: square.faces(-1), "`dimension` must be a whole number from 0 to 2, not -1."),
        (lambda: square.face_of_direction([1, 2, 3]), "`direction` must have 2 coordinates each, not 3."),
        (
            lambda: square.face_of_direction([[1, 2]]),
            "`direction` must be one point, a list of coordinates, not [[1, 2]].",
        ),
        (lambda: square.outline((0, 9)), "`face` must be indices of vertices, below 4, not (0, 9)."),
        (lambda: seven.facets, f"`facets` {dear}"),
        (lambda: seven.faces(1), f"`facets` {dear}"),
        (lambda: seven.f_vector, f"`facets` {dear}"),
        (lambda: seven.volume, f"`volume` {dear}"),
        (lambda: seven.normals, f"`normals` {dear}"),
        (lambda: seven.offsets, f"`offsets` {dear}"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refusal:
        call()
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_a_polytope_too_thin_for_facets_says_so(monkeypatch):
    thin = Polytope(shapes.cube(4))
    flat = Polytope(shapes.cube(3))._hull
    monkeypatch.setattr("hardmax.geometry.polytope.hull", lambda _points: flat)
    with pytest.raises(InputError, match=r"^`points` span 4 dimensions, but so thinly that floats do not tell"):
        thin.facets  # noqa: B018
