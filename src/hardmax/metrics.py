"""What makes a matrix a metric: square, symmetric, positive definite. Decided exactly, explained in floats."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hardmax.errors import InputError

Rows = Sequence[Sequence[Fraction]]


def check_square(table: np.ndarray) -> None:
    """Refuse a table that is not square."""
    if table.shape[0] != table.shape[1]:
        raise InputError(f"`metric` must be square, not {table.shape[0]} by {table.shape[1]}.", argument="metric")


def check_symmetric(rows: Rows) -> None:
    """Refuse a matrix that differs from its transpose, however little."""
    if not symmetric(rows):
        gap = max(abs(rows[i][j] - rows[j][i]) for i in range(len(rows)) for j in range(len(rows)))
        raise InputError(
            f"`metric` must be symmetric: |A - A.T| reaches {float(gap):.2g}. "
            "Pass (A + A.T)/2 if that is rounding, or any_metric=True if you mean it.",
            argument="metric",
            also=("any_metric=True",),
        )


def symmetric(rows: Rows) -> bool:
    """Whether the matrix is its own transpose."""
    return all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(i))


def is_metric(rows: Rows) -> bool:
    """Whether the matrix is symmetric positive definite, decided exactly."""
    return symmetric(rows) and positive_definite(rows)


def check_positive_definite(rows: Rows) -> None:
    """Refuse a symmetric matrix with an eigenvalue that is not positive."""
    if not positive_definite(rows):
        smallest = np.linalg.eigvalsh(np.array(rows, dtype=np.float64))[0]
        raise InputError(
            f"`metric` must be positive definite: its smallest eigenvalue is {smallest:.3g}. "
            "Pass any_metric=True to study it all the same.",
            argument="metric",
            also=("any_metric=True",),
        )


def positive_definite(rows: Rows) -> bool:
    """Whether the symmetric matrix is positive definite: every leading minor positive (Sylvester's criterion).

    Elimination without fractions (Bareiss): the k-th pivot is the k-th leading minor of the integer matrix.
    """
    factor = math.lcm(*(value.denominator for row in rows for value in row))
    matrix = [[int(value * factor) for value in row] for row in rows]
    previous = 1
    for k, pivot_row in enumerate(matrix):
        pivot = pivot_row[k]
        if pivot <= 0:
            return False
        for row in matrix[k + 1 :]:
            head = row[k]
            for j in range(k + 1, len(matrix)):
                row[j] = (row[j] * pivot - head * pivot_row[j]) // previous
        previous = pivot
    return True
