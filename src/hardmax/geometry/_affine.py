"""Points and metrics as arguments, and the affine space that points span.

Hull algorithms fail on flat input. So points are first written in coordinates of the smallest
affine space that contains them, in which they are not flat."""

from typing import Any, NamedTuple

import numpy as np

from hardmax._common.validation import InputError
from hardmax._layer.rules import check_dimension
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import unit_of
from hardmax.dynamics import Dynamics

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
