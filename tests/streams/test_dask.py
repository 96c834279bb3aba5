"""A cloud on a cluster of Dask, with workers in processes of their own."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from effort import THOROUGH
from hypothesis import given, settings
from refusals import refuses
from streams.same import assert_same, chunked

import hardmax as hm

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.check
HALF = hm.Dynamics("1/2")
TOKENS = np.random.default_rng(3).normal(size=(2000, 2)).round(2)


def test_two_workers_have_the_limit_of_one_array():
    @settings(max_examples=300 if THOROUGH else 15)
    @given(chunked())
    def check(problem):
        tokens, dynamics, cuts = problem
        sizes = tuple(np.diff([0, *cuts, len(tokens)]).tolist())
        found = hm.limit(da.from_array(tokens, chunks=(sizes, -1)), dynamics)
        assert_same(found, hm.limit(tokens, dynamics))

    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster):
        check()


def test_a_worker_that_is_killed_changes_nothing():
    script = Path(__file__).with_name("killed_worker.py")
    sizes = ["--gigabytes", "0.002", "--block", "5000"]
    command = [sys.executable, str(script), *sizes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "2 kills" in done.stdout) == (0, True), done.stdout + done.stderr


def test_masks_of_dask_are_refused_as_they_are_in_memory():
    array, masked = da.from_array(TOKENS, chunks=(300, 2)), np.ma.masked_greater(TOKENS, 2)
    with refuses("not masked entries") as in_memory:
        hm.limit(masked, HALF)
    # Blocks may be masked although their array was not said to be.
    hidden = array.map_blocks(np.ma.masked_greater, 2, meta=np.empty((0, 0)))
    for tokens in (da.ma.masked_greater(array, 2), hidden):
        with refuses("not masked entries") as streamed:
            hm.limit(tokens, HALF)
        assert str(streamed.value) == str(in_memory.value)


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda block: np.hstack([block, block]), r"\(\d+, 4\)"),
        (lambda block: block[:, 0], r"\(\d+,\)"),
        (lambda block: None, r"\(\)"),
        (lambda block: block[:199], r"\(199, 2\)"),
    ],
    ids=["wider", "flat", "none", "shorter"],
)
def test_blocks_of_another_shape_are_refused(change, shape):
    array = da.from_array(TOKENS[:1800], chunks=(300, 2)).map_blocks(change, meta=np.empty((0, 0)))
    with refuses(rf"^`tokens`: a block .* not {shape}\. Give"):
        hm.limit(array, HALF)


def test_blocks_of_no_declared_length_are_counted():
    array = da.from_array(TOKENS, chunks=(300, 2))
    right = hm.limit(array[array[:, 0] > 0], HALF)  # the length of each block is nan
    assert_same(right, hm.limit(TOKENS[TOKENS[:, 0] > 0], HALF))
    with refuses(r"that is not empty, not of shape \(0, 2\)"):
        hm.limit(array[array[:, 0] > 99], HALF)
    with refuses(r"not of shape \(2000,\)"):
        hm.limit(array[:, 0], HALF)
    with refuses(r"Use \.rechunk"):
        hm.limit(array.rechunk((300, 1)), HALF)
    with refuses("an array has none"):
        hm.limit(array, HALF, columns="x")
