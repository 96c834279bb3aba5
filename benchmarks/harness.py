"""Timings side by side: every contestant in turn, round after round, so that noise falls on all of them alike.

Rows are appended to `results/*.csv` with the machine, the commit and the versions they were made with.
"""

import csv
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
VERSIONED = ("numpy", "numba", "python-flint")


@dataclass(frozen=True)
class Timing:
    """The median of several rounds, and its ratio to the peer's."""

    work: str
    contestant: str
    seconds: float
    peer: str
    ratio: float


def compare(work: str, peer: str, contestants: dict[str, Callable[[], object]], rounds: int = 7) -> list[Timing]:
    """Time all contestants, `peer` among them, in the same rounds; print and return a row for each."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for job in contestants.values():
        job()
    for _ in range(rounds):
        for name, job in contestants.items():
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    # The ratio is taken within a round and then its median: the machine's mood of the moment cancels.
    timings = []
    for name, times in seconds.items():
        ratio = statistics.median(mine / its for mine, its in zip(times, seconds[peer], strict=True))
        timings.append(Timing(work, name, statistics.median(times), peer, ratio))
        print(f"{work:48} {name:28} {timings[-1].seconds * 1e3:10.2f} ms   {ratio:8.2f} x {peer}")
    return timings


def record(name: str, timings: list[Timing]) -> None:
    """Append the rows to `results/name.csv`."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(
                ["date", "commit", "machine", "cores", "versions", "work", "contestant", "seconds", "peer", "ratio"]
            )
        for timing in timings:
            writer.writerow(
                [
                    *_circumstances(),
                    timing.work,
                    timing.contestant,
                    f"{timing.seconds:.6f}",
                    timing.peer,
                    f"{timing.ratio:.3f}",
                ]
            )


def _circumstances() -> list[object]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    versions = " ".join(f"{name}={version(name)}" for name in VERSIONED)
    return [
        date.today().isoformat(),
        commit,
        platform.machine(),
        os.cpu_count(),
        f"python={platform.python_version()} {versions}",
    ]
