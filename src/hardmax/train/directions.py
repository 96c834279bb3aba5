"""The directions in which the classes lie: as far from one another as the space allows."""

import numpy as np

_STEPS, _STRIDE = 500, 0.1


def class_directions(classes: int, axes: int) -> np.ndarray:
    """Vectors (rows, axes): one for two classes, whose second lies along the first axis; else one a class, all of
    length 1, unless there is a line for more than two, on which they stand in a row.

    With an axis fewer than classes, or more, they are the corners of a regular simplex, all equally far apart, so that
    every class can be told from all others at once. In a plane they are spread evenly over the circle; with some axes,
    but too few, they are pushed apart until they have as much room as they find.

    >>> class_directions(2, 3).tolist()
    [[1.0, 0.0, 0.0]]
    >>> (class_directions(4, 3) @ class_directions(4, 3).T).round(3)[0].tolist()
    [1.0, -0.333, -0.333, -0.333]
    >>> class_directions(4, 2).round(3)[1].tolist()
    [0.0, 1.0]
    """
    if classes == 2:
        return np.eye(1, axes)
    if axes == 1:
        return np.linspace(1, -1, classes)[:, None]
    if axes == 2:
        turns = 2 * np.pi * np.arange(classes) / classes
        return np.stack([np.cos(turns), np.sin(turns)], axis=1)
    if axes >= classes - 1:
        return np.pad(_simplex(classes), ((0, 0), (0, axes - classes + 1)))
    return _pushed_apart(classes, axes)


def axes_for(classes: int) -> int:
    """As many axes as it takes for every class to be told from all others at once."""
    return max(1, classes - 1)


def _simplex(corners: int) -> np.ndarray:
    """The corners of a regular simplex about the origin, one after the other: each in the axes of those before, and
    one more."""
    found = np.zeros((corners, corners - 1))
    for axis in range(corners - 1):
        found[axis, axis] = np.sqrt(1 - (found[axis] ** 2).sum())
        # All later corners have the product -1 / (corners - 1) with this one.
        rest = -1 / (corners - 1) - (found[axis + 1 :] * found[axis]).sum(axis=1)
        found[axis + 1 :, axis] = rest / found[axis, axis]
    return found


def _pushed_apart(points: int, axes: int) -> np.ndarray:
    """Points of the sphere that repel each other, the near ones most; always the same."""
    at = np.random.default_rng([points, axes]).normal(size=(points, axes))
    for _ in range(_STEPS):
        at /= np.sqrt((at**2).sum(axis=1, keepdims=True))
        apart = at[:, None, :] - at
        squares = (apart**2).sum(axis=2) + np.eye(points)
        push = (apart / squares[:, :, None] ** 2).sum(axis=1)
        at = at + _STRIDE * push / np.sqrt((push**2).sum(axis=1, keepdims=True)).max()
    return at / np.sqrt((at**2).sum(axis=1, keepdims=True))
