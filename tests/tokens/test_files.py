"""Files are read or refused in one line, small ones that unpack to large ones too, and written
whole or not at all."""

import io
import json
import os
import stat
import struct
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import listed_refusals, refuses

from hardmax._common.files import (
    decode,
    parse_json,
    read_arrays,
    read_bytes,
    write_whole,
)

WISH = "expected a shopping list"
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def npy(shape: tuple[int, ...], size: int) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue() + bytes(size)


@settings(max_examples=100)
@given(DOCUMENTS, st.data())
def test_json_comes_back_and_a_part_of_it_is_refused(document, data):
    whole = json.dumps({"it": document}).encode()
    read = parse_json(whole, "`a.json`", WISH)
    assert json.dumps(read).encode() == whole  # as text, since nan is not equal to itself
    with refuses(f"^`a.json` is not JSON.*{WISH}.$"):
        parse_json(whole[: data.draw(st.integers(1, len(whole) - 1))], "`a.json`", WISH)


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    for path, words in {"nowhere": "nowhere` does not exist", ".": "is a folder"}.items():
        with refuses(rf"{words}: expected a shopping list\.$"):
            read_bytes(tmp_path / path, WISH)
    with refuses(r"^`a\.txt` is not UTF-8 text \(byte 4 is 0xff\): expected a shopping"):
        decode(b"milk\xff", "`a.txt`", WISH)
    pipe = io.BytesIO(bytes(2**20 + 1000))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
    with refuses("standard input is larger than 1 MiB, the most that is read: expected"):
        read_bytes("-", WISH, at_most=2**20)
    assert pipe.tell() == 2**20 + 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no such devices")
def test_devices_are_refused_and_pipes_are_read(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in ("/dev/full", tmp_path / "link"):
        with refuses("is a device, not a file or a pipe: expected a shopping list"):
            read_bytes(path, WISH)
    with Path("/dev/zero").open("rb") as endless, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=endless))
        with refuses("^standard input is a device"):
            read_bytes("-", WISH)
    reader, writer = os.pipe()
    os.write(writer, b"milk")
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
        assert read_bytes("-", WISH) == b"milk"
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        pool.submit((tmp_path / "pipe").write_bytes, b"milk")
        assert read_bytes(tmp_path / "pipe", WISH) == b"milk"


KILLED = """
import os, pathlib, sys
from hardmax._common.files import drafted
with drafted(pathlib.Path(sys.argv[1])) as draft:
    draft.write_bytes(b"half")
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are not known by number")
def test_what_a_killed_process_was_writing_is_removed_and_nothing_else(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "out.csv")], check=False)
    (draft,) = tmp_path.iterdir()
    assert draft.name.startswith(".out.csv.hardmax-draft-")
    machine, killed, token = draft.name.rpartition("draft-")[2].split("-")
    others = [
        tmp_path / f".out.csv.hardmax-draft-{machine}-{os.getpid()}-{token}",
        tmp_path / f".out.csv.hardmax-draft-elsewhere-{killed}-{token}",
        tmp_path / f".mine-{machine}-{killed}-{token}",
    ]
    for other in others:
        other.write_bytes(b"half")
    write_whole(tmp_path / "another.csv", b"whole")
    assert {*tmp_path.iterdir()} == {*others, tmp_path / "another.csv"}


def test_arrays_that_are_broken_are_refused():
    for data in (
        npy((10**12, 2), 64),
        b"\x93NUMPY\x02\x00" + struct.pack("<L", 60_000) + b"(" * 60_000,
        b"1,2\n",
    ):
        with refuses(r"^`a`.*npy.*\.$"):
            read_arrays(data, "`a`")


def test_a_file_that_unpacks_to_a_thousand_times_its_size_is_refused_before_it_is_unpacked():
    """One of 2 MB once took 1.6 GB."""

    def packed(*shape):
        buffer = io.BytesIO()
        np.savez_compressed(buffer, tokens=np.zeros(shape))
        return buffer.getvalue()

    data = packed(2**22, 3)
    assert len(data) < 2**17
    tracemalloc.start()
    try:
        with refuses(r"would unpack to 96 MiB, over 100 times"):
            read_arrays(data, "`a`")
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert read_arrays(packed(2**16, 3), "`a`")["tokens"].shape == (2**16, 3)


def test_pickles_are_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    buffer = io.BytesIO()
    np.save(buffer, np.array([[Trap()]], dtype=object), allow_pickle=True)
    with refuses("allow_pickle=False"):
        read_arrays(buffer.getvalue(), "`a`")
    assert not (tmp_path / "sprung").exists()


def test_a_file_is_replaced_with_its_rights_and_through_links(tmp_path, monkeypatch):
    write_whole(tmp_path / "real", b"first")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    seen = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: seen.append(stat.S_IMODE(os.fstat(handle).st_mode))
    )
    write_whole(tmp_path / "link", b"second")
    assert seen[0] == 0o600  # private before it is whole
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"second"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    write_whole(tmp_path / ("名" * 85), b"as long as names can be")
    assert len(list(tmp_path.iterdir())) == 3


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
