"""What certainty costs: `certified` beside `float`, integers beside fractions. Run: python
benchmarks/arithmetics.py"""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from harness import compare, record

import hardmax as hm

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import oracle

HALF = hm.Dynamics("1/2")


def run(tokens, arithmetic: str, layers: int = 30):
    return lambda: hm.simulate(tokens, HALF, layers=layers, arithmetic=arithmetic)


def certified_beside_float():
    rng = np.random.default_rng(0)
    works = {
        "1,000 clouds, n 50, d 2": [rng.standard_normal((50, 2)) for _ in range(1000)],
        "1,000 clouds, n 50, d 8": [rng.standard_normal((50, 8)) for _ in range(1000)],
        "1 cloud, n 4,000, d 3": rng.standard_normal((4000, 3)),
        "1 cloud, n 4,000, d 16": rng.standard_normal((4000, 16)),
    }
    for work, tokens in works.items():
        yield from compare(
            f"{work}, 30 layers",
            "float",
            {"float": run(tokens, "float"), "certified": run(tokens, "certified")},
        )


def exact_beside_fractions():
    rng = np.random.default_rng(1)
    works = {
        "gaussian n 200, d 2": rng.standard_normal((200, 2)),
        "lattice n 200, d 2 (ties)": rng.integers(-20, 21, size=(200, 2)).astype(float),
    }

    for work, tokens in works.items():
        rows = [[Fraction(x) for x in row] for row in tokens.tolist()]
        yield from compare(
            f"exact, {work}, 30 layers",
            "fractions, 1 layer",
            {
                "fractions, 1 layer": lambda rows=rows: oracle.step(rows, Fraction(1, 2)),
                "exact with flint": run(tokens, "exact"),
                "certified": run(tokens, "certified"),
            },
            rounds=3,
        )


if __name__ == "__main__":
    record("arithmetics", [*certified_beside_float(), *exact_beside_fractions()])
