"""Running problems on several processes, telling how far they are, and what was wrong."""

import itertools
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from soak.checks import judge
from soak.problems import problem

# Problems handed to a process at a time.
_HANDFUL = 10


@dataclass(frozen=True)
class Range:
    """Which problems, how long one may take, and the moment (of `time.time`) after which none is begun."""

    start: int
    count: int
    device: bool
    patience: float
    until: float

    @property
    def numbers(self) -> range:
        return range(self.start, self.start + self.count)


@dataclass(frozen=True)
class Judged:
    """What is told of a problem to the process that counts."""

    number: int
    kind: str
    engine: str
    rows: int
    wrong: tuple[str, ...]
    seconds: float
    words: str


class _TooSlow(Exception):
    pass


def _out_of_patience(*_: object) -> None:
    raise _TooSlow("no answer in time")


def judge_in_time(number: int, asked: Range) -> Judged | None:
    """The problem judged; None if it is too late to begin."""
    return None if time.time() > asked.until else judge_number(number, asked.device, asked.patience)


def judge_number(number: int, device: bool, patience: float) -> Judged:
    """Make a problem and judge its answer."""
    signal.signal(signal.SIGALRM, _out_of_patience)
    began = time.monotonic()
    asked = problem(number, device=device)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        outcome = judge(asked)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.monotonic() - began
    return Judged(number, asked.kind, asked.engine.label, outcome.rows, tuple(outcome.wrong), seconds, str(asked))


@dataclass
class Tally:
    """Counts by kind and by engine, the failures, and the slowest."""

    began: float = field(default_factory=time.monotonic)
    problems: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    failures: list[Judged] = field(default_factory=list)
    slowest: list[Judged] = field(default_factory=list)
    done: set[int] = field(default_factory=set)

    def add(self, judged: Judged) -> None:
        for name in ("all", f"kind {judged.kind}", f"by {judged.engine}"):
            self.problems[name] += 1
            self.rows[name] += judged.rows
            self.wrong[name] += bool(judged.wrong)
        if judged.wrong:
            self.failures.append(judged)
        self.slowest = sorted([*self.slowest, judged], key=lambda each: -each.seconds)[:5]
        self.done.add(judged.number)

    def next_after(self, start: int) -> int:
        """The first problem from `start` on that was not judged."""
        return next(number for number in itertools.count(start) if number not in self.done)

    def line(self) -> str:
        seconds = time.monotonic() - self.began
        count = self.problems["all"]
        return (
            f"{count:,} problems, {self.rows['all']:,} rows, {self.wrong['all']:,} wrong, "
            f"{seconds:,.0f} s, {seconds / max(1, count):.2f} s each"
        )

    def table(self) -> str:
        names = sorted(name for name in self.problems if name != "all")
        head = f"{'':28}{'problems':>10}{'rows':>14}{'wrong':>8}"
        rows = [f"{name:28}{self.problems[name]:>10,}{self.rows[name]:>14,}{self.wrong[name]:>8,}" for name in names]
        return "\n".join([head, *rows])


def run(asked: Range, processes: int, failures: Path) -> int:
    """Check the problems; 1 if an answer is wrong, else 0."""
    tally = Tally()
    on_terminal = sys.stderr.isatty()
    with get_context("spawn").Pool(processes) as pool:
        for judged in pool.imap_unordered(partial(judge_in_time, asked=asked), asked.numbers, chunksize=_HANDFUL):
            if judged is None:
                continue
            tally.add(judged)
            if judged.wrong:
                print(("\r\033[K" if on_terminal else "") + _told(judged), file=sys.stderr, flush=True)
            if on_terminal:
                print(f"\r\033[K{tally.line()}", end="", file=sys.stderr, flush=True)
            elif tally.problems["all"] % 500 == 0:
                print(tally.line(), file=sys.stderr, flush=True)
    print("\n" + tally.table())
    print("slowest: " + "; ".join(f"{each.words}: {each.seconds:.1f} s" for each in tally.slowest))
    print(f"{tally.line()}; to go on: --start {tally.next_after(asked.start)}")
    _keep(tally.failures, failures)
    return 1 if tally.failures else 0


def show(number: int, device: bool) -> int:
    """Check one problem and say all that is wrong."""
    judged = judge_number(number, device, patience=float(10**6))
    print(_told(judged) if judged.wrong else f"{judged.words}: {judged.rows:,} rows, nothing wrong")
    print(f"{judged.seconds:.2f} s")
    return 1 if judged.wrong else 0


def _told(judged: Judged) -> str:
    return "\n    ".join([judged.words, *judged.wrong])


def _keep(failures: list[Judged], path: Path) -> None:
    """Write the failing problems down, and print them."""
    if not failures:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(_told(each) for each in sorted(failures, key=lambda each: each.number))
    path.write_text(text + "\n")
    print(f"{text}\n{len(failures)} wrong, kept in {path}; repeat one with --only NUMBER")
