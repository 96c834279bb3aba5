"""The nearest point of a hull: its optimality is checked exactly."""

from fractions import Fraction

import numpy as np
import pytest
from geometry.shapes import cross_polytope, cube, rank
from hypothesis import given
from hypothesis import strategies as st
from known import rational
from oracle import apply, dot
from refusals import listed_refusals
from strategies import problems, subtracted, tokens

from hardmax.geometry.projection import project_exact

TILTED = [[2, 1], [1, 1]]


@st.composite
def aimed(draw):
    """A cloud, a metric, and a target, or none."""
    cloud, metric, _ = draw(problems(max_n=9))
    return cloud, metric, draw(st.none() | tokens(len(cloud[0])))


def combined(weights, cloud):
    return [dot(list(weights), list(axis)) for axis in zip(*cloud, strict=True)]


@given(aimed())
def test_no_vertex_lies_nearer_and_weights_are_positive_on_independent_vertices_only(drawn):
    cloud, metric, target = drawn
    point, weights = project_exact(cloud, metric, target)
    assert sum(weights) == 1
    assert min(weights) >= 0
    assert list(point) == combined(weights, cloud)
    origin = [Fraction(0)] * len(point)
    way = apply(metric, subtracted(list(point), target or origin))
    used = []
    for vertex, weight in zip(cloud, weights, strict=True):
        rise = dot(way, subtracted(vertex, list(point)))
        assert rise >= 0
        if weight:
            assert rise == 0
            used.append(vertex)
    assert rank(used) == len(used) - 1


# Vertices, the projection of the origin, and the weights of the vertices.
BY_HAND = """
1 1, 1 -1 => 1 0 => 1/2 1/2
1 1, 1 -1, 2 0, 5 7 => 1 0 => 1/2 1/2 0 0
1/3, 2/3 => 1/3 => 1 0
0 3, 4 0 => 36/25 48/25 => 16/25 9/25
3 4 => 3 4 => 1
""".strip()
BY_HAND_TILTED = """
1 1, 1 -3 => 1 -1 => 1/2 1/2
1 1, 1 -1 => 1 -1 => 0 1
1 2, -1 -2 => 0 0 => 1/2 1/2
""".strip()


def assert_projected(line, metric):
    vertices, point, weights = line.split(" => ")
    found = project_exact(rational(vertices), metric)
    assert list(found[0]) == rational(point)[0]
    assert list(found[1]) == rational(weights)[0]


@pytest.mark.parametrize("line", BY_HAND.split("\n"))
def test_projections_of_the_origin_that_one_can_do_by_hand(line):
    assert_projected(line, None)


@pytest.mark.parametrize("line", BY_HAND_TILTED.split("\n"))
def test_projections_with_a_metric_that_one_can_do_by_hand(line):
    assert_projected(line, TILTED)


def test_a_float_is_the_number_it_stores():
    (point,), _ = project_exact([[0.1]])
    assert point == Fraction(0.1)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_origin_projects_on_the_middle_of_a_face_of_cube_and_cross_polytope(d):
    corners = cube(d)
    face, _ = project_exact(corners[corners[:, 0] == 1])
    assert face == (1, *[0] * (d - 1))
    middle, weights = project_exact(np.eye(d))
    assert middle == weights == (Fraction(1, d),) * d
    assert project_exact(cross_polytope(d))[0] == (0,) * d


@given(problems(max_n=9))
def test_a_target_in_the_hull_is_its_own_projection_and_repeated_vertices_change_nothing(problem):
    cloud, metric, _ = problem
    middle = combined([Fraction(1, len(cloud))] * len(cloud), cloud)
    assert list(project_exact(cloud, metric, middle)[0]) == middle
    thrice, _ = project_exact(cloud * 3, metric)
    assert thrice == project_exact(cloud, metric)[0]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
