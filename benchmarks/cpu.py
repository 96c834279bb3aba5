"""The CPU engine beside what a user could take instead.

Run: pip install -c constraints.txt . pykeops --group bench && python benchmarks/cpu.py [NAME …],
with names from WORKS."""
# The peers are not part of the development environment.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

import sys

import numpy as np
import torch
from cpu_checks import check_clouds, check_every_layer, check_winners, winners_of
from cpu_peers import (
    blocked,
    flat_pass,
    hull_and_angles,
    hull_and_product,
    keops,
    loop,
    plain_kernel,
    vectorised,
    vectorised_in_parts,
)
from harness import Timing, compare, record

import hardmax as hm

HALF = hm.Dynamics("1/2")


def one_layer(points: np.ndarray) -> hm.Run:
    return hm.simulate(points, HALF, layers=0)


def limit_with_points(points: np.ndarray) -> hm.Limit:
    """The limit, and where every token ends: what is put together when asked for is asked for."""
    found = hm.limit(points, HALF)
    assert found.limit_points.shape == points.shape
    return found


def reviews(d: int, clouds: int = 4096) -> list[Timing]:
    stack = np.random.default_rng(0).standard_normal((clouds, 132, d))
    ragged = hm.Clouds(stack.reshape(-1, d), np.arange(clouds + 1) * 132)
    double, single = torch.from_numpy(stack), torch.from_numpy(stack.astype(np.float32))
    check = check_clouds(stack, 8)

    def ours():
        return hm.simulate(ragged, HALF, layers=8)

    def check_ours(runs):
        return check(runs.at(8).tokens)

    return compare(
        f"{clouds:,} reviews of 132 tokens, d {d}, 8 layers",
        "torch, vectorised",
        {
            "torch, vectorised": lambda: vectorised(double, 8),
            "torch, 64 reviews at a time": lambda: vectorised_in_parts(double, 8),
            "torch float32, 64 reviews at a time": lambda: vectorised_in_parts(single, 8),
            "numba, plain": lambda: plain_kernel(stack, 8),
            "hardmax": ours,
        },
        rounds=5,
        checks={
            "torch, vectorised": check,
            "torch, 64 reviews at a time": check,
            "torch float32, 64 reviews at a time": check,
            "numba, plain": check,
            "hardmax": check_ours,
        },
    )


def beside_loop(clouds: int = 16) -> list[Timing]:
    stack = np.random.default_rng(0).standard_normal((clouds, 132, 2))
    check = check_clouds(stack, 8)
    return compare(
        f"{clouds} of the reviews, d 2, 8 layers",
        "loop",
        {
            "loop": lambda: [loop(cloud, 8) for cloud in stack],
            "hardmax": lambda: hm.simulate(stack, HALF, layers=8),
        },
        checks={"loop": check, "hardmax": lambda runs: check(runs.at(8))},
        once=["loop"],
    )


def million(n: int = 1_000_000) -> list[Timing]:
    points = np.random.default_rng(4).standard_normal((n, 2))
    check = check_winners(points)
    every = check_every_layer(points, HALF)
    peer = "numpy, hull and angles"
    return compare(
        f"n {n:,}, d 2: one layer",
        peer,
        {
            peer: lambda: hull_and_angles(points),
            "hardmax": lambda: one_layer(points),
            "hardmax, the limit": lambda: limit_with_points(points),
        },
        rounds=7,
        checks={
            peer: lambda found: check(found[0]),
            "hardmax": lambda run: check(winners_of(run)),
            "hardmax, the limit": every,
        },
    )


def limits(n: int, d: int, rounds: int = 5) -> list[Timing]:
    points = np.random.default_rng(1).standard_normal((n, d))
    peers = {"faiss, one layer": flat_pass(points.astype(np.float32))}
    if d == 3:  # the time of the hull grows fast with d
        peers["scipy, hull and product, one layer"] = lambda: hull_and_product(points)
    return compare(
        f"n {n:,}, d {d}: the limit beside one flat pass",
        "faiss, one layer",
        {**peers, "hardmax, the limit": lambda: limit_with_points(points)},
        rounds=rounds,
        checks={
            **dict.fromkeys(peers, check_winners(points)),
            "hardmax, the limit": check_every_layer(points, HALF),
        },
        once=["faiss, one layer"],
    )


def layers(n: int, d: int, rounds: int = 5, with_keops: bool = False) -> list[Timing]:
    points = np.random.default_rng(2).standard_normal((n, d))
    single = points.astype(np.float32)
    check = check_winners(points)
    peers = {"faiss": flat_pass(single), "torch in blocks": blocked(single)}
    if with_keops and (job := keops(single)):
        peers["keops"] = job
    return compare(
        f"n {n:,}, d {d}: one layer",
        "faiss",
        {**peers, "hardmax": lambda: one_layer(points)},
        rounds=rounds,
        checks={**dict.fromkeys(peers, check), "hardmax": lambda run: check(winners_of(run))},
        once=[*peers] if n > 30_000 else ["keops"],
    )


def sphere(n: int, d: int) -> list[Timing]:
    """One layer where no point lies further out than anybody else."""
    points = np.random.default_rng(6).standard_normal((n, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    check = check_winners(points)
    peers = {
        "faiss": flat_pass(points.astype(np.float32)),
        "torch in blocks": blocked(points.astype(np.float32)),
    }
    return compare(
        f"n {n:,}, d {d}, on a sphere: one layer",
        "faiss",
        {**peers, "hardmax": lambda: one_layer(points)},
        rounds=3,
        checks={**dict.fromkeys(peers, check), "hardmax": lambda run: check(winners_of(run))},
        once=[*peers],
    )


def depth(n: int, d: int, rounds: int = 5) -> list[Timing]:
    points = np.random.default_rng(3).standard_normal((n, d))

    def deep():
        run = hm.simulate(points, HALF, layers=1000)
        run.at(1000)
        return run

    check = check_every_layer(points, HALF)
    return compare(
        f"n {n:,}, d {d}: a thousand layers beside the limit",
        "the limit",
        {"the limit": lambda: limit_with_points(points), "1,000 layers": deep},
        rounds=rounds,
        checks={"1,000 layers": check},
    )


WORKS = {
    "reviews": lambda: reviews(2) + reviews(16),
    "loop": beside_loop,
    "million": million,
    "limits3": lambda: limits(100_000, 3),
    "limits": lambda: limits(100_000, 8) + limits(10_000, 16),
    "layers16": lambda: layers(100_000, 16),
    "layers64": lambda: layers(100_000, 64, rounds=3),
    "keops": lambda: layers(30_000, 16, with_keops=True) + layers(30_000, 64),
    "sphere": lambda: sphere(100_000, 3),
    "depth": lambda: depth(1_000_000, 2) + depth(100_000, 3) + depth(100_000, 8),
    "depth16": lambda: depth(100_000, 16, rounds=3),
    "tiny": lambda: (
        reviews(2, 64)
        + beside_loop(2)
        + million(5000)
        + limits(3000, 3)
        + sphere(5000, 3)
        + limits(3000, 8)
        + layers(3000, 16, with_keops=True)
        + depth(3000, 16)
    ),
}


if __name__ == "__main__":
    torch.set_num_threads(2)
    for name in sys.argv[1:] or [name for name in WORKS if name != "tiny"]:
        timings = WORKS[name]()
        if name != "tiny":
            record("cpu", timings)
