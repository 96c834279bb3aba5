"""A stretch of layers during which no attended set changes.

While the attended sets stay as they are and their means stand still, every token goes straight to its target:

    z_i(k + m) = w_i + g^m (z_i(k) - w_i),      g = 1 / (1 + alpha).

With m = 1 this is the definition of a layer, whether the targets stand still or not. So one formula serves a
single layer, the layers up to the next event, and all layers for ever once the cloud has settled.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.powers import check_length, power
from hardmax.tokens.points import Points
from hardmax.tokens.rationals import IntegerCloud


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


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatStretch(Stretch):
    """Points and targets as floats."""

    places: Places
    error: float  # at any layer that the stretch covers; nan if nothing is promised

    @cached_property
    def positions(self) -> np.ndarray:
        """Where the points are at the first layer of the stretch, (p, d)."""
        return self.places.everybody()

    @cached_property
    def targets(self) -> np.ndarray:
        """Where each point goes, (p, d)."""
        return mean_positions(self.positions, self.choices, self.places.multiplicities)

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
    """w_i, the mean of the attended points, counted with multiplicity."""
    if choices.all_single:
        return positions.take(choices.indices, axis=0)
    weights = multiplicities[choices.indices].astype(np.float64)[:, None]
    starts = choices.offsets[:-1]
    sums = np.add.reduceat(weights * positions[choices.indices], starts, axis=0)
    return sums / np.add.reduceat(weights, starts, axis=0)
