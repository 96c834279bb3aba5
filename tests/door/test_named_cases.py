"""Wrong arguments that people have given, and what they are told."""

# pyright: reportArgumentType=false, reportCallIssue=false
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from door.calls import HALF, SQUARE

import hardmax as hm
from hardmax._float.policies import TieSlack
from hardmax._validation import InputIndexError
from hardmax.engines import Cpu, Gpu

RAGGED = hm.Ragged([[1.0], [2.0], [3.0]], offsets=[0, 1, 3])
LIMIT = hm.limit(SQUARE, HALF, arithmetic="exact")  # nothing is compiled while tests are collected
MASKED = np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: hm.limit(SQUARE, 0.5), "`dynamics` must be a Dynamics, such as Dynamics(0.5), not 0.5."),
        (lambda: hm.step(SQUARE, "1/2"), "`dynamics` must be a Dynamics"),
        (lambda: hm.attended(SQUARE, hm.Dynamics), "`dynamics` must be a Dynamics"),
        (lambda: hm.simulate(SQUARE, None, layers=1), "`dynamics` must be a Dynamics"),
        (lambda: hm.simulate(SQUARE, HALF, layers=1, record="first"), "`record` must be Every(10), LastOnly()"),
        (lambda: hm.simulate(SQUARE, HALF, layers=1, record=hm.LastOnly), "`record` must be Every(10), LastOnly()"),
        (lambda: hm.simulate(SQUARE, HALF, stop="never"), "`stop` must be Settled()"),
        (lambda: hm.simulate(SQUARE, HALF, stop=hm.Settled), "`stop` must be Settled()"),
        (lambda: hm.simulate(SQUARE, HALF, layers=1, engine="tpu"), "`engine` must be Cpu(...), Gpu(), 'cpu', 'gpu'"),
        (lambda: hm.Every(memory_limit="4GB"), "`memory_limit` must be a whole number"),
        (lambda: hm.LastOnly(memory_limit=0), "`memory_limit` must be a whole number"),
        (lambda: hm.simulate(SQUARE, HALF, layers=1, progress=True), "`progress` must be None or a function"),
        (lambda: hm.simulate(SQUARE, HALF, layers=1, progress=lambda: None), "a function of (done, total)"),
        (lambda: hm.simulate(np.empty((0, 2, 2)), HALF, layers=1), "`tokens` is empty: a batch needs"),
        (lambda: hm.simulate([], HALF, layers=1), "`tokens` is empty"),
        (lambda: hm.simulate(scipy.sparse.eye(2), HALF, layers=1), "pass its .toarray()."),
        (lambda: hm.simulate(MASKED, HALF, layers=1), "fill them with .filled(value), or leave their rows out."),
        (lambda: hm.simulate(list(MASKED), HALF, layers=1), "fill them with .filled(value)"),
        (lambda: hm.simulate([MASKED, MASKED], HALF, layers=1), "fill them with .filled(value)"),
        (lambda: hm.parse_decimals(list(MASKED)), "fill them with .filled(value)"),
        (lambda: hm.simulate(SQUARE, HALF, layers=10**30), "Use record=LastOnly()."),
        (lambda: hm.Dynamics(1, metric=[1, 2]), "`metric` must be a table of shape (d, d), not of shape (2,)."),
        (lambda: hm.Dynamics(True), "`alpha` must be a finite number"),
        (lambda: TieSlack(math.nan), "`relative` must be a finite number from 0 up, not nan."),
        (lambda: TieSlack(-1), "`relative` must be a finite number from 0 up, not -1."),
        (lambda: LIMIT.distance_to_limit(2.5), "`layer` must be a whole number from 0 up, not 2.5."),
        (lambda: LIMIT.run.save(None), "`path` must be the name of a file, a text or a Path, not None."),
        (lambda: LIMIT.run.save(""), "`path` must be the name of a file"),
        (lambda: LIMIT.run.save(b"run.npz"), "`path` must be the name of a file"),
        (lambda: hm.Trajectory.load(3), "`path` must be the name of a file"),
        (lambda: hm.load(None), "`name_or_path` must be the name of a file"),
        (lambda: hm.check_theorem([LIMIT]), "`result` must be what `limit` or `simulate` gave for one cloud"),
        (lambda: hm.verify(LIMIT.certificate, effort="10"), "`effort` must be a finite number above 0, not '10'."),
        (lambda: Gpu("tpu"), "`device` must be 'cuda'"),
        (lambda: hm.FirstOf(hm.Settled(), 30), "`stop` must be Settled()"),
    ],
)  # fmt: skip
def test_it_is_told_what_to_do(call: Any, told: str):
    with pytest.raises(hm.InputError) as refusal:
        call()
    assert told in str(refusal.value)


def test_texts_are_taken_as_what_they_say():
    run = hm.simulate(SQUARE, HALF, stop="settled", record="last", engine="cpu")
    assert run.stopped == hm.simulate(SQUARE, HALF, stop=hm.Settled(), engine=Cpu()).stopped
    assert run.recorded == (run.layers,)
    assert hm.simulate(SQUARE, HALF, layers=3, record="every").recorded == (0, 1, 2, 3)


def test_a_text_asks_for_the_gpu_as_the_object_does(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(Gpu, "check_present", lambda self: asked.append(self.device))
    with pytest.raises(hm.InputError, match="has no GPU engine"):  # so far it comes without one
        hm.simulate(SQUARE, HALF, layers=1, engine="gpu", arithmetic="float")
    assert asked == ["cuda"]


def test_a_ragged_batch_counts_from_either_end_and_ends():
    assert RAGGED[-1].tolist() == [[2.0], [3.0]]
    assert [cloud.tolist() for cloud in RAGGED] == [[[1.0]], [[2.0], [3.0]]]
    for beyond in (2, -3):
        with pytest.raises(InputIndexError, match="`cloud` must be a whole number below 2"):
            RAGGED[beyond]


@pytest.mark.parametrize(
    "make",
    [
        lambda: RAGGED,
        lambda: LIMIT.kind,
        lambda: LIMIT.run.attended(0),
        lambda: hm.simulate([SQUARE, SQUARE], HALF, layers=1),
        lambda: hm.limit([SQUARE], HALF),
    ],
    ids=["Ragged", "kinds", "AttendedSets", "Trajectories", "Limits"],
)
def test_loops_end_where_sequences_do(make: Callable[[], Any]):
    sequence = make()
    assert len(list(itertools.islice(iter(sequence), 99))) == len(sequence)
    assert len(list(reversed(sequence))) == len(sequence)
    with pytest.raises(IndexError):
        sequence[len(sequence)]
    with pytest.raises(hm.InputError):
        sequence[len(sequence)]


def test_a_stop_and_a_record_of_ones_own_are_as_good_as_ours():
    class AtThree:
        last_layer, when_settled = 3, False

    class Ends:
        def layers(self, last: int) -> tuple[int, int]:
            return (0, last)

        def keeps(self, first: int, until: int) -> bool:
            return first == 0

    assert hm.simulate(SQUARE, HALF, stop=AtThree(), record=Ends()).recorded == (0, 3)


def test_masks_of_nothing_are_taken():
    whole = np.ma.MaskedArray(SQUARE, mask=False)
    assert hm.limit(whole, HALF).points.tolist() == LIMIT.points.tolist()


def test_missing_values_of_a_frame_are_named():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(hm.InputError, match=r"`tokens` must be finite: token 1 is \[nan, 3.0\]"):
        hm.limit(pandas.DataFrame({"x": [1.0, None], "y": [2.0, 3.0]}), HALF)
    with pytest.raises(hm.InputError, match=r"`tokens` must be finite: token 1 is \[nan\]"):
        hm.limit(pandas.DataFrame({"x": [1, pandas.NA]}, dtype="Int64"), HALF)


def test_what_is_written_nowhere_leaves_no_file(tmp_path: Path):
    for path in (tmp_path, tmp_path / "no" / "folder.npz", tmp_path / "run.xyz"):
        with pytest.raises(hm.InputError):
            LIMIT.run.save(path)
    assert list(tmp_path.iterdir()) == []
