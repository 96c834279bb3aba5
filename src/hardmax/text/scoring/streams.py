"""Bytes and lines of files, unpacked on the way; no more of them in memory than a line."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

from hardmax._files import reason
from hardmax._validation import InputError
from hardmax.text.scoring.arrow import pa
from hardmax.text.scoring.forms import Form, Packing
from hardmax.text.scoring.rows import Damaged

LONGEST_LINE = 1 << 26  # characters
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def unpacked(path: Path, packing: Packing) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """(content, stored): the bytes of a file unpacked, and as they are stored, whose place tells how far it is read."""
    with named_damage(path), path.open("rb") as stored:
        if packing == "gzip":
            yield cast(IO[bytes], gzip.GzipFile(fileobj=stored)), stored
        elif packing == "zstd":
            yield cast(IO[bytes], BufferedReader(_Zstd(stored), 1 << 16)), stored
        else:
            yield stored, stored


@contextmanager
def named_damage(path: Path) -> Iterator[None]:
    """Whatever goes wrong with the bytes of a file becomes one line that names it."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"`{path}` does not exist: expected a table of texts.") from None
    except PermissionError as error:
        raise Damaged(f"`{path}` cannot be read: {reason(error)}.") from None
    except (OSError, EOFError, zlib.error, pa.ArrowException):
        raise Damaged(f"`{path}` is damaged, or breaks off. Save it again.") from None


@contextmanager
def opened_lines(path: Path, packing: Packing) -> Iterator[tuple[Iterator[tuple[int, str | None]], IO[bytes]]]:
    """(lines, stored): the lines of a file with their ends and numbers, from 1; None for one that is too long. What is
    no UTF-8 in them becomes surrogates, so that their rows can be told."""
    with (
        unpacked(path, packing) as (content, stored),
        TextIOWrapper(content, encoding="utf-8", errors="surrogateescape", newline="") as stream,
    ):
        yield _numbered(stream, path), stored


def _numbered(stream: TextIOWrapper, path: Path) -> Iterator[tuple[int, str | None]]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if number == 1 and line.encode("utf-8", "surrogateescape").startswith(_UTF_16):
            raise InputError(f"`{path}` is UTF-16 text: save it as UTF-8.")
        if len(line) < LONGEST_LINE or line.endswith(("\n", "\r")):
            yield number, line.removeprefix("\ufeff")  # files put one after the other have a mark before each
            continue
        while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(("\n", "\r")):
            pass
        yield number, None


def first_bytes(path: Path, form: Form, count: int = 1 << 12) -> bytes:
    """How a file begins, unpacked."""
    with unpacked(path, form.packing) as (content, _):
        return content.read(count)


class _Zstd(RawIOBase):
    """A stream of zstd unpacked, for `io`: one that breaks off is an error, as it is of gzip."""

    def __init__(self, stored: IO[bytes]) -> None:
        self.stream: Any = pa.CompressedInputStream(pa.PythonFile(stored, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
