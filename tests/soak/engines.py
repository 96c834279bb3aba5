"""Everybody who can be asked, and where: each search of the processor, forced and chosen, the kernels, the GPU."""

from hardmax._float.search import SEARCHES
from soak.sizes import Sizes, Solver, Tier

S, M, L = Tier.SMALL, Tier.MIDDLING, Tier.LARGE
ANY = (1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 16, 33, 64)
FEW = (1, 2, 2, 3, 3, 4, 5, 6)
EVERYWHERE: Sizes = {S: (1, 24), M: (40, 1200), L: (4096, 20_000)}
# From 8,192 points on a polygon of a sample says who is inside.
IN_THE_PLANE: Sizes = {**EVERYWHERE, L: (8192, 20_000)}

# The dimensions in which each search is met; a new one is met in all of them.
DIMENSIONS = {"dense": ANY, "plane": (2,), "shells": (*FEW, 9), "rounded": (1, 2, 3, 7, 8, 16, 33, 64)}


def by_every_search(name: str, sizes: Sizes, in_the_plane: Sizes) -> list[Solver]:
    return [
        Solver(name, search, DIMENSIONS.get(search, ANY), in_the_plane if search == "plane" else sizes)
        for search in SEARCHES
    ]


PROCESSOR: tuple[Solver, ...] = (
    Solver("processor", None, ANY, EVERYWHERE),
    *by_every_search("processor", EVERYWHERE, IN_THE_PLANE),
    Solver("cones", "shells", FEW, EVERYWHERE),
    Solver("arena", None, (2, 3, 4), {L: (3000, 5000)}),
    Solver("bands", None, ANY, {**EVERYWHERE, L: (4096, 8192)}),
    *by_every_search("bands", {S: (1, 24), M: (40, 600)}, {S: (1, 24), M: (40, 600)}),
    Solver("doubting", None, FEW, {S: (1, 16), M: (20, 60)}),
    Solver("exact", None, FEW, {S: (1, 24), M: (40, 100)}),
    Solver("batch", None, (*FEW, 16), {S: (1, 24), M: (40, 1200)}),
    Solver("text", None, (*FEW, 16), {S: (1, 24), M: (40, 300)}),
    Solver("gpu", None, FEW, {S: (1, 16)}),
    Solver("gpu batch", None, FEW, {S: (1, 16)}),
)

# Problems with hard metrics, at the sizes at which another way is chosen, and a little beside them.
AT_METRICS: Sizes = {S: (1, 24), M: (25, 730)}
CHANGES = (64, 65, 181, 182, 724, 725, 2047, 2048, 2049, 4096, 4097, 8192, 8193)
METRICS: tuple[Solver, ...] = (
    Solver("processor", None, (2, 3, 4, 7, 16), AT_METRICS | {L: (700, 8200)}),
    *by_every_search("processor", AT_METRICS, AT_METRICS),
    Solver("cones", "shells", FEW, AT_METRICS),
    Solver("bands", None, (2, 3, 4, 7, 16), AT_METRICS),
    Solver("doubting", None, FEW, {S: (1, 16), M: (20, 60)}),
    Solver("exact", None, FEW, {S: (1, 24), M: (40, 100)}),
    Solver("batch", None, (*FEW, 16), {S: (1, 24), M: (25, 400)}),
)
ARENA = (Solver("arena", None, (3, 4), {L: (2100, 4200)}),)
WIDTHS = (100_000, 133_143, 133_144, 133_145, 150_528, 200_000)
IN_MANY_DIMENSIONS = tuple(Solver("wide", search, WIDTHS, {L: (5, 7)}) for search in ("dense", "shells", "rounded"))

DEVICE: tuple[Solver, ...] = (
    Solver("gpu", None, ANY, EVERYWHERE),
    Solver("gpu batch", None, (*FEW, 16), {S: (1, 24), M: (40, 1000)}),
)
