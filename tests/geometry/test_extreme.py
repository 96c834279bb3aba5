"""Extreme points against their definition, and in dimensions where no hull can be had."""

import numpy as np
import pytest
from geometry import shapes
from hypothesis import given, settings
from strategies import clouds

from hardmax._validation import InputError
from hardmax.geometry.hull import extreme_points, is_extreme

small_clouds = clouds(max_n=7)


@settings(max_examples=120)
@given(small_clouds)
def test_extreme_points_are_those_in_no_simplex_of_others(cloud):
    assert extreme_points(shapes.floats(cloud)).tolist() == shapes.extreme_points(cloud)


@given(small_clouds)
def test_each_place_is_asked_for_alone_with_the_same_answer(cloud):
    points = shapes.floats(cloud)
    extreme = {tuple(points[i]) for i in extreme_points(points)}
    assert [is_extreme(points, i) for i in range(len(points))] == [tuple(point) in extreme for point in points]


@settings(max_examples=40)
@given(small_clouds)
def test_the_directions_tried_first_do_not_change_the_answer(cloud):
    points = shapes.floats(cloud)
    d = points.shape[1]
    expected = extreme_points(points).tolist()
    for directions in (np.zeros((1, d)), np.ones((1, d)), np.eye(d), points):
        assert extreme_points(points, directions).tolist() == expected


@pytest.mark.parametrize("d", [7, 10])
def test_inner_points_of_a_turned_cube_in_high_dimension_are_found(d):
    rng = np.random.default_rng(d)
    corners = shapes.cube(d)
    pairs = rng.integers(len(corners), size=(2, 50))
    middles = (corners[pairs[0]] + corners[pairs[1]]) / 2
    inner = middles[(np.abs(middles) < 1).any(axis=1)]
    found = extreme_points(np.vstack([inner, corners]) @ shapes.turn(d))
    assert found.tolist() == list(range(len(inner), len(inner) + len(corners)))


@pytest.mark.parametrize("d", [8, 30, 60])
def test_all_of_a_simplex_and_its_mean_in_high_dimension(d):
    points = np.vstack([shapes.simplex(d), np.full(d, 1 / (d + 1))]) @ shapes.turn(d)
    assert extreme_points(points).tolist() == list(range(d + 1))
    assert not is_extreme(points, d + 1)


def test_points_on_a_sphere_are_all_extreme():
    points = np.random.default_rng(0).normal(size=(500, 9))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert len(extreme_points(points)) == 500


def test_many_points_try_a_part_of_their_directions_and_find_the_same(monkeypatch):
    points = np.random.default_rng(1).normal(size=(400, 4))
    expected = extreme_points(points).tolist()
    monkeypatch.setattr("hardmax.geometry.hull.MOST_DIRECTIONS", 3)
    assert extreme_points(points).tolist() == expected


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_the_unit_does_not_matter(scale):
    points = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 3.0]]) * scale
    assert extreme_points(points).tolist() == [0, 1, 3]
    assert [is_extreme(points, i) for i in range(4)] == [True, True, False, True]


def test_a_place_alone_is_extreme():
    assert extreme_points([[2, 2]] * 3).tolist() == [0]
    assert is_extreme([[2, 2]] * 3, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: is_extreme([[1.0], [2.0]], 2), "`index` must be a whole number from 0 to 1, not 2."),
        (lambda: is_extreme([[1.0]], -1), "`index` must be a whole number from 0 to 0, not -1."),
        (lambda: extreme_points([[1.0, 2.0]], [[1.0]]), "`directions` must have 2 coordinates each, not 1."),
        (lambda: extreme_points([]), "`points` is empty: a cloud needs at least one token."),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refusal:
        call()
    assert str(refusal.value) == message
