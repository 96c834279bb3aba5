"""Everybody who can be asked, and where: each search of the processor, forced and chosen, the kernels, the GPU."""

from hardmax.engines.cpu.search import SEARCHES
from soak.sizes import Engine, Sizes, Tier

S, M, L = Tier.SMALL, Tier.MIDDLING, Tier.LARGE
ANY = (1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 16, 33, 64)
FEW = (1, 2, 2, 3, 3, 4, 5, 6)
EVERYWHERE: Sizes = {S: (1, 24), M: (40, 1200), L: (4096, 20_000)}
# From 8,192 points on a polygon of a sample says who is inside.
IN_THE_PLANE: Sizes = {**EVERYWHERE, L: (8192, 20_000)}

# The dimensions in which each search is met; a new one is met in all of them.
DIMENSIONS = {"all": ANY, "plane": (2,), "outward": (*FEW, 9), "rounded": (1, 2, 3, 7, 8, 16, 33, 64)}


def by_every_search(name: str, sizes: Sizes, in_the_plane: Sizes) -> list[Engine]:
    return [
        Engine(name, search, DIMENSIONS.get(search, ANY), in_the_plane if search == "plane" else sizes)
        for search in SEARCHES
    ]


PROCESSOR: tuple[Engine, ...] = (
    Engine("processor", None, ANY, EVERYWHERE),
    *by_every_search("processor", EVERYWHERE, IN_THE_PLANE),
    Engine("balls", "outward", FEW, EVERYWHERE),
    Engine("arena", None, (2, 3, 4), {L: (3000, 5000)}),
    Engine("bands", None, ANY, {**EVERYWHERE, L: (4096, 8192)}),
    *by_every_search("bands", {S: (1, 24), M: (40, 600)}, {S: (1, 24), M: (40, 600)}),
    Engine("doubting", None, FEW, {S: (1, 16), M: (20, 60)}),
    Engine("exact", None, FEW, {S: (1, 24), M: (40, 100)}),
    Engine("batch", None, (*FEW, 16), {S: (1, 24), M: (40, 1200)}),
    Engine("text", None, (*FEW, 16), {S: (1, 24), M: (40, 300)}),
    Engine("gpu", None, FEW, {S: (1, 16)}),
    Engine("gpu batch", None, FEW, {S: (1, 16)}),
)

DEVICE: tuple[Engine, ...] = (
    Engine("gpu", None, ANY, EVERYWHERE),
    Engine("gpu batch", None, (*FEW, 16), {S: (1, 24), M: (40, 1000)}),
)
