"""Files and standard input: bytes, JSON and npz in, files written whole or not at all; errors are
one line.

`wish` says what was expected; it ends the line of an error.
"""

import io
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hardmax._common.validation import InputError, shorten
from hardmax.certificate import FILE_SIZE

if TYPE_CHECKING:
    import numpy as np

CERTIFICATE = "expected what `hardmax limit --certificate` writes"
ZIP_MAGIC = b"PK\x03\x04"


def shown_name(path: str | Path) -> str:
    """The name of a file in errors; the string `-` is standard input."""
    return "standard input" if path == "-" else f"`{path}`"


def reason(error: OSError) -> str:
    """Why the system refused, in its own words, to be put inside a line."""
    return (error.strerror or type(error).__name__).lower()


def open_bytes(path: str | Path) -> AbstractContextManager[IO[bytes]]:
    """A file or a pipe to read from, or standard input for `-`; devices have no end."""
    if path == "-":
        return nullcontext(sys.stdin.buffer)
    if Path(path).is_char_device() or Path(path).is_block_device():
        raise InputError(f"{shown_name(path)} is a device: expected a file or a pipe.")
    return Path(path).open("rb")


def read_bytes(path: str | Path, wish: str, *, at_most: int | None = None) -> bytes:
    """All of a file, or of standard input for `-`; a file of more than `at_most` bytes is
    refused."""
    name, size = shown_name(path), -1 if at_most is None else at_most + 1
    try:
        with open_bytes(path) as stream:
            data = stream.read(size)
    except FileNotFoundError:
        raise InputError(f"{name} does not exist: {wish}.") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: {wish}.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {reason(error)}.") from None
    if at_most is not None and len(data) > at_most:
        raise InputError(
            f"{name} is larger than {at_most // 2**20} MiB, the most that is read: {wish}."
        )
    return data


def decode(data: bytes, name: str, wish: str) -> str:
    """UTF-8 text, without the byte order mark that some programs put first."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.start} is 0x{data[error.start]:02x}"
        raise InputError(f"{name} is not UTF-8 text ({place}): {wish}.") from None


def read_certificate(path: str | Path, effort: float) -> dict[str, Any]:
    """The certificate of a limit in a file, or on standard input for `-`; a larger effort reads
    larger files."""
    size = int(min(FILE_SIZE * max(1, effort), sys.maxsize - 1))
    data = read_bytes(path, f"{CERTIFICATE}, or a larger `effort`", at_most=size)
    certificate = parse_json(data, shown_name(path), CERTIFICATE)
    if not isinstance(certificate, dict) or "format" not in certificate:
        raise InputError(f"{shown_name(path)} is JSON, but no certificate: {CERTIFICATE}.")
    return certificate


def parse_json(
    data: bytes, name: str, wish: str, *, parse_float: Callable[[str], Any] = float
) -> Any:
    """The JSON document in `data`. No object may have a key twice."""

    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=unique_keys, parse_float=parse_float)
    except RecursionError:
        problem = "nested too deeply"
    except ValueError as error:  # of json and of decoding, and numbers of too many digits
        problem = str(error)
    raise InputError(f"{name} is not JSON that can be read ({problem}): {wish}.")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; readers would differ about one in which a key appears twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return found


def read_arrays(data: bytes, name: str) -> "dict[str, np.ndarray]":
    """The arrays of an npz file by name; that of an npy file is `tokens`. Pickles could run code
    and are refused."""
    import numpy as np

    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"tokens": loaded}
        return dict(loaded)
    except Exception as error:
        # zipfile, zlib, numpy and tokenize have a dozen errors for a broken file.
        raise InputError(
            f"{name} cannot be read as npy or npz: {shorten(str(error), 100)}. Save it again."
        ) from None


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file completely, or leave what was there: no reader ever sees half a file.

    A file that is replaced keeps its permissions, and a link stays a link. Once this returns the
    data are on the disk."""
    target = Path(os.path.realpath(path))  # the file that a link points to is replaced
    if target.exists() and not target.is_file():
        raise InputError(
            f"`{path}` cannot be written: it is not a file. Name a file in an existing folder."
        )
    try:
        with drafted(target) as draft:
            draft.write_bytes(data)
    except OSError as error:
        # It is the folder that must be writable: the new file takes the place of the old one.
        where = f"in the folder `{Path(path).parent}`"
        raise InputError(f"`{path}` cannot be written: {reason(error)} ({where}).") from None


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """A file beside the target, which takes its place at the end of the block unless there was an
    error."""
    draft = target.with_name(f".{target.name[:50]}.hardmax-draft-{secrets.token_hex(4)}")
    try:
        # What replaces a file that others may not read is never readable for them.
        draft.touch(0o600 if target.exists() else 0o666, exist_ok=False)
        yield draft
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        with suppress(OSError):  # it became the file, or was never made
            draft.unlink()


def make_folder(path: Path, name: str) -> Path:
    """A folder, made where there is none, as an absolute path."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{name} `{shorten(str(path))}` cannot be made: {reason(error)}."
        ) from None
    return path.absolute()
