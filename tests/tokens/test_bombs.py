"""Small files that say large ones are refused in one line, before memory is taken."""

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hardmax as hm
from hardmax._validation import InputError
from hardmax.io import read_cloud
from hardmax.text.data.corpora import read_corpus

LITTLE = 8 * 2**20


def refused(read: Callable[[], object], words: str) -> None:
    """One line, and little memory on the way to it."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=words) as caught:
            read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert peak < LITTLE, f"{peak / 2**20:.0f} MiB"


def npy_header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def archive(path: Path, *members: bytes, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as made:
        for number, member in enumerate(members):
            made.writestr(f"{'tokens' if number == 0 else number}.npy", member)
    return path


def zeros(megabytes: int) -> bytes:
    return npy_header((megabytes * 2**17, 1)) + bytes(megabytes * 2**20)


def saying(path: Path, size: int) -> Path:
    """An archive of one member, which says that it unpacks to that size."""
    with zipfile.ZipFile(path) as made:
        true = struct.pack("<L", made.infolist()[0].file_size)
    path.write_bytes(path.read_bytes().replace(true, struct.pack("<L", size)))
    return path


def test_an_archive_that_blows_up_is_refused_by_what_it_says(tmp_path: Path):
    bomb = saying(archive(tmp_path / "a.npz", zeros(1)), 300 * 2**20)
    refused(lambda: read_cloud(bomb), r"unpacks to 300 MiB, and at most 256 MiB is read of it: HARDMAX_UNPACKED_LIMIT=")
    refused(lambda: hm.Trajectory.load(bomb), "unpacks to 300 MiB")
    refused(lambda: hm.Trajectories.load(bomb), "unpacks to 300 MiB")


def test_the_limit_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = archive(tmp_path / "a.npz", zeros(1))
    assert len(read_cloud(path)) == 2**17
    monkeypatch.setenv("HARDMAX_UNPACKED_LIMIT", "1000000")
    refused(lambda: read_cloud(path), "unpacks to 1 MiB, and at most 1000000 bytes")
    monkeypatch.setenv("HARDMAX_UNPACKED_LIMIT", str(2**20 + 1000))
    assert len(read_cloud(path)) == 2**17
    monkeypatch.setenv("HARDMAX_UNPACKED_LIMIT", "lots")
    refused(lambda: read_cloud(path), "HARDMAX_UNPACKED_LIMIT must be a number of bytes, not 'lots'")


def test_an_archive_that_says_less_than_it_holds_is_broken(tmp_path: Path):
    liar = saying(archive(tmp_path / "a.npz", zeros(20)), 999)
    refused(lambda: read_cloud(liar), "is broken")


def test_many_members_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HARDMAX_UNPACKED_LIMIT", str(4 * 2**20))
    path = archive(tmp_path / "a.npz", *[zeros(1)] * 5)
    refused(lambda: read_cloud(path), "unpacks to 5 MiB, and at most 4 MiB")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_of_packing_that_numpy_does_not_write_are_refused(tmp_path: Path, packing: int):
    path = archive(tmp_path / "a.npz", zeros(1), packing=packing)
    refused(lambda: read_cloud(path), "packed in an unusual way")


@pytest.mark.parametrize("shape", [(10**12, 2), (10**18, 10**18), (-1, 2), (0, 10**18)])
def test_a_header_that_says_more_than_there_is_is_broken(tmp_path: Path, shape: tuple[int, ...]):
    (tmp_path / "a.npy").write_bytes(npy_header(shape) + bytes(64))
    refused(lambda: read_cloud(tmp_path / "a.npy"), "is broken")
    refused(lambda: read_cloud(archive(tmp_path / "a.npz", npy_header(shape) + bytes(64))), "is broken")


def test_arrays_come_back_as_numpy_wrote_them(tmp_path: Path):
    table = np.arange(6.0).reshape(2, 3)
    for number, array in enumerate((table, np.asfortranarray(table), table[:, ::2], table.astype(">f4"))):
        np.savez_compressed(tmp_path / f"{number}.npz", tokens=array)
        np.save(tmp_path / f"{number}.npy", array)
        for suffix in ("npz", "npy"):
            cloud = read_cloud(tmp_path / f"{number}.{suffix}")
            assert isinstance(cloud, np.ndarray)
            assert cloud.tolist() == array.tolist()


def test_a_header_of_no_end_is_broken(tmp_path: Path):
    header = b"(" * 60_000
    data = b"\x93NUMPY\x02\x00" + struct.pack("<L", len(header)) + header
    (tmp_path / "a.npy").write_bytes(data)
    refused(lambda: read_cloud(tmp_path / "a.npy"), "is broken")


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_without_end_is_refused(tmp_path: Path, opening: str):
    (tmp_path / "a.json").write_text(opening * 100_000)
    refused(lambda: read_cloud(tmp_path / "a.json"), "nested too deeply")
    (tmp_path / "a.jsonl").write_text(f'{opening * 100_000}\n{{"text": "good", "label": 1}}\n')
    assert [row.reason for row in read_corpus(tmp_path / "a.jsonl").bad] == ["nested too deeply"]


# ---------------------------------------------------------------- Parquet


def parquet(path: Path, **columns) -> Path:
    pyarrow, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    writer.write_table(pyarrow.table(columns), path, compression="zstd")
    return path


def test_one_text_for_ten_thousand_rows_is_not_written_out(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow")
    long = pyarrow.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), ["word " * 20_000])
    path = parquet(tmp_path / "a.parquet", text=long, label=["pos", "neg"] * 5000)
    assert path.stat().st_size < 2**20
    refused(lambda: read_corpus(path), r"unpacks to \d+ MiB, and at most 256 MiB")


def test_pages_of_nothing_are_refused_by_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = parquet(tmp_path / "a.parquet", text=["x" * 3_000_000, "y"], label=["pos", "neg"])
    monkeypatch.setenv("HARDMAX_UNPACKED_LIMIT", "1000000")
    refused(lambda: read_corpus(path), r"unpacks to \d MiB, and at most 1000000 bytes")


def test_rows_without_end_are_refused_by_what_they_say(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow")
    nothing = pyarrow.nulls(10_000_000, pyarrow.string())
    path = parquet(tmp_path / "a.parquet", text=nothing, label=nothing)
    assert path.stat().st_size < 2**20
    refused(lambda: read_corpus(path), r"unpacks to \d+ MiB")


def test_columns_that_nobody_asked_for_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = parquet(tmp_path / "a.parquet", text=["good", "bad"], label=[1, 0], other=["x" * 3_000_000, "y"])
    monkeypatch.setenv("HARDMAX_UNPACKED_LIMIT", "1000000")
    assert read_corpus(path).texts == ["good", "bad"]
