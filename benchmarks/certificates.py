"""Writing a certificate, and checking it with the standard library alone, in processor time.

python benchmarks/certificates.py [NAME …], with beginnings of names from WORK. The peer is the limit
that is proved. Each runs once, in a process of its own, at most at effort 30; `effort` is what the
check needed, of 1 that it has by default; `peak` in MB. Rows go to results/certificates.csv."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from harness import add_rows

import hardmax as hm
from hardmax import certificate

COLUMNS = ("work", "limit_seconds", "write_seconds", "check_seconds", "effort", "peak", "verdict")
MOST = 30
SIDE = 45  # 2,025 points of a lattice


def lattice() -> np.ndarray:
    """Whole numbers in a square."""
    return np.stack(np.meshgrid(*[np.arange(SIDE) - SIDE // 2] * 2), axis=-1).reshape(-1, 2) * 1.0


def sphere(d: int) -> np.ndarray:
    """Points at distance 1, as nearly as floats allow."""
    points = hm.clouds.gaussian(2000, d, 1)
    return points / np.linalg.norm(points, axis=1)[:, None]


def circle() -> np.ndarray:
    """Rational points of a circle: all scores of a point with itself tie with none."""
    t = np.arange(-1000, 1000) / 256
    return np.stack([(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)], axis=1)


WORK = {
    "Gaussian, n 1,000, d 2": lambda: hm.clouds.gaussian(1000, 2),
    "Gaussian, n 10,000, d 2": lambda: hm.clouds.gaussian(10_000, 2),
    "Gaussian, n 100,000, d 2": lambda: hm.clouds.gaussian(100_000, 2),
    "Gaussian, n 1,000,000, d 2": lambda: hm.clouds.gaussian(1_000_000, 2),
    "Gaussian, n 100,000, d 3": lambda: hm.clouds.gaussian(100_000, 3),
    "Gaussian, n 20,000, d 8": lambda: hm.clouds.gaussian(20_000, 8),
    "lattice, n 2,025, d 2": lattice,
    "sphere, n 2,000, d 2": lambda: sphere(2),
    "sphere, n 2,000, d 3": lambda: sphere(3),
    "sphere, n 2,000, d 8": lambda: sphere(8),
    "circle by a formula, n 2,000, d 2": circle,
    "a line, n 2,000, d 3": lambda: np.outer(np.arange(2000) - 700, [1.0, 2.0, -1.0]),
    "few values, n 2,000, d 3": lambda: np.random.default_rng(0).integers(-3, 4, (2000, 3)) * 1.0,
}


def measure(name: str) -> dict[str, object]:
    """Limit, certificate and check of one cloud."""
    cloud, times = WORK[name](), [time.process_time()]
    lim = hm.limit(cloud, hm.Dynamics("1/2"))
    times.append(time.process_time())
    text = lim.certificate.to_json()
    times.append(time.process_time())
    check = certificate.Check(json.loads(text), MOST, Path())
    verdict = "accepted"
    try:
        check.facts()
        check.walk()
    except certificate.Stop as stop:
        verdict = str(stop)[:60]
    times.append(time.process_time())
    limit_s, write_s, check_s = (round(x, 3) for x in np.diff(times))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    effort = round(check.work / certificate.WORK, 2)
    return dict(zip(COLUMNS, (name, limit_s, write_s, check_s, effort, peak, verdict), strict=True))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
        sys.exit()
    chosen = [name for name in WORK if name.startswith(tuple(sys.argv[1:]) or "")]
    for name in chosen:
        told = subprocess.run(
            [sys.executable, __file__, "--one", name], check=True, capture_output=True, text=True
        )
        row = json.loads(told.stdout.splitlines()[-1])
        print(row, flush=True)
        add_rows("certificates", COLUMNS, [tuple(row.values())])
