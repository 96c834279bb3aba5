"""Archives that are not what torch.save writes: refused in one line, before anything is unpacked."""

import io
import zipfile
from pathlib import Path

import pytest
from paper.authors.making import archive, members, small_file

from hardmax._validation import InputError
from hardmax.paper.authors.archive import MOST_MEMBERS, read_members
from hardmax.paper.authors.weights import read_weights


def refusal(data: bytes) -> str:
    with pytest.raises(InputError) as raised:
        read_members(data, "`x.pth`")
    assert "\n" not in str(raised.value)
    return str(raised.value)


def zipped(*files: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as written:
        for name, data in files:
            written.writestr(zipfile.ZipInfo(name), data, compression)
    return buffer.getvalue()


def test_members_are_what_was_written_under_any_folder():
    assert read_members(archive(members(), root="model_d=2_epoch=100"), "`x`") == members()


@pytest.mark.parametrize("data", [b"", b"PK", b"\x80\x02}.", b"not a zip", bytes(1000)])
def test_what_is_no_zip_is_refused(data: bytes):
    assert "is not a zip archive" in refusal(data)


@pytest.mark.parametrize(
    "name",
    [
        *("data.pkl", "../data.pkl", "x/../data.pkl", "/etc/passwd", "x//data.pkl", "x/./data.pkl", "x\\data.pkl"),
        *("x/data.pkl/", "x/a/b/c/d", "x/" + "a" * 300),
    ],
)
def test_names_that_lead_elsewhere_are_refused(name: str):
    assert "holds a file called" in refusal(zipped((name, b"")))


def test_a_name_that_the_central_directory_does_not_know_is_refused():
    data = archive({"data.pkl": b"N"})
    assert "is broken" in refusal(data.replace(b"model/data.pkl", b"model/data.pkX", 1))


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_compressed_is_refused(way: int):
    assert "is compressed" in refusal(archive({"data.pkl": bytes(10**7)}, compression=way))


def test_two_files_of_one_name_are_refused():
    data = zipped(("x/data.pkl", b"1"), ("x/data.pkL", b"2")).replace(b"data.pkL", b"data.pkl")
    assert "two files called 'x/data.pkl'" in refusal(data)


def test_two_folders_are_refused():
    assert "more than one folder" in refusal(zipped(("x/data.pkl", b""), ("y/version", b"")))


def test_too_many_files_and_none_are_refused():
    assert f"holds {MOST_MEMBERS + 1} files" in refusal(archive({str(k): b"" for k in range(MOST_MEMBERS + 1)}))
    assert "is not a zip archive" in refusal(archive({}))


def test_what_is_encrypted_is_refused():
    data = bytearray(archive({"data.pkl": b"N"}))
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags] |= 1
    assert "is encrypted" in refusal(bytes(data))


def test_files_that_share_their_bytes_are_refused():
    data = archive({str(k): bytes(1000) for k in range(2)})
    first, second = data.index(b"PK\x01\x02"), data.rindex(b"PK\x01\x02")
    both = bytearray(data)
    both[second + 42 : second + 46] = both[first + 42 : first + 46]  # where the file begins
    assert "is broken" in refusal(bytes(both))  # its name is not the one that stands there
    many = zipped(*((f"x/{k:02}", bytes(1000)) for k in range(20)))
    start = many.index(b"PK\x01\x02")
    end = many.index(b"PK\x05\x06")
    tail = bytearray(many[end:])
    tail[16:20] = (1038).to_bytes(4, "little")  # the directory follows the first file at once
    assert "holds more than it has" in refusal(many[:1038] + many[start:end] + bytes(tail))


@pytest.mark.parametrize("lost", ["data.pkl", "data/0", "data/3"])
def test_a_file_that_is_not_there_is_named(lost: str, tmp_path: Path):
    with pytest.raises(InputError, match=lost):
        read_weights(small_file(tmp_path, **{lost: None}))


def test_a_changed_byte_is_noticed():
    data = archive(members())
    place = data.index(members()["data/0"])
    assert "is broken" in refusal(data[:place] + b"\x01" + data[place + 1 :])


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_what_is_cut_off_is_refused(share: float):
    data = archive(members())
    assert "is broken" in refusal(data[: int(len(data) * share)])
