"""Rows of CSV and TSV files. Every line is read, told as lost, or the file is refused: a stray quote swallows nothing.

A quote too many makes all lines up to the next quote one cell. Where that breaks the rules of CSV, or gives another
number of cells, only the line with the quote is lost, if it is certain that the next line begins a row. That is so in
files without texts of several lines, and otherwise where a label that other rows have stands at the edge: at the end of
the line, or, in files with the text after the label, at the start of the next one. Where it is not certain the file is
refused, and the line named.
"""

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hardmax.errors import InputError


@dataclass(frozen=True)
class Row:
    """The cells of a row by column, or its fault."""

    place: str
    cells: dict[str, Any] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True)
class _Record:
    """What the rules of CSV make one row: the lines `first` to `last`, their cells, or why there are none."""

    first: int
    last: int
    cells: list[str]
    fault: str = ""


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The lines of a file with a header, as `csv` would read them."""

    path: Path
    lines: list[str]  # each with its end
    delimiter: str
    columns: list[str]
    header: int  # its line, from 0

    @staticmethod
    def of(path: Path, text: str) -> "CsvTable":
        """The table in a text; its header must name the columns on the first line that is not blank."""
        lines = list(io.StringIO(text, newline=""))
        first = next(number for number, line in enumerate(lines) if line.strip())
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=lines[first].count)
        with _cells_of_any_size():
            header = next(_records(lines, first, delimiter))
        names = [name.strip() for name in header.cells]
        if header.fault or header.last > first or not any(names) or len(set(names)) != len(names):
            wish = f"expected the names of the columns, all different, on line {first + 1}"
            raise InputError(f"`{path}` has no header: {wish}.")
        return CsvTable(path, lines, delimiter, names, first)

    def rows(self, text: str, label: str) -> Iterator[Row]:
        """Every row after the header, of which the columns `text` and `label` are asked for."""
        with _cells_of_any_size():
            records = list(_records(self.lines, self.header + 1, self.delimiter))
            if not any(self._is_odd(record) or record.last > record.first for record in records):
                yield from map(self._row, records)
                return
            yield from self._doubted_rows(_Edges(self, *map(self.columns.index, (text, label))))

    def _doubted_rows(self, edges: "_Edges") -> Iterator[Row]:
        records = _records(self.lines, self.header + 1, self.delimiter)
        while (record := next(records, None)) is not None:
            edges.check(record)
            if not self._is_odd(record):
                yield self._row(record)
                continue
            yield Row(f"line {record.first + 1}", fault=record.fault or self._miscounted(record))
            if record.fault or (record.last > record.first and edges.end_row(record.first)):
                records = _records(self.lines, record.first + 1, self.delimiter)

    def _is_odd(self, record: _Record) -> bool:
        return bool(record.fault) or len(record.cells) != len(self.columns)

    def _row(self, record: _Record) -> Row:
        place = f"line {record.first + 1}"
        if [cell.strip() for cell in record.cells] == self.columns:
            return Row(place, fault="the header again")
        if any("\0" in cell for cell in record.cells):
            return Row(place, fault="a NUL byte")
        return Row(place, dict(zip(self.columns, record.cells, strict=True)))

    def _miscounted(self, record: _Record) -> str:
        return f"{len(record.cells)} cells instead of {len(self.columns)}"


class _Edges:
    """Where rows end, as their labels tell."""

    def __init__(self, table: CsvTable, text: int, label: int) -> None:
        self.table, self.label, self.label_is_later = table, label, text < label
        self.width, self.lines = len(table.columns), table.lines
        filled = [number for number, line in enumerate(self.lines) if line.strip()]
        self.before = dict(zip(filled[1:], filled, strict=False))
        self.after = dict(zip(filled, filled[1:], strict=False))
        self.known = self._known()
        self.rows_are_lines = not any(map(self._is_long_row, self._all_records()))

    def check(self, record: _Record) -> None:
        """Refuses a file in which a quote leaves it uncertain where the rows are."""
        if record.last > record.first and not record.fault and self._look_like_rows(record):
            raise self._doubt(record, "a quoted cell goes on over lines that look like rows")
        if self.rows_are_lines or not self._has_quote(record) or (not record.fault and self._is_sound(record)):
            return
        if not (self._begins_row(record.first) and self.end_row(record.first if record.fault else record.last)):
            raise self._doubt(record, record.fault or "a quote that is not at the edge of a cell")

    def end_row(self, line: int) -> bool:
        """Whether a row certainly ends with this line."""
        later = self.after.get(line)
        if self.rows_are_lines or later is None:
            return True
        return self._says_label(line if self.label_is_later else later)

    def _begins_row(self, line: int) -> bool:
        earlier = self.before[line]  # the header is before all
        return earlier == self.table.header or self.end_row(earlier)

    def _says_label(self, line: int) -> bool:
        cells = self.lines[line].replace('"', "").rstrip("\r\n").split(self.table.delimiter)
        place = self.label - self.width if self.label_is_later else self.label
        return len(cells) >= self.width and cells[place] in self.known

    def _look_like_rows(self, record: _Record) -> bool:
        """Whether the lines of a record look like a row each: the first of them, and most of the others."""
        inside = range(record.first, record.last) if self.label_is_later else range(record.first + 1, record.last + 1)
        rows = [self._says_label(line) for line in inside if self.lines[line].strip()]
        return rows[:1] == [True] and 2 * sum(rows) > len(rows)

    def _is_long_row(self, record: _Record) -> bool:
        if record.last == record.first or record.fault or len(record.cells) != self.width:
            return False
        return record.cells[self.label] in self.known and not self._look_like_rows(record)

    def _all_records(self) -> Iterator[_Record]:
        start: int | None = self.table.header + 1
        while start is not None:
            broken = None
            for record in _records(self.lines, start, self.table.delimiter):
                yield record
                broken = record if record.fault else None
            start = broken.first + 1 if broken else None

    def _known(self) -> frozenset[str]:
        """The labels of at least two lines that are rows by themselves, beyond doubt."""
        sound = (line for line in self.lines if self._sound_row.fullmatch(line))
        rows = csv.reader(sound, delimiter=self.table.delimiter)
        counts = Counter(row[self.label] for row in rows if row)
        return frozenset(label for label, count in counts.items() if count > 1 and label.strip())

    def _has_quote(self, record: _Record) -> bool:
        return any('"' in line for line in self.lines[record.first : record.last + 1])

    def _is_sound(self, record: _Record) -> bool:
        return self._sound_row.fullmatch("".join(self.lines[record.first : record.last + 1])) is not None

    @cached_property
    def _sound_row(self) -> re.Pattern[str]:
        mark = re.escape(self.table.delimiter)
        cell = rf'(?:[^"{mark}\r\n]*|"[^"]*(?:""[^"]*)*")'
        return re.compile(rf"\ufeff?{cell}(?:{mark}{cell}){{{self.width - 1}}}[\r\n]*")

    def _doubt(self, record: _Record, why: str) -> InputError:
        way_out = "Write a quote inside quotes twice, or save the data as JSON lines"
        place = f"`{self.table.path}` line {record.first + 1}"
        return InputError(f"{place}: {why}, and where the next row begins is not certain. {way_out}.")


def _records(lines: list[str], start: int, delimiter: str) -> Iterator[_Record]:
    """The records from a line on; after one that breaks the rules there are no more."""
    # Files that were put one after the other have a mark of byte order before each.
    there = (lines[number].removeprefix("\ufeff") for number in range(start, len(lines)))
    reader = csv.reader(there, delimiter=delimiter, strict=True)
    while True:
        first = start + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield _Record(first, start + reader.line_num - 1, [], f"broken line, {error}")
            return
        if cells:
            yield _Record(first, start + reader.line_num - 1, cells)


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
