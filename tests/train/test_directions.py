"""Directions of classes: each as far from the others as the space allows."""

import numpy as np
import pytest
from effort import some

from hardmax.train.directions import axes_for, class_directions


@pytest.mark.parametrize(("classes", "axes"), [(3, 2), (4, 3), (7, 6), (7, 9), (40, 39)])
def test_with_axes_enough_all_classes_are_equally_far_from_each_other(classes, axes):
    products = class_directions(classes, axes) @ class_directions(classes, axes).T
    apart = products[~np.eye(classes, dtype=bool)]
    np.testing.assert_allclose(np.diag(products), 1)
    np.testing.assert_allclose(apart, -1 / (classes - 1), atol=1e-12)


@pytest.mark.parametrize(("classes", "axes"), some([(12, 3), (5, 3), (100, 64), (77, 5), (150, 64)]))
def test_with_fewer_axes_every_class_still_has_room(classes, axes):
    directions = class_directions(classes, axes)
    products = directions @ directions.T - 2 * np.eye(classes)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)
    anywhere = np.random.default_rng(0).normal(size=(classes, axes))
    anywhere /= np.linalg.norm(anywhere, axis=1, keepdims=True)
    assert products.max() < (anywhere @ anywhere.T - 2 * np.eye(classes)).max() - 0.1
    assert (directions @ directions.T).argmax(axis=1).tolist() == list(range(classes))
    assert np.array_equal(directions, class_directions(classes, axes))


@pytest.mark.parametrize("axes", [1, 2, 5])
def test_of_two_classes_the_second_lies_along_the_first_axis(axes):
    assert class_directions(2, axes).tolist() == [[1.0] + [0.0] * (axes - 1)]


def test_on_a_line_no_two_classes_are_in_one_place():
    assert class_directions(5, 1).ravel().tolist() == [1.0, 0.5, 0.0, -0.5, -1.0]


def test_in_a_plane_classes_are_spread_over_the_circle():
    turns = np.unwrap(np.arctan2(*class_directions(5, 2).T[::-1]))
    np.testing.assert_allclose(np.diff(turns), 2 * np.pi / 5)


def test_so_many_axes_are_enough():
    assert [axes_for(classes) for classes in (2, 3, 10)] == [1, 2, 9]
