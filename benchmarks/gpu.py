"""The GPU engine beside what a user could take instead. Run where there is a GPU: python benchmarks/gpu.py [FILE]."""

# pyright: reportMissingImports=false
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gpu_harness import HEADER, compare, matrix_rate, row, time_of
from gpu_reviews import repeating, reviews

import hardmax as hm
from hardmax.engines.bounds import score_slack
from hardmax.engines.cpu import Cpu
from hardmax.engines.floating import FloatEngine, Proof
from hardmax.engines.gpu import walk_gpu
from hardmax.engines.gpu_contest import hold_gpu
from hardmax.engines.gpu_engine import GpuEngine
from hardmax.tokens.batches import Cloud
from hardmax.tokens.points import merge

HALF = hm.Dynamics("1/2")
SAMPLE = 4096


def proof_slack(points) -> Any:
    norms = torch.linalg.vector_norm(points, dim=1)
    return score_slack(norms, float(norms.max()), points.shape[1], 1.0, 0.0, 0.0)  # pyright: ignore[reportArgumentType]


def disagreements(contest, points, slack) -> tuple[int, int]:
    """Of a sample of rows, those in which winner or contenders are not those of float64 scores of everybody."""
    rows = torch.randperm(len(points), device=points.device)[:SAMPLE]
    contested = torch.zeros(len(points), dtype=torch.bool, device=points.device)
    contested[contest.contested] = True
    wrong = 0
    for block in rows.split(512):
        scores = points[block] @ points.T
        best = scores.amax(dim=1, keepdim=True)
        within = scores >= best - slack[block, None]
        alone = within.sum(dim=1) == 1
        same = within.gather(1, contest.winners[block, None])[:, 0] & (alone == ~contested[block])
        wrong += int((~same).sum())
    return len(rows), wrong


def beside_the_machine(work: str, rows: list[list], n: int, d: int) -> list[list]:
    """The rows, and how far ours is from a matrix product of as many operations as one contest has."""
    least = 2 * n * n * d / matrix_rate()
    name = "fp16 matrix product of as many operations as one layer has"
    return [*rows, row(work, name, least, "hardmax", time_of(rows, "hardmax") / least)]


def one_layer(n: int, d: int, rounds: int = 20) -> list[list]:
    points = torch.randn((n, d), dtype=torch.float64, device="cuda")
    single, heads = points.float(), points.bfloat16()[None, None]
    slack = proof_slack(points)
    check = disagreements(hold_gpu(points, points, slack), points, slack)
    attention = torch.nn.functional.scaled_dot_product_attention
    contestants = {
        "torch float32 in blocks": lambda: [(block @ single.T).max(dim=1) for block in single.split(4096)],
        "SDPA bf16": lambda: attention(heads, heads, heads),
        "hardmax": lambda: hold_gpu(points, points, slack),
    }
    work = f"one layer n {n} d {d}"
    rows = compare(work, contestants, ["torch float32 in blocks", "SDPA bf16"], rounds, check)
    return beside_the_machine(work, rows, n, d)


def limit(n: int, d: int, rounds: int = 3) -> list[list]:
    points = torch.randn((n, d), dtype=torch.float64, device="cuda")
    slack = proof_slack(points)
    check = disagreements(hold_gpu(points, points, slack), points, slack)
    walk = walk_gpu(points, HALF)
    heads = points.bfloat16()[None, None]
    contestants = {
        "SDPA bf16, one layer": lambda: torch.nn.functional.scaled_dot_product_attention(heads, heads, heads),
        "hardmax, the limit": lambda: walk_gpu(points, HALF),
    }
    work = f"limit n {n} d {d} (settled at {walk.settled})"
    rows = compare(work, contestants, ["SDPA bf16, one layer"], rounds, check)
    return beside_the_machine(work, rows, n, d)


def engines(n: int, d: int, rounds: int = 3) -> list[list]:
    """The whole walk, from an array to where the tokens settle in an array, on the device and on the processor."""
    points = merge(Cloud(np.random.default_rng(0).standard_normal((n, d))))

    def last(engine):
        *_, stretch = engine.walk(points, HALF)
        return stretch.positions, stretch.choices

    processor = FloatEngine("certified", Proof(), Cpu(search="all"))
    names = {"processor, all scores in float64": processor, "hardmax on the GPU": GpuEngine()}
    (home, chosen), (away, also) = map(last, names.values())
    wrong = (home != away).any(axis=1) | (chosen.indices != also.indices)
    contestants = {name: lambda engine=engine: last(engine) for name, engine in names.items()}
    work, check = f"walk n {n} d {d}, array to array", (n, int(wrong.sum()))
    return compare(work, contestants, ["processor, all scores in float64"], rounds, check)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "results" / "gpu.csv"
    table = [line for d in (16, 64, 128) for line in one_layer(65_536, d)]
    table += limit(65_536, 16) + limit(1_000_000, 64)
    table += reviews(65_536, 132, 2) + reviews(65_536, 132, 16) + reviews(16_384, 218, 2, repeating)
    table += engines(65_536, 16)
    with results.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *table])
