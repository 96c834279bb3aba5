"""A cloud on a cluster of Dask, with workers in processes of their own."""

import os
import signal
import site
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import THOROUGH
from hypothesis import given, settings
from refusals import refuses
from streams.same import assert_same, chunked

import hardmax as hm
from hardmax._common.validation import InputError
from hardmax._streams import chunks

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.check
HALF = hm.Dynamics("1/2")
TOKENS = np.random.default_rng(3).normal(size=(2000, 2)).round(2)


def limit_of(tokens: Any) -> hm.results.StreamedLimit:
    found = hm.limit(tokens, HALF)
    assert_same(found, hm.limit(TOKENS, HALF))
    assert found.n_in_memory < len(TOKENS) / 4
    return found


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.usefixtures("client")
def test_two_workers_have_the_limit_of_one_array():
    @settings(max_examples=300 if THOROUGH else 15)
    @given(chunked())
    def check(problem):
        tokens, dynamics, cuts = problem
        sizes = tuple(np.diff([0, *cuts, len(tokens)]).tolist())
        found = hm.limit(da.from_array(tokens, chunks=(sizes, -1)), dynamics)
        assert_same(found, hm.limit(tokens, dynamics))

    check()


@pytest.mark.usefixtures("client")
def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    def die_once(block, block_info: Any = None):
        if block_info[0]["chunk-location"] == (7, 0) and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    array = da.from_array(TOKENS, chunks=(100, 2)).map_blocks(
        die_once, dtype=float, meta=np.empty((0, 2))
    )
    # What goes out with each block is no mistake of the user's, whatever Dask thinks of its size.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": 1}):
        found = hm.limit(array, HALF)
    assert (tmp_path / "died").exists()
    assert_same(found, hm.limit(TOKENS, HALF))


def test_a_block_that_kills_its_workers_is_said_in_one_line(client, monkeypatch):
    def die(_):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    array = da.from_array(TOKENS, chunks=(100, 2)).map_blocks(
        die, dtype=float, meta=np.empty((0, 2))
    )
    died = r"1 worker of Dask died, .* over a block \(of up to \(100, 2\)\)"
    with pytest.raises(InputError, match=rf"^`tokens`: {died}.* Make blocks smaller, .*\.$"):
        hm.limit(array, HALF)


def test_a_memory_map_that_kills_workers_since_it_is_sent_whole_is_said_in_one_line():
    def die(_):
        raise distributed.scheduler.KilledWorker("original-array-1", None, 3)

    array = da.from_array(TOKENS, chunks=(100, 2)).map_blocks(
        die, dtype=float, meta=np.empty((0, 2))
    )
    died = "4 workers of Dask died, .* over the whole cloud"
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(InputError, match=rf"^`tokens`: {died}.* `da.from_zarr` or .*\.$"),
    ):
        hm.limit(array[array[:, 0] > 0], HALF)


def test_few_blocks_of_limits_are_here_at_once(monkeypatch):
    monkeypatch.setattr(chunks, "_ANSWERED", 400)
    read = []
    array = da.from_array(TOKENS, chunks=(100, 2)).map_blocks(
        lambda block: read.append(len(block)) or block, dtype=float, meta=np.empty((0, 2))
    )
    with dask.config.set(scheduler="synchronous"):
        found = hm.limit(array, HALF)
        assert len(found.clusters)
        read.clear()
        assert len(next(found.chunks())["leader"]) == 100
    assert read == [100, 100]


@pytest.mark.parametrize("other", [None, "9.9"])
def test_workers_need_the_same_package(other, client, tmp_path):
    # A worker whose packages are links to ours, but for this one.
    for package in Path(site.getsitepackages()[0]).iterdir():
        if "hardmax" not in package.name:
            (tmp_path / package.name).symlink_to(package)
    if other is not None:
        (tmp_path / "hardmax-9.9.dist-info").mkdir()
        (tmp_path / "hardmax-9.9.dist-info" / "METADATA").write_text(
            f"Name: hardmax\nVersion: {other}\n"
        )
    command = [
        sys.executable,
        "-S",
        "-m",
        "distributed.cli.dask_worker",
        client.scheduler.address,
        "--no-nanny",
    ]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    worker = subprocess.Popen(
        [*command, "--no-dashboard"], env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    try:
        client.wait_for_workers(3, timeout=600)
        message = "does not have hardmax" if other is None else "has hardmax 9.9"
        with pytest.raises(
            RuntimeError, match=f"{message}, but this process has .* Install the same"
        ):
            hm.limit(da.from_array(TOKENS, chunks=(600, 2)), HALF)
    finally:
        worker.kill()
        worker.wait()


def test_a_scheduler_out_of_reach_is_said():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster.scheduler_address),
    ):
        cluster.close()
        with pytest.raises(RuntimeError, match="scheduler of Dask cannot be reached"):
            hm.limit(da.from_array(TOKENS, chunks=(600, 2)), HALF)


def test_arrays_stay_lazy():
    array = da.from_array(TOKENS, chunks=((300, 0, 1700), (1, 1)))
    found = limit_of(array)
    lazy, lim = found.to_dask(), hm.limit(TOKENS, HALF)
    assert lazy["limit_points"].chunks == ((300, 1700), (2,))
    assert np.array_equal(lazy["limit_points"].compute(), lim.limit_points)
    assert np.array_equal(lazy["cluster"].compute(), lim.clusters.labels)
    run = hm.simulate(array, HALF, layers=3)
    assert run.to_dask()["tokens"].chunks == ((300, 1700), (2,))
    assert np.allclose(
        run.to_dask()["tokens"].compute(),
        hm.simulate(TOKENS, HALF, layers=3).at(3),
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "in blocks"])
def test_masks_of_dask_are_refused_as_they_are_in_memory(columns, declared):
    array, masked = da.from_array(TOKENS, chunks=(300, columns)), np.ma.masked_greater(TOKENS, 2)
    with refuses("not masked entries") as in_memory:
        hm.limit(masked, HALF)
    # Blocks may be masked although their array was not said to be.
    hidden = array.map_blocks(np.ma.masked_greater, 2, meta=np.empty((0, 0)))
    with refuses("not masked entries") as streamed:
        hm.limit(da.ma.masked_greater(array, 2) if declared else hidden, HALF)
    assert str(streamed.value) == str(in_memory.value)
    limit_of(da.ma.masked_greater(array, 100))


@pytest.mark.parametrize("length", [300, np.nan], ids=["declared", "undeclared"])
@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda block: np.hstack([block, block]), r"\(\d+, 4\)"),
        (lambda block: block[:, :1], r"\(\d+, 1\)"),
        (lambda block: block[:, 0], r"\(\d+,\)"),
        (lambda block: None, r"\(\)"),
        (lambda block: block[:, :1] if block[0, 0] > 1 else block, r"\(\d+, 1\)"),
    ],
    ids=["wider", "narrower", "flat", "none", "some narrower"],
)
def test_blocks_of_another_dimension_are_refused(change, shape, length):
    array = da.from_array(TOKENS[:1800], chunks=(300, 2))
    array = array.map_blocks(change, meta=np.empty((0, 0)), chunks=((length,) * 6, (2,)))
    with refuses(rf"^`tokens`: a block .* not {shape}\. Give"):
        hm.limit(array, HALF)


def test_blocks_are_as_long_as_declared_and_those_of_no_declared_length_are_counted():
    array, none = da.from_array(TOKENS, chunks=(300, 2)), np.empty((0, 0))
    with refuses(r"the declared shape \(\d00, 2\), not \(199, 2\)"):
        hm.limit(array.map_blocks(lambda block: block[:199], meta=none), HALF)
    right = hm.limit(array[array[:, 0] > 0], HALF)  # the length of each block is nan
    narrow = hm.limit(array[:, array[0] < 9], HALF)  # and so is this width
    assert_same(right, hm.limit(TOKENS[TOKENS[:, 0] > 0], HALF))
    assert_same(narrow, hm.limit(TOKENS, HALF))
    with refuses(r"that is not empty, not of shape \(0, 2\)"):
        hm.limit(array[array[:, 0] > 99], HALF)


def test_other_collections_of_dask_are_named():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = dd.from_pandas(pd.DataFrame(TOKENS), npartitions=3)
    with refuses(r"not a DataFrame of Dask: .*`\.to_dask_array\(\)`"):
        hm.limit(frame, HALF)
    limit_of(frame.to_dask_array())
