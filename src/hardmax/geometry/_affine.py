"""Points as fractions or floats, and the affine space that they span.

What geometry takes, checked at the door: points, a metric, a rectangle.

The flat that a set of points spans: its dimension, decided before anything else, and a frame in it.

Hulls fail on flat input. So points are first written in coordinates of the smallest flat that holds them, in which they
are not flat.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from hardmax._metric import is_positive_definite
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import IntegerCloud, exact_number, to_fractions
from hardmax._validation import InputError, check_int, check_real, shorten

Rectangle: TypeAlias = Sequence[float]
FractionRows: TypeAlias = list[list[Fraction]]

# A symmetric matrix that was computed differs from its transpose by rounding alone.
ASYMMETRY = 1e-12


def read_points(values: Any, name: str, dimension: int | None = None) -> np.ndarray:
    """A finite float64 table (n, d); rationals are rounded once."""
    table = read_table(values, name).astype(np.float64)
    if dimension is not None and table.shape[1] != dimension:
        raise InputError(f"{name} must have {dimension} coordinates each, not {table.shape[1]}.")
    return table


def read_point(values: Any, name: str, dimension: int | None = None) -> np.ndarray:
    """One finite float64 point (d,)."""
    table, single = as_table(values)
    if not single:
        raise InputError(f"{name} must be one point, a list of coordinates, not {shorten(values)}.")
    return read_points(table, name, dimension)[0]


def read_targets(values: Any, dimension: int) -> tuple[np.ndarray, bool]:
    """Points as a table, and whether a single point came."""
    table, single = as_table(values)
    return read_points(table, "`points`", dimension), single


def as_table(values: Any) -> tuple[Any, bool]:
    """A single point as a table of one row, a table as it is; and whether it was a single point.

    >>> as_table([1, 2]), as_table([[1, 2]])
    (([[1, 2]], True), ([[1, 2]], False))
    """
    if isinstance(values, list | tuple):
        single = not any(isinstance(value, list | tuple | np.ndarray) for value in values)
    else:
        single = hasattr(type(values), "__array__") and getattr(values, "ndim", 0) == 1
    return ([list(values)], True) if single else (values, False)


def read_matrix(metric: Any, dimension: int) -> np.ndarray:
    """A float64 matrix of the dimension of the points."""
    table = read_table(metric, "`metric`").astype(np.float64)
    check_shape(table.shape, dimension)
    return table


def read_metric(metric: Any, dimension: int) -> np.ndarray:
    """A matrix R with A = R R^T, so that |x|_A is the Euclidean length of R^T x; the identity for None."""
    if metric is None:
        return np.eye(dimension)
    table = read_matrix(metric, dimension)
    gap = float(np.abs(table - table.T).max())
    if gap > ASYMMETRY * np.abs(table).max():
        raise InputError(_asymmetric(gap))
    try:
        return np.linalg.cholesky((table + table.T) / 2)
    except np.linalg.LinAlgError:
        raise InputError(_indefinite(table)) from None


def read_exact_points(values: Any, name: str, dimension: int | None = None) -> FractionRows:
    """Rows of Fractions; a float is the dyadic rational that it stores."""
    table = to_fractions(read_table(values, name), name)
    if dimension is not None and table.shape[1] != dimension:
        raise InputError(f"{name} must have {dimension} coordinates each, not {table.shape[1]}.")
    return table.tolist()


def read_exact_metric(metric: Any, dimension: int) -> FractionRows:
    """The metric in Fractions, its symmetry and definiteness decided exactly."""
    table = to_fractions(read_table(metric, "`metric`"), "`metric`")
    check_shape(table.shape, dimension)
    gap = np.abs(table - table.T).max()
    if gap:
        raise InputError(_asymmetric(float(gap)))
    if not is_positive_definite(table):
        raise InputError(_indefinite(table.astype(np.float64)))
    return table.tolist()


def read_tolerance(tolerance: Any) -> Fraction:
    """A distance, which may be 0."""
    distance = exact_number(None if isinstance(tolerance, bool | np.bool_) else tolerance, "`tolerance`")
    if distance < 0:
        raise InputError(f"`tolerance` must be a distance from 0 up, not {shorten(tolerance)}.")
    return distance


def read_rectangle(rectangle: Any) -> tuple[float, float, float, float]:
    """(left, right, bottom, top), the order of `ax.axis()`."""
    try:
        left, right, bottom, top = (float(side) for side in rectangle)
    except Exception:  # of any kind, from whatever was given
        left = right = bottom = top = np.nan
    if not (np.isfinite([left, right, bottom, top]).all() and left < right and bottom < top):
        raise InputError(
            "`rectangle` must be (left, right, bottom, top) with left < right and bottom < top, "
            f"not {shorten(rectangle)}."
        )
    return left, right, bottom, top


def check_shape(shape: tuple[int, ...], dimension: int) -> None:
    """Refuse a matrix that does not act on points of this dimension."""
    if shape != (dimension, dimension):
        raise InputError(
            f"`metric` must be {dimension} by {dimension}, as the points have {dimension} coordinates, "
            f"not {shape[0]} by {shape[1]}."
        )


def _asymmetric(gap: float) -> str:
    return f"`metric` must be symmetric: |A - A.T| reaches {gap:.2g}. Pass (A + A.T)/2 if that is rounding."


def _indefinite(table: np.ndarray) -> str:
    smallest = np.linalg.eigvalsh((table + table.T) / 2)[0]
    return (
        f"`metric` must be positive definite: its smallest eigenvalue is {smallest:.3g}. "
        "Leave it out for Euclidean distances."
    )


# Rounding leaves coordinates off by 1e-16 of the extent, a computation a few times that, and a plane through
# neighbouring points extrapolates the error. On the other side, a million points on a circle stand out by 5e-12.
RELATIVE_RESOLUTION = 1e-12
# What is thinner than a few times that is flat: its two sides could not be told apart.
THINNEST = 8


@dataclass(frozen=True, eq=False)
class Frame:
    """A flat: the points `origin + c @ axes`, with orthonormal rows `axes` (r, d).

    >>> frame = affine_frame([[0, 0, 1], [3, 4, 1], [6, 8, 1]])
    >>> frame.rank, frame.embed([[0.0]]).tolist(), abs(frame.coordinates([[3.0, 4.0, 1.0]])).tolist()
    (1, [[0.0, 0.0, 1.0]], [[5.0]])
    """

    origin: np.ndarray
    axes: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.axes)

    def coordinates(self, points: Any) -> np.ndarray:
        """The coordinates (n, r) of the points' projections on the flat."""
        return (np.asarray(points) - self.origin) @ self.axes.T

    def embed(self, coordinates: Any) -> np.ndarray:
        """The points (n, d) with these coordinates."""
        return self.origin + np.asarray(coordinates) @ self.axes

    def offsets(self, points: Any) -> np.ndarray:
        """How far each point lies from the flat."""
        off = np.asarray(points) - self.origin
        return np.linalg.norm(off - (off @ self.axes.T) @ self.axes, axis=1)


def affine_rank(points: Any) -> int:
    """The dimension of the smallest flat that holds the points: 0 for a place, 1 for a line, 2 for a plane.

    Decided exactly where the points are rationals; in floats, a few times `resolution(points)` off a flat is in it.

    >>> affine_rank([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), affine_rank([["0", "1e-99"], ["1", "0"], ["2", "0"]])
    (1, 2)
    """
    table = read_table(points, "`points`")
    return exact_rank(table) if table.dtype == object else affine_frame(table).rank


def affine_frame(points: Any, at_most: int | None = None, within: float | None = None) -> Frame:
    """A frame of the smallest flat that holds the points, up to rounding. The first point is its origin.

    Points that span the whole space keep their own axes, and so coordinates that are not rounded again. With `at_most`
    the frame has no more axes than that: those along which the points spread most. What is no further than `within`
    times the largest coordinate from a flat is in it (if None: a few times `resolution(points)`).

    >>> affine_frame([[1, 1], [2, 1], [2, 3]]).axes.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    table, exponent = unit_scaled(read_points(points, "`points`"))
    at_most = None if at_most is None else check_int(at_most, "`at_most`", at_least=0)
    within = None if within is None else check_real(within, "`within`", at_least=0)
    origin = table[0]
    differences = table - origin
    # Rows of left * values are the points in principal axes; what the last axes hold is the distance from the flat.
    left, values, axes = np.linalg.svd(differences - differences.mean(axis=0), full_matrices=False)
    tails = np.sqrt(np.cumsum(((left * values) ** 2)[:, ::-1], axis=1)).max(axis=0)[::-1]
    rank = int(np.count_nonzero(tails > (THINNEST * resolution(table) if within is None else within)))
    rank = rank if at_most is None else min(rank, at_most)
    full = rank == table.shape[1]
    return Frame(np.ldexp(origin, exponent), np.eye(rank) if full else axes[:rank])


def resolution(points: np.ndarray) -> float:
    """The distance below which floats do not tell these points apart: 1e-12 of their extent, and rounding."""
    rounding = 8 * np.finfo(np.float64).eps * np.abs(points).max()
    return float(RELATIVE_RESOLUTION * np.ptp(points, axis=0).max() + rounding)


def unit_scaled(table: np.ndarray, exponent: int | None = None) -> tuple[np.ndarray, int]:
    """The table over 2^exponent, without rounding, and the exponent: squares then neither overflow nor vanish.

    >>> unit_scaled(np.array([[6.0, 1.0]]))
    (array([[0.75 , 0.125]]), 3)
    """
    if exponent is None:
        exponent = int(np.frexp(np.abs(table).max())[1])
    return np.ldexp(table, -exponent), exponent


def first_of_equals(table: np.ndarray) -> np.ndarray:
    """Indices, increasing, of the rows that equal no row before them.

    >>> first_of_equals(np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]])).tolist()
    [0, 1]
    """
    # Adding zero turns -0.0 into 0.0: they are equal, but sorting may tell them apart.
    return np.sort(np.unique(table + 0.0, axis=0, return_index=True)[1])


def exact_rank(table: np.ndarray) -> int:
    """The dimension that the rows span, by elimination in integers: a row that does not vanish joins the echelon."""
    first, *others = IntegerCloud.of(table).numerators
    echelon: list[tuple[int, list[int]]] = []
    for other in others:
        row = [a - b for a, b in zip(other, first, strict=True)]
        for column, pivot in echelon:
            if row[column]:
                head, lead = row[column], pivot[column]
                row = [lead * a - head * b for a, b in zip(row, pivot, strict=True)]
                common = math.gcd(*row) or 1  # else numbers would be twice as long with every pivot
                row = [value // common for value in row]
        column = next((c for c, value in enumerate(row) if value), None)
        if column is not None:
            echelon.append((column, row))
            if len(echelon) == table.shape[1]:
                break
    return len(echelon)
