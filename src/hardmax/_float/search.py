"""Which search, on how many threads: the processor as an engine.

The searches by name, and which one suits a contest.

The processor: which search holds a contest, and on how many threads.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hardmax._float.argmax import ArgmaxResult, score_all
from hardmax._float.plane import plane
from hardmax._float.shells import line, outward
from hardmax._parallel import limit_threads, max_threads
from hardmax._validation import InputError, check_choice, check_int


class Search(Protocol):
    """One way to hold a contest. Guesses who may win, one for each direction, can save time; they change nothing."""

    def __call__(
        self, directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
    ) -> ArgmaxResult: ...


def _rounded(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    # Its kernels are partly written in numba's own words, so numba is imported with them: not before they are needed.
    from hardmax._float.rounded import rounded

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


@dataclass(frozen=True)
class Cpu:
    """The machine's own cores.

    `search` is "all", "line", "plane", "outward" or "rounded", or None: the one that suits each contest. `threads` is
    None: as many as there are. Neither changes a result.

    >>> Cpu(threads=1)
    Cpu(search=None, threads=1)
    """

    search: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.search is not None:
            check_choice(self.search, SEARCHES, "`search`", also=", or None")
        if self.threads is not None:
            threads = check_int(self.threads, "`threads`", at_least=1, at_most=max_threads())
            object.__setattr__(self, "threads", threads)

    def check(self, dimension: int) -> None:
        """Refuse tokens that the search asked for cannot take."""
        if self.search in ONLY_IN and dimension != ONLY_IN[self.search]:
            wish = f"for tokens of dimension {ONLY_IN[self.search]}; these have d = {dimension}"
            raise InputError(f"`search` {self.search!r} is {wish}.", argument="search")

    def search_for(self, directions: int, points: int, dimension: int) -> str:
        """The name of the search that holds a contest of this size."""
        return self.search or suited(directions, points, dimension)

    def hold(
        self, directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
    ) -> ArgmaxResult:
        """Who is furthest along each direction, and who comes close."""
        search = SEARCHES[self.search_for(len(directions), *points.shape)]
        if self.threads is None:
            return search(directions, points, slack, guesses)
        with self.limited():
            return search(directions, points, slack, guesses)

    def limited(self) -> AbstractContextManager[None]:
        """In this block kernels run on so many threads."""
        return limit_threads(self.threads)


# All cores, and whatever search suits.
CPU = Cpu()
