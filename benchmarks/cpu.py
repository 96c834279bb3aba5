"""The CPU engine beside what a user could take instead.

Run: pip install -c constraints.txt '.[bench]' && python benchmarks/cpu.py [reviews million limits layers depth]
"""
# The peers are not part of the development environment.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

import sys

import faiss
import numpy as np
import torch
from harness import compare, record

import hardmax as hm

HALF = hm.Dynamics("1/2")


def loop(tokens, layers):
    """The layer as a triple loop over one cloud, as one would first write it."""
    for _ in range(layers):
        moved = []
        for z in tokens:
            scores = [float(z @ other) for other in tokens]
            best = max(scores)
            chosen = [tokens[j] for j, score in enumerate(scores) if score == best]
            moved.append((z + 0.5 * np.mean(chosen, axis=0)) / 1.5)
        tokens = np.array(moved)
    return tokens


def vectorised(batch, layers):
    """The layer for a stack of clouds in torch: scores, their maximum, the mean of those who reach it."""
    for _ in range(layers):
        scores = batch @ batch.transpose(1, 2)
        chosen = (scores == scores.amax(dim=2, keepdim=True)).to(batch.dtype)
        batch = (batch + 0.5 * (chosen @ batch) / chosen.sum(dim=2, keepdim=True)) / 1.5
    return batch


def reviews(d: int):
    rng = np.random.default_rng(0)
    stack = rng.standard_normal((4096, 132, d))
    ragged = hm.Ragged(stack.reshape(-1, d), np.arange(4097) * 132)
    tensor = torch.from_numpy(stack)
    work = f"4,096 reviews of 132 tokens, d {d}, 8 layers"
    timings = compare(
        work,
        "torch, vectorised",
        {
            "torch, vectorised": lambda: vectorised(tensor, 8),
            "hardmax": lambda: hm.simulate(ragged, HALF, layers=8, record=hm.LastOnly()),
        },
        rounds=5,
    )
    if d == 2:
        timings += compare(
            "16 reviews of 132 tokens, d 2, 8 layers",
            "loop",
            {
                "loop": lambda: [loop(cloud, 8) for cloud in stack[:16]],
                "hardmax, 4,096 reviews / 256": lambda: hm.simulate(ragged, HALF, layers=8, record=hm.LastOnly()),
            },
            rounds=1,
        )
    return timings


def flat_pass(points):
    """Everybody's best inner product by FAISS, brute force."""
    index = faiss.IndexFlatIP(points.shape[1])
    index.add(points)
    return lambda: index.search(points, 1)


def blocked(points):
    """The same in torch: products in blocks, and their maxima."""
    tensor = torch.from_numpy(points)
    return lambda: [(block @ tensor.T).max(dim=1) for block in tensor.split(1024)]


def limits(n: int, d: int, rounds: int):
    points = np.random.default_rng(1).standard_normal((n, d))
    single = points.astype(np.float32)
    return compare(
        f"n {n:,}, d {d}: the limit beside one flat pass",
        "faiss, one layer",
        {"faiss, one layer": flat_pass(single), "hardmax, the limit": lambda: hm.limit(points, HALF)},
        rounds=rounds,
    )


def layers(n: int, d: int, rounds: int):
    points = np.random.default_rng(2).standard_normal((n, d))
    single = points.astype(np.float32)
    return compare(
        f"n {n:,}, d {d}: one layer",
        "faiss",
        {
            "faiss": flat_pass(single),
            "torch in blocks": blocked(single),
            "hardmax": lambda: hm.simulate(points, HALF, layers=0, record=hm.LastOnly()),
        },
        rounds=rounds,
    )


def depth(n: int, d: int):
    points = np.random.default_rng(3).standard_normal((n, d))
    return compare(
        f"n {n:,}, d {d}: a thousand layers beside the limit",
        "the limit",
        {
            "the limit": lambda: hm.limit(points, HALF),
            "1,000 layers": lambda: hm.simulate(points, HALF, layers=1000, record=hm.LastOnly()).at(1000),
        },
        rounds=5,
    )


WORKS = {
    "reviews": lambda: reviews(2) + reviews(16),
    "million": lambda: layers_of_a_million(),
    "limits": lambda: limits(100_000, 3, 1) + limits(100_000, 8, 1) + limits(10_000, 16, 3),
    "layers": lambda: layers(30_000, 16, 3) + layers(30_000, 64, 3),
    "depth": lambda: depth(100_000, 2) + depth(100_000, 3),
}


def layers_of_a_million():
    points = np.random.default_rng(4).standard_normal((1_000_000, 2))
    return compare(
        "n 1,000,000, d 2",
        "one layer",
        {
            "one layer": lambda: hm.simulate(points, HALF, layers=0, record=hm.LastOnly()),
            "the limit": lambda: hm.limit(points, HALF),
        },
        rounds=3,
    )


if __name__ == "__main__":
    torch.set_num_threads(2)
    for name in sys.argv[1:] or WORKS:
        record("cpu", WORKS[name]())
