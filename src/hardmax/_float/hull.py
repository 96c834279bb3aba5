"""Which positions are in a hull for certain, in up to four dimensions.

Facets come from Qhull, which works in floats: they are good, but not proved. What we need is that
everything well inside of them is in the hull, and that follows from things that can be checked:

* Its simplices, each oriented so that the centre c sees it counter-clockwise, have no boundary:
  every ridge is run through once each way. So they are a cycle T of corners among the points.
* Seen from c each of them covers a positive angle, so T winds around c a positive number of times.
* A simplex lies in the slab |<a, x> + b| <= off about the plane of its facet, since its corners do
  (measured).
* So from c to a position z with <a, z> + b < -off for all facets nothing of T is crossed, and T
  winds around z as often. Were z not in the hull, a plane would part it from all of T, which would
  then not wind around it at all.

Hence a position that is inside all facets by `off` + s is in the hull, with a ball of radius s
about it."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from hardmax._float.bounds import norms_above
from hardmax._float.kernels import keep_well_inside
from hardmax._tokens.rationals import unit_of

# More than rounding does to a determinant of up to four rows, as a share of the product of their
# lengths; and to the distance from a facet, as a share of the reach.
_OF_DETERMINANT, _OF_DISTANCE, _TINY = 2.0**-40, 2.0**-44, 2.0**-1000
# Hulls in more dimensions have too many facets.
HIGHEST_DIMENSION = 4
_SAFETY = 1 - 2.0**-20


class Shell(NamedTuple):
    """Facets about a centre, <normal, z - centre> + offset <= 0 inside, and by how much a position
    must be inside of them to be in the hull for certain. Nearer to the centre than the radius
    everything is inside of all facets."""

    centre: np.ndarray
    facets: np.ndarray
    off: float
    radius: float

    def keep_inside(self, places: np.ndarray, depth: float, marked: np.ndarray) -> None:
        """Clear the marks of places that are not inside all facets by so much."""
        # Where squares underflow or overflow, no point is known to be inside by the radius.
        has_square = 2.0**-400 < self.radius < 2.0**400
        square = ((self.radius - depth) * _SAFETY) ** 2 if has_square else -1.0
        keep_well_inside(places, self.centre, square, self.facets, depth, marked)


def shell_of(points: np.ndarray) -> Shell | None:
    """The shell of some points; None where it cannot be proved, as for points in a plane, or in
    more than four dimensions."""
    dimension = points.shape[1]
    if len(points) <= dimension or dimension > HIGHEST_DIMENSION:
        return None
    if dimension == 1:
        low, high = points.min(), points.max()
        half = high / 2 - low / 2
        off = _OF_DISTANCE * max(abs(low), abs(high))  # as the centre is rounded
        facets = np.array([[1.0, -half], [-1.0, -half]])
        return Shell(np.array([low / 2 + high / 2]), facets, off, half)
    from scipy.spatial import (  # half a second to import, and only large clouds need it
        ConvexHull,
        QhullError,
    )

    # Qhull is made for numbers near 1: beyond 2^300 it does not even survive.
    exponent = unit_of(points)
    places = np.ldexp(points, -exponent)
    centre = places.mean(axis=0)
    positions = places - centre
    try:
        hull = ConvexHull(positions)
    except QhullError:
        return None
    corners = positions[hull.simplices]  # (facets, d, d)
    # Sums, not norms: squares of small numbers vanish. A corner in the centre has no direction.
    lengths = np.maximum(np.abs(corners).sum(axis=2, keepdims=True), _TINY)
    volumes = np.linalg.det(corners / lengths)
    if (np.abs(volumes) <= _OF_DETERMINANT).any():
        return None
    simplices, backwards = hull.simplices.copy(), volumes < 0
    simplices[backwards, :2] = simplices[backwards, 1::-1]
    if not is_closed(simplices):
        return None
    normals, offsets = hull.equations[:, :-1], hull.equations[:, -1]
    distances = np.abs(np.einsum("fcd,fd->fc", corners, normals) + offsets[:, None])
    off = distances.max() + _OF_DISTANCE * norms_above(positions).max()
    centre, offsets, off = (np.ldexp(numbers, exponent) for numbers in (centre, offsets, off))
    return Shell(centre, np.column_stack([normals, offsets]), float(off), float(-offsets.max()))


def is_closed(simplices: np.ndarray) -> bool:
    """Whether oriented simplices have no boundary: each ridge is run through as often one way as
    the other."""
    ridges, signs = [], []
    for left_out in range(simplices.shape[1]):
        ridge = np.delete(simplices, left_out, axis=1)
        crossings = sum(
            (ridge[:, i] > ridge[:, j]).astype(int)
            for i, j in combinations(range(ridge.shape[1]), 2)
        )
        ridges.append(np.sort(ridge, axis=1))
        signs.append(np.where((crossings + left_out) % 2, -1, 1) * np.ones(len(ridge), dtype=int))
    _, number = np.unique(np.concatenate(ridges), axis=0, return_inverse=True)
    return not np.bincount(number.ravel(), np.concatenate(signs)).any()
