"""The flat that points span: exactly where they are rational, up to rounding where they are floats."""

from fractions import Fraction

import numpy as np
import pytest
from geometry.shapes import cube, floats, turn
from hypothesis import given
from strategies import clouds, rational_rotations

from hardmax._validation import InputError
from hardmax.geometry._affine import affine_frame, affine_rank, first_of_equals, unit_scaled


@given(clouds())
def test_floats_find_the_exact_rank_of_small_fractions(cloud):
    assert affine_rank(floats(cloud)) == affine_rank(cloud)


@given(clouds(min_d=3, max_d=3).flatmap(lambda cloud: rational_rotations(3).map(lambda turn: (cloud, turn))))
def test_the_rank_does_not_change_when_the_cloud_is_turned(problem):
    cloud, rotation = problem
    turned = floats(cloud) @ floats(rotation).T
    assert affine_rank(turned) == affine_rank(cloud)


@given(clouds())
def test_points_come_back_from_their_coordinates(cloud):
    points = floats(cloud)
    frame = affine_frame(points)
    np.testing.assert_allclose(frame.axes @ frame.axes.T, np.eye(frame.rank), atol=1e-14)
    np.testing.assert_allclose(frame.embed(frame.coordinates(points)), points, atol=1e-11)
    assert frame.offsets(points).max() <= 1e-11


def test_offsets_are_distances_from_the_flat():
    plane = affine_frame([[0, 0, 1], [1, 0, 1], [0, 1, 1]])
    np.testing.assert_allclose(plane.offsets([[5, 5, 1], [0, 0, 4], [1, 1, -1]]), [0, 3, 2], atol=1e-14)


def test_rationals_are_flat_only_if_they_are_flat_exactly():
    thin = [[Fraction(0), Fraction(1, 10**60)], [Fraction(1), Fraction(0)], [Fraction(2), Fraction(0)]]
    assert affine_rank(thin) == 2
    assert affine_rank(floats(thin)) == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e7, 1e300])
def test_the_rank_does_not_depend_on_the_unit(scale):
    square = np.pad(cube(2), ((0, 0), (0, 2))) @ turn(4)
    assert affine_rank(square * scale) == 2


def test_a_flat_cloud_far_away_is_flat():
    square = np.pad(cube(2), ((0, 0), (0, 1))) @ turn(3)
    assert affine_rank(square + 1e6) == 2


def test_points_that_span_the_space_keep_their_axes():
    assert affine_frame(cube(3)).axes.tolist() == np.eye(3).tolist()


def test_a_frame_with_fewer_axes_keeps_the_widest():
    frame = affine_frame(cube(3) * [1, 5, 1], at_most=1)
    np.testing.assert_allclose(np.abs(frame.axes), [[0, 1, 0]], atol=1e-14)


def test_one_point_and_equal_points_span_nothing():
    assert affine_rank([[3.0, 4.0]]) == affine_rank([[3.0, 4.0]] * 5) == affine_rank([["1/3"]] * 4) == 0


def test_the_first_of_equal_rows_is_kept():
    assert first_of_equals(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, -0.0], [0.0, 0.0]])).tolist() == [0, 1]


def test_scaling_by_a_power_of_two_loses_nothing():
    table = np.array([[1e200, 3.0]])
    scaled, exponent = unit_scaled(table)
    assert 0.5 <= scaled.max() < 1
    assert np.ldexp(scaled, exponent).tolist() == table.tolist()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "`points` is empty: a cloud needs at least one token."),
        (
            [1.0, 2.0],
            "`points` must be a table of shape (n, d), not of shape (2,). For tokens on a line pass shape (n, 1).",
        ),
        ([[1.0, float("nan")]], "`points` must be finite: token 0 is [1.0, nan]. Remove or mend it."),
        ([[1.0], [1.0, 2.0]], "`points`: token 1 has 2 coordinates, the tokens before it have 1."),
    ],
)
def test_bad_points_are_refused_in_one_line(points, message):
    for function in (affine_rank, affine_frame):
        with pytest.raises(InputError) as refusal:
            function(points)
        assert str(refusal.value) == message


def test_the_exact_rank_of_points_in_many_dimensions_is_found_in_numbers_that_stay_short():
    rng = np.random.default_rng(0)
    table = rng.integers(-99, 99, (41, 20)) @ rng.integers(-9, 9, (20, 40))  # twenty directions in forty dimensions
    assert affine_rank(table.astype(object) * Fraction(1, 7)) == 20
