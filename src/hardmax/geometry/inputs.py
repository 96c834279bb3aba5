"""What geometry takes, checked at the door: points, a metric, a rectangle."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from hardmax.checking import short
from hardmax.errors import InputError
from hardmax.metrics import positive_definite
from hardmax.tokens.batches import read_table
from hardmax.tokens.rationals import exact_number, to_fractions

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
        raise InputError(f"{name} must be one point, a list of coordinates, not {short(values)}.")
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
    if not positive_definite(table):
        raise InputError(_indefinite(table.astype(np.float64)))
    return table.tolist()


def read_tolerance(tolerance: Any) -> Fraction:
    """A distance, which may be 0."""
    distance = exact_number(None if isinstance(tolerance, bool | np.bool_) else tolerance, "`tolerance`")
    if distance < 0:
        raise InputError(f"`tolerance` must be a distance from 0 up, not {short(tolerance)}.")
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
            f"not {short(rectangle)}."
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
