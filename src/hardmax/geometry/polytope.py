"""The convex hull of points as one object: vertices and facets."""

from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, check_bool
from hardmax.geometry._hull import Face, Hull, affine_frame, hull, read_points

# Up to here the hull has about as many facets as vertices, and is found at once.
FEW_FACETS = 3
# The number of facets grows like n^(r/2): beyond six dimensions a few dozen points have millions.
LARGEST_DIMENSION = 6
# What rounding moves points by, as a share of their size, with room.
ROUNDING = 2.0**-48


class Polytope:
    """Convex hull of points, which may be flat, repeated, or inside, and may span up to six
    dimensions.

    Parameters
    ----------
    points : array_like of shape (m, d)
        Points, of which the polytope is the convex hull.
    all_vertices : bool, default False
        Take every point for a vertex, as leaders are proved to be; there may be more than six
        dimensions. Where some are so close to the hull of the others that floats do not find them,
        facets are refused.

    Examples
    --------
    >>> cube = Polytope([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    >>> cube
    Polytope(dimension 3 in R^3, 8 points)
    >>> cube.facets[0], len(cube.facets)
    ((0, 1, 2, 3), 6)
    """

    def __init__(self, points: Any, *, all_vertices: bool = False) -> None:
        self.points = read_points(points, "`points`")
        self.all_vertices = check_bool(all_vertices, "`all_vertices`")

    def __repr__(self) -> str:
        space = f"R^{self.points.shape[1]}"
        return f"Polytope(dimension {self.dimension} in {space}, {len(self.points)} points)"

    @property
    def indices(self) -> np.ndarray:
        """Indices of the points that are vertices, increasing; of equal points the first."""
        return np.arange(len(self.points)) if self.all_vertices else self._float_hull.vertices

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
        if len(self._float_hull.vertices) < len(self.vertices):
            # Where a vertex was lost, a thin direction may have been lost with it.
            return affine_frame(self.points, within=ROUNDING).rank
        return self._float_hull.dimension

    @property
    def facets(self) -> tuple[Face, ...]:
        """Faces of one dimension less than the polytope, as tuples of indices into `vertices`."""
        floats = self._float_hull
        if floats.dimension != self.dimension or len(floats.vertices) != len(self.vertices):
            came = f"Of the {len(self.vertices):,} vertices floats find {len(floats.vertices):,}"
            raise InputError(f"{came}: the others are too close to their hull for `facets`.")
        return floats.facets

    @cached_property
    def _float_hull(self) -> Hull:
        """The hull of the points, as floats find it."""
        if (rank := affine_frame(self.points).rank) > LARGEST_DIMENSION:
            wish = f"points that span at most {LARGEST_DIMENSION} dimensions"
            raise InputError(f"`vertices` and `facets` need {wish}, but these span {rank}.")
        return hull(self.points)
