"""Products of integer matrices: python-flint where it is installed, plain integers otherwise. Same numbers."""

from collections.abc import Sequence
from functools import cache
from operator import mul
from typing import Any

Rows = Sequence[Sequence[int]]


def products(left: Rows, right: Rows) -> Sequence[Sequence[Any]]:
    """All scalar products of a row of `left` with a row of `right`.

    >>> [[int(x) for x in row] for row in products([[1, 2]], [[3, 4], [5, 6]])]
    [[11, 17]]
    """
    return plain_products(left, right) if _flint() is None else flint_products(left, right)


def plain_products(left: Rows, right: Rows) -> list[list[int]]:
    """The products in Python's own integers."""
    return [[sum(map(mul, x, y)) for y in right] for x in left]


def flint_products(left: Rows, right: Rows) -> Sequence[Sequence[Any]]:
    """The products as one of flint's matrices."""
    flint = _flint()
    assert flint is not None
    product = flint.fmpz_mat(list(left)) * flint.fmpz_mat(list(right)).transpose()
    return product.tolist()


@cache
def _flint() -> Any:
    try:
        import flint
    except ImportError:  # the extra `exact` is a matter of speed alone
        return None
    return flint
