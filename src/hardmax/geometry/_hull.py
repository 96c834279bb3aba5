"""Points and metrics as arguments; the affine space that points span; and their convex hull, by
Qhull, which does not fail on flat, thin, repeated or tiny input.

Hull algorithms fail on flat input. So points are first written in coordinates of the smallest
affine space that contains them, in which they are not flat."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._common.validation import InputError
from hardmax._kernels.parallel import interruptible
from hardmax._layer.rules import check_dimension
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import unit_of
from hardmax.dynamics import Dynamics

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

Face = tuple[int, ...]

# Rounding leaves coordinates off by 1e-16 of the extent, a computation a few times that, and a
# plane through neighbouring points extrapolates the error. On the other side, a million points on a
# circle stand out by 5e-12.
RELATIVE_RESOLUTION = 1e-12
# What is thinner than a few times that is flat: its two sides could not be separated.
THINNEST = 8


def read_points(values: Any, name: str, dimension: int | None = None) -> np.ndarray:
    """A finite float64 table (n, d); rationals are rounded once."""
    table = read_table(values, name).astype(float)
    if dimension is not None and table.shape[1] != dimension:
        raise InputError(f"{name} must have {dimension} coordinates each, not {table.shape[1]}.")
    return table


def read_metric(metric: Any, dimension: int) -> Dynamics:
    """Dynamics with a metric for points of this dimension: any square matrix, the identity for
    None."""
    dynamics = Dynamics(1, np.eye(dimension) if metric is None else metric)
    check_dimension(dynamics, dimension)
    return dynamics


class AffineFrame(NamedTuple):
    """The affine space of points `origin + c @ axes`, with orthonormal rows `axes` (rank, d)."""

    origin: np.ndarray
    axes: np.ndarray
    rank: int

    def coordinates(self, points: np.ndarray) -> np.ndarray:
        """The coordinates (n, r) of the points' projections on the affine space."""
        return (points - self.origin) @ self.axes.T


def affine_frame(
    points: np.ndarray, at_most: int | None = None, within: float | None = None
) -> AffineFrame:
    """A frame of the smallest affine space that contains the points (n, d), up to rounding.

    Points that span the whole space keep their own axes. Of more than `at_most` axes the longest
    are taken. `within` is what counts as rounding, as a share of the largest coordinate (if None: a
    few times `resolution(points)`)."""
    unit = unit_of(points)  # in which squares neither overflow nor vanish
    table = np.ldexp(points, -unit)
    differences = table - table[0]
    # Rows of left * values are the points in principal axes; their last columns are the distance
    # from the space.
    left, values, axes = np.linalg.svd(differences - differences.mean(axis=0), full_matrices=False)
    squares = (left * values) ** 2
    tails = np.sqrt(np.cumsum(squares[:, ::-1], axis=1)).max(axis=0)[::-1]
    if within is None:
        within = THINNEST * resolution(table)
    rank = int(np.count_nonzero(tails > within))
    rank = rank if at_most is None else min(rank, at_most)
    axes = np.eye(rank) if rank == table.shape[1] else axes[:rank]
    return AffineFrame(np.ldexp(table[0], unit), axes, rank)


def resolution(points: np.ndarray) -> float:
    """The distance below which floats do not separate these points: 1e-12 of their extent, and
    rounding."""
    rounding = 8 * np.finfo(np.float64).eps * np.abs(points).max()
    return float(RELATIVE_RESOLUTION * np.ptp(points, axis=0).max() + rounding)


class Hull(NamedTuple):
    """Which points are vertices, and the facets as numbers of vertices: none of a point, the two
    ends of a segment."""

    dimension: int
    vertices: np.ndarray
    facets: tuple[Face, ...]


def hull(points: np.ndarray) -> Hull:
    """The convex hull of points (n, d) that span at most six dimensions.

    Whatever lies within about `resolution(points)` of a plane lies in it, so that a cube has six
    facets."""
    # Of equal points the first. Adding zero turns -0.0 into 0.0: they are equal, but sorting may
    # separate them.
    _, firsts = np.unique(points + 0.0, axis=0, return_index=True)
    distinct = np.sort(firsts)
    table = np.ldexp(points[distinct], -unit_of(points))
    frame = affine_frame(table)
    while (found := _hull_of(frame.coordinates(table), resolution(table))) is None:
        frame = affine_frame(table, frame.rank - 1)
    return found._replace(vertices=distinct[found.vertices])


def _hull_of(points: np.ndarray, tolerance: float) -> Hull | None:
    """The hull of distinct points (n, r) that span their space; None where they are too flat for
    one."""
    r = points.shape[1]
    if r == 0:
        return Hull(0, np.zeros(1, dtype=int), ())
    if r == 1:
        ends = np.sort([np.argmin(points), np.argmax(points)])
        return Hull(1, ends, ((0,), (1,)))
    qhull = _qhull(points, tolerance)
    if qhull is None:
        return None
    vertices, numbers = np.unique(qhull.simplices, return_inverse=True)
    simplices = numbers.reshape(-1, r).tolist()
    # Simplices of one facet have one plane, the same in every digit.
    _, facet_of = np.unique(qhull.equations, axis=0, return_inverse=True)
    facets: list[set[int]] = [set() for _ in range(facet_of.max() + 1)]
    for facet, simplex in zip(facet_of.ravel().tolist(), simplices, strict=True):
        facets[facet].update(simplex)
    if len(facets) <= r:
        return None
    return Hull(r, vertices, tuple(tuple(sorted(facet)) for facet in facets))


def _qhull(points: np.ndarray, tolerance: float) -> "ConvexHull | None":
    from scipy.spatial import (  # half a second to import: not before it is needed
        ConvexHull,
        QhullError,
    )

    # Qt: a facet that is no simplex comes as several. E: what distances are off by; a few times
    # that is in the plane. Where that leads Qhull to a topology error, it has to do without, and
    # rounding decides.
    usual = "Qt Qx" if points.shape[1] > 4 else "Qt"
    for options in (f"{usual} E{tolerance / 4!r}", usual):
        try:
            # Thousands of points have millions of facets in six dimensions, and Qhull hears no
            # Ctrl-C.
            return interruptible(lambda options=options: ConvexHull(points, qhull_options=options))
        except QhullError as error:
            if "simplex is flat" in str(error):
                break
    return None


def going_round(vertices: np.ndarray) -> np.ndarray:
    """The order of the vertices (k, d) of a polygon along its boundary, from the first;
    counterclockwise if d = 2."""
    flat = affine_frame(vertices, 2).coordinates(vertices)
    if flat.shape[1] < 2:
        return np.arange(len(vertices))
    ways = flat - flat.mean(axis=0)
    order = np.argsort(np.arctan2(ways[:, 1], ways[:, 0]))
    return np.roll(order, -int(np.argmin(order)))
