"""Everybody who can be asked, and where: each search of the processor, forced and chosen, the kernels, the GPU."""

from hardmax.engines.search import SEARCHES
from soak.sizes import Engine, Tier

S, M, L = Tier.SMALL, Tier.MIDDLING, Tier.LARGE
ANY = (1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 16, 33, 64)
FEW = (1, 2, 2, 3, 3, 4, 5, 6)
EVERYWHERE = {S: 24, M: 1200, L: 20_000}

# The dimensions in which each search is met; a new one is met in all of them.
DIMENSIONS = {"all": ANY, "plane": (2,), "outward": (*FEW, 9), "rounded": (1, 2, 3, 7, 8, 16, 33, 64)}


def forced(name: str) -> Engine:
    return Engine("processor", name, DIMENSIONS.get(name, ANY), EVERYWHERE)


PROCESSOR: tuple[Engine, ...] = (
    Engine("processor", None, ANY, EVERYWHERE),
    *(forced(name) for name in SEARCHES),
    Engine("balls", None, FEW, EVERYWHERE),
    Engine("arena", None, (2, 3, 4), {L: 5000}),
    Engine("integers", None, ANY, {S: 24, M: 1200, L: 8192}),
    *(Engine("integers", name, DIMENSIONS.get(name, ANY), {S: 24, M: 600}) for name in SEARCHES),
    Engine("exact", None, FEW, {S: 24, M: 100}),
    Engine("batch", None, (*FEW, 16), {S: 24, M: 1200}),
    Engine("text", None, (*FEW, 16), {S: 24, M: 300}),
    Engine("gpu", None, FEW, {S: 16}),
    Engine("gpu batch", None, FEW, {S: 16}),
)

DEVICE: tuple[Engine, ...] = (
    Engine("gpu", None, ANY, EVERYWHERE),
    Engine("gpu batch", None, (*FEW, 16), {S: 24, M: 1000}),
)
