"""The half-plane of a token contains all it attends to; cells cover a rectangle, and in each its
leader wins."""

import numpy as np
import pytest
from effort import examples
from geometry.shapes import float_metric, floats
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import attended_sets
from refusals import listed_refusals
from strategies import any_metrics, clouds, spd_metrics

from hardmax.geometry import half_plane, leader_cells
from hardmax.geometry.halfspaces import _clip, _corners_of

RECTANGLE = (-2.0, 3.0, -1.0, 2.0)
clouds_and_metrics = st.tuples(clouds(min_d=2, max_d=2), st.one_of(spd_metrics(2), any_metrics(2)))


def area(polygon: np.ndarray) -> float:
    """The shoelace formula; positive where one goes round counterclockwise."""
    x, y = polygon.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def test_where_no_area_is_left_there_are_no_corners():
    cells = leader_cells([[1, 0], [-1, 0]], (0, 1, 0, 1))  # the second has an edge in common
    assert [len(cell) for cell in cells] == [4, 0]


@settings(max_examples=examples(100))
@given(clouds_and_metrics)
def test_a_token_and_all_it_attends_to_lie_in_its_half_plane(drawn):
    cloud, metric = drawn
    points, matrix = floats(cloud), float_metric(metric, 2)
    for token, attended in zip(points, attended_sets(cloud, metric), strict=True):
        corners = half_plane(token, (-9, 9, -9, 9), metric)
        normal = matrix @ token
        assert ((corners - token) @ normal >= -1e-9).all()
        assert ((points[sorted(attended)] - token) @ normal >= -1e-9).all()
        # Its other side has the rest of the square.
        assert area(corners) + area(
            _clip(_corners_of((-9, 9, -9, 9)), -normal, -normal @ token)
        ) == pytest.approx(324 if normal.any() else 648)


def test_the_zero_tokens_half_plane_is_everything_and_touching_a_corner_leaves_no_area():
    np.testing.assert_array_equal(half_plane([0.0, 0.0], RECTANGLE), _corners_of(RECTANGLE))
    assert half_plane([1, 1], (0, 1, 0, 1)).shape == half_plane([10, 0], RECTANGLE).shape == (0, 2)


@settings(max_examples=examples(100))
@given(clouds_and_metrics)
def test_cells_cover_the_rectangle_without_overlap(drawn):
    leaders, metric = drawn
    points, matrix = floats(leaders), float_metric(metric, 2)
    cells = leader_cells(points, RECTANGLE, metric)
    assert len(cells) == len(points)
    assert sum(map(area, cells)) == pytest.approx(15)
    # Areas that add up leave no room for overlaps if each cell lies where its leader wins.
    for leader, cell in zip(points, cells, strict=True):
        assert area(cell) >= 0
        scores = cell @ matrix.T @ points.T
        assert (cell @ matrix.T @ leader >= scores.max(axis=1, initial=-np.inf) - 1e-9).all()


@pytest.mark.parametrize("size", [2.0**1023, 2.0**-1000])
def test_corners_are_the_same_at_any_size(size):
    leaders = np.array([[1, 1.5], [-1, 1], [-0.5, -1.75]])
    metric, square = np.array([[1.5, -1], [0.5, 1]]), np.array([-1.0, 1, -1, 1])
    window = size * square
    cells = leader_cells(leaders, square, metric)
    for cell, other in zip(cells, leader_cells(size * leaders, square, size * metric), strict=True):
        np.testing.assert_array_equal(other, cell)
    for cell, other in zip(cells, leader_cells(leaders, window, metric), strict=True):
        np.testing.assert_array_equal(other, size * cell)
    np.testing.assert_array_equal(
        half_plane([size / 2, 0], window, size * metric),
        size * half_plane([1 / 2, 0], square, metric),
    )


@pytest.mark.parametrize(
    ("leaders", "rectangle", "areas"),
    [
        ([[1, 1], [-1, 1]], (-1, 1, -1, 1), [2, 2]),
        ([[2, 1]] * 3, RECTANGLE, [15, 0, 0]),
        ([[1, 0], [-1, 1], [-1, -1]], (5, 6, -1, 1), [2, 0, 0]),
        ([[1, 1], [1, -1], [1, 0], [-1, 0]], (-1, 1, -1, 1), [1.25, 1.25, 0, 1.5]),
    ],
    ids=[
        "two share the plane",
        "of equal leaders the first",
        "away from the origin",
        "none between others",
    ],
)
def test_cells_that_one_can_draw_by_hand(leaders, rectangle, areas):
    assert [area(cell) for cell in leader_cells(leaders, rectangle)] == pytest.approx(areas)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
