"""How large the problems of the soak are, and who has to answer them. Raise a number here, and nothing else changes.

Problems come in three tiers. Small ones are walked through layers 0 to 3 and their limits certified, middling ones are
walked in full, of large ones a sample of rows is judged at layer 0 and their tokens at layer 1.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.random import Generator


class Tier(Enum):
    """How much of a problem is judged."""

    SMALL = "small"
    MIDDLING = "middling"
    LARGE = "large"


# The smallest and the largest number of tokens in a tier.
Sizes = dict[Tier, tuple[int, int]]

# Kinds on which integers have much to do, however good the engine: their clouds are no larger than this.
LARGEST: dict[str, int] = {
    "specks": 4096,
    "tight_clusters": 400,
    "neighbours": 600,
}

# Products of coordinates that scoring everybody may take.
MOST_WORK = 2 * 10**9


@dataclass(frozen=True)
class Solver:
    """Who answers, with which search, in which dimensions, and how large a cloud it is given in each tier."""

    name: str
    search: str | None
    dimensions: tuple[int, ...]
    sizes: Sizes

    @property
    def label(self) -> str:
        return self.name if self.search is None else f"{self.name} {self.search}"

    def meets(self, tier: Tier, kind: str) -> bool:
        """Whether it is given clouds of a kind in a tier."""
        return tier in self.sizes and self.sizes[tier][0] <= LARGEST.get(kind, np.inf)

    def draw_size(self, rng: Generator, tier: Tier, kind: str) -> tuple[int, int]:
        """n, evenly spread over its logarithm, and d."""
        d = int(rng.choice(self.dimensions))
        least, most = self.sizes[tier]
        most = min(most, LARGEST.get(kind, most), max(least, int((MOST_WORK / d) ** 0.5)))
        return round(np.exp(rng.uniform(np.log(least), np.log(most)))), d
