"""The searches by name, and which one suits a contest."""

from typing import Protocol

import numpy as np

from hardmax.engines.cpu.searches.line import line
from hardmax.engines.cpu.searches.outward import outward
from hardmax.engines.cpu.searches.plane import plane
from hardmax.engines.floats.contest import Contest, score_all


class Search(Protocol):
    """One way to hold a contest. Guesses who may win, one for each direction, can save time; they change nothing."""

    def __call__(
        self, directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
    ) -> Contest: ...


def _rounded(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> Contest:
    # Its kernels are partly written in numba's own words, so numba is imported with them: not before they are needed.
    from hardmax.engines.cpu.searches.rounded import rounded

    return rounded(directions, points, slack, guesses)


SEARCHES: dict[str, Search] = {
    "all": score_all,
    "line": line,
    "plane": plane,
    "outward": outward,
    "rounded": _rounded,
}
# The searches that are for tokens of one dimension.
ONLY_IN = {"line": 1, "plane": 2}

# Fewer scores than this are made sooner than points are laid out for a search.
_FEW_SCORES = 2**15
_FEW_SCORES_TO_ROUND = 2**19
_HIGHEST_DIMENSION_OUTWARD = 6


def suited(directions: int, points: int, dimension: int) -> str:
    """The name of the search that suits a size."""
    if directions * points <= _FEW_SCORES:
        return "all"
    for name, its_dimension in ONLY_IN.items():
        if dimension == its_dimension:
            return name
    if dimension <= _HIGHEST_DIMENSION_OUTWARD:
        return "outward"
    return "rounded" if directions * points > _FEW_SCORES_TO_ROUND else "all"
