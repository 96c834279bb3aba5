"""Numbers in columns of text: CSV, TSV, or separated by spaces.

Cells may be quoted, as CSV has it: what is between quotes is one cell. A comma inside of one is refused: `"1,234"` is
1.234 to some and 1234 to others, and nobody but the writer knows.
"""

import csv
import re
from collections.abc import Sequence

import numpy as np

from hardmax.errors import InputError
from hardmax.tokens.decimals import is_number, read_numbers

# A cell in quotes that need not be there. Without them "1,5" would be two cells and 1"5 would be 15: such quotes stay.
_QUOTED = re.compile(r'(?<![^\s,;])"[ \t]*([^\s",;#]*)[ \t]*"(?![^\s,;])')
_IN_QUOTES = re.compile(r'"[^"]*"')
_BETWEEN_SPACES = re.compile(r'(?:"[^"]*"|\S)+')


def read_columns(text: str, name: str) -> np.ndarray:
    """The table, (n, d), that a text says: float64 if it holds all of its numbers, else Fractions."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if '"' in text:
        text = _QUOTED.sub(r"\1", text)
    lines = text.split("\n")
    if "#" in text:
        lines = [_without_comment(line) for line in lines]
    numbers = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    if numbers and _is_header(lines[numbers[0] - 1], name):
        del numbers[0]
    if not numbers:
        raise InputError(f"{name} holds no tokens: expected one per line, its coordinates separated by commas.")
    lines = [lines[number - 1] for number in numbers]

    delimiter = _delimiter(lines[0])
    if '"' in text and any('"' in line for line in lines):
        rows = [_cells(line, delimiter) for line in lines]
        widths, cells = list(map(len, rows)), [cell for row in rows for cell in row]
    else:
        widths = [line.count(delimiter) + 1 for line in lines] if delimiter else [len(line.split()) for line in lines]
        cells = (delimiter or " ").join(lines).split(delimiter)
    return _read_table(cells, widths, numbers, name)


def _read_table(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[int], name: str) -> np.ndarray:
    width = widths[0]
    for number, found in zip(numbers, widths, strict=True):
        if found != width:
            plural = "column" if found == 1 else "columns"
            raise InputError(f"{name} line {number} has {found} {plural}: expected {width} as on line {numbers[0]}.")

    def place(cell: int) -> str:
        return f"{name} line {numbers[cell // width]}, column {cell % width + 1} (token {cell // width})"

    return read_numbers(cells, place).reshape(len(widths), width)


def _is_header(line: str, name: str) -> bool:
    cells = _cells(line, _delimiter(line))
    if any(is_number(cell) for cell in cells) or not any(mark.isalpha() for mark in line):
        return False
    # A table saved with its row numbers has a nameless first column: as a coordinate it would ruin the cloud.
    if len(cells) > 1 and not cells[0].strip():
        raise InputError(f"{name} has no name over column 1, which looks like row numbers: save it without them.")
    return True


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return [_unquoted(cell) for cell in _BETWEEN_SPACES.findall(line)]
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        return line.split(delimiter)  # of which one has a quote too many, and is no number


def _unquoted(cell: str) -> str:
    return cell[1:-1] if _IN_QUOTES.fullmatch(cell) else cell


def _delimiter(line: str) -> str | None:
    # The semicolon first: where it separates, a comma may be somebody's decimal point.
    outside = _IN_QUOTES.sub("", line) if '"' in line else line
    return next((mark for mark in (";", ",", "\t") if mark in outside), None)


def _without_comment(line: str) -> str:
    if '"' not in line:
        return line.partition("#")[0]
    start = _IN_QUOTES.sub(lambda quoted: "_" * len(quoted[0]), line).find("#")
    return line if start < 0 else line[:start]
