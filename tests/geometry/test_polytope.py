"""Polytopes: counted faces, Euler's relation, vertices that floats do not find."""

import numpy as np
import pytest
from geometry import shapes
from refusals import listed_refusals, refuses

from hardmax.geometry.polytope import Polytope


def placed(points: np.ndarray) -> list[np.ndarray]:
    """The same shape as it is, turned, and turned into a plane of a larger space away from the
    origin."""
    d = points.shape[1]
    padded = np.pad(points, ((0, 0), (0, 2)))
    return [points, points @ shapes.turn(d), padded @ shapes.turn(d + 2) + 1]


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_cubes_cross_polytopes_and_simplices_have_their_facets(d):
    counts = (shapes.cube(d), 2 * d), (shapes.cross_polytope(d), 2**d), (shapes.simplex(d), d + 1)
    for points, facets in counts:
        for polytope in map(Polytope, placed(points)):
            assert (polytope.dimension, len(polytope.facets)) == (d, facets)
            assert len(polytope.vertices) == len(points)


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_points_known_to_be_vertices_are_kept_though_floats_do_not_find_them(far):
    # A regression: a leader 1e-13 off an edge of the others was lost, and so was the thin direction
    # of close leaders.
    close_to_an_edge = [[1, 1e-13], [1, -1e-13], [-1, 0]]
    for points in (close_to_an_edge, [[1, 1], [1, -1], [1 + 1e-13, 0], [-2, 0]]):
        polytope = Polytope(np.array(points) * (1 + far), all_vertices=True)
        assert polytope.indices.tolist() == list(range(len(points)))
        assert polytope.dimension == 2
        assert repr(polytope) == f"Polytope(dimension 2 in R^2, {len(points)} points)"
        with refuses(f"Of the {len(points)} vertices floats find"):
            _ = polytope.facets


seven = Polytope(np.vstack([np.zeros(7), np.eye(7)]))


@pytest.mark.parametrize(("height", "dimension"), [(0.0, 1), (1e-15, 1), (1e-13, 2)])
def test_a_vertex_that_the_hull_loses_counts_if_it_is_more_than_rounding(height, dimension):
    points = np.array([[0, 0], [0.5, height], [1, 0]])
    found = Polytope(points, all_vertices=True)
    assert found.dimension == dimension


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
