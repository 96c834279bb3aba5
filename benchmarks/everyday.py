"""What people meet every day: small clouds, tables of whole numbers, near-equal tokens, a command that starts.

Run: python benchmarks/everyday.py
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from harness import Timing, compare, record, show

import hardmax as hm
from hardmax.engines import Cpu

HALF = hm.Dynamics("1/2")
PACKAGE = Path(hm.__file__).parent
TEXT = "A great film, the best of the year, and not bad at all. The script is a mess, though!"


def brute_force(tokens: np.ndarray, layers: int) -> np.ndarray:
    """Layer by layer in float64, as one would write it: no proof, ties only where floats are equal."""
    for _ in range(layers):
        scores = tokens @ tokens.T
        attended = scores == scores.max(axis=1, keepdims=True)
        tokens = (tokens + 0.5 * (attended @ tokens) / attended.sum(axis=1, keepdims=True)) / 1.5
    return tokens


def small_clouds():
    """A hundred clouds one after the other, on one thread."""
    for n, d in ((5, 2), (50, 2), (50, 3), (50, 8)):
        clouds = [np.random.default_rng(seed).standard_normal((n, d)) for seed in range(100)]
        yield from compare(
            f"100 limits, n {n}, d {d}, one thread",
            "numpy, 30 layers",
            {
                "numpy, 30 layers": lambda clouds=clouds: [brute_force(cloud, 30) for cloud in clouds],
                "hardmax, limit": lambda clouds=clouds: [hm.limit(c, HALF, engine=Cpu(threads=1)) for c in clouds],
            },
        )


def tables_of_people():
    """Clouds full of ties or of near-ties, beside clouds of the same size without them."""
    rng = np.random.default_rng(0)
    whole = rng.integers(-1000, 1001, (300_000, 2)).astype(float)
    decimals = np.round(rng.standard_normal((10_000, 3)), 2)
    centres = rng.standard_normal((8, 16))
    tight = centres[rng.integers(8, size=2048)] + 1e-15 * rng.standard_normal((2048, 16))
    works = {
        "whole numbers, n 300,000, d 2": (whole, whole + 1e-3 * rng.standard_normal(whole.shape)),
        "two decimals, n 10,000, d 3": (decimals, decimals + 1e-3 * rng.standard_normal(decimals.shape)),
        "clusters of 1e-15, n 2,048, d 16": (tight, rng.standard_normal(tight.shape)),
    }
    for work, (ties, none) in works.items():
        jobs = {
            "without ties": lambda none=none: hm.limit(none, HALF),
            "hardmax": lambda ties=ties: hm.limit(ties, HALF),
        }
        yield from compare(f"{work}: the limit", "without ties", jobs)


def starting():
    """Processor time of a command: in a package that was never used, and later; beside Python with numpy."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "site", "hardmax")
        shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        environment = os.environ | {"PYTHONPATH": str(copied.parent), "NUMBA_CACHE_DIR": str(Path(folder, "compiled"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        cloud = Path(folder, "cloud.csv")
        np.savetxt(cloud, np.random.default_rng(0).standard_normal((50, 2)), delimiter=",")
        run = "from hardmax.cli.main import run; run()"
        arguments = {"explain": ["explain", TEXT], "limit": ["limit", str(cloud), "--alpha", "1/2"]}
        numpy = statistics.median(_processor_seconds(["-c", "import numpy"], environment) for _ in range(5))
        for name, given in arguments.items():
            command = ["-c", run, *given]
            for found in copied.rglob("__pycache__"):
                shutil.rmtree(found)
            first = _processor_seconds(command, environment)
            later = statistics.median(_processor_seconds(command, environment) for _ in range(5))
            for when, seconds in (("first after installation", first), ("later", later)):
                work = f"hardmax {name}, {when}: processor time"
                timing = Timing(work, "hardmax", seconds, "python with numpy", seconds / numpy)
                show(timing)
                yield timing


def _processor_seconds(arguments: list[str], environment: dict[str, str]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    record("everyday", [*starting(), *small_clouds(), *tables_of_people()])
