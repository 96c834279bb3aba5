"""What makes a matrix a metric: square, symmetric, positive definite. Decided exactly, by floats where these can prove.

A matrix is an array of float64 or of Fractions. X A X^T, with any regular X, is positive definite if and only if A is.
So rows and columns are balanced first, by powers of two that bring the diagonal to between 1/2 and 4; an entry beyond 4
is then larger than those of a positive definite matrix can be. Two things can prove the answer:

* *Yes: a Cholesky factor.* Let L be any matrix, such as the computed factor of A - c I, n the size and u = 2^-53. Since
  A = L L^T + c I + G with G = A - L L^T - c I, the smallest eigenvalue of A is at least c - |G| (Frobenius norm). G is
  computed with an error of at most (n + 8) u (|L|^2 + |A|): gamma_n |L|^2 for the product, in any order of summation, a
  few u of |A| and |L|^2 for the subtractions and the rounding of A to floats, and less than 2^-900 for underflow. If
  what is computed and this error, with a little more for their own rounding, stay below c, so does |G|.
* *No: a direction.* Let v be the eigenvector of the smallest eigenvalue, rounded to whole numbers. If <A v, v> is not
  positive, in integers, A is not positive definite.

Where neither does, A is singular or nearly so. In the first case a leading minor is 0, which integers find. In the
second, let L be the factor of A + c I and X its inverse, rounded: X A X^T, in integers, is far from singular again, and
is asked instead.
"""

from bisect import bisect_left
from typing import Any

import numpy as np

from hardmax._tokens.rationals import IntegerCloud
from hardmax._validation import InputError

_UNIT = 2.0**-53
_ABOVE = 1 + 2.0**-10  # more than rounding takes from a norm
_UNDERFLOW = 2.0**-900
# Of the whole numbers that eigenvectors are rounded to: few find a simple direction, many one that is hardly negative.
_BITS = (20, 50)
# Each attempt can tell eigenvalues from 0 that are some 10^10 times smaller than those of the one before.
_ATTEMPTS = 4
_PRIME = 2**61 - 1


def check_square(table: np.ndarray) -> None:
    """Refuse a table that is not square."""
    if table.shape[0] != table.shape[1]:
        raise InputError(f"`metric` must be square, not {table.shape[0]} by {table.shape[1]}.", argument="metric")


def check_symmetric(table: np.ndarray) -> None:
    """Refuse a matrix that differs from its transpose, however little."""
    if not np.array_equal(table, table.T):
        with np.errstate(over="ignore"):
            gap = np.abs(table - table.T).max()
        raise InputError(
            f"`metric` must be symmetric: |A - A.T| reaches {float(gap):.2g}. "
            "Pass (A + A.T)/2 if that is rounding, or any_metric=True if you mean it.",
            argument="metric",
            also=("any_metric=True",),
        )


def is_metric(table: np.ndarray) -> bool:
    """Whether the matrix is symmetric positive definite, decided exactly."""
    return np.array_equal(table, table.T) and is_positive_definite(table)


def check_positive_definite(table: np.ndarray) -> None:
    """Refuse a symmetric matrix with an eigenvalue that is not positive."""
    if not is_positive_definite(table):
        smallest = np.linalg.eigvalsh(table.astype(np.float64))[0]
        raise InputError(
            f"`metric` must be positive definite: its smallest eigenvalue is {smallest:.3g}. "
            "Pass any_metric=True to study it all the same.",
            argument="metric",
            also=("any_metric=True",),
        )


def is_positive_definite(table: np.ndarray) -> bool:
    """Whether the symmetric matrix is positive definite.

    >>> positive_definite(np.array([[2.0, 1.0], [1.0, 1.0]])), positive_definite(np.ones((2, 2)))
    (True, False)
    """
    matrix = table if table.dtype != object else _whole(table)
    for attempt in range(_ATTEMPTS):
        if not (matrix.diagonal() > 0).all():
            return False
        exponents = _half_exponents(matrix.diagonal())
        balanced = _balanced(matrix, exponents)
        if balanced is None:
            return False
        if _is_proved(balanced):
            return True
        matrix = _whole(table) if attempt == 0 else matrix
        if _is_refuted(matrix, balanced, exponents) or (attempt == 0 and _has_zero_minor(matrix)):
            return False
        transform = _transform(balanced, exponents)
        if transform is None:
            break
        matrix = _product(_product(transform, matrix), transform.T)
    return _pivots_are_positive(_whole(table).tolist())


def _whole(table: np.ndarray) -> np.ndarray:
    """The matrix times its common denominator, in Python's integers."""
    return np.array(IntegerCloud.of(table).numerators, dtype=object)


def _half_exponents(diagonal: np.ndarray) -> np.ndarray:
    """For each positive number a whole k, such that it is between 1/2 and 4 times 4^k."""
    if diagonal.dtype != object:
        return np.frexp(diagonal)[1] // 2
    return np.array([value.bit_length() // 2 for value in diagonal])


def _balanced(matrix: np.ndarray, exponents: np.ndarray) -> np.ndarray | None:
    """Row i and column i over 2 to its exponent, as floats; None if an entry is beyond 4."""
    shifts = exponents[:, None] + exponents
    if matrix.dtype != object:
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.ldexp(matrix, -shifts)
    else:
        try:
            pairs = zip(matrix.ravel().tolist(), shifts.ravel().tolist(), strict=True)
            scaled = np.array([value / (1 << shift) for value, shift in pairs]).reshape(matrix.shape)
        except OverflowError:
            return None
    return None if (np.abs(scaled) > 4).any() else scaled


def _is_proved(matrix: np.ndarray) -> bool:
    """Whether a Cholesky factor proves the matrix to be positive definite."""
    shift = _shift(matrix)
    try:
        factor = np.linalg.cholesky(matrix - shift)
    except np.linalg.LinAlgError:
        return False
    left = np.linalg.norm(matrix - factor @ factor.T - shift)
    error = (len(matrix) + 8) * _UNIT * (np.linalg.norm(factor) ** 2 + np.linalg.norm(matrix))
    return bool((left + error) * _ABOVE + _UNDERFLOW < shift[0, 0])


def _shift(matrix: np.ndarray) -> np.ndarray:
    """The identity times a little more than the error of a factor."""
    return np.eye(len(matrix)) * (4 * (len(matrix) + 8) * _UNIT * float(np.trace(matrix)))


def _is_refuted(matrix: np.ndarray, balanced: np.ndarray, exponents: np.ndarray) -> bool:
    """Whether <A v, v> is not positive for the eigenvector of the smallest eigenvalue, rounded to whole numbers."""
    vector = np.linalg.eigh(balanced)[1][:, :1].T
    for bits in _BITS:
        along = _rounded(vector, exponents, bits)
        if _product(_product(along, matrix), along.T)[0, 0] <= 0:
            return True
    return False


def _transform(balanced: np.ndarray, exponents: np.ndarray) -> np.ndarray | None:
    """A regular matrix of integers X, such that X A X^T is far from singular, if there is one."""
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(balanced + _shift(balanced)))
    except np.linalg.LinAlgError:
        return None
    transform = _rounded(np.tril(inverse), exponents, _BITS[-1])
    return transform if transform.diagonal().all() else None  # regular, since triangular


def _rounded(rows: np.ndarray, exponents: np.ndarray, bits: int) -> np.ndarray:
    """Rows over what balances the matrix, each times a power of two, rounded to so many bits, in Python's integers."""
    rows = np.rint(np.ldexp(rows / np.abs(rows).max(axis=1, keepdims=True), bits)).astype(np.int64).astype(object)
    return rows << (exponents.max() - exponents).astype(object)


def _has_zero_minor(matrix: np.ndarray) -> bool:
    """Whether a leading minor is found that is 0; a prime says which one to look at."""
    flint = _flint()
    if flint is None:
        return False
    rows = matrix.tolist()

    def block(size: int) -> Any:
        return flint.fmpz_mat([row[:size] for row in rows[:size]])

    def is_zero_by_prime(size: int) -> bool:
        return flint.nmod_mat(block(size), _PRIME).det() == 0

    if not is_zero_by_prime(len(rows)):
        return False
    # Of a singular matrix without negative eigenvalues all minors are 0 from the first such one on.
    sizes = range(1, len(rows) + 1)
    return block(sizes[bisect_left(sizes, True, key=is_zero_by_prime)]).det() == 0


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The product of matrices of integers."""
    flint = _flint()
    if flint is None or len(left) == 1:
        return left @ right
    product = flint.fmpz_mat(left.tolist()) * flint.fmpz_mat(right.tolist())
    return np.array([[int(value) for value in row] for row in product.tolist()], dtype=object)


def _flint() -> Any:
    try:
        import flint  # pyright: ignore[reportMissingImports]
    except ImportError:  # the extra `exact` is a matter of speed alone
        return None
    return flint


def _pivots_are_positive(matrix: list[list[int]]) -> bool:
    """Whether all leading minors are positive (Sylvester's criterion).

    Elimination without fractions (Bareiss): the k-th pivot is the k-th leading minor.
    """
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
