"""Runs that never settle: attended sets that come round again, and tokens that chase one another.

With a symmetric positive definite metric there are none: a token attends to tokens at least as long as itself.
"""

from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from hardmax.engines.stretch import Stretch
from hardmax.runs.trajectory import Trajectory

LONGEST_PERIOD = 64


@dataclass(frozen=True)
class Cycle:
    """What was seen, not proved to go on: the attended sets of the last layers repeat."""

    period: int
    since: int
    """The first layer from which on the sets repeated, up to the end of the run."""
    exact: bool
    """Whether the tokens themselves came back to the same places."""
    chase: tuple[int, ...]
    """Tokens each of which attends to the next, and the last to the first; empty if there are none."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self) | {"chase": list(self.chase)}


def find_cycle(run: Trajectory) -> Cycle | None:
    """The shortest period with which the attended sets repeat at the end of a run that kept all its layers.

    It must be seen three times, and be no longer than LONGEST_PERIOD stretches.
    """
    for period in range(1, min(LONGEST_PERIOD, len(run.stretches) // 3) + 1):
        repeated = _repeated(run, period)
        if repeated >= 2 * period:
            first, last = run.stretches[-repeated - period], run.stretches[-1]
            layers = last.layer - run.stretches[-1 - period].layer
            return Cycle(layers, first.layer, _came_back(run, period), _chase(run))
    return None


def _repeated(run: Trajectory, period: int) -> int:
    """How many stretches at the end have the sets of the one a period before, and follow it after as many layers."""
    later, before = run.stretches[period:], run.stretches[:-period]
    apart = later[-1].layer - before[-1].layer

    def same(pair: tuple[Stretch, Stretch]) -> bool:
        now, then = (stretch.choices for stretch in pair)
        if pair[0].layer - pair[1].layer != apart:
            return False
        return np.array_equal(now.offsets, then.offsets) and np.array_equal(now.indices, then.indices)

    return sum(1 for _ in takewhile(same, zip(reversed(later), reversed(before), strict=True)))


def _came_back(run: Trajectory, period: int) -> bool:
    now, before = run.stretches[-1], run.stretches[-1 - period]
    if not run.certified:
        return False
    points = range(run.points.count)
    return run.exactly(now).positions(points) == run.exactly(before).positions(points)


def _chase(run: Trajectory) -> tuple[int, ...]:
    """Follow the first attended token of each from token to token until one comes again."""
    choices = run.stretches[-1].choices
    first_attended = choices.indices[choices.offsets[:-1]]
    for start in range(len(first_attended)):
        way = [start]
        while first_attended[way[-1]] not in way:
            way.append(int(first_attended[way[-1]]))
        ring = way[way.index(int(first_attended[way[-1]])) :]
        if len(ring) > 1:
            return tuple(int(np.flatnonzero(run.points.of_token == point)[0]) for point in ring)
    return ()
