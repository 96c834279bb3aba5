"""Timings side by side: every contestant in turn, round after round, so that noise falls on all of
them alike.

Rows go to `results/*.csv`. `add_rows` is the one place that writes them, and puts date, commit,
machine and versions in front of each."""

import csv
import io
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hardmax._common.files import write_whole

RESULTS = Path(__file__).parent / "results"
VERSIONED = ("numpy", "scipy", "numba", "python-flint", "torch", "faiss-cpu", "pykeops")
COLUMNS = (
    "work",
    "contestant",
    "seconds",
    "peer",
    "ratio",
    "checked",
    "disagreements",
    "disturbed",
)
# The threads of OpenMP, FAISS's and torch's among them, go on spinning for a while after their call
# and take the cores from whoever comes next: after a FAISS pass our limit in three dimensions took
# twice its time. So everybody waits.
REST = 0.3 if (os.cpu_count() or 1) > 1 else 0.0

# Seconds, in one comparison, to wait for other processes to leave the cores; and the share that
# they may keep.
PATIENCE, QUIET = 20.0, 0.1
PROCESSOR = Path("/proc/stat")
Job = Callable[[], Any]
Check = Callable[[Any], tuple[int, int]]


@dataclass(frozen=True)
class Timing:
    """The median of several rounds, its ratio to the peer's, and how many answers were checked and
    were wrong.

    `disturbed` is the share of the machine that other processes took meanwhile, the median again;
    None if unknown."""

    work: str
    contestant: str
    seconds: float
    peer: str
    ratio: float
    checked: int | None = None
    disagreements: int | None = None
    disturbed: float | None = None


def compare(
    work: str,
    peer: str,
    contestants: Mapping[str, Job],
    rounds: int = 7,
    *,
    rest: float = REST,
    checks: Mapping[str, Check] | None = None,
    once: Collection[str] = (),
    clock: Callable[[], float] = time.perf_counter,
) -> list[Timing]:
    """Time all contestants, `peer` among them, in the same rounds; print and return a row for each.

    A check says of what a job gave back how many answers it looked at, and how many of them were
    wrong. Contestants named in `once` are so slow that they run in the first round alone, and are
    not warmed up. `clock` may count processor time instead, for work on one core."""
    for name, job in contestants.items():
        if name not in once:
            job()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    disturbed: dict[str, list[float]] = {name: [] for name in contestants}
    found: dict[str, Any] = {}
    patience = PATIENCE
    for number in range(rounds):
        for name, job in contestants.items():
            if number and name in once:
                seconds[name].append(seconds[name][0])
                continue
            found[name] = None  # the memory of the last round
            patience -= wait_for_quiet(rest, patience)
            others, began, start = busy_elsewhere(), time.perf_counter(), clock()
            found[name] = job()
            seconds[name].append(clock() - start)
            wall = time.perf_counter() - began
            disturbed[name].append((busy_elsewhere() - others) / wall / (os.cpu_count() or 1))
    timings = []
    for name, times in seconds.items():
        # The ratio is taken within a round and then its median: the machine's mood of the moment
        # cancels.
        ratio = statistics.median(
            mine / its for mine, its in zip(times, seconds[peer], strict=True)
        )
        checked = checks[name](found[name]) if checks and name in checks else (None, None)
        meanwhile = statistics.median(disturbed[name]) if PROCESSOR.exists() else None
        timings.append(
            Timing(work, name, statistics.median(times), peer, ratio, *checked, meanwhile)
        )
        show(timings[-1])
    return timings


def show(timing: Timing) -> None:
    line = f"{timing.work:48} {timing.contestant:34} {timing.seconds * 1e3:10.2f} ms"
    line += f"   {timing.ratio:8.3g} x {timing.peer}"
    if timing.checked is not None:
        line += f"   {timing.disagreements:,} of {timing.checked:,} disagree"
    if timing.disturbed is not None:
        line += f"   others took {max(timing.disturbed, 0):.0%}"
    print(line, flush=True)


def record(name: str, timings: list[Timing]) -> None:
    """Add the rows to `results/name.csv`."""
    add_rows(name, COLUMNS, [_cells(timing) for timing in timings])


def _cells(timing: Timing) -> tuple[object, ...]:
    counts = ("" if count is None else count for count in (timing.checked, timing.disagreements))
    disturbed = "" if timing.disturbed is None else f"{max(timing.disturbed, 0):.2f}"
    measured = (f"{timing.seconds:.6f}", timing.peer, f"{timing.ratio:.4g}")
    return timing.work, timing.contestant, *measured, *counts, disturbed


def wait_for_quiet(rest: float, patience: float) -> float:
    """Rest, and rest on while others work and there is patience; gives how much of it was
    needed."""
    waited = 0.0
    while rest:
        others = busy_elsewhere()
        time.sleep(rest)
        if waited >= patience or busy_elsewhere() - others <= QUIET * rest * (os.cpu_count() or 1):
            break
        waited += rest
    return waited


def busy_elsewhere() -> float:
    """Seconds that the cores have worked for other processes, as Linux tells; else 0."""
    if not PROCESSOR.exists():
        return 0.0
    ticks = [int(count) for count in PROCESSOR.read_text().split("\n", 1)[0].split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    mine = os.times()
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK") - mine.user - mine.system


def add_rows(
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    folder: Path | None = None,
    keep: bool = True,
    **stated: str,
) -> None:
    """Add rows, stamped, to `results/name.csv`; a column that only some rows have is empty in the
    others.

    `folder` is another place than `results`, `keep=False` replaces all older rows, and what is
    `stated` stands in the stamp instead of what this module finds out: a GPU as the machine, say.
    """
    stamp = circumstances() | stated
    path = (folder or RESULTS) / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    older = read_rows(path) if keep else []
    header = [*stamp, *(older[0] if older else ()), *columns]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*dict.fromkeys(header)], restval="")
    writer.writeheader()
    writer.writerows(older)
    writer.writerows(stamp | dict(zip(columns, row, strict=True)) for row in rows)
    write_whole(path, text.getvalue().encode())


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file, oldest first; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def circumstances() -> dict[str, str]:
    """What every row says of itself."""
    if not COMMIT:
        sys.exit("A row names its commit: run in a clone with git, or set HARDMAX_COMMIT.")
    found = {name: there for name in VERSIONED if (there := _version(name))}
    versions = {"python": platform.python_version()} | found
    return {
        "date": date.today().isoformat(),
        "commit": COMMIT,
        "machine": platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "versions": " ".join(f"{name}={there}" for name, there in versions.items()),
    }


def _commit() -> str:
    """The commit that is checked out, or that HARDMAX_COMMIT names; empty where there is
    neither."""
    if stated := os.environ.get("HARDMAX_COMMIT"):
        return stated
    if shutil.which("git") is None:
        return ""
    command = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


COMMIT = _commit()  # when the measurement begins: others may commit while it runs
