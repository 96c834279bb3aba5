"""Arrays from the bytes of npy and npz files. Pickles, which could run code, are never opened."""

import io
from typing import Any

import numpy as np

from hardmax.errors import InputError

NPY_MAGIC, ZIP_MAGIC = b"\x93NUMPY", b"PK\x03\x04"


def read_array(data: bytes, name: str) -> np.ndarray:
    """The array of an npy file; `name` is for errors."""
    return _load(data, name, "npy", NPY_MAGIC, "numpy.save")


def read_arrays(data: bytes, name: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file by name; `name` is for errors."""
    return _load(data, name, "npz", ZIP_MAGIC, "numpy.savez")


def _load(data: bytes, name: str, kind: str, magic: bytes, writer: str) -> Any:
    if not data.startswith(magic):
        raise InputError(f"{name} is not an {kind} file: expected one that {writer} wrote.")
    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except Exception as error:  # numpy, zipfile, zlib and tokenize have a dozen names for a broken file
        if "allow_pickle" in str(error):
            raise InputError(f"{name} holds pickled objects, which could run code: save numbers instead.") from None
        raise InputError(f"{name} is broken: it cannot be read as {kind}. Save it again.") from None
