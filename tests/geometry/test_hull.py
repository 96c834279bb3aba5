"""Hulls of whatever comes: flat, collinear, single, repeated, thin, far away.

Vertices and ranks are compared with their definitions, in fractions."""

import numpy as np
import pytest
from geometry import shapes
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import QhullError
from strategies import clouds, rational_rotations

from hardmax.geometry._hull import affine_frame, going_round, hull


@st.composite
def turned_clouds(draw):
    return draw(clouds(min_d=3, max_d=3)), draw(rational_rotations(3))


@given(turned_clouds())
def test_the_rank_of_a_cloud_in_floats_is_the_exact_one_however_it_is_turned(problem):
    cloud, rotation = problem
    points = shapes.floats(cloud)
    turned = points @ shapes.floats(rotation).T
    assert affine_frame(points).rank == affine_frame(turned).rank == shapes.rank(cloud)
    frame = affine_frame(turned)
    np.testing.assert_allclose(frame.axes @ frame.axes.T, np.eye(frame.rank), atol=1e-14)
    back = frame.origin + frame.coordinates(turned) @ frame.axes
    np.testing.assert_allclose(back, turned, atol=1e-11)


@given(clouds(max_n=7))
def test_vertices_are_the_points_in_no_simplex_of_others(cloud):
    assert hull(shapes.floats(cloud)).vertices.tolist() == shapes.extreme_points(cloud)


@given(clouds(max_n=12))
def test_facets_are_the_largest_sets_of_vertices_in_a_plane_that_all_others_lie_behind(cloud):
    found = hull(shapes.floats(cloud))
    assert found.dimension == shapes.rank(cloud)
    if not found.dimension:
        assert found.facets == ()
        return
    given_points = shapes.floats(cloud)
    points = affine_frame(given_points).coordinates(given_points)
    middle = points[found.vertices].mean(axis=0)
    assert len(set(found.facets)) == len(found.facets) > found.dimension
    for facet in found.facets:
        numbers = found.vertices[list(facet)]
        corners = points[numbers]
        assert shapes.rank([cloud[number] for number in numbers]) == found.dimension - 1
        normal = np.ones(1)
        if found.dimension > 1:
            normal = np.linalg.svd(corners - corners[0])[2][-1]
        outward = normal * np.sign((corners[0] - middle) @ normal)
        heights = (points - corners[0]) @ outward
        assert heights.max() <= 1e-9
        highest = np.flatnonzero(heights[found.vertices] > -1e-9)
        assert list(facet) == highest.tolist()


def assert_is_a_cube(found, d):
    assert len(found.vertices) == 2**d
    assert [len(facet) for facet in found.facets] == [2 ** (d - 1)] * (2 * d)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("extra", [0, 2])
def test_a_turned_cube_has_two_facets_for_each_direction_wherever_it_lies(d, extra):
    padded = np.pad(shapes.cube(d), ((0, 0), (0, extra)))
    assert_is_a_cube(hull(padded @ shapes.turn(d + extra) + 3), d)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("noise", [0, 1e-15])
def test_a_turned_grid_is_as_good_as_a_cube(d, noise):
    grid = np.array(list(np.ndindex(*[4] * d)))
    off = np.random.default_rng(0).normal(size=grid.shape)
    found = hull(grid @ shapes.turn(d) + noise * off)
    corners = np.isin(grid, (0, 3)).all(axis=1)
    assert found.vertices.tolist() == np.flatnonzero(corners).tolist()
    assert_is_a_cube(found, d)


def test_points_closer_than_floats_can_separate_count_as_one():
    corners = shapes.cube(3)
    again = corners * (1 + 3e-13)
    found = hull(np.vstack([corners, corners + 1e-14, again]))
    assert_is_a_cube(found, 3)


def test_a_sliver_whose_sides_rounding_cannot_separate_is_a_segment():
    # A crowd on a slope of 5e-11 draws the best line its way, and off the point at (1, 0).
    crowd = np.linspace(0, 0.01, 100_000)
    slope = np.column_stack([crowd, 5e-11 * crowd])
    found = hull(np.vstack([slope, [[1.0, 0.0]]]))
    assert found.dimension == 1
    assert found.vertices.tolist() == [0, 100_000]


def test_what_qhull_finds_too_flat_is_taken_as_flatter(monkeypatch):
    def refuse(*_points, **_options):
        raise QhullError("initial simplex is flat")

    monkeypatch.setattr("scipy.spatial.ConvexHull", refuse)
    found = hull(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1e-10]]))
    assert found.dimension == 1
    assert found.vertices.tolist() == [0, 1]


BOXES = [(1e-3, 1, 0), (1e-6, 1, 0), (1, 1e-100, 0), (1, 1e100, 0), (1, 1, 1e6), (1, 1e-3, 1e3)]


@pytest.mark.parametrize(("thickness", "scale", "shift"), BOXES)
def test_a_box_is_a_box_though_it_is_thin_tiny_huge_or_far_away(thickness, scale, shift):
    box = shapes.cube(3) * [1, 1, thickness]
    assert_is_a_cube(hull(box @ shapes.turn(3) * scale + shift), 3)


def test_a_point_has_no_facets_and_a_segment_has_its_ends():
    point = hull(np.array([[1.0, 2.0, 3.0]] * 4))
    assert point.dimension == 0
    assert point.vertices.tolist() == [0]
    assert point.facets == ()
    segment = hull(np.array([[4, 5], [1, 1], [2.5, 3], [1, 1]]))
    assert segment.dimension == 1
    assert segment.vertices.tolist() == [0, 1]
    assert segment.facets == ((0,), (1,))


@pytest.mark.parametrize("seed", [77, 160, 263])
def test_noise_that_leads_qhull_to_a_topology_error_does_not_flatten_the_hull(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (80, 4)) @ shapes.turn(4)
    noise = 3e-11 * rng.normal(size=(80, 4))
    assert hull(points + noise).dimension == 4


def test_a_polygon_is_gone_round_counterclockwise():
    hours = np.random.default_rng(0).permutation(12)
    angles = hours * np.pi / 6
    order = going_round(np.column_stack([np.cos(angles), np.sin(angles)]))
    steps = np.diff(hours[order], append=hours[order[0]])
    assert (steps % 12 == 1).all()


def test_a_polygon_that_is_not_quite_flat_has_an_order():
    corners = np.array([[0, 1, 1], [0, 0, 0], [1e-6, 0, 1], [1e-6, 1, 0.0]])
    order = going_round(corners).tolist()
    assert order in ([0, 2, 1, 3], [0, 3, 1, 2])
