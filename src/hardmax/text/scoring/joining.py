"""Kept parts joined into one file, each as soon as it is kept: the same bytes, whoever made them when.

Each part of a Parquet file becomes a row group. Those of CSV and JSON lines are put one after the other. Of zstd many
programs read the first frame only, so that parts are packed here, into one.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from hardmax.text.scoring.arrow import Schema, Table, ipc, pa, parquet
from hardmax.text.scoring.forms import Form
from hardmax.text.scoring.writing import header

_BLOCK = 1 << 20


class Joiner(Protocol):
    """Writes parts one after the other."""

    def add(self, table: Table, data: bytes) -> None:
        """Write a part that was just made: its rows, and the bytes in which it is kept."""
        ...

    def add_kept(self, path: Path) -> None:
        """Write a part that is kept in a file."""
        ...


@contextmanager
def joining(schema: Schema, form: Form, out: IO[bytes]) -> Iterator[Joiner]:
    """What writes the parts of a file to `out`; when the block is over, all of it is written."""
    if form.kind == "parquet":
        with parquet.ParquetWriter(out, schema, compression="zstd", compression_level=1) as writer:
            yield _RowGroups(writer)
        return
    with _packing(form, out) as stream:
        stream.write(header(schema, form))
        yield _Bytes(stream)


@dataclass(frozen=True)
class _RowGroups:
    writer: Any

    def add(self, table: Table, data: bytes) -> None:
        if len(table):
            self.writer.write_table(table.combine_chunks(), row_group_size=len(table))

    def add_kept(self, path: Path) -> None:
        with ipc.open_file(str(path)) as reader:
            self.add(reader.read_all(), b"")


@dataclass(frozen=True)
class _Bytes:
    out: Any

    def add(self, table: Table, data: bytes) -> None:
        self.out.write(data)

    def add_kept(self, path: Path) -> None:
        with path.open("rb") as stream:
            shutil.copyfileobj(stream, self.out, _BLOCK)


@contextmanager
def _packing(form: Form, out: IO[bytes]) -> Iterator[Any]:
    if form.packing != "zstd":
        yield out
        return
    # It closes what it writes to, and `out` is still to be put on the disk.
    other = os.fdopen(os.dup(out.fileno()), "wb")
    with closing(pa.CompressedOutputStream(pa.PythonFile(other, mode="w"), "zstd")) as packed:
        yield packed
