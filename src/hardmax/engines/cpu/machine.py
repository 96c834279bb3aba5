"""The processor: which search holds a contest, and on how many threads."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from hardmax.checking import one_of, whole_number
from hardmax.engines.cpu.search import ONLY_IN, SEARCHES, suited
from hardmax.engines.floats.contest import Contest
from hardmax.errors import InputError
from hardmax.threads import limited_to, most_threads


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
            one_of(self.search, SEARCHES, "`search`", also=", or None")
        if self.threads is not None:
            threads = whole_number(self.threads, "`threads`", at_least=1, at_most=most_threads())
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
    ) -> Contest:
        """Who is furthest along each direction, and who comes close."""
        search = SEARCHES[self.search_for(len(directions), *points.shape)]
        if self.threads is None:
            return search(directions, points, slack, guesses)
        with self.limited():
            return search(directions, points, slack, guesses)

    def limited(self) -> AbstractContextManager[None]:
        """In this block kernels run on so many threads."""
        return limited_to(self.threads)


# All cores, and whatever search suits.
CPU = Cpu()
