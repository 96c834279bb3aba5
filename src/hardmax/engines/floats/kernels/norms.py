"""Lengths of rows."""

import numpy as np

from hardmax.compiling import njit


@njit
def lengths(points, least, norms):
    """The length of every row, and `least` more."""
    for i in range(len(points)):
        square = 0.0
        for axis in range(points.shape[1]):
            square += points[i, axis] * points[i, axis]
        norms[i] = np.sqrt(square) + least
