"""Rows of tables in files: what each cell says, or what is wrong with the row, and where it stands."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hardmax._files import read_bytes
from hardmax._validation import InputError
from hardmax.text.data.csv_rows import CsvTable, Row

# Columns; the rows, once text and label are chosen, and after these what else is asked for.
Table = tuple[list[str], Callable[..., Iterator[Row]]]

_LINE_END = re.compile(r"\r\n|\n|\r")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def _read_csv(path: Path) -> Table:
    table = CsvTable.of(path, _decode(path))
    return table.columns, table.rows


def _read_json_lines(path: Path) -> Table:
    lines = _LINE_END.split(_decode(path))  # no string in JSON holds any of them
    rows = [read_json_row(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    if not columns:
        raise InputError(f"`{path}` holds no JSON objects: expected one a line, with a text and a label.")
    return columns, lambda text, label, *others: iter(rows)


def read_json_row(number: int, line: str) -> Row:
    """The row in a line of JSON: the cells of its object, or its fault."""
    place = f"line {number}"
    try:
        found = json.loads(line.removeprefix("\ufeff"), object_pairs_hook=_once)
    except RecursionError:
        return Row(place, fault="nested too deeply")
    except ValueError as error:
        return Row(place, fault=str(error) if isinstance(error, _RepeatedKey) else "not JSON")
    return Row(place, found) if isinstance(found, dict) else Row(place, fault="no JSON object")


class _RepeatedKey(ValueError):
    """Two values for one key: which of them is meant, the line does not say."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKey("a key twice in one object")
    return found


def _read_parquet(path: Path) -> Table:
    from hardmax.text.data.parquet_rows import read_parquet

    return read_parquet(path)


def _read_folder(path: Path) -> Table:
    train = path / "train"
    root = train if train.is_dir() and not any(path.glob("*.txt")) else path
    # aclImdb keeps texts without labels in a folder of this name.
    folders = [inner for inner in sorted(root.iterdir()) if inner.name != "unsup" and any(inner.glob("*.txt"))]
    if not folders:
        wish = "expected a folder for each class, with .txt files in it, such as pos and neg"
        raise InputError(f"`{path}` holds no texts: {wish}.")
    files = [(file, inner.name) for inner in folders for file in sorted(inner.glob("*.txt"))]
    return ["text", "label"], lambda text, label, *others: (_text_row(*file) for file in files)


def _text_row(file: Path, label: str) -> Row:
    place = f"{label}/{file.name}"
    try:
        return Row(place, {"text": file.read_bytes().decode("utf-8-sig", "surrogateescape"), "label": label})
    except OSError as error:
        return Row(place, fault=(error.strerror or "it cannot be read").lower())


def _decode(path: Path) -> str:
    """The text of a file; bytes that are not UTF-8 become surrogates, so that their rows can be told."""
    data = read_bytes(path, "expected texts and labels")
    if data.startswith(_UTF_16):
        raise InputError(f"`{path}` is UTF-16 text: save it as UTF-8.")
    text = data.decode("utf-8-sig", "surrogateescape")
    if not text.strip():
        raise InputError(f"`{path}` is empty: expected texts and labels.")
    return text


READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".parquet": _read_parquet,
    "folder": _read_folder,
}
