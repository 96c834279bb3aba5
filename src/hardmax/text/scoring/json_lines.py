"""Tables in JSON lines: a first look finds the columns and their types, a second one reads the rows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._validation import InputError
from hardmax.text._texts import encode_text
from hardmax.text.data.rows import read_json_row
from hardmax.text.scoring.arrow import Array, pa
from hardmax.text.scoring.forms import Form
from hardmax.text.scoring.rows import BYTES_AT_ONCE, ROWS_AT_ONCE, Rows
from hardmax.text.scoring.streams import opened_lines

_EXACT = 2**53  # up to here every whole number is a float
_LONG = 2**63


@dataclass(eq=False)
class JsonLines:
    """JSON lines in a file, looked through."""

    path: Path
    form: Form
    schema: Any = None
    size: int = 0
    count: int | None = 0
    kinds: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = self.path.stat().st_size
        self.count = 0
        for _, line, _ in self._lines():
            self.count += 1
            cells = {} if line is None else read_json_row(0, line).cells
            for name, value in cells.items():
                self.kinds.setdefault(name, set()).add(_kind(value))
        if not self.kinds:
            raise InputError(f"`{self.path}` holds no JSON objects: expected one a line, with a text.")
        self.use(self.kinds)

    def use(self, kinds: dict[str, set[str]]) -> None:
        """Read the rows as having these columns, of which each holds values of these kinds."""
        self.schema = pa.schema([(name, _type(found)) for name, found in kinds.items()])

    def rows(self, text: str, skip: int) -> Iterator[Rows]:
        """The rows after the first `skip` of them."""
        some: list[tuple[int, str | None]] = []
        size = 0
        for seen, (number, line, position) in enumerate(self._lines()):
            if seen < skip:
                continue
            some.append((number, line))
            size += len(line or "")
            if len(some) == ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
                yield self._read(some, text, position)
                some, size = [], 0
        if some:
            yield self._read(some, text, self.size)

    def _lines(self) -> Iterator[tuple[int, str | None, int]]:
        with opened_lines(self.path, self.form.packing) as (lines, stored):
            for number, line in lines:
                if line is None or line.strip():
                    yield number, line, stored.tell()

    def _read(self, lines: list[tuple[int, str | None]], text: str, position: int) -> Rows:
        read = [(_clean(line), _fault_of_line(line)) for _, line in lines]
        found = [read_json_row(0, line) for line, _ in read]
        faults = {}
        for row, (one, (_, fault)) in enumerate(zip(found, read, strict=True)):
            if why := fault or one.fault or _fault_of_text(one.cells.get(text)):
                faults[row] = why
        columns = [_column([one.cells.get(name) for one in found], kind.type) for name, kind in self._fields()]
        # What is no JSON object cannot be handed on as one: its line becomes an empty object.
        kept = ["{}" if one.fault else line.strip() for one, (line, _) in zip(found, read, strict=True)]
        return Rows(
            pa.table(columns, schema=self.schema),
            np.array([len(line.encode()) for line, _ in read], dtype=np.int64),
            np.array([number for number, _ in lines]),
            "line",
            faults=faults,
            lines=kept,
            position=position,
        )

    def _fields(self) -> Iterator[tuple[str, Any]]:
        return zip(self.schema.names, self.schema, strict=True)


def _clean(line: str | None) -> str:
    """The line in characters that there are."""
    return "{}" if line is None else line if line.isascii() else encode_text(line).decode()


def _fault_of_line(line: str | None) -> str:
    if line is None:
        return "the line is too long"
    if line.isascii():
        return ""
    try:
        line.encode()
    except UnicodeEncodeError:
        return "not UTF-8"
    return ""


def _fault_of_text(value: Any) -> str:
    if value is None or value != value:
        return "no text"
    return "" if isinstance(value, str) else f"the text is a {type(value).__name__}"


def _kind(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return "whole" if abs(value) <= _EXACT else "long" if -_LONG <= value < _LONG else "other"
    return {type(None): "null", bool: "bool", float: "float", str: "text"}.get(type(value), "other")


def _type(kinds: set[str]) -> Any:
    """The type of a column; one of several kinds, or of lists and objects, holds texts that are JSON."""
    there = kinds - {"null"}
    if there == {"bool"}:
        return pa.bool_()
    if there and there <= {"whole", "long"}:
        return pa.int64()
    if there and there <= {"whole", "float"}:
        return pa.float64()
    return pa.string()


def _column(values: list[Any], kind: Any) -> Array:
    if kind != pa.string():
        return pa.array(values, kind)
    texts = [value if value is None or isinstance(value, str) else _as_json(value) for value in values]
    try:
        return pa.array(texts, kind)
    except UnicodeEncodeError:  # JSON can say half a character
        return pa.array([None if text is None else encode_text(text).decode() for text in texts], kind)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
