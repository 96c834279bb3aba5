"""How far tokens are from their limits and from one another, at any scale; exactly where the run is exact, to 50 digits
where its numbers are long."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardmax.engines.exact.events import Curve, layers_negative
from hardmax.engines.exact.powers import power
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.exact.vectors import Vector, between, dot, minus
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.lengths import above, lengths, longest_above, unit_of


@dataclass(frozen=True, eq=False)
class ToLimit:
    """How far the tokens of a settled run are from their limits, at the layers up to settling."""

    run: Trajectory

    def square_at(self, layer: int) -> Fraction:
        """The square of the largest distance at a layer."""
        return self._square(self.run.stretch_at(layer), layer)

    def first_within(self, goal: Fraction) -> int:
        """The layer from which on, up to settling, no square is larger than the goal: found in one walk."""
        first, settled = 0, self.run.settled_at or 0
        for stretch in self.run.walk_again():
            if stretch.layer >= settled:
                break
            last = (settled if stretch.until is None else min(stretch.until, settled)) - 1
            if self._square(stretch, last) > goal:
                first = last + 1
            elif last > stretch.layer:
                first = max(first, self._first_in(stretch, last, goal))
        return first

    def _first_in(self, stretch: FloatStretch | ExactStretch, last: int, goal: Fraction) -> int:
        """The layer from which on no square is larger than the goal, in a stretch at whose `last` layer none is.

        On its way w + t u the square of the distance of a point from its limit l is |w - l|^2 + 2 t <u, w - l> +
        t^2 |u|^2, convex in t = g^m: once it is within the goal, it stays so up to the last layer.
        """
        layer = stretch.layer
        while True:
            square, point = self._furthest(stretch, layer)
            if square <= goal:
                return layer
            exactly = self.run.exactly(stretch).rounded()
            (here,), (target,), (end,) = exactly.positions([point]), exactly.targets([point]), self._exact_ends([point])
            off, way = minus(target, end), minus(here, target)
            coefficients = goal - dot(off, off), -2 * dot(way, off), -dot(way, way)
            common = math.lcm(*(value.denominator for value in coefficients))
            a0, a1, a2 = (int(value * common) for value in coefficients)
            curve = Curve(a0, a1, a2, self.run.dynamics.keep)
            layer = stretch.layer + curve.first_reached(by=last - stretch.layer)

    @cached_property
    def _ends(self) -> np.ndarray:
        return self.run.float_ends()

    def _exact_ends(self, points: Sequence[int]) -> list[Vector]:
        return self.run.exactly(self.run.stretches[-1]).rounded().targets(points)

    def _square(self, stretch: FloatStretch | ExactStretch, layer: int) -> Fraction:
        return self._furthest(stretch, layer)[0]

    def _furthest(self, stretch: FloatStretch | ExactStretch, layer: int) -> tuple[Fraction, int]:
        """The square of the largest distance at a layer, and a point that is so far away. Floats say who may be it; of
        those it is computed exactly, or to 50 digits where numbers are long, if places are known exactly."""
        run, of_token = self.run, self.run.points.of_token
        floats = stretch.floats_at(layer)[of_token], self._ends
        unit = max(map(unit_of, floats))
        # In units of the largest coordinate: differences then do not overflow.
        here, ends = (np.ldexp(table, -unit) for table in floats)
        apart = lengths(here - ends)
        if not run.certified:
            furthest = int(np.argmax(apart))
            return Fraction(float(apart[furthest])) ** 2 * Fraction(4) ** unit, int(of_token[furthest])
        # Either end of a distance is off by the error of the run, and so are those of its rivals.
        doubt = above(4 * float(np.ldexp(run.error, -unit)) + 2.0**-40)
        near = np.unique(of_token[apart >= apart.max() - doubt]).tolist()
        exactly, share = run.exactly(stretch).rounded(), power(run.dynamics.keep, layer - stretch.layer)
        ways = zip(exactly.targets(near), exactly.positions(near), self._exact_ends(near), strict=True)
        squares = [dot(way, way) for way in (minus(between(w, z, share), end) for w, z, end in ways)]
        return max(zip(squares, near, strict=True))


def spread_above(table: np.ndarray) -> float:
    """No row (n, d) is further than this from one place among them; so no two are further apart than twice this."""
    unit = unit_of(table)
    scaled = np.ldexp(table, -unit)
    with np.errstate(over="ignore"):
        return above(float(np.ldexp(longest_above(scaled - scaled.mean(axis=0)), unit)))


def shrinkings(square: Fraction, goal: Fraction, keep: Fraction) -> int:
    """The least m with keep^(2 m) square <= goal < square.

    >>> shrinkings(Fraction(4), Fraction(1, 4), Fraction(1, 2)), shrinkings(Fraction(4), Fraction(1, 5), Fraction(1, 2))
    (2, 3)
    """
    common = square.denominator * goal.denominator
    found = layers_negative(int(goal * common), 0, -int(square * common), keep)
    assert found is not None, "the goal is positive, and powers tend to 0"
    return found
