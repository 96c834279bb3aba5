"""A shell is in the hull of its points: everything well inside its facets is proved to be."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from hardmax._float.active_set import is_closed, shell_of


def in_hull(points: np.ndarray, place: np.ndarray) -> bool:
    """Whether a place is a convex combination of the points, by linear programming."""
    sums = np.vstack([points.T, np.ones(len(points))])
    return linprog(np.zeros(len(points)), A_eq=sums, b_eq=np.append(place, 1.0), bounds=(0, None)).status == 0


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("flat", [1.0, 1e-3, 1e-6])
def test_what_is_inside_the_facets_by_the_error_is_in_the_hull(d, flat):
    rng = np.random.default_rng(d)
    points = rng.standard_normal((30, d)) * np.append(np.ones(d - 1), flat) + 5
    shell = shell_of(points)
    assert shell is not None
    assert shell.off < 1e-10
    places = shell.centre + (points[rng.integers(0, 30, 200)] - shell.centre) * rng.uniform(0, 2, (200, 1))
    inside = ((places - shell.centre) @ shell.facets[:, :-1].T + shell.facets[:, -1] < -shell.off).all(axis=1)
    assert 20 < inside.sum() < 195
    assert all(in_hull(points, place) for place in places[inside])


def test_points_in_a_plane_and_slivers_have_no_shell():
    rng = np.random.default_rng(0)
    assert shell_of(np.column_stack([rng.standard_normal((20, 2)), np.zeros(20)])) is None
    assert shell_of(rng.standard_normal((20, 2)) * [1, 1e-14]) is None


@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_shell_with_a_facet_missing_or_turned_is_not_closed(d):
    points = np.random.default_rng(d).standard_normal((20, d))
    hull = ConvexHull(points)
    turned = np.linalg.det(points[hull.simplices] - points.mean(axis=0)) < 0
    simplices = hull.simplices.copy()
    simplices[turned, :2] = simplices[turned, 1::-1]
    assert is_closed(simplices)
    assert not is_closed(simplices[1:])
    simplices[0, :2] = simplices[0, 1::-1]
    assert not is_closed(simplices)


def test_a_hull_that_came_without_a_facet_has_no_shell(monkeypatch):
    class Open:
        def __init__(self, places):
            hull = ConvexHull(places)
            self.simplices, self.equations = hull.simplices[1:], hull.equations[1:]

    points = np.random.default_rng(3).standard_normal((20, 3))
    assert shell_of(points) is not None
    monkeypatch.setattr("scipy.spatial.ConvexHull", Open)
    assert shell_of(points) is None


def test_facets_off_their_corners_widen_the_error(monkeypatch):
    points = np.random.default_rng(3).standard_normal((20, 3))
    usual = shell_of(points)

    class Lifted:
        def __init__(self, places):
            hull = ConvexHull(places)
            self.simplices, self.equations = hull.simplices, hull.equations + np.array([0, 0, 0, 1e-6])

    monkeypatch.setattr("scipy.spatial.ConvexHull", Lifted)
    moved = shell_of(points)
    assert usual is not None
    assert moved is not None
    assert 0.9e-6 < moved.off - usual.off < 1.1e-6
