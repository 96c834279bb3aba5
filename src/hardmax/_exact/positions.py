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

from hardmax._common.cached import cached_property
from hardmax._exact.power_sums import Means, Table
from hardmax._exact.vectors import DIGIT, Vector, check_length, exact_table, flint, power
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points

_LARGEST = 2**63 - 1  # that int64 holds


@dataclass(frozen=True, eq=False, kw_only=True)
class Phase:
    """Layers `layer <= k < until` (for ever, if `until` is None), which token attends to which in
    them, and what decided it."""

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
        is_new = (since < 0) & self.is_leader
        if is_new.any():
            since = since.astype(object) if self.layer > _LARGEST else since
            since[is_new] = self.layer
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
    """Where points are in a phase, and where they go, as fractions; any number of layers later to
    50 digits, where exact numbers would be long, if it is `rounded`."""

    source: "ExactPositions"
    phase: int
    work: int = 0
    """What it cost to get here since the phase before, in products of digits (some 3 ns)."""

    def targets(self, points: Sequence[int]) -> list[Vector]:
        """Where some points, increasing, go."""
        return _vectors(self.source.targets(np.array(points, dtype=int), self.phase))

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        """Where they are a number of layers later."""
        return _vectors(self.source.later(np.array(points, dtype=int), self.phase, layers))

    def rounded(self) -> "ExactView":
        return ExactView(self.source.rounded, self.phase)


@dataclass(frozen=True, eq=False)
class PhaseView:
    """The same of a phase that knows where all points are."""

    phase: Any
    work: int = 0
    """What it costs to go on, in products of digits."""
    exact: bool = True

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return _vectors(self.phase.exact_at(None, points, exact=self.exact))

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        return _vectors(self.phase.exact_at(self.phase.layer + layers, points, exact=self.exact))

    def rounded(self) -> "PhaseView":
        return PhaseView(self.phase, exact=False)


def _vectors(table: Table) -> list[Vector]:
    return [tuple(Fraction(int(x.p), int(x.q)) for x in row) for row in table.tolist()]


class ExactPositions:
    """The exact positions of some points of one run, where floats cannot decide.

    Every choice so far is proved, so where a point is follows from the attended sets of all phases:
    from its own, and from those of the points it attended to. What was computed last is kept, since
    the next phase asks for much the same points."""

    def __init__(self, points: Points, contraction: Fraction) -> None:
        self._points, self._contraction = points, contraction
        self._layers: list[int] = []
        self.last = -1
        """The phase that has begun last."""
        self._sets: list[AttendedIndices] = []  # of each phase
        self._known = 0, *self._start(np.empty(0, dtype=int))
        self._is_rounded, self._work = False, 0

    @cached_property
    def rounded(self) -> "ExactPositions":
        """The same run, in which powers that are long are known to 50 digits."""
        twin = copy(self)
        twin._known, twin._is_rounded = (0, *twin._start(np.empty(0, dtype=int))), True
        return twin

    def begin(self, layer: int) -> None:
        """A phase begins at this layer."""
        self._layers.append(layer)
        self.last += 1

    def note(self, choices: AttendedIndices) -> None:
        """What all points attend to in the phase that has begun."""
        self._sets.append(choices)

    def view(self) -> ExactView:
        """The positions of the phase that has begun last, at any later time."""
        work, self._work = self._work, 0
        return ExactView(self, self.last, work)

    def places(self, points: np.ndarray, phase: int) -> Table:
        """Where some points, increasing, are at the first layer of a phase."""
        first, rows, table = self._known
        is_known = first <= phase and np.isin(self._needed(points, first, phase), rows).all()
        if not is_known:
            first = 0
            rows, table = self._start(self._needed(np.union1d(points, rows), 0, phase))
        for number in range(first, phase):
            rows, table = self._after(rows, table, number)
        self._known = phase, rows, table
        return table[np.searchsorted(rows, points)]

    def targets(self, points: np.ndarray, phase: int) -> Table:
        """Where they go in the phase: each to the mean of those it attends to."""
        chosen = self._sets[phase].of_rows(points)
        needed = np.unique(chosen.indices)
        return self._means(chosen, needed)(self.places(needed, phase))

    def means_rest(self, chosen: AttendedIndices, phase: int) -> bool:
        """Whether what is left to go cancels in each of some sets, so that their means rest."""
        points = np.unique(chosen.indices)
        ways = self.targets(points, phase) - self.places(points, phase)
        return not self._means(chosen, points)(ways).any()

    def later(self, points: np.ndarray, phase: int, layers: int) -> Table:
        """Where they are some layers after the first one of the phase; refused where numbers
        would be too long, unless nothing moves."""
        here = self.places(points, phase)
        ends = self.targets(points, phase) if layers else here
        return self._towards(here, ends, layers, self._layers[phase] + layers)

    def _start(self, rows: np.ndarray) -> tuple[np.ndarray, Table]:
        return rows, exact_table(self._points.coordinates[rows]).reshape(
            len(rows), self._points.dimension
        )

    def _needed(self, points: np.ndarray, first: int, phase: int) -> np.ndarray:
        """Whose positions in one phase give those of some points in a later one."""
        for sets in reversed(self._sets[first:phase]):
            points = np.union1d(points, sets.of_rows(points).indices)
        return points

    def _after(self, rows: np.ndarray, table: Table, number: int) -> tuple[np.ndarray, Table]:
        """Those of some points of which this is known, a phase later."""
        chosen = self._sets[number].of_rows(rows)
        is_known = np.logical_and.reduceat(np.isin(chosen.indices, rows), chosen.offsets[:-1])
        (kept,) = np.nonzero(is_known)
        ends = self._means(chosen.of_rows(kept), rows)(table)
        until, layers = self._layers[number + 1], self._layers[number + 1] - self._layers[number]
        digits = until * self._contraction.denominator.bit_length() // DIGIT
        self._work += table.size * digits**2
        return rows[kept], self._towards(table[kept], ends, layers, until)

    def _means(self, chosen: AttendedIndices, rows: np.ndarray) -> Means:
        """Means over attended sets, of a table of some points."""
        local = AttendedIndices(np.searchsorted(rows, chosen.indices), chosen.offsets)
        return Means(local, self._points.multiplicities[rows])

    def _towards(self, here: Table, ends: Table, layers: int, until: int) -> Table:
        if not (here != ends).any():
            return here
        if self._is_rounded:
            return ends + flint(power(self._contraction, layers)) * (here - ends)
        check_length(self._contraction, until)
        return ends + flint(self._contraction**layers) * (here - ends)
