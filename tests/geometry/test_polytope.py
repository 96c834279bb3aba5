"""Polytopes: counted faces, known volumes, distances against exact fractions."""

from itertools import combinations
from math import comb, factorial

import numpy as np
import pytest
from effort import examples
from geometry import shapes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds, problems, tokens

import hardmax as hm
from hardmax import InputError
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


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_distances_neither_overflow_nor_vanish_at_any_scale(scale):
    square = Polytope(shapes.cube(2) * scale, metric=[[4, 0], [0, 4]])
    ways = np.array([[2.0, 0.0], [0.5, 0.5], [1e-30, 0.0], [4.0, 5.0]]) * scale
    assert square.distance(ways) / scale == pytest.approx([2, 0, 0, 10], rel=1e-12)


def test_a_point_half_the_thickness_of_a_thin_triangle_away_is_outside():
    triangle = Polytope([[0.0, 0.0], [1.0, 0.0], [0.5, 2.0**-28], [0.25, 0.0]])
    distances = triangle.distance([[0.5, 2.0**-29], [0.5, 1.5 * 2.0**-28], [0.5, -(2.0**-80)]])
    assert distances.tolist() == [0.0, pytest.approx(2.0**-29), 2.0**-80]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[1, 2]], "Polytope(dimension 0 in R^2, f-vector (1,))"),
        ([[0], [2], [1]], "Polytope(dimension 1 in R^1, f-vector (2,))"),
        (shapes.cube(2), "Polytope(dimension 2 in R^2, f-vector (4, 4))"),
        (shapes.cube(5), "Polytope(dimension 5 in R^5, 32 points)"),
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
        assert repr(polytope) == f"Polytope(dimension 2 in R^2, {len(points)} points)"
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
        (lambda: square.distance([[1, 2, 3]]), "`points` must have 2 coordinates each, not 3."),
        (lambda: square.faces(3), "`dimension` must be a whole number from 0 to 2, not 3."),
        (lambda: seven.vertices, "`vertices`, `facets`, `faces` and `volume` need points that span at most 6 dim"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refusal:
        call()
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)
