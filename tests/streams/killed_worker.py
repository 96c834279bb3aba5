"""A cloud on disk, read by two workers of Dask with little memory, one of which is killed twice: in
the middle of the passes over the chunks, and in the middle of reading the limits.

Run: python tests/streams/killed_worker.py --gigabytes 4 --memory 1GB

Prints a line for this process alone, for two workers, and for two workers with kills, and exits
with 1 unless all three have the same result, to the byte. When to kill is told by the number of
blocks that are done, not by a clock."""

# pyright: reportArgumentType=false, reportOptionalMemberAccess=false
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false
import argparse
import hashlib
import logging
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
from distributed.diagnostics.plugin import SchedulerPlugin

import hardmax as hm

TOKEN = 16  # bytes


@dataclass(eq=False)
class Watcher(SchedulerPlugin):
    """Counts blocks as they are done, and kills a worker at some of them."""

    cluster: Any
    kill_at: tuple[int, ...] = ()
    done: int = 0
    killed: list[int] = field(default_factory=list)

    def transition(
        self, key: Any, start: str, finish: str, *arguments: Any, **options: Any
    ) -> None:
        if not str(key).startswith("_on_block") or (start, finish) != ("processing", "memory"):
            return
        self.done += 1
        if self.done in self.kill_at:
            worker = self.cluster.workers[0].pid
            self.killed.append(worker)
            os.kill(worker, signal.SIGKILL)


def write_cloud(folder: Path, count: int, block: int) -> None:
    """So many Gaussian tokens, in chunks of so many."""
    blocks = da.random.default_rng(0).normal(size=(count, 2), chunks=(block, 2))
    da.to_npy_stack(str(folder), blocks)


def limit_of(folder: Path, watcher: Watcher | None = None) -> tuple[str, int]:
    """A digest of all that is found, and how many blocks were done when the limit was there."""
    found = hm.limit(da.from_npy_stack(str(folder)), hm.Dynamics("1/2"))
    of_limit = watcher.done if watcher else 0
    whole = hashlib.blake2b()
    for array in (found.distinct_leaders, found.clusters().sizes):
        whole.update(np.ascontiguousarray(array))
    for chunk in found.chunks():
        for column in chunk.values():
            whole.update(np.ascontiguousarray(column))
    return whole.hexdigest(), of_limit


def run_workers(
    folder: Path, memory: str, kill_at: tuple[int, ...] = ()
) -> tuple[str, tuple[int, int]]:
    """The digest, and how many blocks were done for the limit and for all."""
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit=memory,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    with cluster, distributed.Client(cluster):
        watcher = Watcher(cluster, kill_at)
        cluster.scheduler.add_plugin(watcher)
        digest, of_limit = limit_of(folder, watcher)
    if len(watcher.killed) < len(kill_at):
        sys.exit("No worker was killed.")
    print(f"two workers of {memory}, {len(watcher.killed)} kills: {digest[:12]}")
    return digest, (of_limit, watcher.done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--memory", default="1GB", help="of each worker")
    parser.add_argument("--block", type=int, default=2_500_000, help="tokens")
    arguments = parser.parse_args()
    count = int(arguments.gigabytes * 1e9 / TOKEN)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_cloud(folder, count, arguments.block)
        start = time.process_time()
        with dask.config.set(scheduler="synchronous"):
            alone, _ = limit_of(folder)
        print(f"this process: {alone[:12]}, {time.process_time() - start:.0f} s")
        two, (of_limit, of_all) = run_workers(folder, arguments.memory)
        kill_at = (of_limit // 2, (of_limit + of_all) // 2)
        killed, _ = run_workers(folder, arguments.memory, kill_at)
    if {two, killed} != {alone}:
        sys.exit("The results differ.")
    print(f"The same result for {count:,} tokens.")


if __name__ == "__main__":
    main()
