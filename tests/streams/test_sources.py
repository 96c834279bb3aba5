"""Everything that tokens can be streamed from, and what is refused."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from refusals import refuses
from streams.same import assert_same

import hardmax as hm
from hardmax._streams import chunks, passes

HALF = hm.Dynamics("1/2")
TOKENS = np.random.default_rng(3).normal(size=(2000, 2)).round(2)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "COORDINATES", 500)


@pytest.fixture
def folder(tmp_path):
    """Three Parquet files, of which one is empty."""
    (tmp_path / "points").mkdir()
    for number, part in enumerate(np.split(TOKENS, [700, 700])):
        table = pa.table({"x": part[:, 0], "y": part[:, 1]})
        parquet.write_table(table, tmp_path / "points" / f"{number}.parquet", row_group_size=300)
    return tmp_path / "points"


def assert_streams(tokens: Any) -> hm.results.StreamedLimit:
    found = hm.limit(tokens, HALF)
    assert isinstance(found, hm.results.StreamedLimit)
    assert_same(found, hm.limit(TOKENS, HALF))
    assert found.n_in_memory < len(TOKENS) / 4
    return found


def test_a_memory_map(tmp_path):
    np.save(tmp_path / "points.npy", TOKENS)
    found = assert_streams(np.load(tmp_path / "points.npy", mmap_mode="r"))
    assert len(list(found.chunks())) == 8
    assert repr(found).startswith("StreamedLimit(2,000 tokens in 2 dimensions: ")


def test_parquet_by_folder_pattern_and_dataset(folder):
    whole = dataset.dataset(folder, format="parquet")
    for source in (folder, str(folder), str(folder / "*.parquet"), whole):
        assert_streams(source)


def test_what_was_read_of_a_parquet_file_does_not_stay_in_memory(tmp_path):
    numbers = tmp_path / "numbers.parquet"
    column = np.random.default_rng(0).normal(size=2**18)
    parquet.write_table(pa.table({"x": column}), numbers, row_group_size=2**12)
    before, size = pa.total_allocated_bytes(), numbers.stat().st_size
    read = chunks.open_chunks(numbers, None).map(lambda *_: pa.total_allocated_bytes())
    assert list(read)[-1] - before < size / 4


def test_a_parquet_file_of_integers_and_narrow_floats(tmp_path):
    whole = (100 * TOKENS).round()
    table = pa.table({"x": whole[:, 0].astype(np.int16), "y": whole[:, 1].astype(np.float32)})
    parquet.write_table(table, tmp_path / "one.parquet")
    assert_same(hm.limit(tmp_path / "one.parquet", HALF), hm.limit(whole, HALF))


def test_parts_are_written_whole(folder, tmp_path, told):
    found = hm.limit(folder, HALF)
    assert ("tokens", len(TOKENS), len(TOKENS)) in told
    found.write(tmp_path / "limits")
    table, lim = parquet.read_table(tmp_path / "limits"), hm.limit(TOKENS, HALF)
    assert table.column_names == ["token", "z0", "z1", "leader", "cluster"]
    assert table["token"].to_pylist() == list(range(len(TOKENS)))
    assert np.array_equal(np.column_stack([table["z0"], table["z1"]]), lim.limit_points)
    with refuses("must be new or empty"):
        found.write(tmp_path / "limits")


def test_what_is_too_much_is_said(folder, monkeypatch):
    monkeypatch.setattr(passes, "MOST", 40)
    rng = np.random.default_rng(0)
    clouds = {
        "on the boundary of their hull": hm.clouds.polygon(50).astype(float),
        "a token at 0": np.vstack([np.zeros(2), rng.normal(size=(50, 2))]),
        "up to 4 dimensions, not 5": rng.normal(size=(50, 5)),
    }
    for reason, tokens in clouds.items():
        table = pa.table({f"z{axis}": column for axis, column in enumerate(tokens.T)})
        parquet.write_table(table, folder / "3.parquet", row_group_size=30)
        monkeypatch.setattr(chunks, "COORDINATES", 60)
        most = 40 // tokens.shape[1]
        with refuses(rf"memory together, but the most is {most} distinct ones:.*{reason}"):
            hm.limit(folder / "3.parquet", HALF)


def test_what_is_no_cloud_is_refused(folder, tmp_path):
    write = parquet.write_table
    write(pa.table({"x": [1.0, None]}), tmp_path / "missing.parquet")
    write(pa.table({"x": ["1"]}), tmp_path / "text.parquet")
    write(pa.table({"x": [2**53 + 1]}), tmp_path / "long.parquet")
    write(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "empty.parquet")
    (tmp_path / "broken.parquet").write_text("no")
    for name, message in {
        "missing.parquet": r"must be finite: token 1 is \[nan\]",
        "text.parquet": "must be floats or integers",
        "long.parquet": r"below 2\^53",
        "empty.parquet": "is empty",
        "broken.parquet": "cannot be read as Parquet",
        "nowhere/*.parquet": "does not exist",
    }.items():
        with refuses(message):
            hm.limit(tmp_path / name, HALF)
    refused: list[dict[str, Any]] = [{"arithmetic": "exact"}, {"engine": hm.Cpu(threads=1)}]
    for options in refused:
        with refuses("chunk by chunk needs"):
            hm.limit(folder, HALF, **options)
    with refuses("symmetric positive definite"):
        hm.limit(folder, hm.Dynamics(1, metric=[[1, 0], [0, -1]]))
    with refuses("2 coordinates"):
        hm.limit(folder, hm.Dynamics(1, metric=[[1]]))


def test_a_limit_that_was_not_reached_is_none(folder):
    found = hm.limit(folder, HALF, max_layers=0)
    assert found.settled_at is None
    with refuses("has not settled"):
        list(found.chunks())
