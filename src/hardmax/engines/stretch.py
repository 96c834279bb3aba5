"""A stretch of layers during which no attended set changes.

While the attended sets stay as they are and their means stand still, every token goes straight to its target:

    z_i(k + m) = w_i + g^m (z_i(k) - w_i),      g = 1 / (1 + alpha).

With m = 1 this is the definition of a layer, whether the targets stand still or not. So one formula serves a
single layer, the layers up to the next event, and all layers for ever once the cloud has settled.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.bounds import SUMMED
from hardmax.engines.frame import Frame
from hardmax.engines.powers import check_length, power
from hardmax.engines.truth import Exactly
from hardmax.engines.vectors import Vector
from hardmax.tokens.points import Points
from hardmax.tokens.rationals import IntegerCloud

# Means of more points than this are left as floats have them.
_FEW = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Stretch:
    """Layers `layer <= k < until` (for ever, if `until` is None) and who attends to whom in them."""

    layer: int
    until: int | None
    choices: Choices
    alone: np.ndarray
    margin: float
    keep: Fraction
    decided_by: str = "integers"  # or the name of the search in floats

    def covers(self, layer: int) -> bool:
        """Whether the closed form gives the tokens at this layer: up to and including `until`."""
        return self.layer <= layer and (self.until is None or layer <= self.until)


class Places(Protocol):
    """Where the points are at a layer, put together when asked for."""

    @property
    def multiplicities(self) -> np.ndarray: ...

    def everybody(self) -> np.ndarray:
        """Where all points are, (p, d)."""
        ...


@dataclass(frozen=True, eq=False)
class Told:
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
class FloatStretch(Stretch):
    """Points and targets as floats."""

    places: Places
    error: float  # at any layer that the stretch covers; nan if nothing is promised
    exactly: Exactly | None = None  # where every choice is proved
    told: np.ndarray | None = None  # the targets, where they were told

    @cached_property
    def positions(self) -> np.ndarray:
        """Where the points are at the first layer of the stretch, (p, d)."""
        return self.places.everybody()

    @cached_property
    def targets(self) -> np.ndarray:
        """Where each point goes, (p, d). Of limits that are means of few points every coordinate is rounded once."""
        if self.told is not None:
            return self.told
        targets = mean_positions(self.positions, self.choices, self.places.multiplicities)
        if self.until is None and self.exactly is not None and not self.choices.all_single:
            few = np.flatnonzero((self.choices.sizes > 1) & (self.choices.sizes <= _FEW))
            if len(few):
                targets[few] = np.array(self.exactly.targets(few.tolist()), dtype=np.float64)
        return targets

    def floats_at(self, layer: int) -> np.ndarray:
        if layer == self.layer:
            return self.positions
        shrink = float(power(self.keep, layer - self.layer))
        return self.targets + shrink * (self.positions - self.targets)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactStretch(Stretch):
    """Points and targets as integers over one denominator."""

    positions: IntegerCloud
    targets: IntegerCloud  # over the same denominator as the positions

    @property
    def exactly(self) -> Exactly:
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
    """`Exactly` for a stretch in integers."""

    stretch: ExactStretch

    def positions(self, points: Sequence[int]) -> list[Vector]:
        return _vectors(self.stretch.positions.rows(points))

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return _vectors(self.stretch.targets.rows(points))

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        return _vectors(self.stretch.integers_at(self.stretch.layer + layers).rows(points))


def _vectors(cloud: IntegerCloud) -> list[Vector]:
    return [tuple(Fraction(int(value), int(cloud.denominator)) for value in row) for row in cloud.numerators]


class Engine(Protocol):
    """One way to walk."""

    @property
    def arithmetic(self) -> str:
        """`exact`, `certified` or `float`: what decides who attends to whom."""
        ...

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatStretch] | Iterator[ExactStretch]:
        """The stretches from layer 0 on; ends after one that lasts for ever."""
        ...


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
    for row in np.flatnonzero(tied.sizes > SUMMED):
        sums[row] = [math.fsum(column) for column in terms[tied.offsets[row] : tied.offsets[row + 1]].T]
    means[ties] = sums / np.add.reduceat(weights, starts, axis=0)
    return means
