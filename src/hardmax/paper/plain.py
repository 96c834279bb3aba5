"""Numbers as plain data: exact ones as text, floats with as many digits as anybody reads."""

from fractions import Fraction
from typing import Any

import numpy as np


def written(table: np.ndarray) -> list[list[str]]:
    """Exact numbers as text, which `simulate` and `limit` read again without rounding.

    >>> written(np.array([[0.5, 1.0]])), written(np.array([[Fraction(1, 3)]]))
    ([['1/2', '1']], [['1/3']])
    """
    return [[str(Fraction(number)) for number in row] for row in table.tolist()]


def rounded(values: Any, digits: int = 6) -> Any:
    """Floats, or lists of them, to so many digits after the point; no negative zero.

    >>> rounded([1 / 3, -1e-9])
    [0.333333, 0.0]
    """
    return (np.round(np.asarray(values, dtype=np.float64), digits) + 0.0).tolist()


def listed(names: list[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
