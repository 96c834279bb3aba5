"""Every score of a small contest: numpy would take longer to be called than this takes to run."""

import numpy as np

from hardmax.compiling import njit


@njit
def find_leads(directions, points, winners, leads):
    """For each direction the first of the furthest points, and its lead over the next one (inf: there is none)."""
    for row in range(len(directions)):
        best, second, at = -np.inf, -np.inf, 0
        for j in range(len(points)):
            score = 0.0
            for axis in range(directions.shape[1]):
                score += directions[row, axis] * points[j, axis]
            if score > best:
                second, best, at = best, score, j
            elif score > second:
                second = score
        winners[row], leads[row] = at, best - second
