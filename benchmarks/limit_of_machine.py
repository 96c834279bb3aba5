"""How far the searches are from what the machine can do. Run: python benchmarks/limit_of_machine.py
[NAME of WORKS …]

Rates and searches are measured in one run, each the best of several rounds; rows go to
results/limit_of_machine.csv."""

# pyright: reportCallIssue=false
import sys
import time
from dataclasses import dataclass

import numpy as np
from cpu_counts import timed_parts
from cpu_rates import byte_products, copied, float_products, triad
from harness import add_rows

import hardmax as hm
from hardmax._float import active_set as arena
from hardmax._float import plane as plane_search
from hardmax._float.bounds import SlackFactors
from hardmax._float.rounded import STEP
from hardmax._runs import walk

HALF = hm.Dynamics("1/2")
COLUMNS = ("of", "what", "value", "unit", "share")


@dataclass(frozen=True)
class Row:
    """One number, and what share it is of the limit or of the whole."""

    of: str
    what: str
    value: float
    unit: str
    share: float | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        return (
            self.of,
            self.what,
            f"{self.value:.6g}",
            self.unit,
            "" if self.share is None else f"{self.share:.4f}",
        )

    def show(self) -> None:
        share = "" if self.share is None else f"{self.share:8.1%}"
        print(f"{self.of:32} {self.what:56} {self.value:12,.3f} {self.unit:12} {share}", flush=True)


def rates() -> list[Row]:
    """What the machine can do."""
    rows = []
    for threads in (1, 2):
        name = f"{threads} thread{'s' * (threads > 1)}"
        for d in (16, 64):
            what = f"products of bytes in cache, d {d}, {name}"
            rows.append(Row("machine", what, byte_products(d, threads) / 1e9, "G MAC/s"))
        rows.append(
            Row(
                "machine",
                f"float32 matrix product, {name}",
                float_products(threads) / 1e9,
                "G MAC/s",
            )
        )
        rows.append(Row("machine", f"memory, a = b + 3 c, {name}", triad(threads) / 1e9, "GB/s"))
    return [*rows, Row("machine", "memory, numpy copy, 1 thread", copied() / 1e9, "GB/s")]


def peaks(d: int) -> tuple[float, float]:
    """Products a second on two threads: of bytes, of floats. Asked before and after: the higher is
    the limit."""
    return byte_products(STEP * -(-d // STEP), 2), float_products(2)


def rounded(n: int, d: int, rounds: int = 3) -> list[Row]:
    """One layer by `rounded`, beside as many products as all points with all would be."""
    name = f"rounded, n {n:,}, d {d}"
    points = np.random.default_rng(2).standard_normal((n, d))
    whole, before = np.inf, peaks(d)
    for _ in range(rounds):
        start = time.perf_counter()
        one_layer(points)
        whole = min(whole, time.perf_counter() - start)
    peak, floats = np.maximum(before, peaks(d))
    return [
        Row(name, "one layer", whole, "s"),
        Row(name, "products of all with all", n * n * d / 1e9, "G MAC"),
        Row(name, "time of as many products of bytes in cache", n * n * d / peak, "s"),
        Row(name, "time of as many float32 products", n * n * d / floats, "s"),
    ]


PARTS = {
    "merging equal tokens": [(walk, "merge_points")],
    "lengths and slack": [
        (arena, "norms_above"),
        (SlackFactors, "slack"),
        (plane_search, "norms_above"),
    ],
    "two polygons": [(plane_search, "_two_polygons")],
    "winners by angle": [(plane_search, "_scenes"), (plane_search, "_find_winners")],
}


def plane(n: int, rounds: int = 15) -> list[Row]:
    """One layer by `plane`: where the time goes."""
    name = f"plane, n {n:,}"
    points = np.random.default_rng(4).standard_normal((n, 2))
    one_layer(points)
    profiles = []
    for _ in range(rounds):
        with timed_parts(PARTS) as spent:  # pyright: ignore[reportArgumentType]
            start = time.perf_counter()
            one_layer(points)
            whole = time.perf_counter() - start
        profiles.append({**spent, "the rest": whole - sum(spent.values()), "one layer": whole})
    best = min(profiles, key=lambda profile: profile["one layer"])
    rows = [
        Row(name, part, seconds * 1e3, "ms", seconds / best["one layer"])
        for part, seconds in best.items()
    ]
    # Tokens come in; the merged ones, what each attends to and where it goes come out.
    least = n * (16 + 16 + 8 + 16) / triad(2)
    what = "time to move in and out what must be, and its share"
    return [*rows, Row(name, what, least * 1e3, "ms", least / best["one layer"])]


def one_layer(points: np.ndarray) -> hm.Run:
    return hm.simulate(points, HALF, layers=0)


WORKS = {
    "rates": rates,
    "rounded16": lambda: rounded(100_000, 16),
    "rounded64": lambda: rounded(100_000, 64),
    "plane": lambda: plane(1_000_000),
}

if __name__ == "__main__":
    for work in sys.argv[1:] or WORKS:
        rows = WORKS[work]()
        for row in rows:
            row.show()
        add_rows("limit_of_machine", COLUMNS, [row.cells for row in rows])
