"""Contests among points of very different sizes, held band by band.

The error of a score is a share of |y_i| |x_j|. Measured by the longest point of a cloud, a single token far out would
hide all differences among the others. So points are parted by size into bands, from the longest on, each with a slack
of its own, and scaled by a power of two, so that neither overflow nor underflow matters. A direction goes on to the
next band only while somebody there may still come as far as what is already found: |y_i| times the largest of its
points. Where it does go on, all who come close in the bands it has seen are its candidates.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hardmax._attended import Choices
from hardmax._float.argmax import ArgmaxResult
from hardmax._float.bounds import FloatMetric, SlackFactors, norms_above

# Sizes of one band differ by less than this factor; a few points that are shorter are not worth a band.
_WIDTH = 2.0**20
_FEW = 64
# Far above rounding in the comparison of bounds, and what underflow can take from them.
_ABOVE, _TINY = 1 + 2.0**-40, 2.0**-1060

Hold = Callable[[np.ndarray, np.ndarray, np.ndarray], ArgmaxResult]


def are_spread(sizes: np.ndarray) -> bool:
    """Whether many points are far shorter than the longest."""
    return len(sizes) > _FEW and int(np.count_nonzero(sizes * _WIDTH < sizes.max())) > _FEW


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Vectors, each times 2 to an exponent of its own, so that it is about as long as 1."""

    vectors: np.ndarray
    exponents: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray) -> "_Scaled":
        _, exponents = np.frexp(np.abs(vectors).max(axis=1))
        return cls(np.ldexp(vectors, -exponents[:, None]), exponents)


@dataclass(frozen=True, eq=False)
class _Band:
    """Points of similar size, scaled to at most 1, the longest first."""

    members: np.ndarray
    places: np.ndarray
    exponent: int
    longest: float
    error: float

    @classmethod
    def of(cls, members: np.ndarray, places: np.ndarray, errors: np.ndarray) -> "_Band":
        here = places[members]
        exponent = int(np.frexp(np.abs(here).max())[1])
        scaled = np.ldexp(here, -exponent)
        return cls(
            members,
            scaled,
            exponent,
            float(norms_above(scaled).max()),
            float(np.ldexp(errors[members].max(), -exponent)),
        )


def _bands(places: np.ndarray, errors: np.ndarray) -> list[_Band]:
    sizes = np.abs(places).max(axis=1)
    order = np.argsort(-sizes, kind="stable")
    ordered = sizes[order]
    bands, start = [], 0
    while start < len(order):
        end = start + int(np.searchsorted(-ordered[start:], -ordered[start] / _WIDTH, side="right"))
        end = len(order) if ordered[start] == 0.0 else end
        bands.append(_Band.of(np.sort(order[start:end]), places, errors))
        start = end
    return bands


@dataclass(frozen=True, eq=False)
class _Directions:
    """Directions, each times 2 to an exponent of its own, and what their scores can be off by in that scale."""

    vectors: np.ndarray
    norms: np.ndarray  # of the points that attend
    errors: np.ndarray  # of the points that attend
    factors: SlackFactors

    @classmethod
    def of(cls, places: np.ndarray, errors: np.ndarray, metric: FloatMetric, factors: SlackFactors) -> "_Directions":
        # Points are scaled first, and turned by the metric then: of one that is next to nothing, underflow would
        # leave a direction that has little to do with it. Of a point of length 1 it takes far less than rounding may,
        # which is measured by the point, however little the metric makes of it.
        points = _Scaled.of(places)
        directions = _Scaled.of(metric.directions(points.vectors))
        with np.errstate(over="ignore"):
            return cls(
                directions.vectors,
                np.ldexp(norms_above(points.vectors), -directions.exponents),
                np.ldexp(errors, -points.exponents - directions.exponents),
                factors,
            )

    def slack(self, rows: np.ndarray, band: _Band) -> np.ndarray:
        """A lead of so much in a band is proved."""
        return self.factors.slack(self.norms[rows], self.errors[rows], band.longest, band.error)


def hold_in_bands(
    hold: Hold,
    own: tuple[np.ndarray, np.ndarray],
    places: np.ndarray,
    errors: np.ndarray,
    metric: FloatMetric,
    factors: SlackFactors,
) -> ArgmaxResult:
    """The contest of the directions of some points among all points. `own` are those that attend, and their errors."""
    bands, directions = _bands(places, errors), _Directions.of(*own, metric, factors)
    lengths = norms_above(directions.vectors)
    tally = _Tally(len(directions.vectors))
    pending = np.flatnonzero(directions.vectors.any(axis=1))  # the others have no direction
    for number, band in enumerate(bands if len(pending) else []):
        slack = directions.slack(pending, band)
        contest = hold(directions.vectors[pending], band.places, slack)
        tally.add(pending, contest, directions.vectors[pending], slack, band)
        if number + 1 == len(bands):
            break
        following = bands[number + 1]
        rest = lengths[pending] * following.longest * _ABOVE + directions.slack(pending, following)
        pending = pending[tally.floors[pending] <= np.ldexp(rest, following.exponent) + _TINY]
        if not len(pending):
            break
    return tally.contest(len(places))


class _Tally:
    """What each direction has found in the bands so far."""

    def __init__(self, rows: int) -> None:
        self.floors = np.full(rows, -np.inf)  # what is sure to be reached
        self._found: list[list[tuple[float, np.ndarray]]] = [[] for _ in range(rows)]
        self._by: tuple[str, ...] = ("bands",)

    def add(
        self, rows: np.ndarray, contest: ArgmaxResult, directions: np.ndarray, slack: np.ndarray, band: _Band
    ) -> None:
        """What these rows found in a band."""
        best = np.einsum("ij,ij->i", directions, band.places[contest.winners])
        floors, ceilings = (np.ldexp(best + way * slack, band.exponent) for way in (-1, 1))
        contest = contest.among(band.members, np.inf)
        choices = contest.choices()
        for place, row in enumerate(rows.tolist()):
            self._found[row].append((float(ceilings[place]) + _TINY, choices[place]))
        self.floors[rows] = np.maximum(self.floors[rows], floors - _TINY)
        self._by = (*self._by, *(name for name in contest.by if name not in self._by))

    def contest(self, points: int) -> ArgmaxResult:
        """The contest as a whole; whoever has no direction has all points as candidates. How small the smallest lead is
        nobody has looked."""
        everybody = np.arange(points)
        sets = [
            np.sort(np.concatenate([several for ceiling, several in found if ceiling >= floor])) if found else everybody
            for found, floor in zip(self._found, self.floors, strict=True)
        ]
        choices = Choices.of_sets(sets)
        contested = np.flatnonzero(choices.sizes > 1)
        winners = choices.indices[choices.offsets[:-1]]
        return ArgmaxResult(winners, contested, choices.of_rows(contested), 0.0, self._by)
