"""Phases, in which no attended set changes, and exact positions of points in them.

While the attended sets stay as they are and their means stand still, every token goes straight to
its target:

    z_i(k + m) = w_i + g^m (z_i(k) - w_i),      g = 1 / (1 + alpha).

With m = 1 this is the definition of a layer, whether the targets stand still or not. So one formula
serves a single layer, the layers up to the next event, and all layers for ever once the cloud has
settled."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from hardmax._common.cached import cached_property
from hardmax._exact.vectors import (
    DIGIT,
    ExactVector,
    Vector,
    check_length,
    common_rows,
    power,
    towards,
    weighted_sum,
)
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import dot, fractions_of
from hardmax.dynamics import Dynamics


@dataclass(frozen=True, eq=False, kw_only=True)
class Phase:
    """Layers `layer <= k < until` (for ever, if `until` is None), who attends to whom in them, and
    what decided it."""

    layer: int
    until: int | None
    choices: AttendedIndices
    is_leader: np.ndarray
    margin: float
    contraction: Fraction
    decided_by: str = "integers"
    unchanged: bool = False
    """Whether the attended sets are known to be those of the phase before."""

    def leading_since(self, before: np.ndarray) -> np.ndarray:
        """For each point the layer since which it leads, or -1, as it was before this phase."""
        since = np.where(self.is_leader, before, -1)  # with a value matrix leaders may be lost
        since[(since < 0) & self.is_leader] = self.layer
        return since

    def table_at(self, layer: int) -> Any:
        """The points at a layer, where they are computed."""
        return self.floats_at(layer)

    def ends(self) -> Any:
        """Where the points go, where they are computed."""
        raise NotImplementedError

    def floats_at(self, layer: int) -> np.ndarray:
        """The points at a layer, in float64."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ExactView:
    """Where points are at the first layer of a phase, where they go, and where they are in it, as
    fractions."""

    source: "ExactPositions"
    phase: int
    work: int
    """What it cost to get here since the phase before, in products of digits (some 3 ns)."""

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return [fractions_of(self.source.target(point, self.phase)) for point in points]

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        """So many layers later; refused where numbers would be too long, unless nobody moves."""
        targets = here = [self.source.place(point, self.phase) for point in points]
        if layers:
            targets = [self.source.target(point, self.phase) for point in points]
        if here != targets:
            share = self.source.share(layers, self.phase)
            here = [towards(z, w, share) for z, w in zip(here, targets, strict=True)]
        return [fractions_of(place) for place in here]

    def rounded(self) -> "ExactView":
        """The same at any depth: to 50 digits, where exact numbers would be long."""
        return ExactView(self.source.rounded, self.phase, 0)


@dataclass(frozen=True, eq=False)
class PhaseView:
    """The same of a phase that knows where all points are."""

    phase: Any
    work: int = 0
    """What it costs to go on, in products of digits."""
    exact: bool = True

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return self.phase.exact_at(None, points, exact=self.exact)

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        return self.phase.exact_at(self.phase.layer + layers, points, exact=self.exact)

    def rounded(self) -> "PhaseView":
        return PhaseView(self.phase, exact=False)


class ExactPositions:
    """The exact positions of the points of one run, computed on demand: what integers need where
    floats cannot decide.

    Every choice so far is proved, so where a point is follows from its own chain of attended sets
    alone, phase by phase; a follower of a leader is on its way to it ever since. Only points that
    are needed are computed, and those they attended to; each is remembered."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self._points = points
        self._contraction = dynamics.contraction
        self._metric = dynamics.metric_integers
        self._layers: list[int] = []
        self._records: list[
            tuple[np.ndarray, AttendedIndices]
        ] = []  # of each phase the points that had to choose, increasing
        self._followed = np.full(
            points.count, -1, dtype=int
        )  # the leader of each point, -1: none yet
        self._since = np.zeros(points.count, dtype=int)  # the phase since which it follows
        self._places: dict[tuple[int, int], ExactVector] = {}
        self._means: dict[tuple[int, bytes], ExactVector] = {}
        self._table: tuple[tuple[int, bytes], np.ndarray, int] | None = None
        self._is_rounded = False
        self._work = 0

    @cached_property
    def rounded(self) -> "ExactPositions":
        """The same run, in which powers that are long are known to 50 digits."""
        twin = copy(self)
        twin._places, twin._means, twin._table = {}, {}, None
        twin._is_rounded = True
        return twin

    @property
    def last(self) -> int:
        return len(self._layers) - 1

    def begin(self, layer: int) -> None:
        """A phase begins at this layer: positions there are known now, `note` tells whom points
        attend to."""
        self._layers.append(layer)

    def note(self, rows: np.ndarray, choices: AttendedIndices, following: np.ndarray) -> None:
        """In the phase that has begun these points, increasing, attend so; those of them that are
        `following` follow a leader for ever. All others were following before."""
        (places,) = following.nonzero()
        new = rows[places]
        self._followed[new] = choices.firsts(places)
        if self.last:  # it is 0 before
            self._since[new] = self.last
        self._records.append((rows, choices))

    def view(self) -> ExactView:
        """The positions of the phase that has begun last, at any later time."""
        work, self._work = self._work, 0
        return ExactView(self, self.last, work)

    def share(self, layers: int, phase: int) -> Fraction:
        """g^layers, since the first layer of a phase; refused where exact numbers would be too
        long."""
        if self._is_rounded:
            return power(self._contraction, layers)
        check_length(self._contraction, self._layers[phase] + layers)
        return self._contraction**layers

    def place(self, point: int, phase: int | None = None) -> ExactVector:
        """Where a point is at the first layer of a phase (None: of the last)."""
        # A stack of our own: chains are as long as the run.
        known, key = self._places, (point, self.last if phase is None else phase)
        stack = [key]
        while stack:
            if stack[-1] in known:
                stack.pop()
                continue
            point, number = stack[-1]
            if number == 0:
                numbers = self._points.coordinates[point].tolist()
                known[stack.pop()] = [fmpq(*x.as_integer_ratio()) for x in numbers]
                continue
            # The phase from which the position follows, and whom the point has attended to since.
            origin, attended = number - 1, self._attended(point, number - 1)
            if self._follows(point, origin):
                origin = int(self._since[point])
            needed = [(j, origin) for j in [point, *attended.tolist()]]
            missing = [need for need in needed if need not in known]
            if missing:
                stack.extend(missing)
            else:
                known[stack.pop()] = self._moved(
                    known[point, origin], attended, origin, self._layers[number]
                )
        return known[key]

    def target(self, point: int, phase: int | None = None) -> ExactVector:
        """Where a point goes in a phase: the mean of those it attends to."""
        phase = self.last if phase is None else phase
        return self._mean(self._attended(point, phase), phase)

    def mean_moves(self, attended: np.ndarray) -> bool:
        """Whether the mean of some points moves: what they have still to go does not cancel."""
        counts, points = self._points.multiplicities[attended].tolist(), attended.tolist()
        places = [self.place(point) for point in points]
        targets = [self.target(point) for point in points]
        return weighted_sum(places, counts) != weighted_sum(targets, counts)

    def along(self, place: ExactVector) -> ExactVector:
        """The metric, up to a positive factor, times a position."""
        if self._metric is None:
            return place
        return [dot(row, place) for row in self._metric]

    def furthest(
        self, along: ExactVector, points: np.ndarray
    ) -> tuple[np.ndarray, Fraction | None]:
        """Those of some points that lie furthest along a direction, and their lead over the
        next."""
        if not any(along):
            return points, None
        numerators, denominator = self._table_of(points)
        (direction,), scale = common_rows([along])
        scores = numerators @ np.array(direction, dtype=object)
        best = max(scores.tolist())
        furthest = scores == best
        if furthest.all():
            return points, None
        lead = best - max(scores[~furthest].tolist())
        return points[furthest], Fraction(lead, scale * denominator)

    def offsets(self, points: np.ndarray) -> np.ndarray:
        """The ways from the first of some points to each of them, as integers, up to one positive
        factor for all."""
        numerators, _ = self._table_of(points)
        return numerators - numerators[0]

    def _table_of(self, points: np.ndarray) -> tuple[np.ndarray, int]:
        """Some points, a row each, over one denominator. Many in turn need the same ones, so the
        last are kept."""
        key = (self.last, points.tobytes())
        if self._table is None or self._table[0] != key:
            rows, common = common_rows([self.place(point) for point in points.tolist()])
            self._table = key, np.array(rows, dtype=object), common
        return self._table[1:]

    def went_together(self, points: np.ndarray) -> bool:
        """Whether each of some points has attended to the same single point as the others in every
        phase so far: what parts them has only become shorter."""
        for phase, (rows, choices) in enumerate(self._records):
            follows = self._follows(points, phase)
            chosen = choices.of_rows(np.searchsorted(rows, points[~follows])).indices
            if len(np.unique(np.append(chosen, self._followed[points[follows]]))) > 1:
                return False
        return True

    def _follows(self, point: Any, phase: int) -> Any:
        return (self._followed[point] >= 0) & (self._since[point] <= phase)

    def _attended(self, point: int, phase: int) -> np.ndarray:
        """Whom a point attends to in a phase."""
        if self._follows(point, phase):
            return self._followed[point : point + 1]
        rows, choices = self._records[phase]
        return choices[int(np.searchsorted(rows, point))]

    def _moved(
        self, here: ExactVector, attended: np.ndarray, origin: int, until: int
    ) -> ExactVector:
        target = self._mean(attended, origin)
        if target == here:
            return here
        digits = until * self._contraction.denominator.bit_length() // DIGIT
        self._work += len(here) * digits**2
        return towards(here, target, self.share(until - self._layers[origin], origin))

    def _mean(self, attended: np.ndarray, phase: int) -> ExactVector:
        if len(attended) == 1:
            return self.place(int(attended[0]), phase)
        key = (phase, attended.tobytes())
        if key not in self._means:
            counts = self._points.multiplicities[attended].tolist()
            places = [self.place(point, phase) for point in attended.tolist()]
            total = weighted_sum(places, counts)
            self._means[key] = [number / sum(counts) for number in total]
        return self._means[key]
