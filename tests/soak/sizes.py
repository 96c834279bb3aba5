"""How large the problems of the soak are. Raise a number here, and nothing else has to change.

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


SIZES: dict[Tier, tuple[int, int]] = {Tier.SMALL: (1, 24), Tier.MIDDLING: (60, 1200), Tier.LARGE: (4096, 20_000)}

# Kinds on which integers have much to do: no large clouds of them, and their middling ones no larger than this.
LARGEST: dict[str, int] = {
    "scaled": 4096,
    "extreme": 4096,
    "subnormal": 1024,
    "far_out": 512,
    "spread": 256,
    "specks": 512,
    "shifted": 512,
    "tight_clusters": 512,
    "neighbours": 512,
    "whole_numbers": 1024,
    "decimals": 1024,
    "repeats": 4096,
    "with_zero": 1024,
    "lattice": 1024,
    "polygons": 1024,
    "mixed": 1024,
}

# Products of coordinates that scoring everybody may take.
MOST_WORK = 2 * 10**9


@dataclass(frozen=True)
class Engine:
    """Who answers, with which search, in which dimensions, and how large a cloud it is given in each tier."""

    name: str
    search: str | None
    dimensions: tuple[int, ...]
    most: dict[Tier, int]

    @property
    def label(self) -> str:
        return self.name if self.search is None else f"{self.name} {self.search}"

    def draw_size(self, rng: Generator, tier: Tier, kind: str) -> tuple[int, int]:
        """n, evenly spread over its logarithm, and d."""
        d = int(rng.choice(self.dimensions))
        least, most = SIZES[tier]
        most = min(most, self.most[tier], LARGEST.get(kind, most), int((MOST_WORK / d) ** 0.5))
        n = round(np.exp(rng.uniform(np.log(min(least, most)), np.log(most))))
        return n, d


def fits(engine: Engine, tier: Tier, kind: str) -> bool:
    """Whether an engine meets a kind in a tier."""
    least, _ = SIZES[tier]
    room = min(engine.most.get(tier, 0), LARGEST.get(kind, least))
    return room >= least
