"""The convex hull of points as one object: vertices, faces, volume, membership and distance.

>>> cube = Polytope([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
>>> cube
Polytope(dimension 3 in R^3, f-vector (8, 12, 6))
>>> cube.volume, cube.distance([[3, 0, 0], [0, 0.5, 0]]).tolist()
(8.0, [2.0, 0.0])
"""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hardmax._tokens.batches import whole_numbers
from hardmax._validation import InputError, check_bool, check_int, shorten
from hardmax.geometry._affine import (
    Frame,
    affine_frame,
    exact_rank,
    read_matrix,
    read_metric,
    read_point,
    read_points,
    read_targets,
    read_tolerance,
    resolution,
    unit_scaled,
)
from hardmax.geometry.hull import LARGEST_DIMENSION, Face, Hull, extreme_points, faces_below, hull, outline
from hardmax.geometry.projection import Ruler

# Up to here the hull has about as many facets as vertices, and finding both is the fastest way to the vertices.
FEW_FACETS = 3
# Beyond so many, trying the direction of each takes longer than it saves.
MOST_LEADERS = 100_000


class Polytope:
    """The convex hull of `points` (m, d), which may be flat, repeat, or not be vertices at all.

    `vertices` (v, d) are the extreme points in the order given, `indices` says which of the points they are, and every
    face is a tuple of indices into `vertices`. With a `metric` A distances are |x|_A = sqrt(<A x, x>), else Euclidean;
    faces and volumes do not depend on it. Facets, faces and volume are there up to dimension 6. With `all_vertices` all
    the points are taken to be vertices, as leaders are proved to be; where some are so close to the hull of the others
    that floats do not find them, facets are refused.

    >>> segment = Polytope([[0, 0], [1, 1], [2, 2]], metric=[[2, 1], [1, 1]])
    >>> segment.indices.tolist(), segment.dimension, segment.facets
    ([0, 2], 1, ((0,), (1,)))
    """

    def __init__(self, points: Any, metric: Any = None, *, all_vertices: bool = False) -> None:
        self.points = read_points(points, "`points`")
        self.all_vertices = check_bool(all_vertices, "`all_vertices`")
        self.metric = None if metric is None else read_matrix(metric, self.points.shape[1])
        self._root = read_metric(self.metric, self.points.shape[1])

    def __repr__(self) -> str:
        told = self.dimension <= FEW_FACETS and self._finds_all
        known = f"f-vector {self.f_vector}" if told else f"{len(self.vertices)} vertices"
        return f"Polytope(dimension {self.dimension} in R^{self.points.shape[1]}, {known})"

    @cached_property
    def indices(self) -> np.ndarray:
        """Which of the points are vertices, increasing; of equal points the first."""
        if self.all_vertices:
            return np.arange(len(self.points))
        if self.dimension <= FEW_FACETS:
            return np.array(self._hull_of_points.vertices)
        # Leaders are furthest along their own direction A z, so these directions settle them at once.
        directions = unit_scaled(self.points)[0] @ self._root @ self._root.T
        return extreme_points(self.points, directions=directions[:: 1 + len(directions) // MOST_LEADERS])

    @cached_property
    def vertices(self) -> np.ndarray:
        """The vertices (v, d)."""
        return self.points[self.indices]

    @cached_property
    def frame(self) -> Frame:
        """A frame of the flat that the polytope spans."""
        frame = affine_frame(self.points)
        if frame.rank > FEW_FACETS:
            return frame
        # Where a vertex was lost, a thin direction may have been lost with it.
        return self._hull_of_points.frame if self._finds_all else affine_frame(self.points, exact_rank(self.points), 0)

    @property
    def dimension(self) -> int:
        """The dimension of that flat: 0 for a point, 1 for a segment, 2 for a polygon."""
        return self.frame.rank

    @property
    def facets(self) -> tuple[Face, ...]:
        """The faces of one dimension less, as tuples of vertices; coplanar simplices are merged."""
        return self._hull.facets

    @property
    def normals(self) -> np.ndarray:
        """The outward normal (f, d) of each facet, of length 1, within the flat: `normals @ x <= offsets` inside."""
        return self._hull.normals

    @property
    def offsets(self) -> np.ndarray:
        """The value `normals @ x` of each facet."""
        return self._hull.offsets

    @property
    def volume(self) -> float:
        """The Euclidean volume within the flat: a length for segments, an area for polygons, 1 for a point."""
        return self._hull.volume

    def faces(self, dimension: int) -> tuple[Face, ...]:
        """All faces of a dimension, from 0 (the vertices) to that of the polytope (itself), as tuples of vertices.

        >>> [len(Polytope([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]).faces(k)) for k in range(4)]
        [4, 6, 4, 1]
        """
        return self._faces[check_int(dimension, "`dimension`", at_least=0, at_most=self.dimension)]

    @cached_property
    def f_vector(self) -> tuple[int, ...]:
        """How many faces of dimension 0, 1, …, dimension - 1 there are; (1,) for a point.

        >>> Polytope([[0, 0], [1, 0], [1, 1], [0, 1]]).f_vector
        (4, 4)
        """
        return tuple(len(self.faces(k)) for k in range(max(1, self.dimension)))

    def outline(self, face: Face | None = None) -> list[int]:
        """The vertices of a two-dimensional face (the polytope itself, if None) in order, going round.

        >>> Polytope([[1, 1], [-1, -1], [1, -1], [-1, 1]]).outline()
        [0, 3, 1, 2]
        """
        chosen = np.arange(len(self.vertices)) if face is None else self._read_face(face)
        return [int(chosen[i]) for i in outline(self.vertices[chosen])]

    def contains(self, points: Any, tolerance: Any = None) -> Any:
        """Whether each point (n, d) lies within `tolerance` of the polytope, decided exactly: floats are rationals.

        If it is None, 1e-12 of the extent of the polytope, and what rounding leaves (`resolution`): points that were
        computed to be inside are. With 0, every point on the boundary is decided in integers, about a millisecond each.

        >>> Polytope([[0, 0], [1, 0], [0, 1]]).contains([[0.5, 0.5], [0.6, 0.5]]).tolist()
        [True, False]
        """
        targets, single = read_targets(points, self.points.shape[1])
        inside = self._ruler.within(targets, self._resolution if tolerance is None else read_tolerance(tolerance))
        return bool(inside[0]) if single else inside

    def distance(self, points: Any) -> Any:
        """How far each point (n, d) lies from the polytope, in the norm of the metric; 0 inside.

        A single point (d,) gives a number. Off by no more than rounding: some units in the last place of the sizes of
        the polytope and of the point, seen from one of its vertices, however thin it is.

        >>> Polytope([[0, 0], [1, 0]], metric=[[4, 0], [0, 1]]).distance([[2, 0], [0, 2], [0.5, 0]]).tolist()
        [2.0, 2.0, 0.0]
        """
        targets, single = read_targets(points, self.points.shape[1])
        distances = self._ruler.distances(targets)
        return float(distances[0]) if single else distances

    def face_of_direction(self, direction: Any) -> Face:
        """The vertices furthest along `direction` (d,), ties up to rounding included: the face that it exposes.

        >>> Polytope([[1, 1], [1, -1], [-1, 0]]).face_of_direction([2, 0])
        (0, 1)
        """
        way, _ = unit_scaled(read_point(direction, "`direction`", self.points.shape[1]))
        corners, _ = unit_scaled(self.vertices)
        scores = (corners - corners[0]) @ way
        slack = resolution(corners) * np.linalg.norm(way)
        return tuple(np.flatnonzero(scores >= scores.max() - slack).tolist())

    @cached_property
    def _ruler(self) -> Ruler:
        return Ruler(self.points, self.indices, None if self.metric is None else self._root)

    @cached_property
    def _resolution(self) -> Fraction:
        """The distance below which floats do not tell points apart, in the norm of the metric."""
        scaled, exponent = unit_scaled(self.points)
        return Fraction(float(resolution(scaled) * np.linalg.norm(self._root, 2))) * Fraction(2) ** exponent

    @cached_property
    def _hull(self) -> Hull:
        """The hull, its faces in indices of `vertices`."""
        if self.dimension > LARGEST_DIMENSION:
            return Hull((), self.frame, None)
        found = self._hull_of_points if self.dimension <= FEW_FACETS else hull(self.vertices)
        if self.all_vertices and len(found.vertices) < len(self.points):
            raise InputError(
                f"Of the {len(self.points):,} vertices floats find {len(found.vertices):,}: the others are too close "
                "to the hull of these for facets and volume to be known. Vertices, membership and distance are."
            )
        if found.dimension != self.dimension:
            raise InputError(
                f"`points` span {self.dimension} dimensions, but so thinly that floats do not tell their facets apart. "
                "Phase them along their short directions."
            )
        return found.renumbered()

    @cached_property
    def _hull_of_points(self) -> Hull:
        return hull(self.points)

    @property
    def _finds_all(self) -> bool:
        """Whether Qhull finds every point that is known to be a vertex."""
        return not self.all_vertices or len(self._hull_of_points.vertices) == len(self.points)

    @cached_property
    def _faces(self) -> list[tuple[Face, ...]]:
        """The faces of every dimension, from the vertices up to the polytope itself."""
        facets = self.facets
        levels: list[tuple[Face, ...]] = [(tuple(range(len(self.vertices))),)]
        if self.dimension:
            levels.append(tuple(sorted(facets)))
        for k in range(self.dimension - 1, 0, -1):
            levels.append(faces_below(levels[-1], k, facets))
        return levels[::-1]

    def _read_face(self, face: Any) -> np.ndarray:
        chosen = whole_numbers(face, "`face`")
        if chosen.ndim != 1 or not chosen.size or not np.isin(chosen, np.arange(len(self.vertices))).all():
            raise InputError(f"`face` must be indices of vertices, below {len(self.vertices)}, not {shorten(face)}.")
        return chosen
