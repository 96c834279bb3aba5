"""Layers other than the paper's beside the same in integers alone, in processor time.

Run: python benchmarks/layers.py [NAME …], with names from WORK and TEXTS. Rows go to
results/layers.csv."""

import sys
import time
from collections.abc import Callable

import numpy as np
from harness import Timing, compare, record

import hardmax as hm

EXACT = "hardmax, integers alone"
HEADS = [hm.Head(), hm.Head([[2, 1], [1, 1]])]
TEN = 10

# A layer, how many tokens, and how many layers of it (None: the limit).
WORK = {
    "causal mask, n 300": (hm.Dynamics("1/2", mask="causal"), 300, None),
    "causal mask, n 1,000": (hm.Dynamics("1/2", mask="causal"), 1000, None),
    "causal mask, n 20,000": (hm.Dynamics("1/2", mask="causal"), 20_000, None),
    "two heads, n 300": (hm.Dynamics("1/2", heads=HEADS), 300, TEN),
    "two heads, n 5,000": (hm.Dynamics("1/2", heads=HEADS), 5000, TEN),
    "top-k 3, n 300": (hm.Dynamics("1/2", attention="topk:3"), 300, TEN),
    "V a projection, n 300": (hm.Dynamics("1/2", value=[[1, 0], [0, 0]]), 300, None),
}
MOST_EXACT = 300  # tokens: integers alone take minutes for more

PAPERS = "hardmax, the paper's layer"
# Texts as clouds in so many dimensions, beside the same texts without a mask and a value.
TEXTS = {f"10,000 texts of 100 tokens, mask and value, d {d}": d for d in (2, 16)}


def measure(name: str, rounds: int = 3) -> list[Timing]:
    dynamics, n, layers = WORK[name]
    points = np.random.default_rng(0).standard_normal((n, 2))

    def run(arithmetic: str) -> object:
        if layers is None:
            return hm.limit(points, dynamics, arithmetic=arithmetic)
        return hm.simulate(points, dynamics, layers=layers, arithmetic=arithmetic)

    contestants = {"hardmax": lambda: run("certified")}
    if n <= MOST_EXACT:
        contestants[EXACT] = lambda: run("exact")
    work = f"{name}, d 2: {'the limit' if layers is None else f'{layers} layers'}"
    peer = EXACT if n <= MOST_EXACT else "hardmax"
    return compare(work, peer, contestants, rounds=rounds, clock=time.process_time)


def measure_texts(name: str, rounds: int = 5) -> list[Timing]:
    """One layer of many texts in one call."""
    d = TEXTS[name]
    clouds = np.random.default_rng(0).standard_normal((10_000, 100, d))
    value = np.diag([1.0] * (d - 1) + [0.0])
    layers = {
        PAPERS: hm.Dynamics("1/2"),
        "hardmax": hm.Dynamics("1/2", mask="causal", value=value),
    }

    def run(dynamics: hm.Dynamics) -> Callable[[], object]:
        return lambda: hm.simulate(clouds, dynamics, layers=1).at(1)

    contestants = {who: run(dynamics) for who, dynamics in layers.items()}
    return compare(f"{name}: 1 layer", PAPERS, contestants, rounds, clock=time.process_time)


if __name__ == "__main__":
    for name in sys.argv[1:] or [*WORK, *TEXTS]:
        record("layers", measure_texts(name) if name in TEXTS else measure(name))
