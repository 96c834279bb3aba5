"""A record of what the package answers on 2,000 hard problems and on the command line, to compare
two commits.

    PYTHONPATH=src:tests python tools/golden.py record after.jsonl
    PYTHONPATH=OTHER/src:tests python tools/golden.py record before.jsonl
    python tools/golden.py compare before.jsonl after.jsonl
    python tools/golden.py rows OTHER/src src

OTHER is another checkout. `rows` prints the times of the README's rows, the two trees taking turns.

Choices, leaders, clusters, certificates and messages must be equal; positions may differ by 1e-15
of the largest norm, or by what the runs themselves state as their error."""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np

PROBLEMS = 2000
FEW = 200  # tokens whose positions are written out; of larger clouds, their sums
CERTIFIED = 40  # tokens up to which certificates are made and checked
COMMANDS = (
    "clouds",
    "clouds square -o square.csv",
    "limit square.csv --alpha 1/2 --certificate proof.json",
    "limit square.csv --alpha 1/2 --check --json",
    "simulate square.csv --alpha 1/2 --layers 5",
    "simulate square.csv --alpha 0.1 --layers 3 --json",
    "verify proof.json",
    "models",
    "explain 'An awful script, but the cast is great.'",
    "explain 'An awful script, but the cast is great.' --json",
    "limit missing.csv --alpha 1/2",
    "limit square.csv --alpha -1",
)


def digest(value: Any) -> str:
    """A short name for plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def problem(number: int) -> tuple[np.ndarray, np.ndarray | None, str, bool]:
    """Tokens, metric, alpha, and whether the metric need not be one: always the same for a
    number."""
    from soak.clouds import KINDS, make
    from soak.problems import draw_metric

    rng = np.random.default_rng([2026, number])
    kind = list(KINDS)[number % len(KINDS)]
    large = number % 50 == 49
    n = int(rng.integers(2000, 5000) if large else rng.integers(1, 80))
    d = int(rng.integers(1, 6) if large else rng.choice([1, 2, 2, 3, 3, 4, 5, 8, 20]))
    metric = str(rng.choice(["identity", "identity", "diagonal", "general", "any"]))
    tokens = make(kind, rng, n, d)
    return (
        tokens,
        draw_metric(rng, metric, d),
        str(rng.choice(["1/2", "1", "1/10", "1000"])),
        metric == "any",
    )


def answer(number: int) -> dict[str, Any]:
    """What comes out of a problem, or the message that it is refused with."""
    import hardmax as hm

    tokens, metric, alpha, free = problem(number)
    began = time.process_time()
    try:
        try:
            dynamics = hm.Dynamics(alpha, metric)
        except hm.InputError:
            if not free:
                raise
            dynamics = hm.Dynamics(alpha, metric)  # commits that ask for it
        run = hm.simulate(tokens, dynamics, layers=3)
        found: dict[str, Any] = {
            "attended": [digest(run.attended(layer).tolist()) for layer in range(4)],
            "leaders": {
                str(token): int(layer)
                for token, layer in enumerate(run.details.leader_since)
                if layer >= 0
            },
            "at": positions(run.at(3)),
            "error": float(run.error),
        }
        # Where the theorem does not apply, tokens may move for ever.
        lim = hm.limit(tokens, dynamics) if not free else None
        if lim is None:
            return found | {"number": number, "seconds": time.process_time() - began}
        found |= {"settled_at": lim.settled_at, "certified": lim.certified}
        if lim.settled_at is not None:
            found |= {
                "clusters": digest(lim.clusters.labels.tolist()),
                "points": positions(lim.limit_points),
            }
            if len(tokens) <= CERTIFIED:
                document = lim.certificate
                found |= {"certificate": digest(document), "accepted": hm.verify(document).accepted}
    except hm.InputError as error:
        found = {"refused": str(error)}
    found |= {
        "number": number,
        "seconds": time.process_time() - began,
        "norm": float(np.abs(tokens).max()),
    }
    return found


def positions(table: np.ndarray) -> list:
    """Those of a few tokens, or the sum of many."""
    return table.tolist() if len(table) <= FEW else table.sum(axis=0).tolist()


def outputs() -> list[dict[str, Any]]:
    """What the commands print, without the seconds in it."""
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for command in COMMANDS:
            line = f"{sys.executable} -m hardmax {command}"
            done = subprocess.run(
                line, shell=True, cwd=folder, capture_output=True, text=True, check=False
            )
            rows.append(
                {
                    "command": command,
                    "status": done.returncode,
                    "out": done.stdout,
                    "err": done.stderr,
                }
            )
        return rows


def record(path: Path, count: int) -> None:
    """Write a line for each problem and for each command."""
    with path.open("w") as file:
        for number in range(count):
            file.write(json.dumps(answer(number)) + "\n")
            if number % 100 == 99:
                print(f"{number + 1} of {count}", file=sys.stderr, flush=True)
        for row in outputs():
            file.write(json.dumps(row) + "\n")


def rows() -> dict[str, Callable[[], Any]]:
    """The processor's rows of the README, as `benchmarks/cpu.py` has them."""
    import hardmax as hm

    half, last = hm.Dynamics("1/2"), hm.LastOnly()

    def gaussian(n: int, d: int) -> np.ndarray:
        return np.random.default_rng(d).standard_normal((n, d))

    def reviews(d: int) -> Callable[[], Any]:
        batch = hm.Ragged(gaussian(4096 * 132, d), np.arange(4097) * 132)
        return lambda: hm.simulate(batch, half, layers=8, record=last)

    def layer(points: np.ndarray) -> Callable[[], Any]:
        return lambda: hm.simulate(points, half, layers=0, record=last)

    def limit(points: np.ndarray) -> Callable[[], Any]:
        return lambda: hm.limit(points, half).limit_points

    ball = gaussian(100_000, 3)
    return {
        "4,096 reviews, d 2": reviews(2),
        "4,096 reviews, d 16": reviews(16),
        "n 1,000,000, d 2: a layer": layer(gaussian(1_000_000, 2)),
        "n 1,000,000, d 2: the limit": limit(gaussian(1_000_000, 2)),
        "n 100,000, d 3: the limit": limit(ball),
        "n 100,000, d 8: the limit": limit(gaussian(100_000, 8)),
        "n 100,000, d 3, on a sphere": layer(ball / np.linalg.norm(ball, axis=1, keepdims=True)),
        "n 30,000, d 16: a layer": layer(gaussian(30_000, 16)),
        "n 100,000, d 16: a layer": layer(gaussian(100_000, 16)),
        "n 100,000, d 64: a layer": layer(gaussian(100_000, 64)),
    }


def serve() -> None:
    """Do the row that a line of stdin names, and print how long it took."""
    work = rows()
    for line in sys.stdin:
        began = time.perf_counter()
        work[line.strip()]()
        print(time.perf_counter() - began, flush=True)


def time_rows(before: str, after: str, rounds: int) -> int:
    """Print the fastest of some rounds in either tree; the number of rows that are more than 15 %
    slower."""
    command = [sys.executable, __file__, "serve"]
    trees = [
        subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": tree},
            stdin=PIPE,
            stdout=PIPE,
            text=True,
            bufsize=1,
        )
        for tree in (before, after)
    ]
    slower = 0
    for name in rows():
        times: list[list[float]] = [[], []]
        for _ in range(rounds + 1):  # the first one loads kernels
            for tree, taken in zip(trees, times, strict=True):
                assert tree.stdin
                assert tree.stdout
                tree.stdin.write(name + "\n")
                taken.append(float(tree.stdout.readline()))
        old, new = (min(taken[1:]) for taken in times)
        slower += new > 1.15 * old
        print(f"{name:30} {old * 1e3:9.1f} ms {new * 1e3:9.1f} ms   {new / old:5.2f}", flush=True)
    for tree in trees:
        tree.kill()
    return slower


def same(name: str, one: Any, other: Any, allowed: float) -> bool:
    """Whether two answers agree, positions up to what is allowed."""
    if name in ("seconds", "error", "norm"):
        return True
    if name in ("at", "points") and one is not None and other is not None:
        return np.shape(one) == np.shape(other) and bool(
            (np.abs(np.subtract(one, other)) <= allowed).all()
        )
    return one == other


def compare(before: Path, after: Path) -> int:
    """Print what differs, and how long both took; the number of differences."""
    wrong, seconds = 0, np.zeros(2)
    for texts in zip_longest(
        *(path.read_text().splitlines() for path in (before, after)), fillvalue="{}"
    ):
        one, other = map(json.loads, texts)
        seconds += [row.get("seconds", 0.0) for row in (one, other)]
        tokens = FEW if np.ndim(one.get("at")) == 2 else 5000  # a sum has an error for each token
        allowed = tokens * max(
            1e-15 * one.get("norm", 0.0), one.get("error", 0.0) + other.get("error", 0.0)
        )
        for name in sorted(one.keys() | other.keys()):
            if not same(name, one.get(name), other.get(name), allowed):
                wrong += 1
                print(
                    one.get("number", one.get("command")),
                    name,
                    str(one.get(name))[:150],
                    "->",
                    other.get(name),
                )
    print(f"{wrong} differences; processor seconds {seconds[0]:.1f} before, {seconds[1]:.1f} after")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["record", "compare", "rows", "serve"])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=PROBLEMS, help="problems to record")
    parser.add_argument("--rounds", type=int, default=7, help="of each row")
    asked = parser.parse_args()
    match asked.action:
        case "record":
            record(asked.files[0], asked.count)
        case "compare":
            sys.exit(compare(*asked.files) > 0)
        case "rows":
            sys.exit(time_rows(*map(str, asked.files), asked.rounds) > 0)
        case _:
            serve()
