"""Exact positions, and phases in which no attended set changes.

A phase of layers during which no attended set changes.

While the attended sets stay as they are and their means stand still, every token goes straight to its target:

    z_i(k + m) = w_i + g^m (z_i(k) - w_i),      g = 1 / (1 + alpha).

With m = 1 this is the definition of a layer, whether the targets stand still or not. So one formula serves a
single layer, the layers up to the next event, and all layers for ever once the cloud has settled.

Exact positions on demand: what integers need to decide what floats cannot.

Every choice so far is proved, so where a point is follows from its own chain of attended sets alone:

    z_i(k + m) = w_i + g^m (z_i(k) - w_i)          over a phase of m layers,  w_i the mean of its attended set,

and a follower of a leader is on its way to it ever since. Only the points that are asked for are worked out, and those
they looked at; each is remembered.

A phase of layers whose points and targets are integers over one denominator.
"""

import math
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import NamedTuple, Protocol

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.vectors import (
    DIGIT,
    Vector,
    Whole,
    between,
    check_length,
    dot,
    exact_sum,
    minus,
    power,
    weighted_mean,
)
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics


@dataclass(frozen=True, eq=False, kw_only=True)
class Phase:
    """Layers `layer <= k < until` (for ever, if `until` is None) and who attends to whom in them."""

    layer: int
    until: int | None
    choices: Choices
    is_leader: np.ndarray
    margin: float
    keep: Fraction
    decided_by: str = "integers"  # or the name of the search in floats

    def covers(self, layer: int) -> bool:
        """Whether the closed form gives the tokens at this layer: up to and including `until`."""
        return self.layer <= layer and (self.until is None or layer <= self.until)


Key = tuple[int, int]  # a point, and the number of a record

# So many tokens are added up sooner as floats, without error, than as fractions.
_MANY = 100


@dataclass(frozen=True, eq=False)
class _Record:
    """Whom some points attend to in a phase. All others follow leaders."""

    rows: np.ndarray  # increasing
    choices: Choices  # of the rows

    def of(self, point: int) -> np.ndarray:
        return self.choices[int(np.searchsorted(self.rows, point))]


class _Table(NamedTuple):
    """Points at the first layer of a record, a row each, over one denominator."""

    record: int
    points: bytes
    numerators: np.ndarray
    denominator: int


class ExactView(Protocol):
    """Where points are at the first layer of a phase, where they go, and where they are in it, as fractions."""

    def positions(self, points: Sequence[int]) -> list[Vector]: ...

    def targets(self, points: Sequence[int]) -> list[Vector]: ...

    def later(self, points: Sequence[int], layers: int) -> list[Vector]: ...

    def rounded(self) -> "ExactView":
        """The same at any depth: to 50 digits, where exact numbers would be long."""
        ...

    @property
    def work(self) -> int:
        """What it cost to get here since the phase before, in products of digits (some 3 ns)."""
        ...


class ExactPositions:
    """The exact positions of the points of one walk."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self._points = points
        self._keep = dynamics.contraction
        self._dynamics = dynamics
        self._layers: list[int] = []
        self._records: list[_Record] = []
        self._followed = np.full(points.count, -1, dtype=np.int64)  # the leader of each point, -1: none yet
        self._since = np.zeros(points.count, dtype=np.int64)  # the record since which it follows
        self._positions: dict[Key, Whole] = {}
        self._means: dict[tuple[int, bytes], Whole] = {}
        self._table = _Table(-1, b"", np.empty((0, 0), dtype=object), 1)
        self._is_rounded = False
        self._work = 0

    @cached_property
    def rounded(self) -> "ExactPositions":
        """The same walk, in which powers that are long are known to 50 digits."""
        twin = copy(self)
        twin._positions, twin._means = {}, {}
        twin._is_rounded = True
        return twin

    def share(self, layers: int, until: int) -> Fraction:
        """g^layers, of a way that ends at layer `until`; refused where exact numbers would be too long."""
        if self._is_rounded:
            return power(self._keep, layers)
        check_length(self._keep, until)
        return self._keep**layers

    def begin(self, layer: int) -> None:
        """A phase begins at this layer: positions there can be asked for; whom points attend to is noted later."""
        self._layers.append(layer)

    def note(self, rows: np.ndarray, choices: Choices, following: np.ndarray) -> None:
        """In the phase that has begun these points, increasing, attend so; those of them that are `following` follow
        a leader for ever. All others were following before."""
        (places,) = following.nonzero()
        new = rows[places]
        self._followed[new] = choices.firsts(places)
        self._since[new] = self.last
        self._records.append(_Record(rows, choices))

    def layer_of(self, record: int) -> int:
        """The first layer of a phase."""
        return self._layers[record]

    @property
    def last(self) -> int:
        """The number of the phase that has begun last."""
        return len(self._layers) - 1

    def positions(self, points: Iterable[int], record: int) -> list[Vector]:
        """Where some points are at the first layer of a record."""
        return [self.place(int(point), record).fractions for point in points]

    def now(self) -> "Now":
        """What can be asked of the record that is now, at any later time."""
        work, self._work = self._work, 0
        return Now(self, self.last, work)

    def target(self, point: int, record: int) -> Vector:
        """Where a point goes in a record: the mean of those it attends to."""
        leader = self._leader(point, record)
        if leader is not None:
            return self.place(leader, record).fractions
        return self._mean(self._records[record].of(point), record).fractions

    def way_left(self, points: np.ndarray, record: int) -> Vector:
        """What some points have still to go, added up with their multiplicities."""
        total, slowly = (Fraction(0),) * self._points.dimension, points
        if record == 0 and self._adds_up_fast(points):
            # Of those who attend to a single point, both ends of the way are tokens.
            choices = self._records[0].choices
            single = choices.sizes[points] == 1
            total = minus(self._sum(points[single]), self._sum(choices.firsts(points[single])))
            slowly = points[~single]
        for point in slowly.tolist():
            if self._leader(point, record) == point:
                continue
            way = minus(self.place(point, record).fractions, self.target(point, record))
            count = int(self._points.multiplicities[point])
            total = tuple(s + count * x for s, x in zip(total, way, strict=True))
        return total

    def _adds_up_fast(self, points: np.ndarray) -> bool:
        """Whether there are many tokens to add up, all of them floats, each of which counts once."""
        plain = self._points.coordinates.dtype != object
        return plain and len(points) > _MANY and bool((self._points.multiplicities[points] == 1).all())

    def _sum(self, points: np.ndarray) -> Vector:
        return tuple(map(exact_sum, self._points.coordinates[points].T))

    def along(self, place: Whole) -> Whole:
        """The metric, up to a positive factor, times a place."""
        metric = self._dynamics.metric_integers
        if metric is None:
            return place
        return Whole([sum(map(mul, row, place.numerators)) for row in metric], place.denominator)

    def furthest(self, along: Whole, points: np.ndarray, record: int) -> tuple[np.ndarray, Fraction | None]:
        """Those of some points that lie furthest along a direction, and their lead over the next."""
        if not any(along.numerators):
            return points, None
        table = self._table_of(points, record)
        scores = table.numerators @ np.array(along.numerators, dtype=object)
        best = max(scores.tolist())
        furthest = scores == best
        if furthest.all():
            return points, None
        lead = best - max(scores[~furthest].tolist())
        return points[furthest], Fraction(lead, along.denominator * table.denominator)

    def offsets(self, points: np.ndarray, record: int) -> np.ndarray:
        """The ways from the first of some points to each of them, as integers, up to one positive factor for all."""
        numerators = self._table_of(points, record).numerators
        return numerators - numerators[0]

    def _table_of(self, points: np.ndarray, record: int) -> _Table:
        """Some points over one denominator. Many ask in turn about the same ones, so the last answer is kept."""
        key = points.tobytes()
        if (self._table.record, self._table.points) != (record, key):
            rows = [self.place(point, record) for point in points.tolist()]
            common = math.lcm(*{row.denominator for row in rows})
            numerators = np.empty((len(rows), self._points.dimension), dtype=object)
            numerators[:] = [row.times(common // row.denominator) for row in rows]
            self._table = _Table(record, key, numerators, common)
        return self._table

    def direction_of(self, vector: Vector) -> Vector:
        """The metric times a vector, up to a positive factor."""
        metric = self._dynamics.metric_integers
        return vector if metric is None else tuple(dot(row, vector) for row in metric)

    def _leader(self, point: int, record: int) -> int | None:
        """The leader that a point follows in a record, if it does."""
        leader = int(self._followed[point])
        return leader if leader >= 0 and self._since[point] <= record else None

    def place(self, point: int, record: int) -> Whole:
        """Where a point is at the first layer of a record."""
        # A stack of our own: chains are as long as the walk.
        known, key = self._positions, (point, record)
        stack = [key]
        while stack:
            if stack[-1] in known:
                stack.pop()
                continue
            missing = [need for need in self._needs(*stack[-1]) if need not in known]
            if missing:
                stack.extend(missing)
            else:
                top = stack.pop()
                known[top] = self._work_out(*top)
        return known[key]

    def _origin(self, point: int, record: int) -> tuple[int, np.ndarray]:
        """The record from which the position of a point follows, and whom it has attended to since."""
        leader = self._leader(point, record - 1)
        if leader is not None:
            return int(self._since[point]), np.array([leader])
        return record - 1, self._records[record - 1].of(point)

    def _needs(self, point: int, record: int) -> list[Key]:
        if record == 0:
            return []
        origin, attended = self._origin(point, record)
        return [(point, origin), *((int(j), origin) for j in attended)]

    def _work_out(self, point: int, record: int) -> Whole:
        if record == 0:
            return Whole.of(tuple(Fraction(value) for value in self._points.coordinates[point].tolist()))
        origin, attended = self._origin(point, record)
        here = self._positions[point, origin]
        if len(attended) == 1 and attended[0] == point:
            return here
        until = self._layers[record]
        self._work += len(here.numerators) * (until * self._keep.denominator.bit_length() // DIGIT) ** 2
        return here.on_the_way(self._mean(attended, origin), self.share(until - self._layers[origin], until))

    def _mean(self, attended: np.ndarray, record: int) -> Whole:
        if len(attended) == 1:
            return self.place(int(attended[0]), record)
        key = (record, attended.tobytes())
        if key not in self._means:
            if record == 0 and self._adds_up_fast(attended):
                self._means[key] = Whole.of(tuple(total / len(attended) for total in self._sum(attended)))
                return self._means[key]
            counts = [int(count) for count in self._points.multiplicities[attended]]
            self._means[key] = weighted_mean([self.place(point, record) for point in attended.tolist()], counts)
        return self._means[key]


@dataclass(frozen=True, eq=False)
class Now:
    """`ExactView` for one record of a truth."""

    truth: ExactPositions
    record: int
    work: int

    def positions(self, points: Sequence[int]) -> list[Vector]:
        return self.truth.positions(points, self.record)

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return [self.truth.target(point, self.record) for point in points]

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        """Refused where numbers would be too long, unless nobody moves."""
        here, there = self.positions(points), self.targets(points)
        if layers == 0 or here == there:
            return here
        share = self.truth.share(layers, self.truth.layer_of(self.record) + layers)
        return [between(*pair, share) for pair in zip(there, here, strict=True)]

    def rounded(self) -> "Now":
        return Now(self.truth.rounded, self.record, 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactPhase(Phase):
    """Points and targets as integers over one denominator."""

    positions: IntegerCloud
    targets: IntegerCloud  # over the same denominator as the positions

    @property
    def exactly(self) -> ExactView:
        """The same, to be asked point by point."""
        return _OfIntegers(self)

    def floats_at(self, layer: int) -> np.ndarray:
        return self._at(power(self.keep, layer - self.layer)).floats()

    def integers_at(self, layer: int) -> IntegerCloud:
        """The points at a layer, exactly; refused where their numbers would be too long, unless nobody moves."""
        if self.positions == self.targets:
            return self.positions.reduced()
        check_length(self.keep, layer)
        return self._at(self.keep ** (layer - self.layer)).reduced()

    def _at(self, shrink: Fraction) -> IntegerCloud:
        near, far = shrink.denominator - shrink.numerator, shrink.numerator
        rows = [
            [near * w + far * z for w, z in zip(ws, zs, strict=True)]
            for ws, zs in zip(self.targets.numerators, self.positions.numerators, strict=True)
        ]
        return IntegerCloud(rows, self.positions.denominator * shrink.denominator)


@dataclass(frozen=True, eq=False)
class _OfIntegers:
    """`ExactView` for a phase in integers."""

    phase: ExactPhase

    def positions(self, points: Sequence[int]) -> list[Vector]:
        return _vectors(self.phase.positions.rows(points))

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return _vectors(self.phase.targets.rows(points))

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        return _vectors(self.phase.integers_at(self.phase.layer + layers).rows(points))

    def rounded(self) -> "_OfIntegers":
        return self  # what is long was refused before

    @property
    def work(self) -> int:
        rows = self.phase.positions.numerators
        digits = self.phase.layer * self.phase.keep.denominator.bit_length() // DIGIT
        return len(rows) * len(rows[0]) * digits**2


def _vectors(cloud: IntegerCloud) -> list[Vector]:
    return [tuple(Fraction(int(value), int(cloud.denominator)) for value in row) for row in cloud.numerators]
