"""Tables in CSV, read record by record. Cells stay the texts they are: 007 is not 7.

A row with too many or too few cells is told as bad. Where a quote leaves it uncertain which lines are a row, the file
is refused and the line named: a stray quote swallows nothing.
"""

import csv
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._validation import InputError
from hardmax.text._texts import encode_text
from hardmax.text.scoring.arrow import Array, pa
from hardmax.text.scoring.forms import Form
from hardmax.text.scoring.rows import BYTES_AT_ONCE, ROWS_AT_ONCE, Rows
from hardmax.text.scoring.streams import LONGEST_LINE, opened_lines

_WAY_OUT = "Write a quote inside quotes twice, or save the table as JSON lines"


@dataclass(frozen=True)
class _Record:
    number: int  # its first line
    lines: int
    cells: list[str]
    position: int


@dataclass(eq=False)
class CsvLines:
    """CSV in a file, of which the header is read."""

    path: Path
    form: Form
    schema: Any = None
    size: int = 0
    count: int | None = None
    columns: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.size = self.path.stat().st_size
        with closing(self._records()) as records:
            header = next(records, None)
        names = [name.strip() for name in header.cells] if header else []
        if not header:
            raise InputError(f"`{self.path}` is empty: expected a table of texts.")
        if header.lines > 1 or not any(names) or len(set(names)) != len(names):
            wish = f"expected the names of the columns, all different, on line {header.number}"
            raise InputError(f"`{self.path}` has no header: {wish}.")
        if any(encode_text(name).decode() != name for name in names):
            raise InputError(f"`{self.path}` has a header that is not UTF-8: save the table as UTF-8.")
        self.columns = names
        self.schema = pa.schema([(name, pa.string()) for name in names])

    def rows(self, text: str, skip: int) -> Iterator[Rows]:
        """The rows after the first `skip` of them."""
        some: list[_Record] = []
        size = 0
        for seen, record in enumerate(self._records(), -1):
            if seen < skip:  # the header is the one before the first
                continue
            some.append(record)
            size += sum(map(len, record.cells))
            if len(some) == ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
                yield self._read(some)
                some, size = [], 0
        if some:
            yield self._read(some)

    def _records(self) -> Generator[_Record, None, None]:
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            with opened_lines(self.path, self.form.packing) as (numbered, stored):
                lines = self._lines(numbered)
                start = _until_filled(lines)
                delimiter = "\t" if self.form.tabs or not start else max(",;\t", key=start[-1].count)
                reader = csv.reader(chain(start, lines), delimiter=delimiter, strict=True)
                number = 1
                while (cells := self._next(reader, number)) is not None:
                    if len(cells) > 1 or (cells and (cells[0].strip() or len(self.columns) == 1)):
                        yield _Record(number, reader.line_num - number + 1, cells, stored.tell())
                    number = reader.line_num + 1
        finally:
            csv.field_size_limit(before)

    def _lines(self, lines: Iterator[tuple[int, str | None]]) -> Iterator[str]:
        for number, line in lines:
            if line is None:
                raise InputError(
                    f"`{self.path}` line {number} is longer than {LONGEST_LINE:,} characters: expected CSV."
                )
            yield line

    def _next(self, reader: Any, number: int) -> list[str] | None:
        try:
            return next(reader, None)
        except csv.Error as error:
            raise self._doubt(number, str(error)) from None

    def _read(self, records: list[_Record]) -> Rows:
        width = len(self.columns)
        faults = {row: why for row, record in enumerate(records) if (why := self._fault(record))}
        cells = [record.cells if len(record.cells) == width else [None] * width for record in records]
        return Rows(
            pa.table([_column(column) for column in zip(*cells, strict=True)], schema=self.schema),
            np.array([sum(map(_size, record.cells)) for record in records], dtype=np.int64),
            np.array([record.number for record in records]),
            "line",
            faults=faults,
            position=records[-1].position,
        )

    def _fault(self, record: _Record) -> str:
        if len(record.cells) != len(self.columns):
            why = f"{len(record.cells)} cells instead of {len(self.columns)}"
            if record.lines > 1:
                raise self._doubt(record.number, why)
            return why
        if [cell.strip() for cell in record.cells] == self.columns:
            return "the header again"
        if any("\0" in cell for cell in record.cells):
            return "a NUL byte"
        return "" if all(map(_is_utf_8, record.cells)) else "not UTF-8"

    def _doubt(self, number: int, why: str) -> InputError:
        return InputError(
            f"`{self.path}` line {number}: {why}, and where the next row begins is not certain. {_WAY_OUT}."
        )


def _until_filled(lines: Iterator[str]) -> list[str]:
    """The lines up to the first that is not blank."""
    start: list[str] = []
    for line in lines:
        start.append(line)
        if line.strip():
            break
    return start


def _is_utf_8(cell: str) -> bool:
    if cell.isascii():
        return True
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True


def _size(cell: str) -> int:
    return len(cell) if cell.isascii() else len(encode_text(cell))


def _column(cells: tuple[str | None, ...]) -> Array:
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError:
        return pa.array([None if cell is None else encode_text(cell).decode() for cell in cells], pa.string())
