"""The plane piece by piece: turns, angles, polygons and corners against fractions and against looking at everybody."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._float.argmax import score_all
from hardmax._float.plane import (
    _count_up_to,
    _edges,
    _exact_turn,
    _inner_disk,
    _left_of,
    _Polygon,
    _turn,
    _two_polygons,
    corners_above,
    diamond_angle,
    leaving_angles,
    mark_inside,
    plane,
    polygon,
    sort_into_bins,
)

# Points so nearly in line that rounding alone would not tell on which side they are.
coordinates = st.builds(
    lambda whole, hair, e: whole + hair * 2.0**-e, st.integers(-3, 3), st.integers(-4, 4), st.integers(45, 54)
)
places = st.tuples(coordinates, coordinates)


def exact_turn(a, b, c) -> int:
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(x) for x in place] for place in (a, b, c))
    turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (turn > 0) - (turn < 0)


@given(places, places, places)
def test_turns_have_the_sign_of_fractions(a, b, c):
    true = exact_turn(a, b, c)
    assert _exact_turn(*a, *b, *c) == true
    assert np.sign(_turn(np.array([a, b, c]), 0, 1, 2)) == true
    # What is said to be on the left is on the left; what is clearly there is said to be.
    said = _left_of(*a, *b, *c)
    assert not said or true > 0


def test_what_is_clearly_on_the_left_is_said_to_be():
    assert _left_of(0.0, 0.0, 1.0, 0.0, 0.5, 1e-9)
    assert not _left_of(0.0, 0.0, 1.0, 0.0, 0.5, -1e-9)
    assert not _left_of(0.0, 0.0, 1.0, 0.0, 0.5, 0.0)
    assert _left_of(1.0, 2.0, 2.0, 5.0, 0.0, 0.0)
    assert not _left_of(1.0, 2.0, 2.0, 5.0, 3.0, 2.0)


def test_diamond_angles_grow_from_0_to_4_with_the_angle():
    turns = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    found = [diamond_angle(3 * np.cos(t), 3 * np.sin(t)) for t in turns]
    assert (np.diff(found) > 0).all()
    wanted = {(1, 0): 0, (1, 1): 0.5, (0, 1): 1, (-1, 1): 1.5, (-1, 0): 2, (-1, -1): 2.5, (0, -1): 3, (1, -1): 3.5}
    assert {place: diamond_angle(float(place[0]), float(place[1])) for place in wanted} == wanted
    assert diamond_angle(0.0, 0.0) == 1


@pytest.mark.parametrize("count", [0, 1, 5, 700, 5000])
def test_angles_are_counted_as_by_bisection(count):
    rng = np.random.default_rng(count)
    angles = np.sort(np.concatenate([rng.uniform(0, 4, count), np.repeat(2.0, min(count, 3))]))
    before = sort_into_bins(angles)
    for angle in [*rng.uniform(0, 4, 200).tolist(), *angles[:50].tolist(), 0.0, 2.0, 4.0]:
        assert _count_up_to(angle, angles, before) == np.searchsorted(angles, angle, side="right")


def sorted_by_place(points: np.ndarray) -> np.ndarray:
    return np.lexsort((points[:, 1], points[:, 0]))


@given(st.lists(places, min_size=1, max_size=12, unique=True))
def test_a_polygon_turns_left_at_every_corner_and_has_everybody_on_its_left(several):
    points = np.array(several)
    corners = points[polygon(points, sorted_by_place(points))].tolist()
    assert len({tuple(corner) for corner in corners}) == len(corners)
    count = len(corners)
    for k in range(count):
        a, b, c = corners[(k - 2) % count], corners[k - 1], corners[k]
        assert count < 3 or exact_turn(a, b, c) > 0
        assert count < 2 or all(exact_turn(b, c, place) >= 0 for place in several)
    if count < 3:  # all are in line, between the two ends
        assert {tuple(corner) for corner in corners} == {min(several), max(several)}


@given(st.lists(places, min_size=1, max_size=14, unique=True))
def test_of_two_polygons_the_inner_one_is_that_of_all_who_are_no_corners(several):
    points = np.array(several)
    outer, inner = _two_polygons(points)
    rest = np.setdiff1d(np.arange(len(points)), outer.corners)
    assert sorted(inner.corners.tolist()) == sorted(_Polygon.around(points, rest).corners.tolist())
    for some in (outer, inner):
        if len(some.corners):
            first = points[some.corners[0]].tolist()
            assert [-first[0], first[1]] == min([-x, y] for x, y in points[some.corners].tolist())
            angles = some.leaving_angles(points)
            assert (np.diff(angles) >= 0).all()
    assert outer.numbers_of(outer.corners[::-1]).tolist() == list(range(len(outer.corners)))[::-1]


def regular(count: int) -> np.ndarray:
    turns = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)


def test_the_next_corner_is_the_furthest_from_its_leaving_angle_on():
    corners = regular(7) * [2.0, 1.0]
    angles = leaving_angles(corners)
    for k, angle in enumerate(angles.tolist()):
        # A direction just before and one just after the angle: x is 1 - angle in the upper half, angle - 3 below.
        for hair, winner in ((-1e-6, k), (1e-6, (k + 1) % 7)):
            turned = (angle + hair) % 4
            x = 1 - turned if turned <= 2 else turned - 3
            y = (1 - abs(x)) * (1 if turned <= 2 else -1)
            assert (corners @ [x, y]).argmax() == winner


@pytest.mark.parametrize("first", [0, 2])
def test_edges_have_unit_normals_and_everything_inside_is_beyond_them_by_a_hair(first):
    corners = regular(5) * 3 + [10.0, -4.0]
    edges = _edges(corners, first, 14.0)
    for k, (a, b, c) in enumerate(edges.tolist()):
        before, after = corners[(k + first - 1) % 5], corners[(k + first) % 5]
        assert a * a + b * b == pytest.approx(1, rel=1e-12)
        for end in (before, after):
            assert a * end[0] + b * end[1] - c == pytest.approx(-14 * 2.0**-40, rel=1e-3)
        assert a * 10 - b * 4 > c
    radius = 3 * np.cos(np.pi / 5) - 14 * 2.0**-40
    assert _inner_disk(edges, 10.0, -4.0) == pytest.approx(radius**2, rel=1e-11)
    assert _inner_disk(edges, 10.0, -4.0) < radius**2
    assert _inner_disk(edges, 14.0, -4.0) == -1
    assert np.isinf(_edges(np.zeros((3, 2)), 0, 1.0)[:, 2]).all()


def test_well_inside_is_marked_and_outside_is_not():
    corners = regular(9) * [3.0, 1.0] + [1.0, 2.0]
    rng = np.random.default_rng(0)
    points = rng.uniform(-3, 5, (4000, 2))
    heights = []
    for k in range(9):
        a, b = corners[k - 1], corners[k]
        edge = b - a
        heights.append((edge[0] * (points[:, 1] - a[1]) - edge[1] * (points[:, 0] - a[0])) / np.hypot(*edge))
    depth = np.min(heights, axis=0)
    outside = np.ones(4000, dtype=bool)
    mark_inside(points, corners, outside)
    assert not outside[depth > 1e-9].any()
    assert outside[depth < 0].all()
    assert 300 < (~outside).sum() < 1500


@given(st.integers(0, 2**32 - 1))
def test_corners_in_a_row_that_reach_a_floor_are_counted_on_both_sides(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    outer = regular(count) * [2.0, 1.0]
    direction = rng.standard_normal(2)
    scores = outer @ direction
    corner = int(scores.argmax())
    floor = float(rng.uniform(scores.min() - 0.1, scores.max()))
    before, after = corners_above(direction, outer, corner, floor)
    reached = {(corner + step) % count for step in range(-before, after + 1)}
    assert reached == set(np.flatnonzero(scores >= floor).tolist())
    assert before + after + 1 == len(reached)


@given(st.integers(0, 2**32 - 1))
def test_rivals_beside_and_inside_are_all_found(seed):
    # Corners, and points inside that come close to them; the slack decides whether they come close enough.
    rng = np.random.default_rng(seed)
    outer = regular(int(rng.integers(3, 9)))
    inner = outer[rng.integers(0, len(outer), 6)] * (1 - 10.0 ** -rng.uniform(0.5, 5, (6, 1)))
    points = np.unique(np.concatenate([outer, inner]), axis=0)
    directions = np.concatenate([rng.standard_normal((5, 2)), outer[:2], outer[:2] + outer[1:3]])
    slack = np.full(len(directions), 1.2345e-3 * 10.0 ** rng.uniform(-3, 3))
    found, wished = plane(directions, points, slack), score_all(directions, points, slack)
    assert [some.tolist() for some in found.choices()] == [some.tolist() for some in wished.choices()]
    assert found.gap == pytest.approx(wished.gap, rel=1e-9)
