"""The nearest point of a hull: its optimality is checked exactly, and floats against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from geometry.shapes import cross_polytope, cube, float_metric, floats
from hypothesis import given
from hypothesis import strategies as st
from oracle import apply, dot
from strategies import problems, subtracted, tokens

from hardmax._validation import InputError
from hardmax.geometry._affine import affine_rank
from hardmax.geometry.projection import project, project_exact

TILTED = [[2, 1], [1, 1]]
aimed = problems(max_n=9).flatmap(
    lambda problem: st.tuples(st.just(problem), st.one_of(st.none(), tokens(len(problem[0][0]))))
)


@given(aimed)
def test_no_vertex_lies_nearer_than_the_projection_says_exactly(drawn):
    (cloud, metric, _), target = drawn
    point, weights = project_exact(cloud, metric, target)
    assert sum(weights) == 1
    assert min(weights) >= 0
    assert list(point) == [dot(list(weights), list(axis)) for axis in zip(*cloud, strict=True)]
    way = apply(metric, subtracted(list(point), target or [Fraction(0)] * len(point)))
    rises = [dot(way, subtracted(vertex, list(point))) for vertex in cloud]
    assert min(rises) >= 0
    assert all(rise == 0 for rise, weight in zip(rises, weights, strict=True) if weight)


@given(aimed)
def test_weights_are_positive_on_independent_vertices_only(drawn):
    (cloud, metric, _), target = drawn
    weights = project_exact(cloud, metric, target).weights
    used = [vertex for vertex, weight in zip(cloud, weights, strict=True) if weight]
    assert affine_rank(used) == len(used) - 1


@given(aimed)
def test_floats_and_fractions_find_the_same_point(drawn):
    (cloud, metric, _), target = drawn
    point, weights = project(floats(cloud), metric, None if target is None else floats([target])[0])
    # The nearest point is one, so weights may differ but points may not.
    exact = floats([list(project_exact(cloud, metric, target).point)])[0]
    np.testing.assert_allclose(point, exact, atol=1e-9)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-13)
    np.testing.assert_allclose(weights @ floats(cloud), point, atol=1e-12)


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
    ],
)
def test_projections_of_the_origin_that_one_can_do_by_hand(vertices, metric, point, weights):
    exact = project_exact(vertices, metric)
    assert exact == (tuple(map(Fraction, point)), tuple(map(Fraction, weights)))
    near = project(vertices, metric)
    np.testing.assert_allclose(near.point, floats([list(exact.point)])[0], atol=1e-14)
    np.testing.assert_allclose(near.weights, floats([list(exact.weights)])[0], atol=1e-14)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_origin_projects_on_the_middle_of_a_face_of_the_cube(d):
    face = cube(d)[cube(d)[:, 0] == 1]
    assert project_exact(face).point == (1, *[0] * (d - 1))
    np.testing.assert_allclose(project(face).point, np.eye(d)[0], atol=1e-14)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_origin_projects_on_the_middle_of_a_facet_of_the_cross_polytope(d):
    assert project_exact(np.eye(d)) == ((Fraction(1, d),) * d, (Fraction(1, d),) * d)
    np.testing.assert_allclose(project(np.eye(d)).point, np.full(d, 1 / d), atol=1e-14)
    assert project_exact(cross_polytope(d)).point == (0,) * d


@given(problems(max_n=9))
def test_a_target_in_the_hull_is_its_own_projection(problem):
    cloud, metric, _ = problem
    middle = [sum(axis, Fraction(0)) / len(cloud) for axis in zip(*cloud, strict=True)]
    assert list(project_exact(cloud, metric, middle).point) == middle


@given(problems(max_n=6))
def test_repeating_the_vertices_changes_no_projection(problem):
    cloud, metric, _ = problem
    assert project_exact(cloud * 3, metric).point == project_exact(cloud, metric).point


def test_floats_are_taken_as_the_rationals_that_they_are():
    assert project_exact([[0.1]]).point == (Fraction(0.1),)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_does_not_matter(scale):
    found = project(np.array([[1.0, 1.0], [1.0, -1.0], [4.0, 0.0]]) * scale)
    np.testing.assert_allclose(found.point / scale, [1, 0], atol=1e-14)


def test_points_far_away_keep_their_digits():
    found = project(np.array([[1e9, 1.0], [1e9, -2.0]]))
    np.testing.assert_allclose(found.point, [1e9, 0.0], rtol=1e-15, atol=1e-6)
    np.testing.assert_allclose(found.weights, [2 / 3, 1 / 3], rtol=1e-6)


def test_float_and_exact_agree_in_sixteen_dimensions():
    rng = np.random.default_rng(0)
    corners = rng.integers(-9, 10, size=(30, 16)) + 5.0
    matrix = rng.integers(-2, 3, size=(16, 16))
    metric = matrix @ matrix.T + np.eye(16)
    exact = floats([list(project_exact(corners, metric).point)])[0]
    np.testing.assert_allclose(project(corners, metric).point, exact, atol=1e-11)
    way = float_metric(metric.tolist(), 16) @ exact
    assert (corners @ way).min() >= way @ exact - 1e-8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 2]], [[1]]), "`metric` must be 2 by 2, as the points have 2 coordinates, not 1 by 1."),
        (
            ([[1, 2]], [[1, 2], [0, 1]]),
            "`metric` must be symmetric: |A - A.T| reaches 2. Pass (A + A.T)/2 if that is rounding.",
        ),
        (
            ([[1, 2]], [[1, 2], [2, 1]]),
            "`metric` must be positive definite: its smallest eigenvalue is -1. Leave it out for Euclidean distances.",
        ),
        (([[1, 2]], None, [1, 2, 3]), "`target` must have 2 coordinates each, not 3."),
        (([[1, 2]], None, [["a", 2]]), None),
        (([["x", 2]],), None),
        (([],), None),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, message):
    for function in (project, project_exact):
        with pytest.raises(InputError) as refusal:
            function(*arguments)
        assert "\n" not in str(refusal.value)
        assert message is None or str(refusal.value) == message


def test_a_table_of_targets_is_refused():
    with pytest.raises(InputError, match="`target` must be one point, a list of coordinates, not"):
        project([[1, 2]], target=[[1, 2]])
