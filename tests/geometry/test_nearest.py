"""Many targets at once: the same as one at a time, and as the definition of the nearest point."""

import numpy as np
import pytest
from geometry.shapes import cube, turn
from hypothesis import given
from hypothesis import strategies as st

from hardmax.geometry.projection import nearest, project_exact


@pytest.mark.parametrize("d", [1, 2, 3, 6, 12])
def test_nearest_points_of_a_turned_cube_are_clipped_coordinates(d):
    rng = np.random.default_rng(d)
    corners = cube(d) if d < 12 else cube(d)[rng.permutation(2**d)]
    targets = rng.normal(size=(60, d)) * 2
    rotation = turn(d)
    found = nearest(corners @ rotation, targets @ rotation)
    np.testing.assert_allclose(found.ways @ rotation.T, np.clip(targets, -1, 1) - targets, atol=1e-12)


def test_corrals_and_weights_give_the_nearest_points():
    rng = np.random.default_rng(1)
    corners, targets = rng.normal(size=(40, 5)), rng.normal(size=(200, 5)) * 3
    found = nearest(corners, targets)
    assert (found.weights >= 0).all()
    assert (found.weights[found.corrals < 0] == 0).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, rtol=1e-13)
    points = (found.weights[:, :, None] * corners[found.corrals]).sum(axis=1)
    np.testing.assert_allclose(points - targets, found.ways, atol=1e-12)


def test_targets_at_once_are_targets_one_by_one(monkeypatch):
    rng = np.random.default_rng(2)
    corners, targets = rng.normal(size=(30, 4)), rng.normal(size=(50, 4)) * 2
    alone = np.concatenate([nearest(corners, target[None]).distances for target in targets])
    np.testing.assert_allclose(nearest(corners, targets).distances, alone, atol=1e-13)
    monkeypatch.setattr("hardmax.geometry.projection.CHUNK", 300)
    np.testing.assert_allclose(nearest(corners, targets).distances, alone, atol=1e-13)


def test_a_thin_triangle_is_no_trouble():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1e-9]])
    targets = np.array([[0.5, 1.0], [0.5, -1.0], [0.5, 5e-10], [0.25, 4e-10]])
    np.testing.assert_allclose(nearest(corners, targets).distances, [1 - 1e-9, 1, 0, 0], atol=1e-15)


def test_repeated_and_dependent_corners_are_no_trouble():
    grid = np.array([[x, y, 0.0] for x in range(5) for y in range(5)] * 3)
    found = nearest(grid, np.array([[2.5, 7.0, 3.0], [2.2, 2.2, 0.0]]))
    np.testing.assert_allclose(found.ways, [[0, -3, -3], [0, 0, 0]], atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_far_from_a_thin_hull_the_nearest_point_is_found_though_no_distance_falls(seed):
    # Along the first axis the hull is 1e-9 thick and the targets 1e7 away: floats see all its points equally far.
    rng = np.random.default_rng(seed)
    corners, targets = rng.standard_normal((12, 5)), rng.uniform(-0.3, 0.3, (4, 5))
    corners[:, 0] *= 1e-9
    targets[:, 0] = 1e7
    exact = [np.array(project_exact(corners, None, target).point, dtype=np.float64) for target in targets]
    np.testing.assert_allclose(nearest(corners, targets).ways + targets, exact, atol=0.05)


@given(st.integers(0, 2**32 - 1))
def test_nearest_points_are_those_of_fractions_also_where_corners_depend_on_one_another(seed):
    rng = np.random.default_rng(seed)
    m, r = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    corners, targets = rng.integers(-3, 4, (m, r)) / 4.0, rng.integers(-8, 9, (5, r)) / 4.0
    found = nearest(corners, targets)
    for target, way, corral, weights in zip(targets, *found, strict=True):
        exact = np.array(project_exact(corners, None, target).point, dtype=np.float64)
        assert way + target == pytest.approx(exact, abs=1e-12)
        used = corral[corral >= 0]
        assert (corral[len(used) :] == -1).all()
        assert weights[: len(used)] @ corners[used] == pytest.approx(exact, abs=1e-12)
        assert (weights[: len(used)] > 0).all()
        assert not weights[len(used) :].any()
        assert np.linalg.matrix_rank(corners[used] - corners[used[0]]) == len(used) - 1
