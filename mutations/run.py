"""Break the source, one line at a time, and see whether the tests notice: `make mutate`.

A mutation is an entry in a list of this folder (`training.toml`, …): a file, a text that occurs once in it, what to put
there instead, which tests must notice, and why it matters. To add one, add an entry. The tests are first run on the
source as it is; then each mutation is tried in a copy of the tree. One after which all its tests pass is a survivor:
there the tests have a hole. The exit code is 1 if there is a survivor, or a mutation that cannot be tried.
"""

import argparse
import json
import queue
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from mutation import Mutation, Unusable, read_lists
from trial import Outcome, Tree, Trial


class Progress:
    """A line for each mutation as it ends; on a terminal also one that says what is being tried."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total, self._done, self._quiet = total, 0, quiet
        self._live = sys.stderr.isatty()

    def say(self, line: str) -> None:
        """Something on the way, that need not stay to be read."""
        if self._live:
            print(f"\r\033[K{line[:118]}", end="", file=sys.stderr, flush=True)

    def ended(self, mutation: Mutation, trial: Trial) -> None:
        self._done += 1
        self.say("")
        if not self._quiet:
            print(f"{self._done:3}/{self._total}  {trial.outcome.value:<10} {mutation.title} ({trial.seconds:.0f} s)")
            print(f"{'':9}{trial.told.splitlines()[0]}", flush=True)


def main() -> int:
    """Read the lists, and try what they ask for."""
    options = _read_options()
    try:
        chosen = [m for m in read_lists(options.tree / "mutations") if re.search(options.only, f"{m.title} {m.file}")]
    except Unusable as error:
        return _refuse(str(error))
    if not chosen:
        return _refuse(f"no mutation has `{options.only}` in its name or file: see --list")
    if options.list:
        return _list(chosen, options.tree)
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        trees = [Tree(options.tree, Path(folder) / str(number)) for number in range(options.jobs)]
        progress = Progress(len(chosen), quiet=options.json)
        sound = _test_unbroken(trees[0], chosen, options.timeout, progress)
        if sound.outcome is not Outcome.SURVIVED:
            return _refuse(f"the tests must pass before anything is broken, but: {sound.told}")
        results = dict(_try_all(trees, chosen, options.timeout, progress))
    _report([(mutation, results[mutation]) for mutation in chosen], options.json)
    return 0 if all(trial.outcome.is_fine for trial in results.values()) else 1


def _read_options() -> Any:
    parser = argparse.ArgumentParser(description="Break the source, one line at a time; do the tests notice?")
    parser.add_argument("--only", default="", metavar="PATTERN", help="those whose title or file has this (a regex)")
    parser.add_argument("--list", action="store_true", help="say what there is and whether it applies; try nothing")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many at once (1)")
    parser.add_argument("--json", action="store_true", help="the results as JSON, and nothing else")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS", help="for one mutation (300)")
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="what to break a copy of (this)")
    return parser.parse_args()


def _list(chosen: list[Mutation], tree: Path) -> int:
    stale = 0
    for mutation in chosen:
        print(f"{mutation.title}\n    {mutation.file}: {mutation.why}")
        try:
            mutation.mutated(tree)
        except Unusable as error:
            print(f"    no longer applies: {error}")
            stale += 1
    print(f"\n{len(chosen)} mutations, {stale} of which no longer apply.")
    return 1 if stale else 0


def _test_unbroken(tree: Tree, chosen: list[Mutation], seconds: float, progress: Progress) -> Trial:
    tests = list(dict.fromkeys(test for mutation in chosen for test in mutation.tests if _exists(tree, test)))
    progress.say(f"the tests of {len(chosen)} mutations, with nothing broken …")
    return tree.test(tests, seconds * max(1, len(tests)))


def _exists(tree: Tree, test: str) -> bool:
    return (tree.path / test.split("::")[0]).exists()


def _try_all(
    trees: list[Tree], chosen: list[Mutation], seconds: float, progress: Progress
) -> Iterator[tuple[Mutation, Trial]]:
    """Every mutation with what came of it, as they end; each tree is one thread's at a time."""
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def attempt(mutation: Mutation) -> Trial:
        tree = free.get()
        progress.say(f"{mutation.title} …")
        try:
            return tree.try_out(mutation, seconds)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        started = {pool.submit(attempt, mutation): mutation for mutation in chosen}
        try:
            for future in as_completed(started):
                progress.ended(started[future], future.result())
                yield started[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for tree in trees:
                tree.stop()


def _report(results: list[tuple[Mutation, Trial]], as_json: bool) -> None:
    totals = {outcome.value: sum(trial.outcome is outcome for _, trial in results) for outcome in Outcome}
    if as_json:
        rows = [
            {
                "area": mutation.area,
                "name": mutation.name,
                "file": mutation.file,
                "why": mutation.why,
                "tests": mutation.tests,
                "outcome": trial.outcome.value,
                "told": trial.told,
                "seconds": round(trial.seconds, 1),
            }
            for mutation, trial in results
        ]
        print(json.dumps({"totals": totals, "results": rows}, indent=2))
        return
    for mutation, trial in results:
        if not trial.outcome.is_fine:
            print(f"\n{trial.outcome.value}: {mutation.title}\n  {mutation.file}: {mutation.why}\n  {trial.told}")
    told = ", ".join(f"{count} {name}" for name, count in totals.items() if count or name == "survived")
    print(f"\n{len(results)} mutations: {told}.")


def _refuse(line: str) -> int:
    print(line, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
