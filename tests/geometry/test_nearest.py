"""Many targets at once: the same as one at a time, and as the definition of the nearest point."""

import numpy as np
import pytest
from geometry.shapes import cube, turn

from hardmax.geometry.nearest import nearest


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
    monkeypatch.setattr("hardmax.geometry.nearest.CHUNK", 300)
    np.testing.assert_allclose(nearest(corners, targets).distances, alone, atol=1e-13)


def test_a_thin_triangle_is_no_trouble():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1e-9]])
    targets = np.array([[0.5, 1.0], [0.5, -1.0], [0.5, 5e-10], [0.25, 4e-10]])
    np.testing.assert_allclose(nearest(corners, targets).distances, [1 - 1e-9, 1, 0, 0], atol=1e-15)


def test_repeated_and_dependent_corners_are_no_trouble():
    grid = np.array([[x, y, 0.0] for x in range(5) for y in range(5)] * 3)
    found = nearest(grid, np.array([[2.5, 7.0, 3.0], [2.2, 2.2, 0.0]]))
    np.testing.assert_allclose(found.ways, [[0, -3, -3], [0, 0, 0]], atol=1e-13)
