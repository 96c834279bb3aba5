"""The GPU contest beside what a user could take instead. Run where there is a GPU: python benchmarks/gpu.py [FILE]."""

# pyright: reportMissingImports=false
import csv
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton

import hardmax as hm
from hardmax.engines.bounds import score_slack
from hardmax.engines.gpu import hold_gpu, walk_gpu

HEADER = ["machine", "versions", "work", "contestant", "milliseconds", "peer", "ratio", "checked", "disagreements"]
MACHINE = f"{torch.cuda.get_device_name()} {platform.machine()}"
VERSIONS = f"torch={torch.__version__} triton={triton.__version__}"
SAMPLE = 4096


def milliseconds(job: Callable[[], object]) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    job()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def compare(work: str, contestants: dict[str, Callable[[], object]], peers: list[str], rounds: int, check) -> list:
    """All contestants in turn, round after round; a row for ours beside each peer, and one for each peer."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for job in contestants.values():
        for _ in range(3):
            job()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, job in contestants.items():
            times[name].append(milliseconds(job))
    rows = []
    for name, own in times.items():
        for peer in peers:
            ratio = statistics.median(its / mine for mine, its in zip(own, times[peer], strict=True))
            checked = check if name.startswith("hardmax") else ("", "")
            row = [MACHINE, VERSIONS, work, name, f"{statistics.median(own):.4f}", peer, f"{ratio:.3f}", *checked]
            if name != peer:
                rows.append(row)
                print(",".join(map(str, row[2:])), flush=True)
    return rows


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


def matrix_rate() -> float:
    """Operations a millisecond of a large fp16 product: what the machine can do."""
    square = torch.randn((8192, 8192), dtype=torch.float16, device="cuda")
    return 2 * 8192**3 / statistics.median(milliseconds(lambda: square @ square) for _ in range(20))


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
    peers = ["torch float32 in blocks", "SDPA bf16"]
    work = f"one layer n {n} d {d}"
    rows = compare(work, contestants, peers, rounds, check)
    ours = float(rows[-1][4])
    least = 2 * n * n * d / matrix_rate()
    name = "fp16 matrix product of as many operations"
    rows.append([MACHINE, VERSIONS, work, name, f"{least:.4f}", "hardmax", f"{ours / least:.3f}", "", ""])
    print(",".join(map(str, rows[-1][2:])), flush=True)
    return rows


def limit(n: int, d: int, rounds: int = 3) -> list[list]:
    points = torch.randn((n, d), dtype=torch.float64, device="cuda")
    slack = proof_slack(points)
    check = disagreements(hold_gpu(points, points, slack), points, slack)
    walk = walk_gpu(points, hm.Dynamics("1/2"))
    heads = points.bfloat16()[None, None]
    contestants = {
        "SDPA bf16, one layer": lambda: torch.nn.functional.scaled_dot_product_attention(heads, heads, heads),
        "hardmax, the limit": lambda: walk_gpu(points, hm.Dynamics("1/2")),
    }
    work = f"limit n {n} d {d} (settled at {walk.settled})"
    return compare(work, contestants, ["SDPA bf16, one layer"], rounds, check)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "results" / "gpu.csv"
    table = [row for d in (16, 64, 128) for row in one_layer(65_536, d)]
    table += limit(65_536, 16) + limit(1_000_000, 64)
    with results.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *table])
