"""Files are read or refused in one line, and written whole or not at all."""

import io
import json
import os
import stat
import struct
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
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
    (tmp_path / "endless").symlink_to("/dev/zero")
    with refuses("endless` is a device: expected a file or a pipe"):
        read_bytes(tmp_path / "endless", WISH)
    pipe = io.BytesIO(bytes(2**20 + 1000))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
    with refuses("standard input is larger than 1 MiB, the most that is read: expected"):
        read_bytes("-", WISH, at_most=2**20)
    assert pipe.tell() == 2**20 + 1


def test_pipes_are_read(tmp_path, monkeypatch):
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


def test_arrays_that_are_broken_are_refused():
    for data in (
        npy((10**12, 2), 64),
        b"\x93NUMPY\x02\x00" + struct.pack("<L", 60_000) + b"(" * 60_000,
        b"1,2\n",
    ):
        with refuses(r"^`a`.*npy.*\.$"):
            read_arrays(data, "`a`")


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
    assert seen == [0o600]  # private before it is whole
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"second"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    write_whole(tmp_path / ("名" * 85), b"as long as names can be")
    assert len(list(tmp_path.iterdir())) == 3


def test_when_writing_fails_the_old_file_is_still_there_and_nothing_else(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with refuses(r"out\.json` cannot be written: no space left on device"):
        write_whole(path, b"new")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [
        ("out.json", b"old")
    ]
    with refuses(r"cannot be written: no such file .*in the folder `.*nowhere`"):
        write_whole(tmp_path / "nowhere" / "out.json", b"data")
    with refuses("not a file"):
        write_whole(tmp_path, b"data")


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
