"""The CPU as an engine: which search for the furthest runs, and on how many threads."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hardmax._common.validation import check_int
from hardmax._float.argmax import ArgmaxResult, search_dense
from hardmax._float.plane import search_plane
from hardmax._float.shells import search_shells
from hardmax._float.tree import search_tree
from hardmax._kernels.parallel import limit_threads, max_threads


def _search_rounded(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    # Its kernels are in part written in numba's own words, so numba is imported with them: not
    # before they are needed.
    from hardmax._float.rounded import search_rounded, works

    search = search_rounded if works() else search_dense
    return search(directions, points, slack)


class Search(NamedTuple):
    """A function of directions, points and slack, and the only dimension that it is for."""

    function: Callable[..., ArgmaxResult]
    only_in: int | None = None


SEARCHES = {
    "dense": Search(search_dense),
    "plane": Search(search_plane, only_in=2),
    "shells": Search(search_shells),
    "tree": Search(search_tree),
    "rounded": Search(_search_rounded),
}

# Fewer scores than this are made sooner than points are laid out for a search.
_FEW_SCORES = 2**15
_FEW_SCORES_TO_ROUND = 2**19
_HIGHEST_DIMENSION_IN_SHELLS = 6


def suited(directions: int, points: int, dimension: int) -> str:
    """The name of the search that suits a size."""
    if directions * points <= _FEW_SCORES:
        return "dense"
    if dimension <= _HIGHEST_DIMENSION_IN_SHELLS:
        return "plane" if dimension == 2 else "shells"
    return "rounded" if directions * points > _FEW_SCORES_TO_ROUND else "dense"


def find_furthest(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Who is furthest along each direction, and who comes within its slack of that."""
    name = suited(len(directions), *points.shape)
    return SEARCHES[name].function(directions, points, slack)


@dataclass(frozen=True)
class Cpu:
    """Engine that computes on this machine's processor.

    Parameters
    ----------
    threads : int, optional
        Number of threads, which changes no result. By default as many as there are processors.

    Examples
    --------
    >>> Cpu(threads=1)
    Cpu(threads=1)
    """

    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            threads = check_int(self.threads, "`threads`", at_least=1, at_most=max_threads())
            object.__setattr__(self, "threads", threads)

    def limited(self) -> AbstractContextManager[None]:
        """Context in which kernels run on `threads` threads."""
        return limit_threads(self.threads) if self.threads else nullcontext()


# All processors.
CPU = Cpu()
