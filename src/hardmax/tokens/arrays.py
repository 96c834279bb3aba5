"""Arrays from the bytes of npy and npz files. Pickles, which could run code, are never opened; and a small file cannot
ask for large memory: what an array or an archive says of its size is looked at before any of it is unpacked.
"""

import io
import zipfile
from math import prod

import numpy as np
from numpy.lib import format as npy

from hardmax.errors import InputError
from hardmax.tokens.reading import check_unpacked

NPY_MAGIC, ZIP_MAGIC = b"\x93NUMPY", b"PK\x03\x04"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_array(data: bytes, name: str) -> np.ndarray:
    """The array of an npy file; `name` is for errors."""
    if not data.startswith(NPY_MAGIC):
        raise InputError(f"{name} is not an npy file: expected one that numpy.save wrote.")
    try:
        return _array(data, name)
    except InputError:
        raise
    except Exception:  # numpy and tokenize have a dozen names for a broken header
        raise _broken(name, "npy") from None


def read_arrays(data: bytes, name: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file by name; `name` is for errors.

    They may unpack to 256 MiB, or to 100 times the size of the file if that is more; the environment variable
    HARDMAX_UNPACKED_LIMIT, in bytes, allows another size.
    """
    if not data.startswith(ZIP_MAGIC):
        raise InputError(f"{name} is not an npz file: expected one that numpy.savez wrote.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, len(data), name)
            return {member.filename.removesuffix(".npy"): _array(_unpack(archive, member), name) for member in members}
    except InputError:
        raise
    except Exception:  # zipfile, zlib, numpy and tokenize have a dozen names for a broken file
        raise _broken(name, "npz") from None


def _check_members(members: list[zipfile.ZipInfo], stored: int, name: str) -> None:
    # Other ways of packing are unpacked in pieces of any size.
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise InputError(f"{name} is packed in an unusual way: expected an archive that numpy.savez_compressed wrote.")
    if len({member.filename for member in members}) != len(members):
        raise InputError(f"{name} holds two arrays of one name. Save it again.")
    check_unpacked(sum(member.file_size for member in members), stored, name)


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as stream:
        # Up to the size that it says, and checked against its sum: who says less than there is, is broken.
        return stream.read(member.file_size + 1)


def _array(data: bytes, name: str) -> np.ndarray:
    stream = io.BytesIO(data)
    shape, is_fortran, dtype = _HEADERS[npy.read_magic(stream)](stream)
    if dtype.hasobject:
        raise InputError(f"{name} holds pickled objects, which could run code: save numbers instead.")
    count, start = prod(shape), stream.tell()
    if count * dtype.itemsize != len(data) - start or min(shape, default=0) < 0:
        raise ValueError("an array of another size than its header says")
    array = np.frombuffer(data, dtype, count, start) if count * dtype.itemsize else np.empty(count, dtype)
    # A copy, since what is read may be written on.
    return array.reshape(shape, order="F" if is_fortran else "C").copy(order="K")


def _broken(name: str, kind: str) -> InputError:
    return InputError(f"{name} is broken: it cannot be read as {kind}. Save it again.")
