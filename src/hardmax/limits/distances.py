"""How far tokens are from their limits and from one another, at any scale; exactly where the run is exact."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hardmax.engines.exact.events import layers_negative
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.exact.vectors import fractions_table
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
            until = settled if stretch.until is None else min(stretch.until, settled)
            for layer in range(stretch.layer, until):
                if self._square(stretch, layer) > goal:
                    first = layer + 1
        return first

    @cached_property
    def _ends(self) -> np.ndarray:
        return self.run.float_ends()

    def _square(self, stretch: FloatStretch | ExactStretch, layer: int) -> Fraction:
        """Floats say who may be the furthest; of those it is computed exactly, where places are known exactly."""
        run, of_token = self.run, self.run.points.of_token
        floats = stretch.floats_at(layer)[of_token], self._ends
        unit = max(map(unit_of, floats))
        # In units of the largest coordinate: differences then do not overflow.
        here, ends = (np.ldexp(table, -unit) for table in floats)
        apart = lengths(here - ends)
        if not run.certified:
            return Fraction(float(apart.max())) ** 2 * Fraction(4) ** unit
        # Either end of a distance is off by the error of the run, and so are those of its rivals.
        doubt = above(4 * float(np.ldexp(run.error, -unit)) + 2.0**-40)
        near = np.unique(of_token[apart >= apart.max() - doubt]).tolist()
        here_exactly = fractions_table(run.exactly(stretch).later(near, layer - stretch.layer))
        ways = here_exactly - fractions_table(run.exactly(run.stretches[-1]).targets(near))
        return max((ways**2).sum(axis=1))


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
