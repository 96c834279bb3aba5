"""Search on a line: the furthest along y is at one of the ends. O(n).

Products of floats with one number are rounded, but never change order, so the two outermost points at an end have the
two highest scores there is. Rows in which the second comes within the slack are few, and held by another search; so are
directions of length 0, along which nobody is further than others.
"""

import numpy as np

from hardmax.engines.cpu.searches.outward import outward
from hardmax.engines.floats.contest import Contest


def line(directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None) -> Contest:
    """The contest on a line. Guesses are not needed."""
    if len(points) == 1:
        return Contest.clear(np.zeros(len(directions), dtype=np.int64), np.inf, "line")
    ends = np.argpartition(points[:, 0], [0, 1, -2, -1])
    along = directions[:, 0]
    winners, seconds = (np.where(along > 0, ends[-rank], ends[rank - 1]) for rank in (1, 2))
    leads = along * points[winners, 0] - along * points[seconds, 0]
    close = np.flatnonzero(~(leads > slack))
    contest = Contest.clear(winners, float(np.delete(leads, close).min(initial=np.inf)), "line")
    return contest.with_rows(close, outward(directions[close], points, slack[close])) if len(close) else contest
