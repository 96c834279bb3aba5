"""How far tokens are from their limits and from one another, at any scale; exactly where the run is exact."""

from fractions import Fraction

import numpy as np

from hardmax.engines.events import layers_negative
from hardmax.engines.truth import fractions_table
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.lengths import above, lengths, longest_above, unit_of


def furthest_square(run: Trajectory, layer: int) -> Fraction:
    """The square of the largest distance of a token from its limit at a layer of a settled run, up to settling.

    Floats say who may be the furthest; of those it is computed exactly, where places are known exactly.
    """
    floats = run.floats_at(layer), run.float_ends()
    unit = max(map(unit_of, floats))
    # In units of the largest coordinate: differences then do not overflow.
    here, ends = (np.ldexp(table, -unit) for table in floats)
    apart = lengths(here - ends)
    if not run.certified:
        return Fraction(float(apart.max())) ** 2 * Fraction(4) ** unit
    # Either end of a distance is off by the error of the run, and so are those of its rivals.
    doubt = above(4 * float(np.ldexp(run.error, -unit)) + 2.0**-40)
    near = np.flatnonzero(apart >= apart.max() - doubt)
    points, first = np.unique(run.points.of_token[near], return_index=True)
    ends = fractions_table(run.exactly(run.stretches[-1]).targets(points.tolist()))
    ways = run.exact_at(layer, near[first].tolist()) - ends
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
