"""Lengths of rows."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def lengths(points, least, norms):
    """The length of every row, and `least` more."""
    for i in range(len(points)):
        square = 0.0
        for axis in range(points.shape[1]):
            square += points[i, axis] * points[i, axis]
        norms[i] = np.sqrt(square) + least
