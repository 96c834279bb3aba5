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
from itertools import pairwise
from pathlib import Path
from typing import Any

from hardmax._validation import InputError


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

    def rows(self, text: str, label: str, *others: str) -> Iterator[Row]:
        """Every row after the header, of which the columns `text`, `label` and maybe others are asked for."""
        with _cells_of_any_size():
            records = list(_records(self.lines, self.header + 1, self.delimiter))
            if any(self._is_odd(record) or record.last > record.first for record in records):
                rows = self._doubted_rows(_Edges(self, *map(self.columns.index, (text, label))))
            else:
                rows = map(self._row, records)
            yield from self._unless_cut(rows, label)

    def _unless_cut(self, rows: Iterator[Row], label: str) -> Iterator[Row]:
        """The rows; the last of them not if its label is the beginning of another one, where the file breaks off."""
        if self.lines[-1].endswith(("\r", "\n")) or label != self.columns[-1]:
            yield from rows
            return
        seen, last = set(), None
        for row in rows:
            if last:
                seen.add(last.cells.get(label, ""))
                yield last
            last = row
        if last:
            name = last.cells.get(label, "")
            is_cut = name and name not in seen and any(other.startswith(name) for other in seen)
            yield Row(last.place, fault="the file breaks off here") if is_cut else last

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
        self.after = dict(pairwise(filled))
        self.before = {later: earlier for earlier, later in self.after.items()}
        rows = [record for record in self._all_records() if len(record.cells) == self.width]
        sound = list(filter(self._is_sound, rows))
        # Many write quotes into texts without quotes around them: then no row is sound, and all are believed.
        self.known = self._labels(sound or [record for record in rows if record.last == record.first])
        self.rows_are_lines = not any(map(self._is_long_row, sound))

    def check(self, record: _Record) -> None:
        """Refuses a file in which a quote leaves it uncertain where the rows are."""
        if record.last > record.first and not record.fault and self._look_like_rows(record):
            raise self._doubt(record, "a quoted cell goes on over lines that look like rows")
        if not self._has_quote(record) or (not record.fault and self._is_sound(record)):
            return
        if self.rows_are_lines:
            # Unless the only text of several lines is this one: then what follows is a part of it.
            is_certain = len(record.cells) == self.width or self._says_end(record.first) or self._is_row_next(record)
        else:
            last = record.first if record.fault else record.last
            is_certain = self._begins_row(record.first) and self._says_end(last)
        if not is_certain:
            raise self._doubt(record, record.fault or "a quote that is not at the edge of a cell")

    def end_row(self, line: int) -> bool:
        """Whether a row ends with this line."""
        return self.rows_are_lines or self._says_end(line)

    def _says_end(self, line: int) -> bool:
        """Whether a label says that a row ends with this line."""
        later = self.after.get(line)
        return later is None or self._says_label(line if self.label_is_later else later)

    def _begins_row(self, line: int) -> bool:
        earlier = self.before[line]  # the header is before all
        return earlier == self.table.header or '"' not in self.lines[earlier] or self._says_end(earlier)

    def _is_row_next(self, record: _Record) -> bool:
        return self._sound_row.fullmatch(self.lines[self.after[record.first]]) is not None

    def _says_label(self, line: int) -> bool:
        cells = self.lines[line].replace('"', "").rstrip("\r\n").split(self.table.delimiter)
        place = self.label - self.width if self.label_is_later else self.label
        return len(cells) >= self.width and cells[place] in self.known

    def _look_like_rows(self, record: _Record) -> bool:
        """Whether the lines of a record look like a row each: the first and most of the others, or most of those
        that the first and the last enclose."""
        later = 0 if self.label_is_later else 1
        ends = [self._says_label(line) for line in range(record.first + later, record.last + later)]
        whole = [self._is_row(line) for line in range(record.first + 1, record.last)]
        return (ends[0] and 2 * sum(ends) > len(ends)) or 2 * sum(whole) > len(whole)

    def _is_row(self, line: int) -> bool:
        return self._says_label(line) and self._sound_row.fullmatch(self.lines[line]) is not None

    def _is_long_row(self, record: _Record) -> bool:
        return record.last > record.first and not self._look_like_rows(record)

    def _all_records(self) -> Iterator[_Record]:
        start: int | None = self.table.header + 1
        while start is not None:
            broken = None
            for record in _records(self.lines, start, self.table.delimiter):
                yield record
                broken = record if record.fault else None
            start = broken.first + 1 if broken else None

    def _labels(self, rows: list[_Record]) -> frozenset[str]:
        """The labels that at least two rows have, among them lines that may stand inside of a cell."""
        lines = (line for line in self.lines[self.table.header + 1 :] if self._sound_row.fullmatch(line))
        inside = Counter(cells[self.label] for cells in csv.reader(lines, delimiter=self.table.delimiter) if cells)
        counts = Counter(record.cells[self.label] for record in rows)
        return frozenset(name for name in counts if max(counts[name], inside[name]) > 1 and name.strip())

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
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield _Record(first, start + reader.line_num - 1, cells)


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
