"""Problem number k: a hard cloud, a metric, a step, and who has to answer. The same for ever, given a seed."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.random import Generator

import hardmax as hm
from soak.clouds import KINDS, OF_METRICS, WIDE, make
from soak.engines import ARENA, CHANGES, DEVICE, IN_MANY_DIMENSIONS, METRICS, PROCESSOR
from soak.sizes import Solver, Tier
from soak.truth import ExactCloud

ALPHAS = ("1/2", "1", "1/10", "1000")
SEED = 1
# Of ten problems in a row the first is large, the next three are middling.
TEN = (Tier.LARGE, *[Tier.MIDDLING] * 3, *[Tier.SMALL] * 6)
# Problems from this number on have hard metrics, or very many dimensions. Of twenty in a row the first is large.
FIRST_OF_METRICS = 10**6
TWENTY = (Tier.LARGE, *[Tier.MIDDLING] * 6, *[Tier.SMALL] * 13)
HARD_METRICS = ("signs", "kernel", "negative", "turning", "tiny", "huge", "last places", "any")
# float32 holds no such numbers.
NOT_IN_TEXTS = {"scaled", "extreme", "subnormal", "spread", "specks"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What is asked, and of whom."""

    number: int
    tier: Tier
    kind: str
    engine: Solver
    alpha: Fraction
    metric: np.ndarray | None
    metric_kind: str
    tokens: np.ndarray

    def __str__(self) -> str:
        n, d = self.tokens.shape
        return (
            f"#{self.number} {self.kind}, n={n}, d={d}, alpha={self.alpha}, metric {self.metric_kind}, "
            f"{self.tier.value}, by {self.engine.label}"
        )

    @property
    def any_metric(self) -> bool:
        """Whether the theorem may not hold."""
        return self.metric_kind in HARD_METRICS

    @cached_property
    def dynamics(self) -> hm.Dynamics:
        return hm.Dynamics(self.alpha, self.metric, any_metric=self.any_metric)

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
    if engine.name == "text":
        tokens = tokens.astype(np.float32).astype(float)
    metric_kind = str(rng.choice(["identity", "identity", "identity", "diagonal", "general", "any"]))
    if metric_kind == "any" and engine.name == "text":
        metric_kind = "general"
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


def _with_hard_metric(rng: Generator, number: int, tier: Tier, kind: str, engine: Solver) -> Problem:
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


def assignment(number: int, device: bool = False) -> tuple[Tier, str, Solver]:
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
def pairs(tier: Tier, device: bool, hard: bool = False) -> list[tuple[str, Solver]]:
    """The kinds that each engine meets in a tier, in an order that is neither's."""
    every = list(product(KINDS, DEVICE if device else PROCESSOR))
    if hard:
        every = [*product(OF_METRICS, METRICS), *product(WIDE, IN_MANY_DIMENSIONS), *product(["vanishing"] * 9, ARENA)]
    found = [
        (kind, engine)
        for kind, engine in every
        if engine.meets(tier, kind) and not (engine.name == "text" and kind in NOT_IN_TEXTS)
    ]
    order = np.random.default_rng(0).permutation(len(found))
    return [found[place] for place in order]


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
            # Whether it is positive definite is decided exactly, which takes seconds for many long numbers.
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
        case "tiny" | "huge":
            factor = rng.integers(-1, 2, (d, d)).astype(float)
            plain = np.eye(d) if rng.random() < 0.5 else factor @ factor.T + np.eye(d)
            sizes = 2.0 ** -rng.integers(0, 538, d) if rng.random() < 0.5 else np.full(d, 2.0**-535)
            tiny = np.where(rng.random(d) < 0.7, sizes, 1.0)
            with np.errstate(under="ignore"):
                return plain * tiny * tiny[:, None] * (2.0**1000 if kind == "huge" else 1.0)
        case "last places":
            return 1 + 2.0**-52 * rng.integers(-4, 5, (d, d))
        case _:
            return rng.standard_normal((d, d)).round(int(rng.integers(0, 17)))
