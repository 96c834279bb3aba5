"""Attended sets in integers: every score is computed and compared exactly."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import fmpz_mat

from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

Rows = Sequence[Sequence[int]]

# Scores computed at once: bounds the memory of a product to a few hundred thousand integers, and
# its time, in which Python hears no Ctrl-C; each further block of this many bits counts once more.
_BLOCK, _LONG = 2**18, 1000


def products(left: Rows, right: Rows) -> Sequence[Sequence[Any]]:
    """All scalar products of a row of `left` with a row of `right`."""
    return product_matrix(left, right).tolist()


def product_matrix(left: Rows, right: Rows) -> fmpz_mat:
    """The same as a matrix of python-flint."""
    return fmpz_mat(list(left)) * fmpz_mat(list(right)).transpose()


class Attended(NamedTuple):
    """What each of some points attends to, and the smallest relative lead over the others."""

    sets: Any
    """Lists of lists, or `AttendedIndices`."""
    margin: float


def directions_of(tokens: Rows, dynamics: Dynamics) -> Rows:
    """A z for each z, up to a positive factor."""
    return (
        tokens if dynamics.metric_integers is None else products(tokens, dynamics.metric_integers)
    )


def by_all_scores(tokens: IntegerCloud, points: IntegerCloud, dynamics: Dynamics) -> Attended:
    """For each token z the points furthest along A z."""
    sets, leads = [], []
    directions = directions_of(tokens.numerators, dynamics)
    length = 1 + int(points.denominator).bit_length() // _LONG
    block = max(1, _BLOCK // (len(points.numerators) * length))
    for start in range(0, len(directions), block):
        for scores in products(directions[start : start + block], points.numerators):
            best = max(scores)
            furthest = [j for j, score in enumerate(scores) if score == best]
            sets.append(furthest)
            if len(furthest) < len(scores):
                leads.append(best - max(score for score in scores if score != best))
    return Attended(sets, relative_lead(min(leads), points, dynamics) if leads else math.inf)


def relative_lead(lead: int, points: IntegerCloud, dynamics: Dynamics) -> float:
    """The lead of a score as a share of |A| R^2, to float precision."""
    metric, size = dynamics.metric_integers, Fraction(1)
    if metric is not None:
        # To 64 bits behind the point: a root of small integers rounded down would be off by as
        # much as itself.
        squares = sum(int(value) ** 2 for row in metric for value in row)
        size = Fraction(math.isqrt(squares << 128), 2**64)
    longest = max(sum(int(value) ** 2 for value in row) for row in points.numerators)
    return float(Fraction(int(lead)) / (size * longest))
