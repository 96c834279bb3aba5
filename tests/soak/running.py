"""Running problems on several processes, with what was wrong and how far it is."""

import signal
import sys
import time
from collections import Counter
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from soak.checks import judge
from soak.problems import problem


class Checked(NamedTuple):
    """What is known of a problem once it is checked."""

    number: int
    engine: str
    rows: int
    wrong: tuple[str, ...]
    seconds: float
    words: str

    def __str__(self) -> str:
        return "\n    ".join([self.words, *self.wrong])


class _TooSlow(Exception):
    pass


def _out_of_patience(*_: object) -> None:
    raise _TooSlow("no answer in time")


def judge_number(number: int, *, device: bool, patience: float) -> Checked:
    """Make a problem and check its answer."""
    signal.signal(signal.SIGALRM, _out_of_patience)
    began = time.monotonic()
    asked = problem(number, device=device)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        outcome = judge(asked)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.monotonic() - began
    return Checked(
        number, asked.engine.label, outcome.rows, tuple(outcome.wrong), seconds, str(asked)
    )


def _judge_until(number: int, until: float, **limits: Any) -> Checked | None:
    """None after the moment (of `time.time`) at which no problem is begun."""
    return None if time.time() > until else judge_number(number, **limits)


def run(numbers: range, processes: int, failures: Path, **limits: Any) -> int:
    """Check problems and print a summary; 1 if an answer is wrong, else 0."""
    began, done, wrong = time.monotonic(), list[Checked](), list[Checked]()
    with get_context("spawn").Pool(processes) as pool:
        for checked in pool.imap_unordered(partial(_judge_until, **limits), numbers, chunksize=10):
            if checked is None:
                continue
            done.append(checked)
            if checked.wrong:
                wrong.append(checked)
                print(checked, file=sys.stderr, flush=True)
            if len(done) % 500 == 0:
                print(_line(done, wrong, began), file=sys.stderr, flush=True)
    problems, rows = Counter(each.engine for each in done), Counter[str]()
    for each in done:
        rows[each.engine] += each.rows
    print(
        "\n".join(
            f"{name:24}{problems[name]:>10,} problems{rows[name]:>14,} rows"
            for name in sorted(problems)
        )
    )
    slowest = sorted(done, key=lambda each: -each.seconds)[:5]
    print("slowest: " + "; ".join(f"{each.words}: {each.seconds:.1f} s" for each in slowest))
    print(_line(done, wrong, began))
    if wrong:
        failures.parent.mkdir(parents=True, exist_ok=True)
        failures.write_text("\n".join(map(str, sorted(wrong))) + "\n")
        print(f"kept in {failures}; repeat one with --only NUMBER")
    return 1 if wrong else 0


def _line(done: list[Checked], wrong: list[Checked], began: float) -> str:
    rows, seconds = sum(each.rows for each in done), time.monotonic() - began
    return f"{len(done):,} problems, {rows:,} rows, {len(wrong):,} wrong, {seconds:,.0f} s"
