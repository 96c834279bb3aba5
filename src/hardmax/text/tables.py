"""One reader of tables with texts: CSV, JSON lines, Parquet, and folders of Parquet files.

CSV is read by Python's `csv` in strict mode: pyarrow's reader repairs stray quotes silently, and
counts all lines that an open quote swallows as one bad row.
"""

import csv
import io
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from hardmax._common.columns import open_parquet
from hardmax._common.files import open_bytes, unique_keys
from hardmax._common.format import pluralize, sanitize_line
from hardmax._common.validation import InputError, check_str, require_extra, shorten
from hardmax.text._texts import encode_text, is_missing

pa: Any = None  # most names of pyarrow are made on import, so that no type checker knows them
with suppress(ImportError):  # CSV and JSON lines with labels are read without it
    import pyarrow as pa

COMMON_NAMES = {
    "text": ("text", "review", "sentence", "content", "comment", "message", "body"),
    "label": ("label", "sentiment", "class", "category", "target", "polarity", "y"),
}
KINDS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
PART_ROWS = 16_384  # that are read and scored at a time
JSON_CELLS = {b"hardmax": b"json"}  # metadata of a column that has JSON in its cells
_JSON_TYPES = {
    ("str",): "string",
    ("bool",): "bool",
    ("int",): "int64",
    ("int", "long"): "int64",
    ("long",): "int64",
    ("float",): "double",
    ("float", "int"): "double",
}
_LONGEST_CELL = 1 << 26  # characters: an open quote in a large file ends here, not in memory
_SHOWN = 5  # bad rows, or files that are left out, that a line names
_EXPECTED = "expected a table of texts"
Place = Callable[[int], str]


class Row(NamedTuple):
    """A row: where it is ("line 12", "row 12", "pos/3_1.txt"), its cells by column, and what is
    wrong with it."""

    place: str
    cells: dict[str, Any]
    fault: str = ""


class Batch(NamedTuple):
    """Consecutive rows of a table."""

    table: Any
    """The rows as an Arrow table."""
    place: Place
    """Where each row is."""
    faults: dict[int, str]
    """What is wrong with some of them."""
    share: float
    """The share of the file read so far."""


def table_kind(path: Path, name: str) -> str:
    """What a table is, by the suffix of its name."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            f"{name} `{path}` has the suffix {path.suffix!r}: expected one of {', '.join(KINDS)}."
        )
    return kind


def open_table(path: Path) -> "LineTable | ParquetTable":
    """The table in a file, or in all Parquet files of a folder; only its columns are read yet."""
    if not path.exists():
        raise InputError(f"`{path}` does not exist: {_EXPECTED}, or a folder of Parquet files.")
    if path.is_dir() or table_kind(path, "the input") == "parquet":
        return ParquetTable(path)
    return LineTable(path, f"`{path}`")


def choose_column(name: str | None, role: str, columns: Sequence[str], shown: str) -> str:
    """The column that was named, or the first with a common name; a warning if several have one."""
    known = f"{shown} has the columns {', '.join(columns)}"
    if name is not None:
        if check_str(name, f"`{role}`") not in columns:
            raise InputError(f"`{role}` is {shorten(name)}, but {known}. Name one of them.")
        return name
    candidates = [c for common in COMMON_NAMES[role] for c in columns if c.lower() == common]
    if not candidates:
        raise InputError(f"Cannot guess the {role} column: {known}. Name it with `{role}`.")
    chosen, *rest = candidates
    if rest:
        also = f"{', '.join(rest)} would be possible, too (choose with `{role}`)"
        warnings.warn(f"the {role} column is {chosen}; {also}", stacklevel=2)
    return chosen


def as_frame(table: Any, name: str) -> Any:
    """A table in memory as a frame of narwhals."""
    import narwhals as nw

    try:
        return nw.from_native(table, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise InputError(f"{name} has two columns with the same name: rename one.") from None
    except TypeError:
        kind = type(table).__name__
        wish = "a table in memory, of pandas, polars or pyarrow"
        raise InputError(f"{name} must be {wish}, not {kind}.") from None


class LineTable:
    """A CSV or JSON lines file, in UTF-8."""

    def __init__(self, path: Path, shown: str) -> None:
        self.path, self.shown = path, shown
        self.is_csv = KINDS[path.suffix.lower()] == "csv"
        self.names: list[str] = []
        self._kinds: dict[str, set[str]] = {}
        self._position = 0
        problem = "is empty"
        # The header names the columns of CSV; any line of JSON may have one more.
        for row in islice(self.rows(), 1) if self.is_csv else self.rows():
            problem = f"has no columns ({row.place}: {row.fault or 'an empty object'})"
            for name, value in row.cells.items():
                self._kinds.setdefault(name, set()).add(_kind(value))
        self.names = self.names or list(self._kinds)
        if not self.names:
            wish = "expected column names in the first line, or JSON objects"
            raise InputError(f"{self.shown} {problem}: {wish}.")

    def rows(self, columns: Sequence[str] = ()) -> Iterator[Row]:
        """All rows, with all their cells."""
        with failure_named(self.shown), open_bytes(self.path) as stored:
            lines = io.TextIOWrapper(stored, "utf-8-sig", newline="")
            for row in self._csv_rows(lines) if self.is_csv else _json_rows(lines):
                self._position = stored.tell()
                yield row

    def schema(self, text: str) -> Any:
        """The Arrow types of the columns. Cells of CSV stay texts: 007 is not 7."""
        texts = self.names if self.is_csv else [text]
        kinds = self._kinds | {name: {"str"} for name in texts}
        return pa.schema([_field(name, kinds[name]) for name in self.names])

    def batches(self, text: str) -> Iterator[Batch]:
        """The rows, part by part."""
        schema = self.schema(text)
        remaining, size = self.rows(), max(self.path.stat().st_size, 1)
        while rows := list(islice(remaining, PART_ROWS)):
            table = pa.table([_column(rows, field) for field in schema], schema=schema)
            faults = text_faults([row.cells.get(text) for row in rows])
            faults |= {number: row.fault for number, row in enumerate(rows) if row.fault}
            place = [row.place for row in rows].__getitem__
            yield Batch(table, place, faults, self._position / size)

    def _csv_rows(self, lines: Iterator[str]) -> Iterator[Row]:
        start = next(lines, "")
        delimiter = max(",;\t", key=start.count)
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        reader = csv.reader(chain([start], lines), delimiter=delimiter, strict=True)
        names, last = [], 0
        try:
            for cells in reader:
                first, last = last + 1, reader.line_num
                if cells and names:
                    fault = ""
                    if len(cells) != len(names):
                        fault = f"{pluralize(len(cells), 'cell')} instead of {len(names)}"
                    yield Row(f"line {first}", dict(zip(names, cells, strict=False)), fault)
                elif cells:  # not a blank line
                    self.names = names = [cell.strip() for cell in cells]
                    if len(set(names)) < len(names):
                        wish = "expected column names, all different"
                        raise InputError(f"{self.shown} line {first} is not a header: {wish}.")
        except csv.Error as error:
            raise InputError(
                f"{self.shown} line {last + 1} is not CSV: {error}. "
                "Write a quote inside a quoted cell twice, or save the table as JSON lines."
            ) from None


class ParquetTable:
    """A Parquet file, or all those of a folder, with the partition columns of their paths
    (`lang=en/a.parquet`)."""

    def __init__(self, path: Path) -> None:
        require_extra("Reading Parquet", "tables", "pyarrow")
        self.shown = f"`{path}`"
        self._folder = path if path.is_dir() else None
        files, how = [path], {}
        if self._folder:
            files = parquet_files(path)
            how: Any = {"partitioning": "hive", "partition_base_dir": str(path)}
            warn_of_unread(path, files, "only Parquet files are read")
        if not files:
            raise InputError(f"{self.shown} has no .parquet files: {_EXPECTED}.")
        with failure_named(self.shown):
            stored: Any = open_parquet([str(file) for file in files], **how)
            self._fragments = list(stored.get_fragments())
            schemas = [stored.schema, *(each.physical_schema for each in self._fragments)]
            # pandas makes floats of whole numbers where one is missing.
            self._schema = pa.unify_schemas(schemas, promote_options="permissive")
        self.names = list(self._schema.names)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """All rows, with the cells of some columns, the first of them the texts."""
        for table, place, _ in self._parts(pa.schema(map(self._schema.field, columns))):
            with failure_named(self.shown):
                cells = table.to_pylist()
            yield from map(Row, map(place, range(len(table))), cells)

    def schema(self, text: str) -> Any:
        """The columns as they are stored."""
        kind = str(self._schema.field(text).type)
        if not kind.removeprefix("dictionary<values=").startswith(("string", "large_string")):
            problem = f"that column of {self.shown} has type {kind}: expected texts"
            raise InputError(f"`text` is {text!r}, but {problem}.")
        return self._schema

    def batches(self, text: str) -> Iterator[Batch]:
        """The rows, part by part."""
        for table, place, share in self._parts(self.schema(text)):
            with failure_named(self.shown):
                faults = text_faults(table[text].to_pylist())
            yield Batch(table, place, faults, share)

    def _parts(self, schema: Any) -> Iterator[tuple[Any, Place, float]]:
        """Some columns, part by part; where their rows are; and the share read so far."""
        total, seen = max(sum(each.count_rows() for each in self._fragments), 1), 0
        for fragment in self._fragments:
            before = seen
            with failure_named(f"`{fragment.path}`"):
                for batch in fragment.to_batches(schema, batch_size=PART_ROWS, batch_readahead=4):
                    place = self._place(fragment, seen - before)
                    seen += len(batch)
                    table = pa.Table.from_batches([batch]).cast(schema)
                    yield table, place, seen / total

    def _place(self, fragment: Any, before: int) -> Place:
        """Where the rows of a file after the first `before` are."""
        file = f"{Path(fragment.path).relative_to(self._folder)} " if self._folder else ""
        return lambda row: f"{file}row {before + row + 1}"


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files of a folder and of those in it, by name (part-10 before part-2); without hidden
    and temporary ones."""
    files = []
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part[0] in "._" for part in path.relative_to(folder).parts)
        if path.suffix.lower() == ".parquet" and path.is_file() and not is_hidden:
            files.append(path)
    return files


def warn_of_unread(folder: Path, files: Sequence[Path], rule: str) -> None:
    """Name the files that are not read, except hidden files and marks (_SUCCESS)."""
    others = sorted({path for path in folder.rglob("*") if path.is_file()} - {*files})
    unread = [str(path.relative_to(folder)) for path in others if path.name[0] not in "._"]
    if unread:
        warnings.warn(f"left out of `{folder}`: {join_first(unread)} ({rule})", stacklevel=2)


def join_first(lines: Sequence[str], total: int = 0) -> str:
    """The first few lines, and how many more there are."""
    left = max(total, len(lines)) - _SHOWN
    more = [f"and {left:,} more"] if left > 0 else []
    return sanitize_line("; ".join([*lines[:_SHOWN], *more]))


def refuse_bad_row(place: str, fault: str) -> None:
    """Raise the error about the first bad row."""
    raise InputError(f"{place}: {fault}. Fix it, or read on with another `on_bad_rows`.")


@contextmanager
def failure_named(shown: str) -> Iterator[None]:
    """Errors in the bytes of a file become one line that names it."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except UnicodeDecodeError:
        raise InputError(f"{shown} is not UTF-8: save it as UTF-8, or convert it.") from None
    except Exception as error:  # a broken file raises whatever its bytes happen to mean
        raise InputError(f"{shown} cannot be read: {shorten(str(error), 250)}.") from None


def text_fault(value: Any) -> str:
    """What is wrong with the text of a row; empty if nothing is."""
    if isinstance(value, str):
        return "" if value.strip() else "the text is empty"
    return "no text" if is_missing(value) else f"the text is of type {type(value).__name__}"


def text_faults(values: Sequence[Any]) -> dict[int, str]:
    """What is wrong with the texts of some rows."""
    faults = enumerate(map(text_fault, values))
    return {row: fault for row, fault in faults if fault}


def _json_rows(lines: Iterator[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cells, fault = {}, ""
        try:
            cells = _JSON.decode(line)
        except (ValueError, RecursionError):  # of the hooks and of numbers of many digits, too
            fault = "not JSON"
        if not isinstance(cells, dict):
            cells, fault = {}, "not a JSON object"
        yield Row(f"line {number}", cells, fault)


def _refuse_constant(written: str) -> None:
    raise ValueError(written)


_JSON = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=unique_keys)


def _kind(value: Any) -> str:
    """The type of a cell; a whole number is long if a float would round it, huge beyond int64."""
    if type(value) is not int:
        return type(value).__name__
    if not -(2**63) <= value < 2**63:
        return "huge"
    return "int" if float(value) == value else "long"


def _field(name: str, kinds: set[str]) -> Any:
    """A column. One of several types, or of lists and objects, has JSON in its cells."""
    kinds = kinds - {"NoneType"} or {"str"}
    kind = _JSON_TYPES.get(tuple(sorted(kinds)))
    return pa.field(name, kind or "string", metadata=None if kind else JSON_CELLS)


def _column(rows: list[Row], field: Any) -> Any:
    values = [row.cells.get(field.name) for row in rows]
    if field.type == pa.string():
        write = json.dumps if field.metadata else _as_text
        values = [None if each is None else write(each) for each in values]
    return pa.array(values, field.type)


def _as_text(value: Any) -> str:
    """Halves of characters in JSON become U+FFFD."""
    return encode_text(str(value)).decode()
