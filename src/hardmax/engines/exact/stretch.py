"""A stretch of layers whose points and targets are integers over one denominator."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardmax.engines.exact.powers import DIGIT, check_length, power
from hardmax.engines.exact.truth import Exactly
from hardmax.engines.exact.vectors import Vector
from hardmax.engines.stretch import Stretch
from hardmax.tokens.rationals import IntegerCloud


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

    def rounded(self) -> "_OfIntegers":
        return self  # what is long was refused before

    @property
    def work(self) -> int:
        rows = self.stretch.positions.numerators
        digits = self.stretch.layer * self.stretch.keep.denominator.bit_length() // DIGIT
        return len(rows) * len(rows[0]) * digits**2


def _vectors(cloud: IntegerCloud) -> list[Vector]:
    return [tuple(Fraction(int(value), int(cloud.denominator)) for value in row) for row in cloud.numerators]
