"""A sweep beside the plain loop of `limit` and beside the batch kernel alone, in processor time on
one core.

Run: python benchmarks/sweep.py. Rows go to results/sweep.csv. All three make the clouds.
"""

import time
from typing import Any

from harness import compare, record

import hardmax as hm
from hardmax._kernels.parallel import limit_threads

CELLS, TOKENS, DIMENSION = 2_000, 200, 2
HALF, NAMES = hm.Dynamics("1/2"), ("settled_at", "leaders", "clusters")


def make(seed: int) -> Any:
    return hm.clouds.gaussian(TOKENS, DIMENSION, seed)


def loop() -> list[tuple[int | None, int, int]]:
    limits = (hm.limit(make(seed), HALF) for seed in range(CELLS))
    return [(lim.settled_at, len(lim.leaders), len(lim.clusters)) for lim in limits]


def sweep() -> list[tuple[int | None, int, int]]:
    table = hm.sweep({"n": TOKENS, "d": DIMENSION, "seeds": CELLS}, HALF, NAMES)
    return list(zip(*(table[name].to_pylist() for name in NAMES), strict=True))


if __name__ == "__main__":
    with limit_threads(1):
        expected = loop()
        work = f"sweep of {CELLS:,} cells, d {DIMENSION}, n {TOKENS}"
        jobs = {
            "sweep": sweep,
            "limit in a loop": loop,
            "limit of a batch": lambda: hm.limit([*map(make, range(CELLS))], HALF),
        }
        checks = {
            "sweep": lambda rows: (CELLS, sum(a != b for a, b in zip(rows, expected, strict=True)))
        }
        timings = compare(
            work, "sweep", jobs, rounds=5, rest=0, checks=checks, clock=time.process_time
        )
    record("sweep", timings)
