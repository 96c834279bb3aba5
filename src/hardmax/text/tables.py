"""One reader of tables with texts: CSV, JSON lines, Parquet, and folders of Parquet files.

The files of a folder are read in the order of their names: part-10 comes before part-2.

CSV is read by Python's `csv` in strict mode. pyarrow's reader repairs stray quotes silently, counts
all lines that an open quote swallows as one bad row, and numbers rows instead of lines."""

import codecs
import csv
import io
import json
import math
import re
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
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
JSON_CELLS = {b"hardmax": b"json"}  # metadata of a column that has JSON in its cells
_JSON_TYPES = {"str": "string", "bool": "bool", "int": "int64", "long": "int64", "float": "double"}
_LONGEST_CELL = 1 << 26  # characters: an open quote in a large file ends here, not in memory
_TOO_LARGE = "a number that is too large"
_ROWS = 4096  # that are read at a time
_SHOWN = 5  # bad rows, or files that are left out, that a line names


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
    places: list[str]
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
            f"{name} `{path}` has the suffix {path.suffix!r}: expected one of {', '.join(KINDS)}.",
        )
    return kind


def open_table(path: Path, encoding: str | None = None) -> "LineTable | ParquetTable":
    """The table in a file, or in all Parquet files of a folder; its columns are read, its rows are
    not."""
    if not path.exists():
        raise InputError(
            f"`{path}` does not exist: expected a table of texts, or a folder of Parquet files."
        )
    kind = "parquet" if path.is_dir() else table_kind(path, "the input")
    if kind != "parquet":
        return LineTable(path, kind, encoding=encoding)
    if encoding is not None:
        problem = "`encoding` is for CSV, JSON lines and .txt files: Parquet is always UTF-8"
        raise InputError(f"{problem}.")
    require_extra("Reading Parquet", "tables", "pyarrow")
    return ParquetTable(path)


def choose_column(name: str | None, role: str, columns: Sequence[str], shown: str) -> str:
    """The column that was named, or the first with a common name; a warning if several have one."""
    known = f"{shown} has the columns {', '.join(columns)}"
    if name is not None:
        if check_str(name, f"`{role}`") not in columns:
            problem = f"`{role}` is {shorten(name)}, but {known}. Name one of them."
            raise InputError(problem)
        return name
    candidates = [c for common in COMMON_NAMES[role] for c in columns if c.lower() == common]
    if not candidates:
        problem = f"Cannot guess the {role} column: {known}. Name it with `{role}`."
        raise InputError(problem)
    chosen, *rest = candidates
    if rest:
        also = f"{', '.join(rest)} would be possible, too (choose with `{role}`)"
        warnings.warn(f"the {role} column is {chosen}; {also}", stacklevel=2)
    return chosen


def as_frame(table: Any, name: str, **how: Any) -> Any:
    """A table in memory as a frame of narwhals."""
    import narwhals as nw

    try:
        return nw.from_native(table, **how)
    except nw.exceptions.DuplicateError:
        raise InputError(f"{name} has two columns of one name: rename one of them.") from None


class Table:
    """A table in a file or folder, with the names of its columns; `shown` names it in errors."""

    shown: str
    names: list[str]

    def keep(self, columns: Sequence[str]) -> None:
        """Leave out all columns but these, which must be there; each once."""
        for name in columns:
            choose_column(name, "columns", self.names, self.shown)
        self.names = list(dict.fromkeys(columns))


class LineTable(Table):
    """A CSV or JSON lines file. Unless its encoding is given, all of it must be UTF-8."""

    def __init__(self, path: Path, kind: str, shown: str = "", encoding: str | None = None) -> None:
        self.path, self.kind, self.shown = path, kind, shown or f"`{path}`"
        self.names, self.encoding = [], encoding
        self._position = 0
        self._kinds: dict[str, set[str]] = {}
        problem = "is empty"
        with closing(self.rows()) as rows:
            # The header names the columns of CSV; any line of JSON may have one more.
            for row in islice(rows, 1) if kind == "csv" else rows:
                problem = f"has no columns ({row.place}: {row.fault or 'an empty object'})"
                for name, value in row.cells.items():
                    self._kinds.setdefault(name, set()).add(_kind(value))
        self.names = self.names or list(self._kinds)
        if not self.names:
            wish = "expected column names in the first line, or JSON objects"
            raise InputError(f"{self.shown} {problem}: {wish}.")

    def rows(self, columns: Sequence[str] = ()) -> Generator[Row, None, None]:
        """All rows, with all their cells."""
        wish = "expected a table of texts"
        with _failure_named(self.shown), open_bytes(self.path, wish) as stored:
            # Bytes that cannot be decoded become surrogates, so that their rows can be named.
            encoding = codec(self.encoding)
            lines = io.TextIOWrapper(stored, encoding, errors="surrogateescape", newline="")
            for row in self._csv_rows(lines) if self.kind == "csv" else self._json_rows(lines):
                self._position = stored.tell()
                yield row

    def schema(self, text: str) -> Any:
        """Arrow types of the columns. Cells of CSV stay texts: 007 is not 7."""
        texts = self.names if self.kind == "csv" else [text]
        kinds = self._kinds | {name: {"str"} for name in texts}
        return pa.schema([_field(name, kinds[name]) for name in self.names])

    def batches(self, text: str, skip: int = 0) -> Iterator[Batch]:
        """The rows after the first `skip` ones."""
        schema, size = self.schema(text), max(self.path.stat().st_size, 1)
        remaining = islice(self.rows(), skip, None)
        while rows := list(islice(remaining, _ROWS)):
            table = pa.table([_column(rows, field) for field in schema], schema=schema)
            faults = text_faults(row.cells.get(text) for row in rows)
            faults |= {n: row.fault for n, row in enumerate(rows) if row.fault}
            yield Batch(table, [row.place for row in rows], faults, self._position / size)

    def _csv_rows(self, lines: Iterator[str]) -> Iterator[Row]:
        start = next(lines, "")
        delimiter = "\t" if self.path.suffix.lower() == ".tsv" else max(",;\t", key=start.count)
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        reader = csv.reader(chain([start], lines), delimiter=delimiter, strict=True)
        names, last = [], 0
        try:
            for cells in reader:
                first, last = last + 1, reader.line_num
                if cells and not names:
                    names = [cell.strip() for cell in cells]
                    self.names = self.names or names
                    fault = encoding_fault(f"{self.shown} line {first}", cells, self.encoding)
                    if len(set(names)) < len(names) or fault:
                        raise InputError(
                            f"{self.shown} line {first} is not a header: "
                            f"expected column names, all different, in {codec(self.encoding)}."
                        )
                elif cells:  # not a blank line
                    fault = encoding_fault(f"{self.shown} line {first}", cells, self.encoding)
                    if len(cells) != len(names):
                        to_line = f", up to line {last}" if last > first else ""
                        fault = f"{pluralize(len(cells), 'cell')} instead of {len(names)}{to_line}"
                    yield Row(f"line {first}", dict(zip(names, cells, strict=False)), fault)
        except csv.Error as error:
            raise InputError(
                f"{self.shown} line {last + 1} is not CSV: {error}. "
                "Write a quote inside a quoted cell twice, or save the table as JSON lines."
            ) from None

    def _json_rows(self, lines: Iterable[str]) -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            cells = {}
            fault = encoding_fault(f"{self.shown} line {number}", [line], self.encoding)
            try:
                cells = _JSON.decode(line)
            except (json.JSONDecodeError, RecursionError):
                fault = "not JSON"
            except ValueError as error:
                # Python's own is about whole numbers of thousands of digits.
                fault = _TOO_LARGE if "digits" in str(error) else str(error)
            if not isinstance(cells, dict):
                cells, fault = {}, "not a JSON object"
            yield Row(f"line {number}", cells, fault)


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files of a folder and of those in it, by name; without hidden and temporary ones."""
    files = []
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part[0] in "._" for part in path.relative_to(folder).parts)
        if path.suffix.lower() == ".parquet" and path.is_file() and not is_hidden:
            files.append(path)
    return files


def warn_of_unread(folder: Path, files: Sequence[Path], rule: str) -> None:
    """Name what lies beside the files that are read, except hidden files and marks (_SUCCESS)."""
    parents = {parent for file in files for parent in file.parents}
    read = {parent for parent in parents if parent.is_relative_to(folder)}
    beside = {path for place in read for path in place.iterdir()} - read - {*files}
    unread = []
    for path in sorted(beside):
        if path.name[0] not in "._" or path.suffix.lower() in KINDS:
            unread.append(str(path.relative_to(folder)))
    if unread:
        shown = join_first(unread, len(unread), ", ")
        warnings.warn(f"left out of `{folder}`: {shown} ({rule})", stacklevel=2)


def join_first(lines: Sequence[str], total: int, mark: str = "; ") -> str:
    """The first few lines, and how many more there are."""
    more = [f"and {total - _SHOWN:,} more"] * (total > _SHOWN)
    return sanitize_line(mark.join([*lines[:_SHOWN], *more]))


class ParquetTable(Table):
    """A Parquet file, or all those of a folder, with the partition columns of their paths
    (`lang=en/a.parquet`)."""

    def __init__(self, path: Path) -> None:
        self.shown, self._is_folder = f"`{path}`", path.is_dir()
        files, shown, hive = [path], [""], {}
        if self._is_folder:
            files = parquet_files(path)
            shown = [str(file.relative_to(path)) for file in files]
            hive: Any = {"partitioning": "hive", "partition_base_dir": str(path)}
            rule = "only Parquet files are read, and links to folders are not followed"
            warn_of_unread(path, files, rule)
        if not files:
            raise InputError(f"{self.shown} has no .parquet files: expected a table of texts.")
        with _failure_named(self.shown):
            dataset: Any = open_parquet([str(file) for file in files], **hive)
            fragments = list(dataset.get_fragments())
            schemas = [dataset.schema, *(fragment.physical_schema for fragment in fragments)]
            self._stored = _unify(schemas).with_metadata(dataset.schema.metadata)
        self.names = list(self._stored.names)
        self._fragments = list(zip(shown, fragments, strict=True))

    @property
    def _read(self) -> Any:
        """The columns that are read, as they are stored."""
        fields = map(self._stored.field, self.names)
        return pa.schema(fields, metadata=self._stored.metadata)

    def schema(self, text: str) -> Any:
        """Arrow types of the columns, with one for the file of a row, if there are several."""
        kind = self._stored.field(text).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not _is_text(kind):
            raise InputError(
                f"`text` is {text!r}, but that column of {self.shown} has type {kind}: "
                "expected texts.",
            )
        schema = self._read.set(self.names.index(text), pa.field(text, kind))
        if not self._is_folder:
            return schema
        name = "hardmax_file" if "file" in self.names else "file"
        return schema.append(pa.field(name, pa.string()))

    def batches(self, text: str, skip: int = 0) -> Iterator[Batch]:
        """The rows after the first `skip` ones."""
        schema, seen = self.schema(text), 0
        total = max(sum(fragment.count_rows() for _, fragment in self._fragments), 1)
        how = {"schema": self._read, "batch_size": _ROWS, "batch_readahead": 4}
        for file, fragment in self._fragments:
            before = seen
            with _failure_named(f"`{fragment.path}`"):
                for batch in fragment.to_batches(**how):
                    rest = batch.slice(min(max(skip - seen, 0), len(batch)))
                    seen += len(batch)
                    files = [pa.repeat(file, len(rest))] * self._is_folder
                    columns = [*rest.columns, *files]
                    table = pa.table(columns, names=schema.names).cast(schema)
                    table[text].validate(full=True)  # Parquet does not check that texts are UTF-8
                    numbers = range(seen - len(rest) - before + 1, seen - before + 1)
                    places = [f"{file} row {number}".lstrip() for number in numbers]
                    yield Batch(table, places, text_faults(table[text].to_pylist()), seen / total)

    def rows(self, columns: Sequence[str]) -> Iterator[Row]:
        """The cells of some columns, the first of them the texts."""
        self.keep(columns)
        for batch in self.batches(columns[0]):
            yield from map(Row, batch.places, batch.table.select(self.names).to_pylist())


def _is_text(kind: Any) -> bool:
    """Whether an Arrow type is string, large_string or string_view, or a dictionary of these."""
    return str(kind).removeprefix("dictionary<values=").startswith(("string", "large_string"))


def _unify(schemas: list[Any]) -> Any:
    """The schema of all files. Numbers and texts may be stored in several ways: pandas makes floats
    of whole numbers where one is missing. Other types must agree."""
    how = {"promote_options": "permissive"}
    with suppress(pa.ArrowTypeError):
        return pa.unify_schemas(schemas, **how)
    text, same = pa.large_string(), []
    for schema in schemas:
        fields = [field.with_type(text) if _is_text(field.type) else field for field in schema]
        same.append(pa.schema(fields))
    return pa.unify_schemas(same, **how)


def refusal(place: str, fault: str) -> InputError:
    """The error about the first bad row."""
    way_out = "Fix it, or leave such rows out with `on_bad_rows='skip'`"
    return InputError(f"{place}: {fault}. {way_out}.")


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
    """Whether no cell has half a character, or a byte that could not be decoded."""
    return all(cell.isascii() or encode_text(cell).decode() == cell for cell in cells)


def check_encoding(encoding: Any) -> str | None:
    """An encoding of texts that Python knows; None for UTF-8."""
    if encoding is None:
        return None
    with suppress(Exception):  # no text, no such encoding, or one that is not for texts
        "".encode(encoding)
        return encoding
    wish = "one that Python knows, such as utf-8 or cp1252"
    raise InputError(f"`encoding` must be {wish}, not {shorten(encoding)}.")


def codec(encoding: str | None) -> str:
    """What to decode with: of UTF-8, without the byte order mark that some programs put first."""
    name = codecs.lookup(encoding or "utf-8").name
    return "utf-8-sig" if name == "utf-8" else name


def encoding_fault(place: str, cells: Sequence[str], encoding: str | None) -> str:
    """What is wrong with the characters of a row. If nobody said what encoding its file has, all
    that follows may be wrong: that is an error."""
    if is_utf8(cells):
        return ""
    if encoding is not None:
        return f"not {encoding}"
    likely = _guess_encoding("".join(cells).encode("utf-8", "surrogateescape"))
    reading = f"`encoding='{likely or 'cp1252'}'`"
    guess = f"It looks like {likely}: pass" if likely else "Pass its encoding, such as"
    other = "`encoding='utf-8'` to treat such rows as bad ones"
    raise InputError(f"{place} is not UTF-8. {guess} {reading}, or {other}.")


def _guess_encoding(data: bytes) -> str:
    """The likely encoding of bytes that are not UTF-8; empty if they tell nothing."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # In languages that Windows writes in cp1252, accented letters stand among others.
    if not re.search(rb"[\x80-\xff]{4}", data):
        with suppress(UnicodeDecodeError):
            return data.decode("cp1252") and "cp1252"
    return ""


def text_fault(value: Any) -> str:
    """What is wrong with the text of a row; empty if nothing is."""
    if isinstance(value, str):
        return "" if value.strip() else "the text is empty"
    return "no text" if is_missing(value) else f"the text is of type {type(value).__name__}"


def text_faults(values: Iterable[Any]) -> dict[int, str]:
    """What is wrong with the texts of some rows."""
    faults = enumerate(map(text_fault, values))
    return {row: fault for row, fault in faults if fault}


def _read_float(written: str) -> float:
    """A finite number: 1e400 is refused, or it would become infinite."""
    number = float(written)
    if math.isinf(number):
        raise ValueError(_TOO_LARGE)
    return number


def _refuse_constant(written: str) -> None:
    raise ValueError(f"{written} is not JSON")


_JSON = json.JSONDecoder(
    parse_float=_read_float, parse_constant=_refuse_constant, object_pairs_hook=unique_keys
)


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
    kinds = {*kinds} - {"NoneType"} or {"str"}
    if kinds & {"long", "float"}:
        kinds -= {"int"}  # which both can hold
    kind = kinds.pop()
    if kinds or kind not in _JSON_TYPES:
        return pa.field(name, pa.string(), metadata=JSON_CELLS)
    return pa.field(name, _JSON_TYPES[kind])


def _column(rows: list[Row], field: Any) -> Any:
    values = [row.cells.get(field.name) for row in rows]
    convert = {"string": _as_text, "double": float}.get(str(field.type), lambda value: value)
    if field.metadata:
        convert = _as_json
    return pa.array([None if each is None else convert(each) for each in values], field.type)


def _as_text(value: Any) -> str:
    """Bytes that were not UTF-8, and halves of characters in JSON, become U+FFFD."""
    return encode_text(str(value)).decode()


def _as_json(value: Any) -> str:
    return _as_text(json.dumps(value, ensure_ascii=False))
