"""Tables in Parquet, read a few megabytes at a time, also where a small file says a large table."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._validation import InputError
from hardmax.text.scoring.arrow import Array, Table, is_text, one_array, pa, parquet, pc
from hardmax.text.scoring.rows import BYTES_AT_ONCE, ROWS_AT_ONCE, Damaged, Rows


@dataclass(eq=False)
class ParquetTable:
    """Parquet in a file, of which the end, where its columns stand, is read."""

    path: Path
    schema: Any = None
    size: int = 0
    count: int | None = None

    def __post_init__(self) -> None:
        self.size = self.path.stat().st_size
        with _named_damage(self.path):
            file = parquet.ParquetFile(self.path)
            schema, self.count = file.schema_arrow, file.metadata.num_rows
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            self._counts = [group.num_rows for group in groups]
        if len(set(schema.names)) != len(schema.names):
            raise InputError(f"`{self.path}` has two columns of one name: expected names that are all different.")
        self.schema = pa.schema([_plain(one) for one in schema], metadata=schema.metadata)

    def rows(self, text: str, skip: int) -> Iterator[Rows]:
        """The rows after the first `skip` of them."""
        number = 0
        for group, count in enumerate(self._counts):
            if number + count > skip:
                for batch in self._batches(group):
                    past = max(0, min(skip - number, len(batch)))
                    yield from self._pieces(batch.slice(past), number + past)
                    number += len(batch)
            else:
                number += count

    def _batches(self, group: int) -> Iterator[Any]:
        with _named_damage(self.path):
            file = parquet.ParquetFile(self.path, pre_buffer=False, page_checksum_verification=True)
            yield from file.iter_batches(batch_size=self._rows_at_once(file, group), row_groups=[group])

    def _rows_at_once(self, file: Any, group: int) -> int:
        """As many rows as fit, by what is stored of a row, and by the longest text that stands there for many rows."""
        stored = file.metadata.row_group(group)
        each = stored.total_byte_size // max(stored.num_rows, 1)
        texts = [one.name for one in self.schema if is_text(one.type)]
        rows = min(ROWS_AT_ONCE, BYTES_AT_ONCE // max(each, 1))
        if texts:
            peeked = parquet.ParquetFile(self.path, pre_buffer=False, read_dictionary=texts)
            first = next(peeked.iter_batches(batch_size=1, row_groups=[group], columns=texts), None)
            for column in first.columns if first is not None else ():
                longest = pc.max(pc.binary_length(column.dictionary)).as_py() or 1
                rows = min(rows, 8 * BYTES_AT_ONCE // longest)
        return max(rows, 1)

    def _pieces(self, batch: Any, number: int) -> Iterator[Rows]:
        sizes = sum((_sizes(column) for column in batch.columns), start=np.full(len(batch), 8, dtype=np.int64))
        reached, first = np.cumsum(sizes), 0
        while first < len(batch):
            before = reached[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(reached, before + BYTES_AT_ONCE, side="right")))
            with _named_damage(self.path):
                table, faults = self._table(batch.slice(first, last - first))
            position = self.size * (number + last) // max(self.count or 0, 1)
            numbers = np.arange(number + first, number + last)
            yield Rows(table, sizes[first:last], numbers, "row", faults=faults, position=position)
            first = last

    def _table(self, batch: Any) -> tuple[Table, dict[int, str]]:
        faults: dict[int, str] = {}
        columns = []
        for column, one in zip(batch.columns, self.schema, strict=True):
            if pa.types.is_dictionary(column.type):
                column = _spelled_out(column)
            if is_text(one.type):
                column = _cleaned(column, faults)
            columns.append(column.cast(one.type))
        return pa.table(columns, schema=self.schema), faults


def _plain(one: Any) -> Any:
    """A column of categories becomes one of what they say: each file has its own."""
    return one.with_type(one.type.value_type) if pa.types.is_dictionary(one.type) else one


def _sizes(column: Array) -> np.ndarray:
    """Bytes that a column has in each row, as far as it is texts."""
    if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
    elif is_text(column.type):
        lengths = pc.binary_length(column)
    else:
        return np.zeros(len(column), dtype=np.int64)
    return pc.fill_null(lengths.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)


def _spelled_out(column: Array) -> Array:
    return one_array(column.dictionary.take(column.indices))


def _cleaned(column: Array, faults: dict[int, str]) -> Array:
    """The texts, where bytes that are not UTF-8 become U+FFFD, and their rows are told."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return column
    found = column.cast(pa.large_binary()).to_pylist()
    texts = [None if data is None else data.decode("utf-8", "replace") for data in found]
    for row, (data, text) in enumerate(zip(found, texts, strict=True)):
        if text is not None and text.encode() != data:
            faults[row] = "not UTF-8"
    return pa.array(texts, column.type)


@contextmanager
def _named_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (InputError, GeneratorExit):
        raise
    except PermissionError:
        raise Damaged(f"`{path}` cannot be read: permission denied.") from None
    except Exception:  # a broken file raises whatever its bytes happen to mean
        raise Damaged(f"`{path}` is not a Parquet file, or a broken one. Save it again.") from None
