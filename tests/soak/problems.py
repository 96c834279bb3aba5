"""Problem number k: a hard cloud, a metric, a step, and who has to answer. The same for ever, given
a seed.

Problems come in three tiers. Small ones are followed through layers 0 to 3 and their limits
certified, middling ones are followed in full, of large ones a sample of rows is checked at layer 0
and their tokens at layer 1."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from itertools import count, islice, product

import numpy as np
from numpy.random import Generator

import hardmax as hm
from hardmax._float.search import SEARCHES
from soak.clouds import KINDS, OF_METRICS, WIDE, make
from soak.truth import ExactCloud


class Tier(Enum):
    """How much of a problem is judged."""

    SMALL = "small"
    MIDDLING = "middling"
    LARGE = "large"


# The smallest and the largest number of tokens in a tier.
Sizes = dict[Tier, tuple[int, int]]

# Kinds on which integers have much to do, however good the engine: their clouds are no larger than
# this.
LARGEST: dict[str, int] = {
    "specks": 4096,
    "tight_clusters": 400,
    "neighbours": 600,
}

# Products of coordinates that scoring everybody may take.
MOST_WORK = 2 * 10**9


@dataclass(frozen=True)
class Answerer:
    """Who answers, with which search, in which dimensions, and how large a cloud it is given in
    each tier."""

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


S, M, L = Tier.SMALL, Tier.MIDDLING, Tier.LARGE
ANY = (1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 16, 33, 64)
FEW = (1, 2, 2, 3, 3, 4, 5, 6)
EVERYWHERE: Sizes = {S: (1, 24), M: (40, 1200), L: (4096, 20_000)}
# From 8,192 points on a polygon of a sample says who is inside.
IN_THE_PLANE: Sizes = {**EVERYWHERE, L: (8192, 20_000)}

# The dimensions in which each search is met; a new one is met in all of them.
DIMENSIONS = {
    "dense": ANY,
    "plane": (2,),
    "shells": (*FEW, 9),
    "rounded": (1, 2, 3, 7, 8, 16, 33, 64),
}


def by_every_search(name: str, sizes: Sizes, in_the_plane: Sizes) -> list[Answerer]:
    return [
        Answerer(
            name, search, DIMENSIONS.get(search, ANY), in_the_plane if search == "plane" else sizes
        )
        for search in SEARCHES
    ]


PROCESSOR: tuple[Answerer, ...] = (
    Answerer("processor", None, ANY, EVERYWHERE),
    *by_every_search("processor", EVERYWHERE, IN_THE_PLANE),
    Answerer("cones", "shells", FEW, EVERYWHERE),
    Answerer("arena", None, (2, 3, 4), {L: (3000, 5000)}),
    Answerer("doubting", None, FEW, {S: (1, 16), M: (20, 60)}),
    Answerer("exact", None, FEW, {S: (1, 24), M: (40, 100)}),
    Answerer("batch", None, (*FEW, 16), {S: (1, 24), M: (40, 1200)}),
    Answerer("gpu", None, FEW, {S: (1, 16)}),
    Answerer("gpu batch", None, FEW, {S: (1, 16)}),
)

# Problems with hard metrics, at the sizes at which another way is chosen, and a little beside them.
AT_METRICS: Sizes = {S: (1, 24), M: (25, 730)}
CHANGES = (64, 65, 181, 182, 724, 725, 2047, 2048, 2049, 4096, 4097, 8192, 8193)
METRICS: tuple[Answerer, ...] = (
    Answerer("processor", None, (2, 3, 4, 7, 16), AT_METRICS | {L: (700, 8200)}),
    *by_every_search("processor", AT_METRICS, AT_METRICS),
    Answerer("cones", "shells", FEW, AT_METRICS),
    Answerer("doubting", None, FEW, {S: (1, 16), M: (20, 60)}),
    Answerer("exact", None, FEW, {S: (1, 24), M: (40, 100)}),
    Answerer("batch", None, (*FEW, 16), {S: (1, 24), M: (25, 400)}),
)
ARENA = (Answerer("arena", None, (3, 4), {L: (2100, 4200)}),)
WIDTHS = (100_000, 133_143, 133_144, 133_145, 150_528, 200_000)
IN_MANY_DIMENSIONS = tuple(
    Answerer("wide", search, WIDTHS, {L: (5, 7)}) for search in ("dense", "shells", "rounded")
)

DEVICE: tuple[Answerer, ...] = (
    Answerer("gpu", None, ANY, EVERYWHERE),
    Answerer("gpu batch", None, (*FEW, 16), {S: (1, 24), M: (40, 1000)}),
)


ALPHAS = ("1/2", "1", "1/10", "1000")
SEED = 1
# Of ten problems in a row the first is large, the next three are middling.
TEN = (Tier.LARGE, *[Tier.MIDDLING] * 3, *[Tier.SMALL] * 6)
# Problems from this number on have hard metrics, or very many dimensions. Of twenty in a row the
# first is large.
FIRST_OF_METRICS = 10**6
TWENTY = (Tier.LARGE, *[Tier.MIDDLING] * 6, *[Tier.SMALL] * 13)
HARD_METRICS = ("signs", "kernel", "negative", "turning", "tiny", "huge", "last places", "any")


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What is asked, and of whom."""

    number: int
    tier: Tier
    kind: str
    engine: Answerer
    alpha: Fraction
    metric: np.ndarray | None
    metric_kind: str
    tokens: np.ndarray

    def __str__(self) -> str:
        n, d = self.tokens.shape
        return (
            f"#{self.number} {self.kind}, n={n}, d={d}, alpha={self.alpha}, "
            f"metric {self.metric_kind}, {self.tier.value}, by {self.engine.label}"
        )

    @property
    def any_metric(self) -> bool:
        """Whether the theorem may not hold."""
        return self.metric_kind in HARD_METRICS

    @cached_property
    def dynamics(self) -> hm.Dynamics:
        return hm.Dynamics(self.alpha, self.metric)

    @cached_property
    def truth(self) -> ExactCloud:
        return ExactCloud.of(self.tokens, self.metric)


def problem(number: int, *, device: bool = False, seed: int = SEED) -> Problem:
    """The problem with this number; those of a `device` are all for the GPU, at every size."""
    tier, kind, engine = assignment(number, device)
    rng = np.random.default_rng([seed, number])
    if number >= FIRST_OF_METRICS:
        return _with_hard_metric(rng, number, tier, kind, engine)
    n, d = engine.draw_size(rng, tier, kind)
    tokens = make(kind, rng, n, d)
    metric_kind = str(
        rng.choice(["identity", "identity", "identity", "diagonal", "general", "any"])
    )
    return Problem(
        number=number,
        tier=tier,
        kind=kind,
        engine=engine,
        alpha=Fraction(str(rng.choice(ALPHAS))),
        metric=draw_metric(rng, metric_kind, d),
        metric_kind=metric_kind,
        tokens=tokens,
    )


def _with_hard_metric(
    rng: Generator, number: int, tier: Tier, kind: str, engine: Answerer
) -> Problem:
    n, d = engine.draw_size(rng, tier, kind)
    near = [size for size in CHANGES if engine.sizes[tier][0] <= size <= engine.sizes[tier][1]]
    n = int(rng.choice(near)) if near and rng.random() < 0.5 else n
    metric_kind = "identity" if engine.name == "wide" else str(rng.choice(HARD_METRICS))
    if kind == "vanishing" and rng.random() < 0.75:
        metric_kind = "signs"
    tokens = make(kind, rng, n, d)
    metric = draw_metric(rng, metric_kind, d)
    if kind == "vanishing" and metric_kind == "signs":
        metric = np.diag([1.0] * (d - 1) + [-1.0])
    alpha = Fraction(str(rng.choice(ALPHAS)))
    return Problem(
        number=number,
        tier=tier,
        kind=kind,
        engine=engine,
        alpha=alpha,
        metric=metric,
        metric_kind=metric_kind,
        tokens=tokens,
    )


def assignment(number: int, device: bool = False) -> tuple[Tier, str, Answerer]:
    """Which kind of cloud a problem has, in which tier, and who has to answer.

    Kinds and engines come in turn, so that every pair is met again and again.
    """
    hard = number >= FIRST_OF_METRICS
    tiers = TWENTY if hard else TEN
    turn, place = divmod(number - (FIRST_OF_METRICS if hard else 0), len(tiers))
    tier = tiers[place]
    earlier = tiers.count(tier) * turn + tiers[:place].count(tier)
    turns = pairs(tier, device, hard)
    return tier, *turns[earlier % len(turns)]


@cache
def pairs(tier: Tier, device: bool, hard: bool = False) -> list[tuple[str, Answerer]]:
    """The kinds that each engine meets in a tier, in an order that is neither's."""
    every = list(product(KINDS, DEVICE if device else PROCESSOR))
    if hard:
        every = [
            *product(OF_METRICS, METRICS),
            *product(WIDE, IN_MANY_DIMENSIONS),
            *product(["vanishing"] * 9, ARENA),
        ]
    found = [(kind, engine) for kind, engine in every if engine.meets(tier, kind)]
    order = np.random.default_rng(0).permutation(len(found))
    return [found[place] for place in order]


def _of_all_sizes(rng: Generator, d: int) -> np.ndarray:
    factor = rng.integers(-1, 2, (d, d)).astype(float)
    plain = np.eye(d) if rng.random() < 0.5 else factor @ factor.T + np.eye(d)
    sizes = 2.0 ** -rng.integers(0, 538, d) if rng.random() < 0.5 else np.full(d, 2.0**-535)
    tiny = np.where(rng.random(d) < 0.7, sizes, 1.0)
    with np.errstate(under="ignore"):
        return plain * tiny * tiny[:, None]


def draw_metric(rng: Generator, kind: str, d: int) -> np.ndarray | None:
    """Symmetric positive definite, or any square matrix; None is the identity."""
    match kind:
        case "identity":
            return None
        case "diagonal":
            reach = rng.choice([1.0, 8.0, 60.0])
            return np.diag(10.0 ** rng.uniform(-reach, reach, d))
        case "general":
            factor = rng.standard_normal((d, d))
            # Whether it is positive definite is decided exactly, which takes seconds for many long
            # numbers.
            factor = factor if d <= 16 else (4 * factor).round() / 4
            gram = factor @ factor.T
            return (gram + gram.T) / 2 + np.eye(d)
        case "signs":
            return np.diag(rng.choice([1.0, -1.0, 0.0], d))
        case "kernel":
            rank = int(rng.integers(0, d))
            return rng.integers(-3, 4, (d, rank)).astype(float) @ rng.integers(-3, 4, (rank, d))
        case "negative":
            factor = rng.integers(-3, 4, (d, d)).astype(float)
            return -(factor @ factor.T)
        case "turning":
            factor = rng.integers(-3, 4, (d, d)).astype(float)
            return factor - factor.T
        case "tiny":
            return _of_all_sizes(rng, d)
        case "huge":
            return _of_all_sizes(rng, d) * 2.0**1000
        case "last places":
            return 1 + 2.0**-52 * rng.integers(-4, 5, (d, d))
        case _:
            return rng.standard_normal((d, d)).round(int(rng.integers(0, 17)))


# How many of each tier; the large ones are clouds in the plane, where points are left out by a
# polygon of a sample. Kernels of the GPU are interpreted where there is none, which takes long: one
# in five of these.
_MANY = {Tier.SMALL: 200, Tier.MIDDLING: 25, Tier.LARGE: 5}
# Hundreds of tokens, each several times, in up to 64 dimensions: integers take seconds for each.
_SLOW = ("repeats",)
_FLAT = ("line", "one_beside", "regression", "flat", "anisotropic")


def _numbers(tier: Tier) -> list[int]:
    found = (number for number in range(20_000) if _is_quick(number, tier))
    return list(islice(found, _MANY[tier]))


def _is_quick(number: int, tier: Tier) -> bool:
    own, kind, engine = assignment(number)
    if own is not tier:
        return False
    if tier is Tier.LARGE:
        return engine.search == "plane" and kind in _FLAT
    if tier is Tier.MIDDLING and kind in _SLOW:
        return False
    return not engine.name.startswith("gpu") or number % 5 == 0


def _with_hard_metrics(tier: Tier, many: int) -> list[int]:
    """Small ones in few dimensions, and large ones of which most tokens are left out of the
    contest."""
    found = (
        number
        for number in count(FIRST_OF_METRICS)
        if (turn := assignment(number))[0] is tier
        and (turn[2].name == "arena" if tier is Tier.LARGE else max(turn[2].dimensions) <= 16)
    )
    return list(islice(found, many))


QUICK = sorted(number for tier in Tier for number in _numbers(tier))
QUICK += _with_hard_metrics(Tier.SMALL, 30)
# Integers look at all pairs of a large one: a smaller one of them.
QUICK += _with_hard_metrics(Tier.LARGE, 4)[-1:]
