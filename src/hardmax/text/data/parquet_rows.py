"""Rows of Parquet files. A small file can say a large one: every size is looked at before it is made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardmax._validation import InputError, MissingExtra
from hardmax.text.data.csv_rows import Row

# What a row takes in memory at least, whatever it says: a text, a label and their places in lists.
ROW_BYTES = 64
_BATCH = 4096


def read_parquet(path: Path) -> tuple[list[str], Callable[..., Iterator[Row]]]:
    """The columns of a Parquet file, and what gives the rows of some of them."""
    with _damage_named(path):
        columns = list(_open(path, []).schema_arrow.names)
    if len(set(columns)) != len(columns):
        raise InputError(f"`{path}` has two columns of one name: expected names that are all different.")
    return columns, lambda *asked: _rows(path, list(dict.fromkeys(asked)))


def _rows(path: Path, columns: list[str]) -> Iterator[Row]:
    stored, seen, number = path.stat().st_size, 0, 0
    with _damage_named(path):
        file = _open(path, columns)
        size = _declared_size(file.metadata, columns)
    _check_unpacked(size, stored, f"`{path}`")
    for cells in _batches(file, columns, path):
        seen += sum(_size(cell) for column in cells for cell in column)
        seen += len(cells[0]) * ROW_BYTES
        _check_unpacked(seen, stored, f"`{path}`")
        for row in zip(*cells, strict=True):
            yield Row(f"row {number}", dict(zip(columns, row, strict=True)))
            number += 1


def _size(cell: Any) -> int:
    if isinstance(cell, str):
        return len(cell)
    return len(cell) * ROW_BYTES if isinstance(cell, list) else 0


def _batches(file: Any, columns: list[str], path: Path) -> Iterator[list[list[Any]]]:
    with _damage_named(path):
        for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
            yield [_cells(batch.column(name)) for name in columns]


def _declared_size(metadata: Any, columns: list[str]) -> int:
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    stored = (column for group in groups for column in map(group.column, range(group.num_columns)))
    # Of a nested column the path goes on after the name.
    wanted = (column for column in stored if any(f"{column.path_in_schema}.".startswith(f"{n}.") for n in columns))
    return metadata.num_rows * ROW_BYTES + sum(column.total_uncompressed_size for column in wanted)


def _open(path: Path, columns: list[str]) -> Any:
    parquet = _arrow().parquet
    file = parquet.ParquetFile(path, page_checksum_verification=True)
    # A text that stands in the file once, for a million rows, stays one text.
    texts = [name for name in columns if _is_text(file.schema_arrow.field(name).type)]
    return parquet.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True) if texts else file


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Reading Parquet", "tables") from None
    return pyarrow


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except MissingExtra:
        raise
    except Exception:  # a broken file raises whatever its bytes happen to mean
        raise InputError(f"`{path}` is not a Parquet file, or a broken one. Save it again.") from None


def _is_text(kind: Any) -> bool:
    types = _arrow().types
    return types.is_string(kind) or types.is_large_string(kind)


def _cells(column: Any) -> list[Any]:
    if not (_arrow().types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return column.to_pylist()
    words = column.dictionary
    chosen = column.indices.to_pylist()
    # A batch may have the words of a whole group of rows.
    said = {index: _text(words[index]) for index in set(chosen) if index is not None}
    return [said.get(index) for index in chosen]


def _text(word: Any) -> str | None:
    buffer = word.as_buffer()
    # Bytes that are not UTF-8 become surrogates, so that their rows can be told.
    return None if buffer is None else buffer.to_pybytes().decode("utf-8", "surrogateescape")


def _check_unpacked(size: int, stored: int, name: str) -> None:
    """Refuse what would be far larger in memory than in its file: over 256 MiB, and 100 times its size there."""
    at_most = max(256 * 2**20, 100 * stored)
    if size > at_most:
        read = f"at most {at_most // 2**20} MiB is read"
        raise InputError(f"{name} unpacks to {size // 2**20} MiB, and {read}: save it as CSV.")
