"""The public calls on tensors of a GPU, beside what a user could take instead.

Run where there is a GPU: python benchmarks/gpu.py [FOLDER]; rows are added to gpu.csv in results,
or in the folder."""

# pyright: reportMissingImports=false
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gpu_harness import COLUMNS, MACHINE, compare, matrix_rate, row, time_of, versions
from harness import add_rows

import hardmax as hm
from hardmax._float.bounds import SlackFactors, float_metric

HALF, CAUSAL = hm.Dynamics("1/2"), hm.Dynamics("1/2", mask="causal")
SAMPLE = 4096


def disagreements(points: torch.Tensor) -> tuple[int, int]:
    """Of a sample of tokens, those that attend to others than float64 scores of everybody say, or
    step elsewhere."""
    norms = torch.linalg.vector_norm(points, dim=1)
    bounds: Any = norms  # the bounds are plain arithmetic: they take tensors as they take arrays
    slack: Any = SlackFactors.of(points.shape[1], float_metric(HALF)).slack(
        bounds, 0.0, float(norms.max()), 0.0
    )
    sets = hm.simulate(points, HALF, layers=0).attended(0)
    rows = np.random.default_rng(0).permutation(len(points))[:SAMPLE]
    alone = np.array([len(sets[i]) == 1 for i in rows])
    chosen = torch.from_numpy(np.array([sets[i][0] for i in rows])).to(points.device)
    moved = hm.step(points, HALF)
    wrong = 0
    for part in np.array_split(np.arange(len(rows)), 8):
        block, its = torch.from_numpy(rows[part]).to(points.device), chosen[part]
        scores = points[block] @ points.T
        within = scores >= scores.amax(dim=1, keepdim=True) - slack[block, None]
        right = within.gather(1, its[:, None])[:, 0] & (within.sum(dim=1) == 1)
        right &= (moved[block] - (2 * points[block] + points[its]) / 3).abs().amax(
            dim=1
        ) <= 1e-15 * norms.max()
        wrong += int((~right).sum()) + int((~alone[part]).sum())
    return len(rows), wrong


def wrong_steps(points: torch.Tensor) -> tuple[int, int]:
    """Of a sample of tokens, those that a causal step takes elsewhere than float64 scores of
    themselves and those before them say."""
    numbers = torch.arange(len(points), device=points.device)
    rows = torch.randperm(len(points), device=points.device)[:SAMPLE]
    moved, wrong = hm.step(points, CAUSAL)[rows], 0
    for block, after in zip(rows.split(SAMPLE // 8), moved.split(SAMPLE // 8), strict=True):
        scores = (points[block] @ points.T).masked_fill_(numbers > block[:, None], -torch.inf)
        truth = (2 * points[block] + points[scores.argmax(dim=1)]) / 3
        wrong += int(((after - truth).abs().amax(dim=1) > 1e-14 * points.abs().max()).sum())
    return len(rows), wrong


def beside_the_machine(work: str, rows: list[list], n: int, d: int) -> list[list]:
    """The rows, and how far ours is from a matrix product of as many operations as one contest
    has."""
    least = 2 * n * n * d / matrix_rate()
    name = "fp16 matrix product of as many operations as one layer has"
    return [*rows, row(work, name, least, "hardmax", time_of(rows, "hardmax") / least)]


def one_layer(n: int, d: int, rounds: int = 20) -> list[list]:
    points = torch.randn((n, d), dtype=torch.float64, device="cuda")
    single, heads = points.float(), points.bfloat16()[None, None]
    attention = torch.nn.functional.scaled_dot_product_attention
    step = {"hardmax": lambda: hm.step(points, HALF)}
    blocks = {
        "torch float32 in blocks": lambda: [
            (block @ single.T).max(dim=1) for block in single.split(4096)
        ],
        "torch float64 in blocks": lambda: [
            (block @ points.T).max(dim=1) for block in points.split(4096)
        ],
    }
    sdpa = {"SDPA bf16": lambda: attention(heads, heads, heads)}
    work, check = f"one layer n {n} d {d}", disagreements(points)
    # Two races: after half a minute of float64 the clocks of a GPU are not what they were.
    rows = [
        *compare(work, sdpa | step, [*sdpa], rounds, check),
        *compare(work, blocks | step, [*blocks], rounds, check),
    ]
    return beside_the_machine(work, rows, n, d)


def causal_layer(n: int, d: int, rounds: int = 20) -> list[list]:
    points = torch.randn((n, d), dtype=torch.float64, device="cuda")
    heads = points.bfloat16()[None, None]
    contestants = {
        "SDPA bf16": lambda: torch.nn.functional.scaled_dot_product_attention(
            heads, heads, heads, is_causal=True
        ),
        "hardmax": lambda: hm.step(points, CAUSAL),
    }
    work = f"one causal layer n {n} d {d}"
    return compare(work, contestants, ["SDPA bf16"], rounds, wrong_steps(points))


def limit(n: int, d: int, rounds: int = 3) -> list[list]:
    points = torch.randn((n, d), dtype=torch.float64, device="cuda")
    heads = points.bfloat16()[None, None]
    contestants = {
        "SDPA bf16, one layer": lambda: torch.nn.functional.scaled_dot_product_attention(
            heads, heads, heads
        ),
        "hardmax, the limit": lambda: hm.limit(points, HALF).limit_points,
    }
    work = f"limit n {n} d {d} (settled at {hm.limit(points, HALF).settled_at})"
    rows = compare(work, contestants, ["SDPA bf16, one layer"], rounds, disagreements(points))
    return beside_the_machine(work, rows, n, d)


def engines(n: int, d: int, rounds: int = 3) -> list[list]:
    """The whole walk, from an array to where the tokens settle in an array, on the device and on
    the processor."""
    points = np.random.default_rng(0).standard_normal((n, d))

    def settled(engine: Any) -> hm.Run:
        return hm.simulate(points, HALF, engine=engine)

    peer = "processor, all scores in float64"
    names = {peer: hm.Cpu(), "hardmax on the GPU": hm.Gpu()}
    home, away = map(settled, names.values())
    wrong = (home.at(home.layers) != away.at(away.layers)).any(axis=1) | (
        home.at("limit") != away.at("limit")
    ).any(axis=1)
    contestants = {
        name: lambda engine=engine: (run := settled(engine)).at(run.layers)
        for name, engine in names.items()
    }
    return compare(
        f"walk n {n} d {d}, array to array", contestants, [peer], rounds, (n, int(wrong.sum()))
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    heads = torch.randn((1, 1, 65_536, 64), dtype=torch.bfloat16, device="cuda")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    about: dict[str, Any] = {"machine": MACHINE, "versions": versions(heads)}
    layers = ((65_536, 16), (65_536, 64), (65_536, 128), (16_384, 64), (1024, 64))
    works = [*(partial(one_layer, *size) for size in layers), partial(causal_layer, 65_536, 64)]
    works += [partial(limit, 65_536, 16), partial(limit, 1_000_000, 64)]
    works += [partial(engines, 65_536, 16)]
    for work in works:  # what has been measured is kept, whatever becomes of the rest
        add_rows("gpu", COLUMNS, work(), folder=folder, **about)
