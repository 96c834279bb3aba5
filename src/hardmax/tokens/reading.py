"""Bytes, text and JSON from a file or standard input, and one clear line for whatever is wrong with them.

`wish` is what the line says was expected; it ends the line. Nothing here needs numpy, so that a command that only reads
does not wait for it.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hardmax.certificate import FILE_SIZE
from hardmax.errors import InputError

CERTIFICATE = "expected what `hardmax limit --certificate` writes"
UNPACKED_LIMIT = "HARDMAX_UNPACKED_LIMIT"
# What can stand where a document breaks off: the beginning of a word, of a number, or of an escaped character.
_UNFINISHED = re.compile(
    r"t(r(ue?)?)?|f(a(l(se?)?)?)?|n(u(ll?)?)?|N(aN?)?|-?(I[nfity]{0,7})?|\.|(\.\d+)?[eE][-+]?|u[0-9a-fA-F]{0,4}"
)


class _RepeatedKey(Exception):
    """Two values for one key: which of them is meant, the file does not say."""


def shown_name(path: str | Path) -> str:
    """How errors speak of a file; the text `-` is standard input.

    >>> shown_name("points.csv"), shown_name("-")
    ('`points.csv`', 'standard input')
    """
    return "standard input" if path == "-" else f"`{path}`"


def reason(error: OSError) -> str:
    """Why the system refused, in its own words, ready to stand inside a line."""
    return (error.strerror or type(error).__name__).lower()


def read_bytes(path: str | Path, wish: str, *, at_most: int | None = None, way_out: str = "") -> bytes:
    """All that is in a file, or on standard input for `-`; nothing beyond `at_most` bytes is read.

    `way_out` tells those who have a larger file what lets more be read.
    """
    name, size = shown_name(path), -1 if at_most is None else at_most + 1
    try:
        if path == "-":
            data = sys.stdin.buffer.read(size)
        else:
            with Path(path).open("rb") as stream:
                data = stream.read(size)
    except FileNotFoundError:
        raise InputError(f"{name} does not exist: {wish}.") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: {wish}.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {reason(error)}.") from None
    if at_most is not None and len(data) > at_most:
        raise InputError(f"{name} is larger than {_size(at_most)}, the most that is read{way_out}: {wish}.")
    return data


def check_unpacked(size: int, stored: int, name: str) -> None:
    """Refuses what would be far larger in memory than in its file: more than 256 MiB, and 100 times its size there.

    The environment variable HARDMAX_UNPACKED_LIMIT, in bytes, allows another size.
    """
    at_most = _unpacked_limit(stored)
    if size > at_most:
        more = f"{UNPACKED_LIMIT}={size} allows it"
        raise InputError(f"{name} unpacks to {_size(size)}, and at most {_size(at_most)} is read of it: {more}.")


def _unpacked_limit(stored: int) -> int:
    said = os.environ.get(UNPACKED_LIMIT, "")
    if said and not (said.isascii() and said.isdigit() and len(said) < 20):
        raise InputError(f"{UNPACKED_LIMIT} must be a number of bytes, not {said!r:.60}.")
    return int(said) if said else max(256 * 2**20, 100 * stored)


def decode(data: bytes, name: str, wish: str) -> str:
    """The text that the bytes are in UTF-8, without the mark of byte order that some programs put first."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.start} is 0x{data[error.start]:02x}"
        raise InputError(f"{name} is not UTF-8 text ({place}): {wish}.") from None


def read_json(path: str | Path, wish: str, *, at_most: int | None = None) -> Any:
    """What the JSON in a file, or on standard input for `-`, says."""
    return parse_json(read_bytes(path, wish, at_most=at_most), shown_name(path), wish)


def read_certificate(path: str | Path, effort: float) -> dict[str, Any]:
    """The certificate of a limit in a file, or on standard input for `-`; a larger effort reads larger files."""
    size = int(min(FILE_SIZE * max(1, effort), sys.maxsize - 1))
    data = read_bytes(path, CERTIFICATE, at_most=size, way_out=" (more with a larger `effort=` or `--effort`)")
    certificate = parse_json(data, shown_name(path), CERTIFICATE)
    if not isinstance(certificate, dict) or "format" not in certificate:
        raise InputError(f"{shown_name(path)} is JSON, but no certificate: {CERTIFICATE}.")
    return certificate


def parse_json(
    data: bytes, name: str, wish: str, *, object_hook: Callable[[dict[str, Any]], Any] = dict, **hooks: Any
) -> Any:
    """What the JSON in `data` says; hooks are those of `json.loads`. No object may have a key twice.

    >>> parse_json(b'{"alpha": 0.1}', "`run.json`", "expected a run", parse_float=str)
    {'alpha': '0.1'}
    >>> parse_json(b'{"alpha": 0.', "`run.json`", "expected a run")
    Traceback (most recent call last):
    hardmax.errors.InputError: `run.json` breaks off (line 1, column 12: Expecting ',' delimiter): expected a run.
    """

    def said(pairs: list[tuple[str, Any]]) -> Any:
        return object_hook(_once(pairs))

    if not data.strip():
        raise InputError(f"{name} is empty: {wish}.")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=said, **hooks)
    except json.JSONDecodeError as error:
        what = "breaks off" if _breaks_off(error) else "is not JSON"
        complaint = f"{what} (line {error.lineno}, column {error.colno}: {error.msg})"
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        complaint = f"{'breaks off' if cut else 'is not JSON'} (byte {error.start} is 0x{data[error.start]:02x})"
    except _RepeatedKey as error:
        complaint = f"has the key {error.args[0]!r:.60} twice in one object"
    except RecursionError:
        complaint = "is nested too deeply"
    except ValueError as error:
        if "digits" not in str(error):  # what a hook found is for its owner to say
            raise
        complaint = "is not JSON that can be read (a number has too many digits)"
    raise InputError(f"{name} {complaint}: {wish}.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKey(key)
        found[key] = value
    return found


def _breaks_off(error: json.JSONDecodeError) -> bool:
    rest = error.doc[error.pos :].strip()
    return error.msg.startswith("Unterminated string") or _UNFINISHED.fullmatch(rest) is not None


def _size(count: int) -> str:
    return f"{count // 2**20} MiB" if count >= 2**20 else f"{count} bytes"
