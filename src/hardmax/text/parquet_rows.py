"""Rows of Parquet files. A small file can say a large one: every size is looked at before it is made."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hardmax.errors import InputError, MissingExtra
from hardmax.text.csv_rows import Row
from hardmax.tokens.reading import check_unpacked

# What a row takes in memory at least, whatever it says: a text, a label and their places in lists.
ROW_BYTES = 64
_BATCH = 4096


def read_parquet(path: Path) -> tuple[list[str], Callable[[str, str], Iterator[Row]]]:
    """The columns of a Parquet file, and what gives the rows of two of them."""
    columns = list(_open(path, []).schema_arrow.names)
    if len(set(columns)) != len(columns):
        raise InputError(f"`{path}` has two columns of one name: expected names that are all different.")
    return columns, lambda text, label: _rows(path, [text, label])


def _rows(path: Path, columns: list[str]) -> Iterator[Row]:
    arrow = _arrow()
    schema = _open(path, []).schema_arrow
    # A text that stands in the file once, for a million rows, stays one text.
    texts = [name for name in columns if _is_text(schema.field(name).type)]
    file, stored, seen, number = _open(path, texts), path.stat().st_size, 0, 0
    _check_metadata(file.metadata, columns, path, stored)
    try:
        for batch in file.iter_batches(batch_size=_BATCH, columns=list(dict.fromkeys(columns))):
            cells = {name: _cells(batch.column(name)) for name in columns}
            seen += sum(len(cell) for column in cells.values() for cell in column if isinstance(cell, str))
            seen += batch.num_rows * ROW_BYTES
            check_unpacked(seen, stored, f"`{path}`")
            for row in zip(*cells.values(), strict=True):
                yield Row(f"row {number}", dict(zip(cells, row, strict=True)))
                number += 1
    except (arrow.ArrowException, OSError, UnicodeDecodeError):
        raise _broken(path) from None


def _check_metadata(metadata: Any, columns: list[str], path: Path, stored: int) -> None:
    size = metadata.num_rows * ROW_BYTES
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            # Of a nested column the path goes on after the name.
            if any(f"{column.path_in_schema}.".startswith(f"{name}.") for name in columns):
                size += column.total_uncompressed_size
    check_unpacked(size, stored, f"`{path}`")


def _open(path: Path, texts: list[str]) -> Any:
    arrow = _arrow()
    try:
        return arrow.parquet.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True)
    except (arrow.ArrowException, OSError):
        raise _broken(path) from None


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Reading Parquet", "tables") from None
    return pyarrow


def _broken(path: Path) -> InputError:
    return InputError(f"`{path}` is not a Parquet file, or a broken one. Save it again.")


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
