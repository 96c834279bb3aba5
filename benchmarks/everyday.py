"""What people meet every day: small clouds, tables of whole numbers, near-equal tokens, a command
that starts.

Run: python benchmarks/everyday.py [starting | small_clouds | tables_of_people …]
"""

import os
import resource
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
NUMPY, SKLEARN = "python with numpy", "python with scikit-learn"
BAG_OF_WORDS = ("sklearn.feature_extraction.text", "sklearn.linear_model")
PACKAGE = Path(hm.__file__).parent
TEXT = "A great film, the best of the year, and not bad at all. The script is a mess, though!"


def brute_force(tokens: np.ndarray, layers: int) -> np.ndarray:
    """Layer by layer in float64, as one would write it: no proof, ties only where floats are
    equal."""
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
                "numpy, 30 layers": lambda clouds=clouds: [
                    brute_force(cloud, 30) for cloud in clouds
                ],
                "hardmax, limit": lambda clouds=clouds: [
                    hm.limit(c, HALF, engine=Cpu(threads=1)) for c in clouds
                ],
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
        "two decimals, n 10,000, d 3": (
            decimals,
            decimals + 1e-3 * rng.standard_normal(decimals.shape),
        ),
        "clusters of 1e-15, n 2,048, d 16": (tight, rng.standard_normal(tight.shape)),
    }
    for work, (ties, none) in works.items():
        jobs = {
            "without ties": lambda none=none: hm.limit(none, HALF),
            "hardmax": lambda ties=ties: hm.limit(ties, HALF),
        }
        yield from compare(f"{work}: the limit", "without ties", jobs)


def starting():
    """Processor time of a first answer: in a package that was never used, and later; beside Python
    with numpy, and with what a bag of words in scikit-learn has to import before it can answer."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "site", "hardmax")
        shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        environment = os.environ | {
            "PYTHONPATH": str(copied.parent),
            "NUMBA_CACHE_DIR": str(Path(folder, "compiled")),
        }
        for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
            environment.pop(name, None)
        cloud = Path(folder, "cloud.csv")
        np.savetxt(cloud, np.random.default_rng(0).standard_normal((50, 2)), delimiter=",")
        run = "from hardmax.cli.main import run; run()"
        predict = f"import hardmax as hm; print(hm.load_model('sentiment-en').predict([{TEXT!r}]))"
        commands = {
            "hardmax explain": ["-c", run, "explain", TEXT],
            "hardmax limit": ["-c", run, "limit", str(cloud), "--alpha", "1/2"],
            "load and predict": ["-c", predict],
        }
        first = {}
        for name, command in commands.items():
            for found in copied.rglob("__pycache__"):
                shutil.rmtree(found)
            first[name] = _processor_seconds(command, environment)
        commands |= {
            NUMPY: ["-c", "import numpy"],
            SKLEARN: ["-c", f"import {', '.join(BAG_OF_WORDS)}"],
        }
        rounds = [
            {name: _processor_seconds(each, environment) for name, each in commands.items()}
            for _ in range(8)
        ]
        later = {name: statistics.median(each[name] for each in rounds[1:]) for name in commands}
        for name in first:
            for when, seconds in (
                ("first after installation", first[name]),
                ("later", later[name]),
            ):
                for peer in (NUMPY, SKLEARN):
                    work = f"{name}, {when}: processor time"
                    timing = Timing(work, "hardmax", seconds, peer, seconds / later[peer])
                    show(timing)
                    yield timing


def _processor_seconds(arguments: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    parts = {part.__name__: part for part in (starting, small_clouds, tables_of_people)}
    for asked in sys.argv[1:] or parts:
        record("everyday", list(parts[asked]()))
