"""Clouds from files, and results into files: whole or not at all.

A text file says decimals, so its numbers are read as the decimals they are written as: `0.1` is 1/10, not the
nearest binary fraction. npy and npz files hold floats, and those are what they are.
"""

import errno
import gc
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from operator import ne
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hardmax.checking import a_text, file_path
from hardmax.errors import InputError
from hardmax.tokens.arrays import NPY_MAGIC, ZIP_MAGIC, read_array, read_arrays
from hardmax.tokens.batches import Ragged
from hardmax.tokens.columns import read_columns
from hardmax.tokens.decimals import fractions_array, is_number, read_numbers
from hardmax.tokens.reading import decode, parse_json, read_bytes, reason, shown_name

Table: TypeAlias = np.ndarray  # (n, d), float64 or Fractions

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".json": "json",
    ".npy": "npy",
    ".npz": "npz",
}
WISH, JSON_WISH = "expected a file of tokens, or `-` for standard input", "expected [[0, 1], [1, 0]]"
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


def read_cloud(path: str | Path, *, format: str | None = None) -> Table | list[Table] | Ragged:
    """The tokens in a file, or on standard input for `-`: one cloud, or several.

    | form | one cloud | several clouds |
    |---|---|---|
    | CSV, TSV, text in columns | a token a line; header, blank lines and `#` comments allowed | |
    | JSON | list of rows, or `{"tokens": rows}` | list of lists of rows, or as in npz |
    | npy | shape (n, d) | shape (B, n, d) |
    | npz | the only array, or `tokens` | the same, or `tokens` with `offsets` (and `multiplicities`) |

    `format` ("csv", "json", "npy" or "npz") overrules the suffix. Decimals have a point: `1,5` is refused where it
    stands for one number. An npz file may unpack to 256 MiB, or to 100 times its own size if that is more; the
    environment variable HARDMAX_UNPACKED_LIMIT, in bytes, allows another size.
    """
    file_path(path)
    name, data = shown_name(path), read_bytes(path, WISH)
    if not data.strip():
        raise InputError(f"{name} is empty: expected one token per line, its coordinates separated by commas.")
    with _no_garbage_search():
        return _READERS[_format(path, data, name, format)](data, name)


def read_metric(text: str, name: str = "`metric`") -> list[list[Fraction]]:
    """The rows of a matrix, written out as `2,1;1,1` or kept in a file that `read_cloud` reads; `name` is for errors.

    >>> read_metric("2,1/2;1/2,1")
    [[Fraction(2, 1), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 1)]]
    """
    text = a_text(text, name)
    matrix = read_cloud(text) if _is_there(text) else _written_matrix(text, name)
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2:
        raise InputError(f"{name} in `{text}` holds several matrices: expected one, a row per line.")
    return [[Fraction(entry) for entry in row] for row in matrix.tolist()]


def write_whole(path: str | Path, data: bytes) -> None:
    """Writes the file completely, or leaves what was there: no reader ever meets half a file.

    A file that is replaced keeps its permissions, and a link stays a link. Once this returns the data are on the disk.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: the file it points to is replaced
    if target.exists() and not target.is_file():
        raise InputError(f"`{path}` cannot be written: it is not a file. Name a file in an existing folder.")
    short_name = os.fsencode(target.name)[:200].decode(errors="ignore")  # systems count bytes, up to 255
    draft = target.with_name(f".{short_name}.{secrets.token_hex(4)}.part")
    try:
        # What replaces a file that others may not read is never readable for them.
        draft.touch(0o600 if target.exists() else 0o666, exist_ok=False)
        with draft.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"`{path}` cannot be written: {_why_not(path, target, error)}.") from None
    finally:
        with suppress(OSError):  # it became the file, or was never made
            draft.unlink()


def sync_folder(folder: Path) -> None:
    """Put on the disk which files are in the folder, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _why_not(path: str | Path, target: Path, error: OSError) -> str:
    folder = Path(path).parent
    if not target.parent.is_dir():
        return f"the folder `{folder}` does not exist"
    # It is the folder that must be writable: the new file takes the place of the old one.
    return f"no new file can be made in the folder `{folder}`" if error.errno == errno.EACCES else reason(error)


# ---------------------------------------------------------------- what the bytes are


def _format(path: str | Path, data: bytes, name: str, format: str | None) -> str:
    if format is not None:
        if format not in _READERS:
            raise InputError(f"`format` must be one of {', '.join(_READERS)}, not {format!r}.")
        return format
    suffix = Path(path).suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    if suffix:
        raise InputError(f"{name} has the suffix {suffix!r}: expected one of {', '.join(FORMATS)}.")
    # Standard input and pipes have no suffix; their first bytes tell.
    if data.startswith(NPY_MAGIC):
        return "npy"
    if data.startswith(ZIP_MAGIC):
        return "npz"
    return "json" if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{") else "csv"


def _decode(data: bytes, name: str) -> str:
    text = decode(data, name, "save it as UTF-8, or as .npy")
    if "\0" in text:
        raise InputError(f"{name} holds binary data where text belongs: save it as UTF-8, or as .npy.")
    return text


@contextmanager
def _no_garbage_search() -> Iterator[None]:
    # A reader makes millions of small objects, all of them wanted; searching them for garbage takes half of its time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


# ---------------------------------------------------------------- text in columns


def _read_csv(data: bytes, name: str) -> Table:
    return read_columns(_decode(data, name), name)


def _is_there(text: str) -> bool:
    try:
        return text != "" and Path(text).exists()
    except OSError:  # a long matrix is too long for a name
        return False


def _written_matrix(text: str, name: str) -> Table:
    rows = [row.split(",") for row in text.strip().strip(";").split(";")]
    if not any(is_number(cell) for row in rows for cell in row):
        wish = "expected rows such as '2,1;1,1', or a file that holds them"
        raise InputError(f"{name} `{text}` is neither a matrix nor a file: {wish}.")
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise InputError(f"{name} row {number} has {len(row)} entries: expected {width} as in row 1.")

    def place(cell: int) -> str:
        return f"{name} row {cell // width + 1}, column {cell % width + 1}"

    return read_numbers([cell for row in rows for cell in row], place).reshape(len(rows), width)


# ---------------------------------------------------------------- JSON


def _read_json(data: bytes, name: str) -> Table | list[Table] | Ragged:
    # Numbers stay the text they are: a float would be rounded before anyone could tell.
    found = parse_json(data, name, JSON_WISH, parse_float=str, parse_int=str, parse_constant=str)
    if isinstance(found, dict):
        if "tokens" not in found:
            raise InputError(f"{name} has no key 'tokens': expected {{\"tokens\": [[0, 1], [1, 0]]}}.")
        if "offsets" in found:
            counts = found.get("multiplicities")
            whole = None if counts is None else _whole_numbers(counts, f"{name} multiplicities")
            return Ragged(_table(found["tokens"], name), _whole_numbers(found["offsets"], f"{name} offsets"), whole)
        found = found["tokens"]
    if _is_list_of_lists(found) and any(map(_is_list_of_lists, found)):
        return [_table(cloud, f"{name} cloud {number}") for number, cloud in enumerate(found)]
    return _table(found, name)


def _is_list_of_lists(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(inner, list) for inner in value)


def _whole_numbers(values: Any, name: str) -> np.ndarray:
    if not isinstance(values, list) or not all(isinstance(text, str) and _WHOLE.fullmatch(text) for text in values):
        raise InputError(f"{name} must be a list of whole numbers from 0 up.")
    return np.array([int(text) for text in values], dtype=np.int64)


def _table(rows: Any, name: str) -> Table:
    if rows == []:
        raise InputError(f"{name} holds no tokens: {JSON_WISH}.")
    if not _is_list_of_lists(rows):
        raise InputError(f"{name} must be a list of tokens, each a list of numbers: {JSON_WISH}.")
    width = len(rows[0])
    if width == 0:
        raise InputError(f"{name} token 0 has no coordinates: {JSON_WISH}.")
    for token, row in enumerate(rows):
        if len(row) != width:
            raise InputError(f"{name} token {token} has {len(row)} coordinates: expected {width} as in token 0.")

    def place(cell: int) -> str:
        return f"{name} token {cell // width}, coordinate {cell % width}"

    return read_numbers([cell for row in rows for cell in row], place).reshape(len(rows), width)


# ---------------------------------------------------------------- npy and npz


def _read_npy(data: bytes, name: str) -> Table:
    return _stored_table(read_array(data, name), name)


def _read_npz(data: bytes, name: str) -> Table | Ragged:
    arrays = read_arrays(data, name)
    if len(arrays) != 1 and "tokens" not in arrays:
        raise InputError(f"{name} holds the arrays {', '.join(sorted(arrays)) or '(none)'}: expected `tokens`.")
    tokens = _stored_table(arrays.get("tokens", next(iter(arrays.values()))), name)
    if "offsets" not in arrays:
        return tokens
    return Ragged(tokens, arrays["offsets"], arrays.get("multiplicities"))


def _stored_table(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InputError(f"{name} holds {array.dtype} values: expected float64.")
    if array.ndim not in (2, 3):
        raise InputError(f"{name} holds an array of shape {array.shape}: expected (n, d), or (clouds, n, d).")
    if 0 in array.shape:
        raise InputError(f"{name} holds no tokens: its array has shape {array.shape}.")
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        *cloud, token, coordinate = np.argwhere(~np.isfinite(floats))[0].tolist()
        place = f"cloud {cloud[0]}, token {token}" if cloud else f"token {token}"
        value = floats[*cloud, token, coordinate]
        raise InputError(f"{name} {place}, coordinate {coordinate} is {value}: expected a finite number.")
    # Integers reach past 2^53, where float64 leaves some out.
    integers = array.ravel().tolist() if array.dtype.kind in "iu" else []
    if any(map(ne, floats.ravel().tolist(), integers)):
        return fractions_array([Fraction(integer) for integer in integers]).reshape(array.shape)
    return floats


_READERS = {"csv": _read_csv, "json": _read_json, "npy": _read_npy, "npz": _read_npz}
