"""Whether a matrix is a metric, symmetric positive definite, decided exactly: by floats where they
prove it.

A matrix is an array of float64 or of Fractions. D A D, with any positive diagonal D, is positive
definite if and only if A is. So rows and columns are balanced first, by powers of two that bring
the diagonal to between 1/2 and 4; an entry beyond 4 is then larger than those of a positive
definite matrix can be.

* *Yes: a Cholesky factor.* Let L be any matrix, such as the computed factor of A - c I, n the size
  and u = 2^-53. Since A = L L^T + c I + G with G = A - L L^T - c I, the smallest eigenvalue of A is
  at least c - |G| (Frobenius norm). G is computed with an error of at most (n + 8) u (|L|^2 + |A|):
  gamma_n |L|^2 for the product, in any order of summation, a few u of |A| and |L|^2 for the
  subtractions and the rounding of A to floats, and less than 2^-900 for underflow. If what is
  computed and this error, with a little more for their own rounding, stay below c, so does |G|.
Else integers compute the characteristic polynomial.
"""

from itertools import pairwise

import numpy as np
from flint import fmpz_mat

from hardmax._tokens.rationals import IntegerCloud

_UNIT = 2.0**-53
_ABOVE = 1 + 2.0**-10  # more than rounding takes from a norm
_UNDERFLOW = 2.0**-900


def not_a_metric(table: np.ndarray) -> str:
    """Why a square matrix is not symmetric positive definite; empty if it is."""
    if not np.array_equal(table, table.T):
        with np.errstate(over="ignore"):
            gap = float(np.abs(table - table.T).max())
        way_out = "Pass (A + A.T)/2 if that is rounding"
        return f"it is not symmetric: |A - A.T| reaches {gap:.2g}. {way_out}"
    if not is_positive_definite(table):
        smallest = np.linalg.eigvalsh(table.astype(float))[0]
        return f"it is not positive definite: its smallest eigenvalue is {smallest:.3g}"
    return ""


def is_positive_definite(table: np.ndarray) -> bool:
    """Whether a symmetric matrix is positive definite, decided exactly."""
    if not (table.diagonal() > 0).all():
        return False
    # Times a common denominator.
    integers = np.array(IntegerCloud.of(table).numerators, dtype=object)
    exponents = np.array([value.bit_length() // 2 for value in integers.diagonal()])
    shifts = exponents[:, None] + exponents
    pairs = zip(integers.ravel().tolist(), shifts.ravel().tolist(), strict=True)
    # Entries that are much too large may not be floats.
    scaled = [value / (1 << shift) if abs(value) >> shift < 8 else np.inf for value, shift in pairs]
    balanced = np.array(scaled).reshape(table.shape)
    if (np.abs(balanced) > 4).any():
        return False
    if _is_proved(balanced):
        return True
    # All roots of the characteristic polynomial are real: by Descartes' rule of signs they are
    # positive if and only if its coefficients alternate.
    coefficients = fmpz_mat(integers.tolist()).charpoly().coeffs()
    return all(x * y < 0 for x, y in pairwise(coefficients))


def _is_proved(matrix: np.ndarray) -> bool:
    factor_of_error = (len(matrix) + 8) * _UNIT
    shift = np.eye(len(matrix)) * (4 * factor_of_error * float(np.trace(matrix)))
    try:
        factor = np.linalg.cholesky(matrix - shift)
    except np.linalg.LinAlgError:
        return False
    left = np.linalg.norm(matrix - factor @ factor.T - shift)
    error = factor_of_error * (np.linalg.norm(factor) ** 2 + np.linalg.norm(matrix))
    return bool((left + error) * _ABOVE + _UNDERFLOW < shift[0, 0])
