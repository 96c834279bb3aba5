"""A phase of layers whose points and targets are floats."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.positions import ExactView, Phase
from hardmax._exact.vectors import power
from hardmax._float.argmax import adds_up_exactly
from hardmax._float.bounds import SUMMED
from hardmax._float.frame import Frame
from hardmax._tokens.rationals import unit_of

# Means of more points than this are left as floats have them.
_FEW = 1000
# Sums and differences of numbers beyond 2 to this may overflow.
_LARGE = 900


class Places(Protocol):
    """Where the points are at a layer, put together when asked for."""

    @property
    def multiplicities(self) -> np.ndarray: ...

    def everybody(self) -> np.ndarray:
        """Where all points are, (p, d)."""
        ...


@dataclass(frozen=True, eq=False)
class StoredPositions:
    """Places as they are."""

    positions: np.ndarray
    multiplicities: np.ndarray

    def everybody(self) -> np.ndarray:
        return self.positions


@dataclass(frozen=True, eq=False)
class InUnits:
    """Places as the tokens came, where they were walked in another scale."""

    places: Places
    frame: Frame

    @property
    def multiplicities(self) -> np.ndarray:
        return self.places.multiplicities

    def everybody(self) -> np.ndarray:
        return self.frame.in_units(self.places.everybody())


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatPhase(Phase):
    """Points and targets as floats."""

    places: Places
    error: float  # at any layer that the phase covers; nan if nothing is promised
    exactly: ExactView | None = None  # where every choice is proved
    told: np.ndarray | None = None  # the targets, where they were told

    @cached_property
    def positions(self) -> np.ndarray:
        """Where the points are at the first layer of the phase, (p, d)."""
        return self.places.everybody()

    @cached_property
    def targets(self) -> np.ndarray:
        """Where each point goes, (p, d). Of limits that are means of few points every coordinate is rounded once."""
        if self.told is not None:
            return self.told
        counts = self.places.multiplicities
        targets = _without_overflow(lambda z: mean_positions(z, self.choices, counts), self.positions)
        if self.until is None and self.exactly is not None and not self.choices.all_single:
            few = np.flatnonzero((self.choices.sizes > 1) & (self.choices.sizes <= _FEW))
            if len(few):
                targets[few] = np.array(self.exactly.targets(few.tolist()), dtype=np.float64)
        return targets

    def floats_at(self, layer: int) -> np.ndarray:
        if layer == self.layer:
            return self.positions
        shrink = float(power(self.keep, layer - self.layer))
        return _without_overflow(lambda z, w: w + shrink * (z - w), self.positions, self.targets)


def _without_overflow(mix: Callable[..., np.ndarray], *tables: np.ndarray) -> np.ndarray:
    """Convex combinations of the rows of tables, computed in smaller units where sums could overflow."""
    spare = max(0, *(unit_of(table) - _LARGE for table in tables))
    if not spare:
        return mix(*tables)
    mixed = mix(*(np.ldexp(table, -spare) for table in tables))
    largest = np.ldexp(np.finfo(np.float64).max, -spare)  # rounding may lead beyond it, the combinations do not
    return np.ldexp(np.clip(mixed, -largest, largest), spare)


def mean_positions(positions: np.ndarray, choices: Choices, multiplicities: np.ndarray) -> np.ndarray:
    """w_i, the mean of the attended points, counted with multiplicity. Long sums are made without error, so that a mean
    is off by no more than `bounds.mean_error`."""
    if choices.all_single:
        return positions.take(choices.indices, axis=0)
    means = positions.take(choices.indices[choices.offsets[:-1]], axis=0)
    ties = np.flatnonzero(choices.sizes > 1)
    tied = choices.of_rows(ties)
    weights = multiplicities[tied.indices].astype(np.float64)[:, None]
    terms, starts = weights * positions[tied.indices], tied.offsets[:-1]
    sums = np.add.reduceat(terms, starts, axis=0)
    long = np.flatnonzero(tied.sizes > SUMMED)
    if len(long) and not adds_up_exactly(terms, np.add.reduceat(np.abs(terms), starts, axis=0)):
        for row in long:
            sums[row] = [math.fsum(column) for column in terms[tied.offsets[row] : tied.offsets[row + 1]].T]
    means[ties] = sums / np.add.reduceat(weights, starts, axis=0)
    return means
