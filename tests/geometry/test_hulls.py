"""Hulls of whatever comes: flat, collinear, single, repeated, thin, far away."""

import numpy as np
import pytest
from effort import examples
from geometry import shapes
from hypothesis import given, settings
from scipy.spatial import QhullError
from strategies import clouds

from hardmax._validation import InputError
from hardmax.geometry._affine import affine_rank
from hardmax.geometry.hull import hull, outline


@settings(max_examples=120)
@given(clouds(max_n=7))
def test_vertices_are_the_points_in_no_simplex_of_others(cloud):
    assert list(hull(shapes.floats(cloud)).vertices) == shapes.extreme_points(cloud)


@settings(max_examples=examples(150))
@given(clouds(max_n=12))
def test_facets_are_where_their_planes_touch_the_hull(cloud):
    points = shapes.floats(cloud)
    found = hull(points)
    assert found.dimension == affine_rank(cloud)
    heights = points @ found.normals.T - found.offsets
    assert heights.max(initial=-1) <= 1e-9
    touching = [tuple(v for v in found.vertices if abs(heights[v, f]) <= 1e-9) for f in range(len(found.facets))]
    assert touching == list(found.facets)
    assert all(affine_rank([cloud[v] for v in facet]) == found.dimension - 1 for facet in found.facets)
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1, rtol=1e-12)


@settings(max_examples=50)
@given(clouds(max_n=8))
def test_normals_lie_in_the_flat(cloud):
    found = hull(shapes.floats(cloud))
    axes = found.frame.axes
    np.testing.assert_allclose(found.normals @ axes.T @ axes, found.normals, atol=1e-12)


@settings(max_examples=50)
@given(clouds(max_n=8))
def test_the_hull_of_the_vertices_is_the_hull(cloud):
    points = shapes.floats(cloud)
    whole = hull(points)
    again = hull(points[list(whole.vertices)])
    named = {tuple(whole.vertices[v] for v in facet) for facet in again.facets}
    assert named == set(whole.facets)
    assert again.volume == pytest.approx(whole.volume, rel=1e-9)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("extra", [0, 2])
def test_a_turned_cube_has_two_facets_for_each_direction_wherever_it_lies(d, extra):
    corners = np.pad(shapes.cube(d), ((0, 0), (0, extra))) @ shapes.turn(d + extra) + 3
    found = hull(corners)
    assert len(found.facets) == 2 * d
    assert {len(facet) for facet in found.facets} == {2 ** (d - 1)}
    assert found.volume == pytest.approx(2**d, rel=1e-12)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_turned_grid_is_as_good_as_a_cube(d):
    grid = np.array(list(np.ndindex(*[4] * d))) @ shapes.turn(d)
    found = hull(grid)
    assert len(found.vertices) == 2**d
    assert sorted(map(len, found.facets)) == [2 ** (d - 1)] * 2 * d


def test_rounding_between_grid_points_changes_nothing():
    noise = np.random.default_rng(0).normal(size=(64, 3)) * 1e-15
    grid = np.array(list(np.ndindex(4, 4, 4))) @ shapes.turn(3) + noise
    assert hull(grid).vertices == hull(np.array(list(np.ndindex(4, 4, 4)))).vertices


def test_twins_count_as_one():
    corners = shapes.cube(3)
    found = hull(np.vstack([corners, corners + 1e-14, corners * (1 + 3e-13)]))
    assert (len(found.vertices), len(found.facets)) == (8, 6)


def test_a_sliver_whose_sides_rounding_cannot_tell_apart_is_a_segment():
    # A crowd on a slope of 5e-11 draws the best line its way, and off the point at (1, 0).
    crowd = np.linspace(0, 0.01, 100_000)
    found = hull(np.vstack([np.column_stack([crowd, 5e-11 * crowd]), [[1.0, 0.0]]]))
    assert (found.dimension, found.vertices) == (1, (0, 100_000))


def test_what_qhull_finds_too_flat_is_taken_as_flatter(monkeypatch):
    def refuse(_points):
        raise QhullError("flat")

    monkeypatch.setattr("scipy.spatial.ConvexHull", refuse)
    found = hull([[0.0, 0.0], [1.0, 0.0], [0.5, 1e-10]])
    assert (found.dimension, found.vertices) == (1, (0, 1))


@pytest.mark.parametrize("thickness", [1e-3, 1e-6])
def test_a_thin_box_is_a_box(thickness):
    found = hull((shapes.cube(3) * [1, 1, thickness]) @ shapes.turn(3))
    assert (len(found.vertices), len(found.facets)) == (8, 6)
    assert found.volume == pytest.approx(8 * thickness, rel=1e-6)


@pytest.mark.parametrize(("scale", "shift"), [(1e-100, 0), (1e100, 0), (1, 1e6), (1e-3, 1e3)])
def test_unit_and_place_do_not_matter(scale, shift):
    found = hull(shapes.cube(3) @ shapes.turn(3) * scale + shift)
    assert (len(found.vertices), len(found.facets)) == (8, 6)
    assert found.volume == pytest.approx(8 * scale**3, rel=1e-6)


def test_a_point_has_no_facets_and_a_segment_has_its_ends():
    point = hull([[1, 2, 3]] * 4)
    assert (point.dimension, point.vertices, point.facets, point.volume) == (0, (0,), (), 1.0)
    assert point.normals.shape == (0, 3)
    segment = hull([[1, 1], [4, 5], [2.5, 3], [1, 1]])
    assert (segment.dimension, segment.vertices, set(segment.facets)) == (1, (0, 1), {(0,), (1,)})
    assert segment.volume == pytest.approx(5)


def test_points_of_a_circle_are_all_vertices():
    angles = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    found = hull(np.column_stack([np.cos(angles), np.sin(angles)]))
    assert (len(found.vertices), len(found.facets)) == (20_000, 20_000)
    assert found.volume == pytest.approx(np.pi, rel=1e-6)


def test_beyond_six_dimensions_there_are_vertices_but_no_facets():
    inner = np.zeros((1, 7))
    found = hull(np.vstack([inner, shapes.cross_polytope(7)]))
    assert found.vertices == tuple(range(1, 15))
    for wanted in ("facets", "normals", "offsets", "volume"):
        with pytest.raises(InputError) as refusal:
            getattr(found, wanted)
        assert str(refusal.value) == (
            f"`{wanted}` needs points that span at most 6 dimensions, but these span 7. "
            "Vertices, membership and distance work in any dimension."
        )


def test_a_cube_in_a_hundred_dimensions_has_its_facets():
    corners = np.pad(shapes.cube(3), ((0, 0), (0, 97))) @ shapes.turn(100)
    assert len(hull(corners).facets) == 6


def test_going_round_a_polygon_visits_each_vertex_once_in_order():
    angles = np.random.default_rng(0).permutation(12)
    ring = np.column_stack([np.cos(angles * np.pi / 6), np.sin(angles * np.pi / 6)])
    order = np.array(outline(np.vstack([ring, [[0.0, 0.0]]])))
    assert sorted(order) == list(range(12))
    assert (np.diff(angles[order], append=angles[order[0]]) % 12 == 1).all()


def test_an_outline_of_a_segment_is_its_ends_and_of_a_solid_is_refused():
    assert list(outline([[0, 0], [1, 1], [2, 2]])) == [0, 2]
    with pytest.raises(InputError, match="`points` must span a plane, a line or a place to go round them, not 3"):
        outline(shapes.cube(3))


def test_bad_points_are_refused_in_one_line():
    with pytest.raises(InputError, match=r"^`points` must be finite: token 1 is"):
        hull([[1.0], [float("inf")]])


@pytest.mark.parametrize("seed", range(8))
def test_points_within_edges_and_facets_are_no_vertices_wherever_rounding_puts_them(seed):
    grid = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)], dtype=float)
    rng = np.random.default_rng(seed)
    # Further out than Qhull forgives, but not than `resolution` does.
    grid[np.abs(grid).sum(axis=1) < 3] *= 1 + 2e-13 * (seed % 2)
    turned = grid @ shapes.turn(3, seed) * 10.0 ** rng.uniform(-3, 3) + rng.standard_normal(3) * (seed % 4 > 1)
    found = hull(turned)
    corners = np.flatnonzero(np.abs(grid).sum(axis=1) > 2.5)
    assert list(found.vertices) == corners.tolist()
    assert sorted(map(len, found.facets)) == [4] * 6
