"""The CPU as an engine: which argmax search runs, and on how many threads."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from hardmax._common.validation import InputError, check_choice, check_int
from hardmax._float.argmax import ArgmaxResult, score_all
from hardmax._float.plane import plane
from hardmax._float.shells import search_shells
from hardmax._kernels.parallel import limit_threads, max_threads


def _rounded(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    # Its kernels are in part written in numba's own words, so numba is imported with them: not
    # before they are needed.
    from hardmax._float.rounded import search_rounded, works

    search = search_rounded if works() else score_all
    return search(directions, points, slack)


# Called with directions, points and slack.
SEARCHES: dict[str, Callable[..., ArgmaxResult]] = {
    "dense": score_all,
    "plane": plane,
    "shells": search_shells,
    "rounded": _rounded,
}
# Searches that are for tokens of one dimension.
ONLY_IN = {"plane": 2}

# Fewer scores than this are made sooner than points are laid out for a search.
_FEW_SCORES = 2**15
_FEW_SCORES_TO_ROUND = 2**19
_HIGHEST_DIMENSION_IN_SHELLS = 6


def suited(directions: int, points: int, dimension: int) -> str:
    """The name of the search that suits a size."""
    if directions * points <= _FEW_SCORES:
        return "dense"
    if dimension <= _HIGHEST_DIMENSION_IN_SHELLS:
        return "plane" if dimension == ONLY_IN["plane"] else "shells"
    return "rounded" if directions * points > _FEW_SCORES_TO_ROUND else "dense"


@dataclass(frozen=True)
class Cpu:
    """Engine that computes on this machine's processor.

    Neither parameter changes a result.

    Parameters
    ----------
    search : {"dense", "plane", "shells", "rounded"}, optional
        How the argmax is found: from all scores, by hull and angle (d = 2 only), from the outermost
        points in, or by scores rounded to bytes. By default whichever suits the number of tokens
        and their dimension.
    threads : int, optional
        Number of threads. By default as many as there are processors.

    Examples
    --------
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

    def _check(self, dimension: int) -> None:
        """Refuse tokens of a dimension that `search` cannot take."""
        if self.search in ONLY_IN and dimension != ONLY_IN[self.search]:
            wish = f"for tokens of dimension {ONLY_IN[self.search]}; these have d = {dimension}"
            raise InputError(f"`search` {self.search!r} is {wish}.")

    def _argmax(
        self,
        directions: np.ndarray,
        points: np.ndarray,
        slack: np.ndarray,
    ) -> ArgmaxResult:
        """Who is furthest along each direction, and who comes within its slack of that."""
        search = SEARCHES[self.search or suited(len(directions), *points.shape)]
        return search(directions, points, slack)

    def limited(self) -> AbstractContextManager[None]:
        """Context in which kernels run on `threads` threads."""
        return limit_threads(self.threads)


# All processors, and whichever search suits.
CPU = Cpu()
