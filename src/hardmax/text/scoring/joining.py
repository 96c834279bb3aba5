"""Kept parts joined into one file, each as soon as it is kept: the same bytes, whoever made them when.

Each part of a Parquet file becomes a row group. Those of CSV and JSON lines are put one after the other. Of zstd many
programs read the first frame only, so that parts are packed here, into one.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from hardmax.text.scoring.arrow import Schema, ipc, pa, parquet
from hardmax.text.scoring.forms import Form
from hardmax.text.scoring.writing import header

_BLOCK = 1 << 20

Append = Callable[[Path], None]
"""Writes a part after those before it."""


@contextmanager
def joining(schema: Schema, form: Form, out: IO[bytes]) -> Iterator[Append]:
    """What writes the parts of a file to `out`; when the block is over, all of it is written."""
    if form.kind == "parquet":
        with parquet.ParquetWriter(out, schema, compression="zstd", compression_level=1) as writer:
            yield lambda path: _append_rows(path, writer)
        return
    with _packing(form, out) as stream:
        stream.write(header(schema, form))
        yield lambda path: _append_bytes(path, stream)


def _append_rows(path: Path, writer: Any) -> None:
    with ipc.open_file(str(path)) as reader:
        table = reader.read_all()
    if len(table):
        writer.write_table(table.combine_chunks(), row_group_size=len(table))


def _append_bytes(path: Path, out: Any) -> None:
    with path.open("rb") as stream:
        shutil.copyfileobj(stream, out, _BLOCK)


@contextmanager
def _packing(form: Form, out: IO[bytes]) -> Iterator[Any]:
    if form.packing != "zstd":
        yield out
        return
    # It closes what it writes to, and `out` is still to be put on the disk.
    other = os.fdopen(os.dup(out.fileno()), "wb")
    with closing(pa.CompressedOutputStream(pa.PythonFile(other, mode="w"), "zstd")) as packed:
        yield packed
