"""The half-space of a token holds all it attends to; clipped ones are polygons."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import attended_sets
from strategies import any_metric_problems, problems

from hardmax._validation import InputError
from hardmax.geometry.halfspaces import HalfSpace, clip, corners_of, half_space

RECTANGLE = (-2.0, 3.0, -1.0, 2.0)
halves = st.integers(-6, 6).map(lambda k: k / 2)


def area(polygon: np.ndarray) -> float:
    """The shoelace formula; positive where one goes round counterclockwise."""
    x, y = polygon.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@given(st.one_of(problems(), any_metric_problems()))
def test_a_token_and_all_it_attends_to_lie_in_its_half_space(problem):
    cloud, metric, _ = problem
    for token, attended in zip(cloud, attended_sets(cloud, metric), strict=True):
        own = half_space(token, metric)
        assert own.contains(token)
        assert own.contains([cloud[j] for j in attended]).all()


@given(problems(min_n=2))
def test_the_origin_lies_outside_unless_the_token_is_zero(problem):
    cloud, metric, _ = problem
    for token in cloud:
        assert half_space(token, metric).contains([Fraction(0)] * len(token)) == (not any(token))


def test_exact_tokens_have_exact_half_spaces():
    own = half_space([Fraction(1, 3), Fraction(0)], metric=[[2.0, 1.0], [1.0, 1.0]])
    assert (own.normal.tolist(), own.offset) == ([Fraction(2, 3), Fraction(1, 3)], Fraction(2, 9))
    # Nearest floats to 1/3 lie below it, and floats are taken as what they are.
    assert own.contains([[1 / 3, 0.0], [np.nextafter(1 / 3, 1), 0.0]]).tolist() == [False, True]


@given(halves, halves, halves)
def test_a_half_plane_and_its_other_side_share_the_rectangle(a, b, offset):
    here = HalfSpace(np.array([a, b]), offset).clipped(RECTANGLE)
    there = HalfSpace(np.array([-a, -b]), -offset).clipped(RECTANGLE)
    if (a, b) == (0, 0):
        assert (area(here) if len(here) else 0) == (15 if offset <= 0 else 0)
    else:
        assert sum(area(part) for part in (here, there) if len(part)) == pytest.approx(15)
    for part in (here, there):
        assert (np.abs(part @ [a, b] - offset) < 1e-9).any() or len(part) in (0, 4)
        assert ((part >= [-2 - 1e-12, -1 - 1e-12]) & (part <= [3 + 1e-12, 2 + 1e-12])).all()


def test_the_zero_tokens_half_space_is_everything():
    own = half_space([0.0, 0.0])
    assert own.contains([[5.0, -7.0]]).all()
    np.testing.assert_array_equal(own.clipped(RECTANGLE), corners_of(RECTANGLE))


def test_a_half_plane_that_misses_the_rectangle_leaves_nothing():
    assert HalfSpace(np.array([1.0, 0.0]), 10.0).clipped(RECTANGLE).shape == (0, 2)


def test_touching_a_corner_leaves_no_area():
    assert clip(corners_of((0, 1, 0, 1)), np.array([1.0, 1.0]), 2.0).shape == (0, 2)
    assert clip(np.zeros((0, 2)), np.array([1.0, 1.0]), 2.0).shape == (0, 2)


bad_rectangle = "`rectangle` must be (left, right, bottom, top) with left < right and bottom < top, not "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: half_space([[1, 2]]), "`token` must be one point, a list of coordinates, not [[1, 2]]."),
        (lambda: half_space([1, 2], [[1]]), "`metric` must be 2 by 2, as the points have 2 coordinates, not 1 by 1."),
        (lambda: half_space([1, 2]).contains([[1, 2, 3]]), "`points` must have 2 coordinates each, not 3."),
        (
            lambda: half_space([1, 2, 3]).clipped(RECTANGLE),
            "A half-space is clipped in the plane, but this one is in 3",
        ),
        (lambda: half_space([1, 2]).clipped((0, 1, 1, 0)), bad_rectangle + "(0, 1, 1, 0)."),
        (lambda: half_space([1, 2]).clipped((0, 1, 2)), bad_rectangle + "(0, 1, 2)."),
        (lambda: half_space([1, 2]).clipped((0, float("inf"), 0, 1)), bad_rectangle + "(0, inf, 0, 1)."),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refusal:
        call()
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)
