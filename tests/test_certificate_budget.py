"""The checker of certificates keeps to its budget: hostile files are answered, honest ones are not
given up."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import THOROUGH, some
from hostile_certificates import (
    HOSTILE,
    certificate,
    endless,
    line,
    small,
)
from hypothesis import given
from hypothesis import strategies as st
from known import rational
from strategies import problems

from hardmax import Dynamics, limit
from hardmax import certificate as checker
from hardmax.certificate import Verdict, verify

CHECKER = Path(checker.__file__)
MEBIBYTES = 1000
SECONDS = 30  # of the processor: three times what the slowest file takes on a slow machine
STATUS = {"refused": 1, "nothing": 2, "undecided": 3}
# One process for all files, of whose time each may have so much.
LIMITED = f"""
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEBIBYTES * 2**20}, {MEBIBYTES * 2**20}))
checker, *files = sys.argv[1:]
for file in files:
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
    resource.setrlimit(resource.RLIMIT_CPU, (used + {SECONDS}, most))
    sys.argv = [checker, *file.split(" ")]
    try:
        runpy.run_path(checker, run_name="__main__")
    except SystemExit as ended:
        print(ended.code)
"""


def run(*files: str | Path, **environment: str) -> list[tuple[int, str]]:
    """The status and the line of each file, checked in a process of their own, which ends if it
    takes more than it should."""
    command = [sys.executable, "-S", "-c", LIMITED, CHECKER, *files]
    variables = os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert (done.stderr, done.returncode) == ("", 0)
    answers = ("accepted: ", "refused: ", "undecided: ", "unreadable", "version: ")
    lines = done.stdout.splitlines()
    lines = [line for line in lines if line.isdecimal() or line.startswith(answers)]
    pairs = zip(lines[0::2], lines[1::2], strict=True)
    return [(int(status), line) for line, status in pairs]


def charges_of(document: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """What a check asks for: products, digits of both factors, and how many are held."""
    asked = []
    charge = checker.Budget.charge

    def watched(self, products, left=1, right=1, *, held=0):
        asked.append((products, left, right, held))
        charge(self, products, left, right, held=held)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker.Budget, "charge", watched)
        assert verify(document).accepted
    return asked


KINDS = {
    "paper": {},
    "steps": {"alpha": ["1", "1/3"]},
    "metric": {"metric": [[2, 1], [1, 3]]},
    "causal": {"mask": "causal"},
    "both": {"metric": [[2, 1], [1, 3]], "mask": "causal"},
}


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
@pytest.mark.parametrize("kind", KINDS)
def test_every_step_costs_something_and_more_tokens_or_digits_cost_more(kind: str):
    random = np.random.default_rng(5)
    dynamics = Dynamics(**{"alpha": "1/2"} | KINDS[kind])
    works = []
    for count, digits in ((6, 100), (12, 100), (24, 100), (24, 10**30)):
        numbers = random.integers(-90, 91, (count, 2)).tolist()
        cloud = [[f"{x * digits + 1}/{digits}" for x in row] for row in numbers]
        asked = charges_of(limit(cloud, dynamics).prove())
        for products, left, right, held in asked:
            assert isinstance(products, int)
            assert products >= 0
            assert min(left, right) >= 1
            assert held >= 0
        works.append(sum(products * left * right for products, left, right, _ in asked))
    assert works == sorted(works)
    least = 24**2  # everybody's score of everybody
    assert works[2] >= least
    assert works[1] < 40 * works[0]


def test_hostile_files_are_answered_in_seconds_and_little_memory(tmp_path: Path):
    names = some(HOSTILE)
    paths = [tmp_path / f"{number}.json" for number, _ in enumerate(names)]
    for name, path in zip(names, paths, strict=True):
        path.write_bytes(HOSTILE[name][1]())
    # What would spend any budget spends a part of it.
    effort = "" if THOROUGH else " 0.1"
    asked = [
        f"{path}{effort * (HOSTILE[name][0] == 'undecided')}"
        for name, path in zip(names, paths, strict=True)
    ]
    for name, (status, answer) in zip(names, run(*asked), strict=True):
        verdict = HOSTILE[name][0]
        begins = {"undecided": "undecided: budget: ", "nothing": "unreadable"}.get(
            verdict, "refused: "
        )
        assert (status, answer[: len(begins)]) == (STATUS[verdict], begins), name
        # It stopped by itself, not because there was no more to be had.
        assert "memory" not in answer, name
        assert len(answer) < 400, name


def cloud(n: int, d: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d))


def late(n: int) -> list[list[str]]:
    """The third token comes to the front along the target of the fourth, after some sixty layers of
    alpha = 1/10."""
    front = rational("10 10 0, 10 -10 0, 101/10 0 -300, 1 0 1")
    others = np.round(cloud(n, 3) / 10, 3).tolist()
    return [[str(x) for x in row] for row in [*front, *others]]


HONEST: dict[str, tuple[Callable[[], Any], str, int, float]] = {
    "1,000 tokens in the plane": (lambda: cloud(1000, 2), "1/2", 1, 0.8),
    "200 tokens in 8 dimensions": (lambda: cloud(200, 8), "1/2", 0, 0.2),
    "small steps, for sixty layers": (lambda: late(60), "1/10", 60, 0.5),
}


@pytest.mark.parametrize(("tokens", "alpha", "layers", "effort"), HONEST.values(), ids=HONEST)
def test_what_the_package_writes_is_accepted_well_within_the_budget(tokens, alpha, layers, effort):
    proof = limit(tokens(), Dynamics(alpha)).prove()
    assert proof["settled_at"] >= layers
    assert verify(proof, effort=effort), verify(proof, effort=effort).reason


@given(problems(max_d=3, max_n=6), st.floats(1e-7, 1e-2), st.booleans())
def test_whatever_is_decided_is_decided_so_at_any_effort(problem, effort, lie):
    tokens, metric, alpha = problem
    proof = limit(tokens, Dynamics(alpha, metric)).prove()
    if lie:
        cloud, layer = proof["cloud"], proof["layer"]
        alpha, metric = layer["alpha"][0], layer["metric"]
        proof = json.loads(certificate(cloud["points"], alpha=alpha, metric=metric))
    verdict = verify(proof, effort=effort)
    assert verdict == verify(proof) if verdict.decided else not verdict


def test_a_check_that_is_given_up_says_what_would_do():
    proof = limit(cloud(40, 2), Dynamics("1/2")).prove()
    given_up = verify(proof, effort=1e-5)
    assert not given_up.decided
    assert re.search(r"raise it by verify\(..., effort=1\) or --effort$", given_up.reason)
    assert verify(proof, effort=float("inf"))


def effort_for(**charge: int) -> int:
    """What a step that costs too much says would do."""
    with pytest.raises(checker.Stop) as stopped:
        checker.Budget(1e-9).charge(**charge)
    [effort] = re.findall(r"effort=(\d+)\)", str(stopped.value))
    return int(effort)


@pytest.mark.parametrize("longer", ["left", "right"])
def test_products_cost_as_much_as_those_of_their_digits_and_numbers_as_many_bytes(longer: str):
    digits = {"left": 10**4, "right": 10**4}
    more = digits | {longer: 10**6}
    products = [effort_for(products=10**9, **each) for each in (digits, more)]
    assert products[1] == pytest.approx(100 * products[0], rel=1e-3)
    held = [effort_for(products=0, held=10**9, **each) for each in (digits, more)]
    assert held[1] == pytest.approx(50.5 * held[0], rel=1e-2)


@pytest.mark.parametrize("effort", [0, -1, float("nan"), "10", None])
def test_an_effort_is_a_positive_number(effort):
    with pytest.raises(ValueError, match=r"^`effort` must be a number above 0, not "):
        verify(json.loads(endless()), effort=effort)


def test_memory_that_runs_out_decides_nothing(monkeypatch: pytest.MonkeyPatch):
    def exhausted(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(checker.Walk, "walk", exhausted)
    assert verify(json.loads(line([1]))) == Verdict(
        False, "budget: this machine has no memory left"
    )


def test_a_file_can_be_given_more_effort(tmp_path: Path):
    path = tmp_path / "proof.json"
    path.write_bytes(line(range(1, 9)) + b" " * checker.FILE_SIZE)
    usual, more = run(path, f"{path} 2")
    large = "unreadable: 'proof.json' is larger than 16 MB; a higher effort allows more"
    assert usual == (2, large)
    assert more == (0, "accepted: every point has its limit, settled at layer 0")


def test_python_can_be_asked_to_read_longer_numbers(tmp_path: Path):
    path = tmp_path / "proof.json"
    path.write_bytes(line([1, "1" + "0" * 4999]))
    told = "undecided: budget: a number of 5000 digits; PYTHONINTMAXSTRDIGITS allows 4300"
    assert run(path) == [(3, told)]
    assert run(path, PYTHONINTMAXSTRDIGITS="5000")[0][0] == 0


def test_the_checker_needs_nothing_but_python(tmp_path: Path):
    alone, path = tmp_path / "alone.py", tmp_path / "proof.json"
    alone.write_text(CHECKER.read_text())
    path.write_bytes(line(range(1, 9)))
    for command in (["-m", "hardmax.certificate"], ["-I", "-S", alone]):
        done = subprocess.run(
            [sys.executable, *command, path], capture_output=True, text=True, check=False
        )
        told = "accepted: every point has its limit, settled at layer 0\nThe cloud has 8 tokens"
        assert done.stdout.startswith(told)


def test_a_file_gets_one_line(tmp_path: Path):
    not_json = "unreadable: "
    files = {
        "false": (small(leaders=[]), 1, "refused: leaders: they are [[0,0],[1,0]]"),
        "truncated": (small()[:-9], 2, not_json),
        "empty": (b"", 2, not_json),
        "of-another-format": (b'{"format": "something else"}', 2, "version: unknown here"),
        "missing": (None, 2, "unreadable: 'missing': No such file or directory"),
        "/dev/zero": (None, 2, "unreadable: 'zero' is not a file"),
    }
    for name, (content, _, _) in files.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
    answers = run(*(tmp_path / name for name in files))
    for (name, (_, status, begins)), answer in zip(files.items(), answers, strict=True):
        assert (answer[0], answer[1][: len(begins)]) == (status, begins), name
