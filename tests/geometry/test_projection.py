"""The nearest point of a hull: its optimality is checked exactly."""

from fractions import Fraction

import numpy as np
import pytest
from geometry.shapes import cross_polytope, cube, rank
from hypothesis import given
from hypothesis import strategies as st
from oracle import apply, dot
from refusals import listed_refusals
from strategies import problems, subtracted, tokens

from hardmax.geometry.projection import project_exact

TILTED = [[2, 1], [1, 1]]
aimed = problems(max_n=9).flatmap(
    lambda problem: st.tuples(st.just(problem), st.one_of(st.none(), tokens(len(problem[0][0]))))
)


@given(aimed)
def test_no_vertex_lies_nearer_and_weights_are_positive_on_independent_vertices_only(drawn):
    (cloud, metric, _), target = drawn
    point, weights = project_exact(cloud, metric, target)
    assert sum(weights) == 1
    assert min(weights) >= 0
    assert list(point) == [dot(list(weights), list(axis)) for axis in zip(*cloud, strict=True)]
    way = apply(metric, subtracted(list(point), target or [Fraction(0)] * len(point)))
    rises = [dot(way, subtracted(vertex, list(point))) for vertex in cloud]
    assert min(rises) >= 0
    assert all(rise == 0 for rise, weight in zip(rises, weights, strict=True) if weight)
    used = [vertex for vertex, weight in zip(cloud, weights, strict=True) if weight]
    assert rank(used) == len(used) - 1


@pytest.mark.parametrize(
    ("vertices", "metric", "point", "weights"),
    [
        ([[1, 1], [1, -1]], None, [1, 0], ["1/2", "1/2"]),
        ([[1, 1], [1, -1], [2, 0], [5, 7]], None, [1, 0], ["1/2", "1/2", "0", "0"]),
        ([[1, 1], [1, -3]], TILTED, [1, -1], ["1/2", "1/2"]),
        ([[1, 1], [1, -1]], TILTED, [1, -1], ["0", "1"]),
        ([["1/3"], ["2/3"]], None, ["1/3"], ["1", "0"]),
        ([[0, 3], [4, 0]], None, ["36/25", "48/25"], ["16/25", "9/25"]),
        ([[3, 4]], [[1, 0], [0, 9]], [3, 4], ["1"]),
        ([[1, 2], [-1, -2]], TILTED, [0, 0], ["1/2", "1/2"]),
        ([[0.1]], None, [Fraction(0.1)], ["1"]),
    ],
)
def test_projections_of_the_origin_that_one_can_do_by_hand(vertices, metric, point, weights):
    assert project_exact(vertices, metric) == (
        tuple(map(Fraction, point)),
        tuple(map(Fraction, weights)),
    )


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_origin_projects_on_the_middle_of_a_face_of_cube_and_cross_polytope(d):
    assert project_exact(cube(d)[cube(d)[:, 0] == 1])[0] == (1, *[0] * (d - 1))
    assert project_exact(np.eye(d)) == ((Fraction(1, d),) * d, (Fraction(1, d),) * d)
    assert project_exact(cross_polytope(d))[0] == (0,) * d


@given(problems(max_n=9))
def test_a_target_in_the_hull_is_its_own_projection_and_repeated_vertices_change_nothing(problem):
    cloud, metric, _ = problem
    middle = [sum(axis, Fraction(0)) / len(cloud) for axis in zip(*cloud, strict=True)]
    assert list(project_exact(cloud, metric, middle)[0]) == middle
    assert project_exact(cloud * 3, metric)[0] == project_exact(cloud, metric)[0]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
