"""Faces from facets."""

from itertools import combinations

from hardmax.geometry.hull import faces_below


def test_any_vertices_of_a_simplex_are_a_face():
    facets = list(combinations(range(5), 4))
    triangles = faces_below(facets, 3, facets)
    assert triangles == tuple(combinations(range(5), 3))
    assert faces_below(triangles, 2, facets) == tuple(combinations(range(5), 2))


def test_a_square_pyramid_has_eight_edges_and_five_vertices():
    facets = [(0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 3, 4)]
    edges = faces_below(facets, 2, facets)
    assert edges == ((0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4))
    assert faces_below(edges, 1, facets) == ((0,), (1,), (2,), (3,), (4,))
