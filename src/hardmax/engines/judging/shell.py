"""A polytope that is proved to lie in the hull of some points, from the facets that Qhull finds.

Qhull works in floats, and its facets are good but not proved. What we need is that everything well inside of them is in
the hull, and that follows from things that can be checked:

* Its simplices, each turned so that the centre c sees it counter-clockwise, have no boundary: every ridge is run
  through once each way. So they are a cycle T of corners among the points.
* Seen from c each of them covers a positive angle, so T winds around c a positive number of times.
* A simplex lies in the slab |<a, x> + b| <= off about the plane of its facet, since its corners do (measured).
* So from c to a place z with <a, z> + b < -off for all facets nothing of T is crossed, and T winds around z as often.
  Were z not in the hull, a plane would part it from all of T, which would then not wind around it at all.

Hence a place that is inside all facets by `off` + s is in the hull, with a ball of radius s about it.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hardmax.engines.floats.bounds import norms_above

# More than rounding does to a determinant of up to four rows, as a share of the product of their lengths; and to the
# distance from a facet, as a share of the reach.
_OF_DETERMINANT, _OF_DISTANCE = 2.0**-40, 2.0**-44


@dataclass(frozen=True, eq=False)
class Shell:
    """Facets about a centre, and by how much a place must be inside of them to be in the hull for certain."""

    centre: np.ndarray
    facets: np.ndarray  # normal and offset: <normal, z - centre> + offset <= 0 is inside
    off: float

    @property
    def radius(self) -> float:
        """Nearer to the centre everything is inside of all facets."""
        return float(-self.facets[:, -1].max())


def shell_of(points: np.ndarray) -> Shell | None:
    """The shell of some points, in up to four dimensions; None where it cannot be proved, as for points in a plane."""
    from scipy.spatial import ConvexHull, QhullError  # half a second to import, and only large clouds need it

    centre = points.mean(axis=0)
    places = points - centre
    try:
        hull = ConvexHull(places)
    except QhullError:
        return None
    corners = places[hull.simplices]  # (facets, d, d)
    volumes = np.linalg.det(corners)
    if (np.abs(volumes) <= _OF_DETERMINANT * np.prod(np.linalg.norm(corners, axis=2), axis=1)).any():
        return None
    simplices = np.where((volumes > 0)[:, None], hull.simplices, _swapped(hull.simplices))
    if not is_closed(simplices):
        return None
    normals, offsets = hull.equations[:, :-1], hull.equations[:, -1]
    distances = np.abs(np.einsum("fcd,fd->fc", corners, normals) + offsets[:, None])
    reach = float(norms_above(places).max())
    return Shell(centre, hull.equations, float(distances.max()) + _OF_DISTANCE * reach)


def is_closed(simplices: np.ndarray) -> bool:
    """Whether oriented simplices have no boundary: each ridge is run through as often one way as the other.

    >>> is_closed(np.array([[0, 1], [1, 2], [2, 0]])), is_closed(np.array([[0, 1], [1, 2], [0, 2]]))
    (True, False)
    """
    ridges, signs = [], []
    for left_out in range(simplices.shape[1]):
        ridge = np.delete(simplices, left_out, axis=1)
        crossings = sum((ridge[:, i] > ridge[:, j]).astype(int) for i, j in combinations(range(ridge.shape[1]), 2))
        ridges.append(np.sort(ridge, axis=1))
        signs.append(np.where((crossings + left_out) % 2, -1, 1) * np.ones(len(ridge), dtype=int))
    _, number = np.unique(np.concatenate(ridges), axis=0, return_inverse=True)
    return not np.bincount(number.ravel(), np.concatenate(signs)).any()


def _swapped(simplices: np.ndarray) -> np.ndarray:
    """The same simplices the other way round."""
    other = simplices.copy()
    other[:, [0, 1]] = simplices[:, [1, 0]]
    return other
