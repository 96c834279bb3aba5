"""Attended sets in integers.

Products of integer matrices: python-flint where it is installed, plain integers otherwise. Same numbers.

Who attends to whom, in integers: every score is made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import mul
from typing import Any, Protocol

from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

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


# Rows scored at once: bounds the memory of a product to a few hundred thousand integers, and its time, in which Python
# hears no Ctrl-C; integers of so many bits count once more.
_BLOCK, _LONG = 2**18, 1000


@dataclass(frozen=True)
class Chosen:
    """For each direction the furthest points, and the smallest relative lead over the others."""

    lists: list[list[int]]
    margin: float


class Chooser(Protocol):
    """Finds, for each direction z, the points furthest along A z."""

    def __call__(self, tokens: IntegerCloud, points: IntegerCloud, dynamics: Dynamics) -> Chosen: ...


def directions_of(tokens: Rows, dynamics: Dynamics) -> Rows:
    """A z for each z, up to a positive factor."""
    return tokens if dynamics.metric_integers is None else products(tokens, dynamics.metric_integers)


def by_all_scores(tokens: IntegerCloud, points: IntegerCloud, dynamics: Dynamics) -> Chosen:
    """Integers only: every score is computed and compared exactly."""
    lists: list[list[int]] = []
    smallest: int | None = None
    directions = directions_of(tokens.numerators, dynamics)
    block = max(1, _BLOCK // (len(points.numerators) * (1 + int(points.denominator).bit_length() // _LONG)))
    for start in range(0, len(directions), block):
        for scores in products(directions[start : start + block], points.numerators):
            best = max(scores)
            lists.append([j for j, score in enumerate(scores) if score == best])
            smallest = _smaller(smallest, best, scores)
    return Chosen(lists, _relative(smallest, points, dynamics))


def _smaller(smallest: int | None, best: int, scores: Sequence[int]) -> int | None:
    """The smaller of the smallest lead so far and that of the best score over the next lower one, if there is one."""
    lower = [score for score in scores if score != best]
    lead = best - max(lower) if lower else None
    return smallest if lead is None or (smallest is not None and smallest <= lead) else lead


def _relative(lead: int | None, points: IntegerCloud, dynamics: Dynamics) -> float:
    """The lead of a score as a share of |A| R^2, to float precision; inf if there is no lead."""
    if lead is None:
        return math.inf
    metric = dynamics.metric_integers
    # To 64 bits behind the point: a root of small integers rounded down would be off by as much as itself.
    size = Fraction(1) if metric is None else Fraction(math.isqrt(_square(metric) << 128), 2**64)
    longest = max(_square([z]) for z in points.numerators)
    return float(Fraction(int(lead)) / (size * longest))


def _square(rows: Sequence[Sequence[int]]) -> int:
    return sum(int(value) ** 2 for row in rows for value in row)
