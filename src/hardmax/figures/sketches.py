"""Runs and limits as small pictures: which tokens are drawn, where, and in which colour."""

from dataclasses import dataclass

import numpy as np

from hardmax.figures.asked import LimitLike, RunLike
from hardmax.figures.flat import plane_axes, remark_on
from hardmax.figures.svg import GREY, Sketch
from hardmax.geometry._hull import polygon

CORNERS = 3
"""Ways have on average at most so many corners, for each token that may be drawn."""
MOST_LEADERS, MOST_LEADERS_IN_HULL, MOST_HULL_CORNERS = 40, 20_000, 100


@dataclass(frozen=True, eq=False)
class Drawing:
    """A sketch, and what a reader must be told about it."""

    sketch: Sketch
    remark: str


def sketch_run(run: RunLike, most: int) -> Drawing:
    """The tokens of a run from layer 0 to its last, in the colours of the leaders that they follow there."""
    shown = _shown(run, most)
    groups = _followed(run)[run.points.of_token[shown]]
    return _drawing(run, shown, _bends(run, shown, most), run.floats_at(run.layers), groups)


def sketch_limit(lim: LimitLike, most: int) -> Drawing:
    """The tokens of a cloud from layer 0 to their limits, in the colours of their clusters."""
    shown = _shown(lim.run, most)
    groups = lim.clusters.labels[shown]
    return _drawing(lim.run, shown, _bends(lim.run, shown, most), lim.float_points, groups)


def _drawing(run: RunLike, shown: np.ndarray, bends: list[int], ends: np.ndarray, groups: np.ndarray) -> Drawing:
    starts = run.points.floats[run.points.of_token]
    scale = float(np.abs(starts).max()) or 1.0  # nobody ever leaves the hull of the first layer
    between = [run.floats_at(layer) for layer in bends]
    axes = plane_axes(starts)
    path = np.stack([cloud[shown] / scale for cloud in (starts, *between, ends)]) @ axes
    if run.d == 1:
        # On a line ways would hide one another: time runs downwards.
        path[..., 1] = np.linspace(1, 0, len(path))[:, None]
    hull = _hull(ends[run.leaders] / scale @ axes)
    sketch = Sketch(path, np.isin(shown, run.leaders), groups, hull, equal_scales=run.d != 1)
    left_out = "" if len(shown) == run.n else f"{len(shown)} of {run.n:,} tokens drawn"
    return Drawing(sketch, ", ".join(filter(None, (remark_on(run.d), left_out))))


def _shown(run: RunLike, most: int) -> np.ndarray:
    """At most so many tokens: some of the leaders, and some of all."""
    if run.n <= most:
        return np.arange(run.n)
    leaders = run.leaders[:: len(run.leaders) // MOST_LEADERS + 1]
    others = np.linspace(0, run.n - 1, most - len(leaders)).astype(int)
    return np.union1d(leaders, others)


def _hull(leaders: np.ndarray) -> np.ndarray:
    """The corners of the hull of the leaders, in the order in which one meets them; of very many, some."""
    if not len(leaders):
        return leaders
    some = leaders[:: len(leaders) // MOST_LEADERS_IN_HULL + 1]
    corners = some[polygon(some)]
    return corners[:: len(corners) // MOST_HULL_CORNERS + 1]


def _bends(run: RunLike, shown: np.ndarray, most: int) -> list[int]:
    """Layers between the first and the last at which ways bend; of large clouds none, since each is walked to."""
    if len(shown) < run.n:
        return []
    # Ways are straight as long as no attended set changes.
    between = [layer for layer in run.decided_at if 0 < layer < run.layers]
    return between[:: len(between) * run.n // (CORNERS * most) + 1]


def _followed(run: RunLike) -> np.ndarray:
    """For each point the number of the leader that it attends to alone in the last phase; GREY if to no such one."""
    choices = run.phases[-1].choices
    points = np.arange(len(choices))
    goals = choices.firsts(points)
    numbers = np.cumsum(choices.is_leader) - 1
    return np.where(choices.follows_leader, numbers[goals], GREY)
