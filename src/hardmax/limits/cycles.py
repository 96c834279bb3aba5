"""Runs that never settle: attended sets that come round again, and tokens that chase one another.

With a symmetric positive definite metric there are none: a token attends to tokens at least as long as itself.
"""

from dataclasses import dataclass

import numpy as np

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


def find_cycle(run: Trajectory) -> Cycle | None:
    """The shortest period with which the attended sets repeat at the end of a run that kept all its layers."""
    signs = [(stretch.choices.indices.tobytes(), stretch.choices.offsets.tobytes()) for stretch in run.stretches]
    for period in range(1, min(LONGEST_PERIOD, len(signs) // 3) + 1):
        repeated = 0
        while repeated + period < len(signs) and signs[-1 - repeated] == signs[-1 - repeated - period]:
            repeated += 1
        if repeated >= 2 * period:
            first = run.stretches[len(signs) - repeated - period]
            return Cycle(period, first.layer, _came_back(run, period), _chase(run))
    return None


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
