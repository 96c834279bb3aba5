"""Limits of clouds that are hard to search or to tell apart, beside one plain layer in torch, which
proves nothing; and of clouds with a token far out, beside the same clouds without it.

Run: python benchmarks/families.py [NAME …], with names from CLOUDS and OUTLIERS. Rows go to
results/families.csv."""
# The peers are not part of the development environment.
# pyright: reportMissingImports=false

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from harness import Job, Timing, compare, record

import hardmax as hm

PEER, PLAIN = "torch in blocks, one layer", "hardmax, the limit without it"


def half_sphere(n: int) -> np.ndarray:
    """Half a sphere beside the origin: all but a few tokens move for a dozen layers."""
    points = np.random.default_rng(0).standard_normal((n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points[:, 2] = np.abs(points[:, 2])
    return points + np.array([0.0, 0.0, 3.0])


def neighbours(n: int, places: int, ulps: int, d: int) -> np.ndarray:
    """Tokens a few units in the last place from one of a few places."""
    rng = np.random.default_rng(0)
    near = rng.standard_normal((places, d))[rng.integers(places, size=n)]
    return (near.view(np.int64) + rng.integers(-ulps, ulps + 1, (n, d))).view(np.float64)


def whole_numbers(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-50, 51, (n, d)).astype(float)


def grid(side: int, d: int) -> np.ndarray:
    return np.stack(
        np.meshgrid(*[np.arange(side) - (side - 1) / 2] * d, indexing="ij"), -1
    ).reshape(-1, d)


def cube(n: int, d: int) -> np.ndarray:
    """Tokens on the faces of a cube."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (n, d))
    points[np.arange(n), rng.integers(d, size=n)] = rng.choice([-1.0, 1.0], n)
    return points


def curve(n: int, d: int) -> np.ndarray:
    """Powers of a small parameter: along most axes tokens hardly differ."""
    return np.random.default_rng(0).uniform(-1e-5, 1e-5, (n, 1)) ** np.arange(1, d + 1)


# A metric that is largest along the axes on which a curve is smallest.
STEEP = np.diag(10.0 ** np.array([20, -26, -16, -51, -12, 2, 50, -49]))
CLOUDS: dict[str, tuple[Callable[[], np.ndarray], np.ndarray | None]] = {
    "half a sphere, d 3, n 20,000": (lambda: half_sphere(20_000), None),
    "half a sphere, d 3, n 100,000": (lambda: half_sphere(100_000), None),
    "neighbours, 6 places, d 4, n 10,000": (lambda: neighbours(10_000, 6, 8, 4), None),
    "neighbours, 8 places, d 3, n 8,191": (
        lambda: neighbours(8191, 8, 3, 3),
        np.diag([1.0, 0.3, 0.7]),
    ),
    "whole numbers, d 3, n 100,000": (lambda: whole_numbers(100_000, 3), None),
    "whole numbers, d 5, n 100,000": (lambda: whole_numbers(100_000, 5), None),
    "a grid, d 3, n 64,000": (lambda: grid(40, 3), None),
    "a grid, d 4, n 104,976": (lambda: grid(18, 4), None),
    "faces of a cube, d 3, n 100,000": (lambda: cube(100_000, 3), None),
    "a curve, d 8, n 9,376, steep metric": (lambda: curve(9376, 8), STEEP),
}


def one_layer(points: np.ndarray) -> Job:
    """Who is furthest, in torch: products in blocks, and their maxima."""
    tensor = torch.from_numpy(points)
    return lambda: [(block @ tensor.T).max(dim=1).indices for block in tensor.split(1024)]


def measure(name: str, rounds: int = 3) -> list[Timing]:
    """The limit of a cloud beside one layer of the peer, in processor time."""
    make, metric = CLOUDS[name]
    points, dynamics = make(), hm.Dynamics("1/2", metric)
    contestants = {
        PEER: one_layer(points),
        "hardmax, the limit": lambda: hm.limit(points, dynamics),
    }
    work, clock = f"{name}: the limit, processor time", time.process_time
    return compare(work, PEER, contestants, rounds=rounds, once=[PEER], clock=clock)


OUTLIERS = {
    f"one coordinate of {size}, d {d}, n 20,000": (float(size), d)
    for d in (1, 2, 3, 5, 16)
    for size in ("1e20", "1e100", "1e300")
}


def measure_outlier(name: str, rounds: int = 7) -> list[Timing]:
    """The limit of a cloud with a token far out beside that of the cloud without it, in processor
    time."""
    size, d = OUTLIERS[name]
    plain, dynamics = np.random.default_rng(1).standard_normal((20_000, d)), hm.Dynamics("1/2")
    points = plain.copy()
    points[7, 0] = size
    contestants = {
        PLAIN: lambda: hm.limit(plain, dynamics),
        "hardmax, the limit": lambda: hm.limit(points, dynamics),
    }
    return compare(f"{name}: the limit", PLAIN, contestants, rounds=rounds, clock=time.process_time)


if __name__ == "__main__":
    for name in sys.argv[1:] or [*CLOUDS, *OUTLIERS]:
        record("families", measure(name) if name in CLOUDS else measure_outlier(name))
