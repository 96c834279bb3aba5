"""Polytopes: counted faces, Euler's relation, vertices that floats do not find."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from geometry import shapes
from hypothesis import given
from refusals import listed_refusals, refuses
from strategies import clouds

from hardmax.geometry.polytope import Polytope


def placed(points: np.ndarray) -> list[np.ndarray]:
    """The same shape as it is, turned, and turned into a plane of a larger space away from the
    origin."""
    d = points.shape[1]
    return [
        points,
        points @ shapes.turn(d),
        np.pad(points, ((0, 0), (0, 2))) @ shapes.turn(d + 2) + 1,
    ]


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_f_vectors_of_cubes_cross_polytopes_and_simplices(d):
    for points, faces in (
        (shapes.cube(d), [2 ** (d - k) * comb(d, k) for k in range(d)]),
        (shapes.cross_polytope(d), [2 ** (k + 1) * comb(d, k + 1) for k in range(d)]),
        (shapes.simplex(d), [comb(d + 1, k + 1) for k in range(d)]),
    ):
        for polytope in map(Polytope, placed(points)):
            assert list(polytope.f_vector) == faces


def test_f_vector_of_the_24_cell():
    roots = [
        np.eye(4)[i] * a + np.eye(4)[j] * b
        for i, j in combinations(range(4), 2)
        for a in (1, -1)
        for b in (1, -1)
    ]
    for points in placed(np.array(roots)):
        assert Polytope(points).f_vector == (24, 96, 96, 24)


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
                between = [
                    face for face in polytope.faces(k + 1) if set(low) <= set(face) <= set(high)
                ]
                assert len(between) == (2 if set(low) <= set(high) else 0)


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
    assert repr(Polytope(points)) == expected


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_points_known_to_be_vertices_are_kept_though_floats_do_not_find_them(far):
    # A regression: a leader 1e-13 off an edge of the others was lost, and so was the thin direction
    # of close leaders.
    for points in ([[1, 1e-13], [1, -1e-13], [-1, 0]], [[1, 1], [1, -1], [1 + 1e-13, 0], [-2, 0]]):
        polytope = Polytope(np.array(points) * (1 + far), all_vertices=True)
        assert polytope.indices.tolist() == list(range(len(points)))
        assert polytope.dimension == 2
        assert repr(polytope) == f"Polytope(dimension 2 in R^2, {len(points)} points)"
        with refuses(f"Of the {len(points)} vertices floats find"):
            _ = polytope.facets


seven = Polytope(np.vstack([np.zeros(7), np.eye(7)]))
square = Polytope(shapes.cube(2))


@pytest.mark.parametrize(("height", "dimension"), [(0.0, 1), (1e-15, 1), (1e-13, 2)])
def test_a_vertex_that_the_hull_loses_counts_if_it_is_more_than_rounding(height, dimension):
    assert (
        Polytope(np.array([[0, 0], [0.5, height], [1, 0]]), all_vertices=True).dimension
        == dimension
    )


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
