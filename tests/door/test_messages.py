"""Wrong arguments that people have given and what they are told; extras that are not installed."""

# pyright: reportArgumentType=false, reportCallIssue=false
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest
import scipy.sparse
from door.bad_values import MASKED, containing_itself
from door.calls import HALF, SQUARE

import hardmax as hm
from hardmax._common.validation import MissingExtra
from hardmax.cli.limit import limit_command

LIMIT = hm.limit(SQUARE, HALF, arithmetic="exact")  # nothing is compiled while tests are collected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hm.limit(SQUARE, 0.5),
            "`dynamics` must be a Dynamics, such as Dynamics(0.5), not 0.5.",
        ),
        (
            lambda: hm.simulate(SQUARE, HALF, layers=1, record=hm.LastOnly),
            "`record` must be Every(10), LastOnly()",
        ),
        (
            lambda: hm.simulate(SQUARE, HALF, layers=1, engine="tpu"),
            "`engine` must be Cpu(...), Gpu(), 'cpu', 'gpu'",
        ),
        (lambda: hm.simulate(SQUARE, HALF, layers=1, progress=5), "a function of (done, total)"),
        (lambda: hm.simulate(scipy.sparse.eye(2), HALF, layers=1), "pass its .toarray()."),
        (lambda: hm.simulate([MASKED, MASKED], HALF, layers=1), "fill them with .filled(value)"),
        (lambda: hm.simulate(SQUARE, HALF, layers=10**30), "record=LastOnly()"),
        (lambda: hm.limit([1.0, containing_itself()], HALF), "rows of different lengths?"),
        (
            lambda: hm.Dynamics(1, metric=[1, 2]),
            "`metric` must be a table of shape (n, d), not of shape (2,).",
        ),
        (lambda: hm.TieSlack(-1), "`relative` must be a finite number from 0 up, not -1."),
        (
            lambda: LIMIT.run.save(b"run.npz"),
            "`path` must be the name of a file, a text or a Path, not b'run.npz'.",
        ),
        (
            lambda: hm.check_theorem([LIMIT]),
            "`result` must be what `limit` or `simulate` gave for one cloud",
        ),
        (
            lambda: hm.verify(LIMIT.certificate, effort="10"),
            "`effort` must be a finite number above 0, not '10'.",
        ),
    ],
)
def test_a_message_says_what_to_do(call: Any, message: str):
    with pytest.raises(hm.InputError) as refusal:
        call()
    assert message in str(refusal.value)


@pytest.mark.parametrize("make", [lambda: LIMIT.run.attended(0), lambda: hm.limit([SQUARE], HALF)])
def test_loops_end_where_sequences_do(make: Any):
    sequence = make()
    assert (
        len(list(itertools.islice(iter(sequence), 99)))
        == len(sequence)
        == len(list(reversed(sequence)))
    )
    for error in (IndexError, hm.InputError):
        with pytest.raises(error):
            sequence[len(sequence)]


def test_an_extra_that_is_not_installed_is_named_before_the_work(monkeypatch, tmp_path: Path):
    for module in ("matplotlib", "pandas"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtra,
        match=r"`--picture` needs the extra `figures`: pip install 'hardmax\[figures\]'",
    ):
        limit_command(
            str(tmp_path / "none.csv"), "1/2", picture=str(tmp_path / "limit.png")
        )  # the file is never read
    with pytest.raises(MissingExtra, match="`to_pandas` needs the extra `tables`"):
        LIMIT.run.to_pandas()
