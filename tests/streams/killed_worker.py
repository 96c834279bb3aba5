"""A cloud on disk, read by two workers of Dask with little memory, one of which is killed twice: in
the middle of the passes over the chunks, and in the middle of reading the limits.

Run: python tests/streams/killed_worker.py --gigabytes 4 --memory 1GB

Prints a line for this process alone, for two workers, and for two workers with kills, and exits
with 1 unless all three have the same result, to the byte. When to kill is told by the number of
blocks that are done, not by a clock."""

import argparse
import hashlib
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np
import psutil
import zarr
from distributed.diagnostics.plugin import SchedulerPlugin

import hardmax as hm

HALF = hm.Dynamics("1/2")
TOKEN = 16  # bytes


@dataclass
class Outcome:
    """What a run found, and what it took."""

    name: str
    settled_at: int | None
    leaders: int
    digest: str
    """Of everything that was found, limits, leaders and clusters of all tokens among it."""
    blocks: tuple[int, int]
    """How many blocks were done when the limit was there, and when all had been read."""
    kills: int
    seconds: float
    """Of processor time, of this process and of all workers."""
    megabytes: float
    """The peak memory of a worker, or of this process where there are none."""

    def __str__(self) -> str:
        found = f"settled at layer {self.settled_at}, {self.leaders} leaders, {self.digest[:12]}"
        took = f"{self.seconds:.0f} s of processor time, peak {self.megabytes:.0f} MB"
        return f"{self.name}: {found}; {self.blocks[1]} blocks, {self.kills} kills; {took}"


@dataclass(eq=False)
class Watcher(SchedulerPlugin):
    """Counts blocks as they are done, kills a worker at some of them, and measures workers."""

    cluster: Any
    kill_at: tuple[int, ...] = ()
    done: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    killed: list[int] = field(default_factory=list)

    def transition(
        self, key: Any, start: str, finish: str, *arguments: Any, **options: Any
    ) -> None:
        if not str(key).startswith("_on_block") or (start, finish) != ("processing", "memory"):
            return
        self.done += 1
        if self.done in self.kill_at:
            nanny = self.cluster.workers[0]
            self.measure(nanny.pid)
            self.killed.append(nanny.pid)
            os.kill(nanny.pid, signal.SIGKILL)

    def measure(self, pid: int) -> None:
        self.seconds += sum(psutil.Process(pid).cpu_times()[:2])
        self.megabytes = max(self.megabytes, peak_megabytes(pid))


def peak_megabytes(pid: int | str = "self") -> float:
    """The most that a process ever held, from Linux; nan elsewhere."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    return float("nan")


def write_cloud(path: Path, count: int, block: int) -> None:
    """So many Gaussian tokens, in chunks of so many."""
    array = zarr.create_array(
        path, shape=(count, 2), chunks=(block, 2), dtype="f8", compressors=None
    )
    rng = np.random.default_rng(0)
    for start in range(0, count, block):
        stop = min(start + block, count)
        array[start:stop] = rng.normal(size=(stop - start, 2))


def digest(found: hm.results.StreamedLimit) -> str:
    """Of all that was found, however the tokens are cut into chunks."""
    columns: dict[str, Any] = {}
    for chunk in found.chunks():
        for name, column in chunk.items():
            columns.setdefault(name, hashlib.blake2b()).update(np.ascontiguousarray(column))
    whole = hashlib.blake2b("".join(columns[name].hexdigest() for name in columns).encode())
    for array in (found.leaders, found.leader_layers, found.clusters.sizes):
        whole.update(np.ascontiguousarray(array))
    whole.update(f"{found.settled_at} {found.stop_reason} {found.limit_error}".encode())
    return whole.hexdigest()


def run_alone(path: Path) -> Outcome:
    start = time.process_time()
    found = hm.limit(zarr.open_array(path, mode="r"), HALF)
    result = (found.settled_at, len(found.leaders), digest(found))
    seconds = time.process_time() - start
    return Outcome("this process", *result, (0, 0), 0, seconds, peak_megabytes())


def run_workers(path: Path, memory: str, kill_at: tuple[int, ...] = ()) -> Outcome:
    start = time.process_time()
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit=memory,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    with cluster, distributed.Client(cluster):
        watcher = Watcher(cluster, kill_at)
        cluster.scheduler.add_plugin(watcher)
        found = hm.limit(da.from_zarr(path), HALF)
        of_limit = watcher.done
        result = (found.settled_at, len(found.leaders), digest(found))
        for nanny in cluster.workers.values():
            watcher.measure(nanny.pid)
    name = f"two workers of {memory}" + (", killed" if kill_at else "")
    seconds = time.process_time() - start + watcher.seconds
    blocks, kills = (of_limit, watcher.done), len(watcher.killed)
    return Outcome(name, *result, blocks, kills, seconds, watcher.megabytes)


def run_all(folder: Path, count: int, block: int, memory: str) -> list[Outcome]:
    """The outcomes without workers, with two, and with two of which one is killed twice."""
    path = folder / "cloud.zarr"
    write_cloud(path, count, block)
    outcomes: list[Outcome] = []
    for kind in range(3):
        if kind == 0:
            outcome = run_alone(path)
        elif kind == 1:
            outcome = run_workers(path, memory)
        else:
            of_limit, of_all = outcomes[1].blocks
            outcome = run_workers(path, memory, (of_limit // 2, (of_limit + of_all) // 2))
        print(outcome, flush=True)
        outcomes.append(outcome)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--memory", default="1GB", help="of each worker")
    parser.add_argument("--block", type=int, default=2_500_000, help="tokens")
    parser.add_argument("--folder", help="where the cloud is written")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        needed, free = arguments.gigabytes * 1e9, shutil.disk_usage(folder).free
        if free < 1.5 * needed:
            sys.exit(f"{folder}: {1.5 * needed:.3g} bytes are needed, {free:.3g} are free.")
        count = int(needed / TOKEN)
        try:
            outcomes = run_all(Path(folder), count, arguments.block, arguments.memory)
        except hm.InputError as error:
            sys.exit(f"InputError: {error}")
    if len({outcome.digest for outcome in outcomes}) > 1:
        sys.exit("The results differ.")
    print(f"The same result for {count:,} tokens.")


if __name__ == "__main__":
    main()
