"""The convex hull of points as one object: vertices, faces, volume, membership and distance."""

from functools import cached_property
from typing import Any

import numpy as np

from hardmax._tokens.rationals import root, to_fractions
from hardmax._validation import InputError, check_bool, check_int, check_real
from hardmax.geometry._affine import affine_frame, read_metric, read_points, resolution, unit_scaled
from hardmax.geometry._hull import Face, Hull, extreme_points, faces_below, hull, nearest, nearest_of_simplices
from hardmax.geometry.projection import project_exact

# Up to here the hull has about as many facets as vertices, and finding both is the fastest way to the vertices.
FEW_FACETS = 3
# The number of facets grows like n^(r/2): beyond six dimensions a few dozen points have millions.
LARGEST_DIMENSION = 6
# What rounding moves points by, as a share of their size, with room.
ROUNDING = 2.0**-48


class Polytope:
    """Convex hull of points, which may be flat, repeated, or inside.

    Vertices, `contains` and `distance` work in any dimension; facets, faces and volume up to six.

    Parameters
    ----------
    points : array_like of shape (m, d)
        Points, of which the polytope is the convex hull.
    metric : array_like of shape (d, d), optional
        Symmetric positive definite matrix A: distances are |x|_A = sqrt(<A x, x>). Euclidean if None.
    all_vertices : bool, default False
        Take every point for a vertex, as leaders are proved to be. Where some are so close to the hull of the others
        that floats do not find them, facets are refused.

    Examples
    --------
    >>> cube = Polytope([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    >>> cube
    Polytope(dimension 3 in R^3, f-vector (8, 12, 6))
    >>> cube.volume, cube.distance([[3, 0, 0], [0, 0.5, 0]]).tolist()
    (8.0, [2.0, 0.0])
    """

    def __init__(self, points: Any, metric: Any = None, *, all_vertices: bool = False) -> None:
        self.points = read_points(points, "`points`")
        self.all_vertices = check_bool(all_vertices, "`all_vertices`")
        try:
            # |x|_A is the Euclidean length of R^T x, where A = R R^T.
            self._root = np.linalg.cholesky(read_metric(metric, self.points.shape[1]).astype(np.float64))
        except np.linalg.LinAlgError:
            raise InputError("`metric` is too close to a singular matrix to measure distances in floats.") from None

    def __repr__(self) -> str:
        counted = self.dimension <= FEW_FACETS and len(self._hull_of_points.vertices) == len(self.vertices)
        known = f"f-vector {self.f_vector}" if counted else f"{len(self.vertices)} vertices"
        return f"Polytope(dimension {self.dimension} in R^{self.points.shape[1]}, {known})"

    @cached_property
    def indices(self) -> np.ndarray:
        """Indices of the points that are vertices, increasing; of equal points the first."""
        if self.all_vertices:
            return np.arange(len(self.points))
        return self._hull_of_points.vertices if self.dimension <= FEW_FACETS else extreme_points(self.points)

    @property
    def vertices(self) -> np.ndarray:
        """Vertices (v, d), in the order of the points."""
        return self.points[self.indices]

    @cached_property
    def dimension(self) -> int:
        """Dimension of the affine space that the polytope spans: 0 for a point, 2 for a polygon."""
        rank = affine_frame(self.points).rank
        if rank > FEW_FACETS:
            return rank
        if self.all_vertices and len(self._hull_of_points.vertices) < len(self.points):
            # Where a vertex was lost, a thin direction may have been lost with it.
            return affine_frame(self.points, within=ROUNDING).rank
        return self._hull_of_points.dimension

    @property
    def facets(self) -> tuple[Face, ...]:
        """Faces of one dimension less than the polytope, as tuples of indices into `vertices`."""
        return self._hull.facets

    @property
    def volume(self) -> float:
        """Euclidean volume within the affine space: an area for polygons, a length for segments, 1 for a point."""
        return self._hull.volume

    @property
    def f_vector(self) -> tuple[int, ...]:
        """Number of faces of dimension 0, 1, …, dimension - 1; (1,) for a point."""
        return tuple(len(self.faces(k)) for k in range(max(1, self.dimension)))

    def faces(self, dimension: int) -> tuple[Face, ...]:
        """All faces of one dimension.

        Parameters
        ----------
        dimension : int
            From 0 (the vertices) to the dimension of the polytope (itself).

        Returns
        -------
        tuple of tuple of int
            Each face as indices into `vertices`.
        """
        return self._faces[check_int(dimension, "`dimension`", at_least=0, at_most=self.dimension)]

    def contains(self, points: Any, tolerance: float | None = None) -> np.ndarray:
        """Whether each point lies in the polytope, or no further than a tolerance from it.

        Parameters
        ----------
        points : array_like of shape (n, d)
            Points.
        tolerance : float, optional
            Distance in the norm of the metric. If None, 1e-12 of the extent of the polytope: enough for points that
            were computed to be inside.

        Returns
        -------
        ndarray of bool of shape (n,)
            True also where a point is outside by rounding alone.
        """
        if tolerance is None:
            scaled, exponent = unit_scaled(self.points)
            tolerance = float(np.ldexp(resolution(scaled) * np.linalg.norm(self._root, 2), exponent))
        return self.distance(points) <= check_real(tolerance, "`tolerance`", at_least=0)

    def distance(self, points: Any) -> np.ndarray:
        """Distance of each point from the polytope, in the norm of the metric.

        Parameters
        ----------
        points : array_like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Distances, off by rounding: some units in the last place of the sizes of polytope and point. 0 inside.
        """
        targets = read_points(points, "`points`", self.points.shape[1])
        # Tokens share their limits: few of many points differ.
        distinct, index = np.unique(targets, axis=0, return_inverse=True)
        distances = self._proved_distances(distinct)
        for i in np.flatnonzero(np.isnan(distances)):
            distances[i] = self._distance(distinct[i])
        return distances[index.ravel()]

    def _proved_distances(self, targets: np.ndarray) -> np.ndarray:
        """The distances of many points from a polytope of few facets; nan where the next way has to be tried.

        A ray from the centre c through x leaves the hull at a point p of a simplex. If x and c are both lower along its
        normal than all its vertices, and so than p, then x is between c and p: inside.
        """
        distances, d = np.full(len(targets), np.nan), self.points.shape[1]
        if d > FEW_FACETS or self._hull_of_points.dimension < d:
            return distances
        found, (table, exponent) = self._hull_of_points, unit_scaled(self.points)
        scaled, power = unit_scaled(self._root)
        # Squares of points much further away might overflow: these are measured one by one.
        (near,) = np.nonzero(np.abs(targets).max(axis=1) < np.ldexp(1.0, min(exponent + 100, 1023)))
        corners, aims = table[found.vertices] - table[0], np.ldexp(targets[near], -exponent) - table[0]
        floors = np.einsum("tvr,tr->tv", corners[found.simplices], found.normals).min(axis=1)
        both = np.vstack([corners.mean(axis=0), aims])
        slack = ROUNDING * (np.linalg.norm(corners, axis=1).max() + np.linalg.norm(both, axis=1))
        inside = np.ones(len(both), dtype=bool)
        for normal, floor in zip(found.normals, floors, strict=True):
            inside &= both @ normal < floor - slack
        inside = inside[1:] & inside[0]
        distances[near[inside]] = 0.0
        near, aims, mapped = near[~inside], aims[~inside] @ scaled, (table - table[0]) @ scaled
        ways = nearest_of_simplices(corners @ scaled, found.simplices, aims)
        lengths, proved = _proved_lengths(mapped, aims, ways)
        with np.errstate(over="ignore", under="ignore"):
            distances[near[proved]] = np.ldexp(lengths[proved], exponent + power)
        return distances

    def _distance(self, target: np.ndarray) -> float:
        table, exponent = unit_scaled(np.vstack([self.points, target]))
        scaled, power = unit_scaled(self._root)
        # Seen from one of the points: those far away lose no digits.
        mapped = (table - table[0]) @ scaled
        lengths, proved = _proved_lengths(mapped[:-1], mapped[-1:], nearest(mapped[:-1], mapped[-1])[None])
        if not proved[0]:
            return self._exact_distance(target)
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(lengths[0], exponent + power))

    def _exact_distance(self, target: np.ndarray) -> float:
        exact_root, aim = to_fractions(self._root, "`metric`"), to_fractions(target, "`points`")
        metric: Any = exact_root @ exact_root.T
        way = np.array(project_exact(self.points, metric, target)[0], dtype=object) - aim
        return root(way @ metric @ way)

    @cached_property
    def _hull_of_points(self) -> Hull:
        return hull(self.points)

    @cached_property
    def _hull(self) -> Hull:
        if self.dimension > LARGEST_DIMENSION:
            wish = f"points that span at most {LARGEST_DIMENSION} dimensions"
            raise InputError(f"`facets`, `faces` and `volume` need {wish}, but these span {self.dimension}.")
        found = self._hull_of_points if self.dimension <= FEW_FACETS else hull(self.vertices)
        if found.dimension != self.dimension or len(found.vertices) != len(self.vertices):
            came = f"Of the {len(self.vertices):,} vertices floats find {len(found.vertices):,}"
            raise InputError(f"{came}: the others are too close to their hull for `facets`, `faces` and `volume`.")
        return found

    @cached_property
    def _faces(self) -> list[tuple[Face, ...]]:
        """The faces of every dimension, from the vertices up to the polytope itself."""
        levels: list[tuple[Face, ...]] = [(tuple(range(len(self.vertices))),)]
        if self.dimension:
            levels.append(tuple(sorted(self.facets)))
        for k in range(self.dimension - 1, 0, -1):
            levels.append(faces_below(levels[-1], k, self.facets))
        return levels[::-1]


def _proved_lengths(points: np.ndarray, aims: np.ndarray, ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths of ways from aims to the hull of points, 0 up to rounding, and which are certainly the shortest."""
    lengths = np.linalg.norm(ways, axis=1)
    slack = ROUNDING * np.maximum(np.linalg.norm(points, axis=1).max(), np.linalg.norm(aims, axis=1))
    # The hull lies beyond the plane through its lowest point with the way as normal: so a wrong answer shows.
    blocks = np.array_split(ways, 1 + len(ways) * len(points) // 2**24)
    lowest = np.concatenate([(block @ points.T).min(axis=1) for block in blocks]) - np.einsum("nr,nr->n", aims, ways)
    proved = (lengths <= slack) | (lowest >= (lengths - slack) * lengths)
    return np.where(lengths <= slack, 0.0, lengths), proved
