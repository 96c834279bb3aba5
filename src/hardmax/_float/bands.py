"""Searches among points of very different sizes, band by band.

The error of a score is a share of |y_i| |x_j|. Measured by the longest point of a cloud, a single token far out would
hide all differences among the others. So points are parted by size into bands, from the longest on, each with a slack
of its own, and scaled by a power of two, so that neither overflow nor underflow matters. A direction goes on to the
next band only while somebody there may still come as far as what is already found: |y_i| times the largest of its
points. Where it does go on, all who come close in the bands it has seen are its candidates.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hardmax._attended import Choices
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import FloatMetric, SlackFactors, norms_above

# Sizes of one band differ by less than this factor; a few points that are shorter are not worth a band.
_WIDTH = 2.0**20
_FEW = 64
# Far above rounding in the comparison of bounds, and what underflow can take from them.
_ABOVE, _TINY = 1 + 2.0**-40, 2.0**-1060

Search = Callable[[np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest."""
    return len(sizes) > _FEW and int(np.count_nonzero(sizes * _WIDTH < sizes.max())) > _FEW


class _Band(NamedTuple):
    """Points of similar size, scaled by a power of two to at most 1, and the largest norm and error among them."""

    members: np.ndarray
    positions: np.ndarray
    exponent: int
    longest: float
    error: float


def _bands(positions: np.ndarray, errors: np.ndarray) -> list[_Band]:
    sizes = np.abs(positions).max(axis=1)
    order, bands = np.argsort(-sizes, kind="stable"), []
    while len(order):
        largest = sizes[order[0]]
        members = np.sort(order[sizes[order] >= largest / _WIDTH])
        exponent = int(np.frexp(largest)[1])
        scaled, error = np.ldexp(positions[members], -exponent), float(np.ldexp(errors[members].max(), -exponent))
        bands.append(_Band(members, scaled, exponent, float(norms_above(scaled).max()), error))
        order = order[len(members) :]
    return bands


def _scaled(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors, each divided by 2 to an exponent of its own, so that it is about as long as 1, and the exponents."""
    _, exponents = np.frexp(np.abs(vectors).max(axis=1))
    return np.ldexp(vectors, -exponents[:, None]), exponents


def search_in_bands(
    search: Search,
    own: tuple[np.ndarray, np.ndarray],
    positions: np.ndarray,
    errors: np.ndarray,
    metric: FloatMetric,
    factors: SlackFactors,
) -> ArgmaxResult:
    """Who is furthest along the directions of some points. `own` are those that attend, and their errors.

    A point without a direction has all points as candidates. How small the smallest lead is is not known.
    """
    # Points are scaled first, and multiplied by the metric then: of one that is next to nothing, underflow would leave
    # a direction that has little to do with it. Of a point of length 1 it takes far less than rounding may, which is
    # measured by the point, however little the metric makes of it.
    points, exponents = _scaled(own[0])
    directions, more = _scaled(metric.directions(points))
    with np.errstate(over="ignore"):
        norms, own_errors = np.ldexp(norms_above(points), -more), np.ldexp(own[1], -exponents - more)
    lengths = norms_above(directions)
    floors = np.full(len(points), -np.inf)  # what is sure to be reached
    found: list[list[tuple[float, np.ndarray]]] = [[] for _ in points]  # bounds on what some points reach
    names = {"bands": None}
    bands = _bands(positions, errors)
    pending = np.flatnonzero(directions.any(axis=1))
    for band, following in zip(bands, [*bands[1:], None], strict=True):
        if not len(pending):
            break
        slack = factors.slack(norms[pending], own_errors[pending], band.longest, band.error)
        result = search(directions[pending], band.positions, slack)
        best = np.einsum("ij,ij->i", directions[pending], band.positions[result.winners])
        lowest, highest = (np.ldexp(best + sign * slack, band.exponent) for sign in (-1, 1))
        choices = result.choices()
        for place, (row, ceiling) in enumerate(zip(pending.tolist(), highest.tolist(), strict=True)):
            found[row].append((ceiling + _TINY, band.members[choices[place]]))
        floors[pending] = np.maximum(floors[pending], lowest - _TINY)
        names |= dict.fromkeys(result.by)
        if following is not None:
            rest = lengths[pending] * following.longest * _ABOVE
            rest += factors.slack(norms[pending], own_errors[pending], following.longest, following.error)
            pending = pending[floors[pending] <= np.ldexp(rest, following.exponent) + _TINY]
    everybody = np.arange(len(positions))
    choices = Choices.of_sets(
        [
            np.sort(np.concatenate([several for ceiling, several in some if ceiling >= floor])) if some else everybody
            for some, floor in zip(found, floors, strict=True)
        ]
    )
    contested = np.flatnonzero(choices.sizes > 1)
    return ArgmaxResult(choices.firsts(np.arange(len(points))), contested, choices.of_rows(contested), 0.0, (*names,))
