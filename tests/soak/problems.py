"""Problem number k: a hard cloud, a metric, a step, and who has to answer. The same for ever, given a seed."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.random import Generator

import hardmax as hm
from soak.clouds import KINDS, make
from soak.engines import DEVICE, PROCESSOR
from soak.sizes import Tier, Walker
from soak.truth import ExactCloud

ALPHAS = ("1/2", "1", "1/10", "1000")
SEED = 1
# Of ten problems in a row the first is large, the next three are middling.
TEN = (Tier.LARGE, *[Tier.MIDDLING] * 3, *[Tier.SMALL] * 6)
# float32 holds no such numbers.
NOT_IN_TEXTS = {"scaled", "extreme", "subnormal", "spread", "specks"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """What is asked, and of whom."""

    number: int
    tier: Tier
    kind: str
    engine: Walker
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

    @cached_property
    def dynamics(self) -> hm.Dynamics:
        return hm.Dynamics(self.alpha, self.metric, any_metric=self.metric_kind == "any")

    @cached_property
    def truth(self) -> ExactCloud:
        return ExactCloud.of(self.tokens, self.metric)


def problem(number: int, *, device: bool = False, seed: int = SEED) -> Problem:
    """The problem with this number; those of a `device` are all for the GPU, at every size."""
    tier, kind, engine = assignment(number, device)
    rng = np.random.default_rng([seed, number])
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


def assignment(number: int, device: bool = False) -> tuple[Tier, str, Walker]:
    """Which kind of cloud a problem has, in which tier, and who has to answer.

    Kinds and engines come in turn, so that every pair is met again and again.
    """
    ten, place = divmod(number, len(TEN))
    tier = TEN[place]
    earlier = TEN.count(tier) * ten + TEN[:place].count(tier)
    turns = pairs(tier, device)
    return tier, *turns[earlier % len(turns)]


@cache
def pairs(tier: Tier, device: bool) -> list[tuple[str, Walker]]:
    """The kinds that each engine meets in a tier, in an order that is neither's."""
    engines = DEVICE if device else PROCESSOR
    found = [
        (kind, engine)
        for kind, engine in product(KINDS, engines)
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
        case _:
            return rng.standard_normal((d, d)).round(int(rng.integers(0, 17)))
