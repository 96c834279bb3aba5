"""One reader of tables with texts: CSV, JSON lines, Parquet, and folders of Parquet files.

The files of a folder are read in the order of their names: part-10 comes before part-2.

CSV is read by Python's `csv` in strict mode. pyarrow's reader repairs stray quotes silently, counts
all lines that an open quote swallows as one bad row, and numbers rows instead of lines."""

import csv
import io
import json
import math
import sys
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from hardmax._common.columns import open_parquet
from hardmax._common.format import pluralize, sanitize_line
from hardmax._common.validation import InputError, check_str, require_extra, shorten
from hardmax.text._texts import encode_text

pa: Any = (
    None  # most names of pyarrow are made when it is imported, so that no type checker knows them
)
with suppress(ImportError):  # CSV and JSON lines with labels are read without it
    import pyarrow as pa

COMMON_NAMES = {
    "text": ("text", "review", "sentence", "content", "comment", "message", "body"),
    "label": ("label", "sentiment", "class", "category", "target", "polarity", "y"),
}
KINDS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json"}
JSON_CELLS = {b"hardmax": b"json"}  # metadata of a column that has JSON in its cells
_MOST_DIGITS = sys.int_info.default_max_str_digits  # of numbers in JSON
_LONGEST_CELL = 1 << 26  # characters: an open quote in a large file ends here, not in memory
_ROWS = 4096  # that are read at a time
_SHOWN = 5  # bad rows, or files that are left out, that a line names


class Row(NamedTuple):
    """A row: where it is ("line 12", "row 12", "pos/3_1.txt"), its cells by column, and what is
    wrong with it."""

    place: str
    cells: dict[str, Any]
    fault: str = ""


# Consecutive rows: an Arrow table, the place of each row, what is wrong with some, the share of the
# file read so far.
Batch = tuple[Any, list[str], dict[int, str], float]


def table_kind(path: Path, name: str) -> str:
    """What a table is, by the suffix of its name."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        problem = (
            f"{name} `{path}` has the suffix {path.suffix!r}: expected one of {', '.join(KINDS)}."
        )
        raise InputError(problem, argument=name)
    return kind


def open_table(path: Path) -> "LineTable | ParquetTable":
    """The table in a file, or in all Parquet files of a folder; its columns are read, its rows are
    not."""
    if not path.exists():
        raise InputError(
            f"`{path}` does not exist: expected a table of texts, or a folder of Parquet files."
        )
    kind = "parquet" if path.is_dir() else table_kind(path, "the input")
    if kind != "parquet":
        return LineTable(path, kind)
    require_extra("Reading Parquet", "tables", "pyarrow")
    return ParquetTable(path)


def choose_column(
    name: str | None, role: str, columns: Sequence[str], shown: str
) -> tuple[str, str]:
    """The column that was named, or the first with a common name, and a note if several have
    one."""
    there = f"{shown} has the columns {', '.join(columns)}"
    if name is not None:
        if check_str(name, f"`{role}`") not in columns:
            raise InputError(
                f"`{role}` is {shorten(name)}, but {there}. Name one of them.", argument=role
            )
        return name, ""
    found = [column for each in COMMON_NAMES[role] for column in columns if column.lower() == each]
    if not found:
        problem = f"`{role}` must be named with {role}=: {there}, none of which has a common name."
        raise InputError(problem, argument=role, also=(f"{role}=",))
    note = f"the {role} column is {found[0]}; {', '.join(found[1:])} would be possible, too (choose with --{role})"
    return found[0], note if found[1:] else ""


def check_columns(columns: Sequence[str], names: Sequence[str], shown: str) -> list[str]:
    """Each of the columns once, all of which must be there."""
    return [choose_column(name, "columns", names, shown)[0] for name in dict.fromkeys(columns)]


class LineTable:
    """A CSV or JSON lines file."""

    def __init__(self, path: Path, kind: str, shown: str = "") -> None:
        self.path, self.kind, self.shown = path, kind, shown or f"`{path}`"
        self.names: list[str] = []
        self._position = 0
        self._kinds: dict[str, dict[str, str]] = {}  # of each column, where they come first
        rows = self.rows()
        # What the columns are, the header of CSV says; of JSON lines, any line may.
        for row in islice(rows, 1) if kind == "csv" else rows:
            for name, value in row.cells.items():
                self._kinds.setdefault(name, {}).setdefault(_kind(value), row.place)
        rows.close()
        for name, kinds in self._kinds.items():
            if place := kinds.get("huge") or ("float" in kinds and kinds.get("long")):
                what = f"the column {name} is kept as JSON, the number in {place} would be rounded"
                warnings.warn(sanitize_line(f"{self.shown}: {what}"), stacklevel=2)
        self.names = self.names or list(self._kinds)
        if not self.names:
            raise InputError(
                f"{self.shown} is empty: expected column names in the first line, or JSON objects."
            )

    def keep(self, columns: Sequence[str]) -> None:
        """Leave out all columns but these."""
        self.names = check_columns(columns, self.names, self.shown)

    def rows(self, columns: Sequence[str] = ()) -> Generator[Row, None, None]:
        """All rows, with all their cells."""
        with _failure_named(self.shown), self.path.open("rb") as stored:
            # Bytes that are not UTF-8 become surrogates, so that their rows can be named.
            lines = io.TextIOWrapper(stored, "utf-8-sig", errors="surrogateescape", newline="")
            numbered = enumerate(lines, 1)
            json_rows = (
                _json_row(f"line {number}", line) for number, line in numbered if line.strip()
            )
            for row in self._csv_rows(lines) if self.kind == "csv" else json_rows:
                self._position = stored.tell()
                yield row

    def schema(self, text: str) -> Any:
        """Arrow types of the columns. Cells of CSV stay texts: 007 is not 7."""
        texts = set(self.names) if self.kind == "csv" else {text}
        kinds = self._kinds | {name: {"str": ""} for name in texts}
        return pa.schema([_field(name, kinds[name]) for name in self.names])

    def batches(self, text: str, skip: int = 0) -> Iterator[Batch]:
        """The rows after the first `skip` ones."""
        rows, schema, size = (
            islice(self.rows(), skip, None),
            self.schema(text),
            max(self.path.stat().st_size, 1),
        )
        while some := list(islice(rows, _ROWS)):
            faults = [row.fault or text_fault(row.cells.get(text)) for row in some]
            table = pa.table([_column(some, each) for each in schema], schema=schema)
            bad = {n: fault for n, fault in enumerate(faults) if fault}
            yield table, [row.place for row in some], bad, self._position / size

    def _csv_rows(self, lines: Iterator[str]) -> Iterator[Row]:
        start = next(lines, "")
        delimiter = "\t" if self.path.suffix.lower() == ".tsv" else max(",;\t", key=start.count)
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        reader, names, last = (
            csv.reader(chain([start], lines), delimiter=delimiter, strict=True),
            [],
            0,
        )
        try:
            for cells in reader:
                first, last = last + 1, reader.line_num
                if cells and not names:
                    names = [cell.strip() for cell in cells]
                    self.names = self.names or names
                    if len(set(names)) < len(names) or not is_utf8(names):
                        wish = "expected column names, all different, in UTF-8"
                        raise InputError(f"{self.shown} line {first} is not a header: {wish}.")
                elif cells:  # not a blank line
                    fault = "" if is_utf8(cells) else "not UTF-8"
                    if len(cells) != len(names):
                        to_line = f", up to line {last}" if last > first else ""
                        fault = f"{pluralize(len(cells), 'cell')} instead of {len(names)}{to_line}"
                    yield Row(f"line {first}", dict(zip(names, cells, strict=False)), fault)
        except csv.Error as error:
            way_out = "Write a quote inside a quoted cell twice, or save the table as JSON lines"
            raise InputError(
                f"{self.shown} line {last + 1} is not CSV: {error}. {way_out}."
            ) from None


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files of a folder and of those in it, by name; without hidden and temporary ones."""
    suffixed = (path for path in folder.rglob("*") if path.suffix.lower() == ".parquet")
    files = sorted(path for path in suffixed if path.is_file())
    return [
        file
        for file in files
        if not any(part[0] in "._" for part in file.relative_to(folder).parts)
    ]


def warn_of_unread(folder: Path, files: Sequence[Path], rule: str) -> None:
    """Name what lies beside the files that are read, except hidden files and marks (_SUCCESS)."""
    places = {file.parent for file in files}
    above = {parent for place in places for parent in place.parents}
    read = places | {parent for parent in above if parent.is_relative_to(folder)}
    beside = {path for place in read for path in place.iterdir()} - read - {*files}
    tables = {path for path in beside if path.suffix.lower() in KINDS}
    unread = sorted(tables | {path for path in beside if path.name[0] not in "._"})
    if unread:
        shown = join_first([str(path.relative_to(folder)) for path in unread], len(unread), ", ")
        warnings.warn(f"left out of `{folder}`: {shown} ({rule})", stacklevel=2)


def join_first(lines: Sequence[str], total: int, mark: str = "; ") -> str:
    """The first few lines, and how many more there are."""
    more = [f"and {total - _SHOWN:,} more"] * (total > _SHOWN)
    return sanitize_line(mark.join([*lines[:_SHOWN], *more]))


class ParquetTable:
    """A Parquet file, or all those of a folder, with the partition columns of their paths
    (`lang=en/a.parquet`)."""

    def __init__(self, path: Path) -> None:
        self.shown, self._is_folder = f"`{path}`", path.is_dir()
        files = parquet_files(path) if self._is_folder else [path]
        if not files:
            raise InputError(f"{self.shown} has no .parquet files: expected a table of texts.")
        if self._is_folder:
            rule = "only Parquet files are read, and links to folders are not followed"
            warn_of_unread(path, files, rule)
        hive: Any = (
            {"partitioning": "hive", "partition_base_dir": str(path)} if self._is_folder else {}
        )
        with _failure_named(self.shown):
            found: Any = open_parquet([str(file) for file in files], **hive)
            fragments = list(found.get_fragments())
            stored = _unify([found.schema, *(fragment.physical_schema for fragment in fragments)])
        self._stored = stored.with_metadata(found.schema.metadata)
        self.names = list(self._stored.names)
        shown = [f"{file.relative_to(path)}" if self._is_folder else "" for file in files]
        self._fragments = list(zip(shown, fragments, strict=True))

    def keep(self, columns: Sequence[str]) -> None:
        """Read no other columns than these."""
        self.names = check_columns(columns, self.names, self.shown)
        self._stored = pa.schema(
            [self._stored.field(name) for name in self.names], metadata=self._stored.metadata
        )

    def schema(self, text: str) -> Any:
        """Arrow types of the columns, with one for the file of a row, if there are several."""
        kind = self._stored.field(text).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not _is_text(kind):
            problem = f"`text` is {text!r}, but that column of {self.shown} has type {kind}: expected texts."
            raise InputError(problem, argument="text")
        schema = self._stored.set(self.names.index(text), pa.field(text, kind))
        if self._is_folder:
            schema = schema.append(
                pa.field("hardmax_file" if "file" in self.names else "file", pa.string())
            )
        return schema

    def batches(self, text: str, skip: int = 0) -> Iterator[Batch]:
        """The rows after the first `skip` ones."""
        schema, total = (
            self.schema(text),
            max(sum(fragment.count_rows() for _, fragment in self._fragments), 1),
        )
        seen, place = 0, self.names.index(text)
        for file, fragment in self._fragments:
            before = seen
            with _failure_named(f"`{fragment.path}`"):
                for batch in fragment.to_batches(
                    schema=self._stored, batch_size=_ROWS, batch_readahead=4
                ):
                    rest = batch.slice(min(max(skip - seen, 0), len(batch)))
                    seen += len(batch)
                    columns = (
                        rest.columns + [pa.array([file] * len(rest), pa.string())] * self._is_folder
                    )
                    columns[place] = columns[place].cast(schema.field(place).type)
                    columns[place].validate(
                        full=True
                    )  # Parquet does not check that texts are UTF-8
                    places = [
                        f"{file} row {n - before + 1}".lstrip()
                        for n in range(seen - len(rest), seen)
                    ]
                    yield pa.table(columns, schema=schema), places, {}, seen / total

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """The cells of some columns, the first of them the texts."""
        self.keep(columns)
        for table, places, _, _ in self.batches(columns[0]):
            yield from map(Row, places, table.select(self.names).to_pylist())


def _is_text(kind: Any) -> bool:
    """Whether an Arrow type is string, large_string or string_view, or a dictionary of these."""
    return str(kind).removeprefix("dictionary<values=").startswith(("string", "large_string"))


def _unify(schemas: list[Any]) -> Any:
    """The schema of all files. Texts may be stored in several ways; other types must agree."""
    with suppress(pa.ArrowTypeError):
        return pa.unify_schemas(schemas)
    text = pa.large_string()
    return pa.unify_schemas([
        pa.schema([field.with_type(text) if _is_text(field.type) else field for field in schema])
        for schema in schemas
    ])  # fmt: skip


def refusal(place: str, fault: str) -> InputError:
    """The error about the first bad row."""
    way_out = "Fix it, or leave such rows out with on_bad_rows=skip"
    return InputError(f"{place}: {fault}. {way_out}.", also=("on_bad_rows=skip",))


@contextmanager
def _failure_named(shown: str) -> Iterator[None]:
    """Errors in the bytes of a file become one line that names it."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # a broken file raises whatever its bytes happen to mean
        raise InputError(f"{shown} cannot be read: {shorten(str(error), 250)}.") from None


def is_utf8(cells: Sequence[str]) -> bool:
    """Whether no cell has half a character, or a byte that is not UTF-8."""
    return all(cell.isascii() or encode_text(cell).decode() == cell for cell in cells)


def text_fault(value: Any) -> str:
    """What is wrong with the text of a row; empty if nothing is."""
    if value is None or value != value:
        return "no text"
    if not isinstance(value, str):
        return f"the text is of type {type(value).__name__}"
    return "" if value.strip() else "the text is empty"


def _json_row(place: str, line: str) -> Row:
    try:
        found = json.loads(line, parse_float=_read_float)
    except (json.JSONDecodeError, RecursionError):
        return Row(place, {}, "not JSON")
    except (ValueError, ArithmeticError):
        return Row(place, {}, f"a number of more than {_MOST_DIGITS:,} digits")
    if not isinstance(found, dict):
        return Row(place, {}, "not a JSON object")
    return Row(place, found, "" if is_utf8([line]) else "not UTF-8")


def _read_float(written: str) -> float | int:
    """The nearest float; beyond the largest one a whole number, or 1e400 would become infinite."""
    number = float(written)
    if math.isfinite(number):
        return number
    exact = Decimal(written)
    if exact.adjusted() >= _MOST_DIGITS:
        raise ValueError(written)
    return int(exact)


def _kind(value: Any) -> str:
    """The type of a cell; a whole number is long if a float would round it, huge beyond int64."""
    if type(value) is not int:
        return type(value).__name__
    if not -(2**63) <= value < 2**63:
        return "huge"
    return "int" if float(value) == value else "long"


def _field(name: str, kinds: Iterable[str]) -> Any:
    """A column of JSON lines. One of several types, or of lists and objects, has JSON in its
    cells."""
    known = {"str": pa.string(), "bool": pa.bool_(), "float": pa.float64()}
    known |= dict.fromkeys(("int", "long"), pa.int64())
    there = {*kinds} - {"NoneType"} or {"str"}
    if there & {"long", "float"}:
        there -= {"int"}  # which both can hold
    kind = known.get(there.pop()) if len(there) == 1 else None
    return pa.field(name, kind) if kind else pa.field(name, pa.string(), metadata=JSON_CELLS)


def _column(rows: list[Row], each: Any) -> Any:
    values = [row.cells.get(each.name) for row in rows]
    if each.metadata:
        values = [
            None if value is None else json.dumps(value, ensure_ascii=False) for value in values
        ]
    if (
        each.type == pa.string()
    ):  # bytes that were not UTF-8, and halves of characters in JSON, become U+FFFD
        values = [value if value is None else encode_text(str(value)).decode() for value in values]
    elif each.type == pa.float64():
        values = [value if value is None else float(value) for value in values]
    return pa.array(values, each.type)
