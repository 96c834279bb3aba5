"""Rows of tables in files: what each cell says, or what is wrong with the row, and where it stands."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardmax.errors import InputError, MissingExtra


@dataclass(frozen=True)
class Row:
    """The cells of a row by column, or its fault."""

    place: str
    cells: dict[str, Any] = field(default_factory=dict)
    fault: str = ""


Table = tuple[list[str], Iterator[Row]]


def _read_csv(path: Path) -> Table:
    text = _decode(path)
    first = text.split("\n", 1)[0]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error:
        header = []
    if not any(header) or len(set(header)) != len(header):
        raise InputError(f"`{path}` has no header: expected the names of the columns, all different, on line 1.")
    return header, _csv_rows(reader, header)


def _csv_rows(reader: Any, header: list[str]) -> Iterator[Row]:
    with _cells_of_any_size():
        while True:
            place = f"line {reader.line_num + 1}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(place, fault=f"broken line, {error}")
                continue
            if not cells:
                continue
            if len(cells) != len(header):
                yield Row(place, fault=f"{len(cells)} cells instead of {len(header)}")
                continue
            yield Row(place, dict(zip(header, cells, strict=True)))


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_json_lines(path: Path) -> Table:
    rows = [_json_row(number, line) for number, line in enumerate(_decode(path).split("\n"), 1) if line.strip()]
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    if not columns:
        raise InputError(f"`{path}` holds no JSON objects: expected one a line, with a text and a label.")
    return columns, iter(rows)


def _json_row(number: int, line: str) -> Row:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return Row(f"line {number}", fault="not JSON")
    if not isinstance(found, dict):
        return Row(f"line {number}", fault="no JSON object")
    return Row(f"line {number}", found)


def _read_parquet(path: Path) -> Table:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Reading Parquet", "tables") from None
    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError):
        raise InputError(f"`{path}` is not a Parquet file, or a broken one. Save it again.") from None
    columns = table.column_names
    batches = (batch.to_pylist() for batch in table.to_batches(max_chunksize=4096))
    numbered = enumerate(cells for batch in batches for cells in batch)
    return columns, (Row(f"row {number}", cells) for number, cells in numbered)


def _read_folder(path: Path) -> Table:
    train = path / "train"
    root = train if train.is_dir() and not any(path.glob("*.txt")) else path
    # aclImdb keeps texts without labels in a folder of this name.
    folders = [inner for inner in sorted(root.iterdir()) if inner.name != "unsup" and any(inner.glob("*.txt"))]
    if not folders:
        wish = "expected a folder for each class, with .txt files in it, such as pos and neg"
        raise InputError(f"`{path}` holds no texts: {wish}.")
    return ["text", "label"], (_text_row(file, inner.name) for inner in folders for file in sorted(inner.glob("*.txt")))


def _text_row(file: Path, label: str) -> Row:
    place = f"{label}/{file.name}"
    try:
        return Row(place, {"text": file.read_bytes().decode("utf-8-sig", "surrogateescape"), "label": label})
    except OSError as error:
        return Row(place, fault=(error.strerror or "it cannot be read").lower())


def _decode(path: Path) -> str:
    """The text of a file; bytes that are not UTF-8 become surrogates, so that their rows can be told."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    except OSError as error:
        raise InputError(f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}.") from None
    if not text.strip():
        raise InputError(f"`{path}` is empty: expected texts and labels.")
    return text.replace("\0", "")


READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".parquet": _read_parquet,
    "folder": _read_folder,
}
