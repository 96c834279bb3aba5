"""Where the rows come from: a file, a folder of files of one form, or standard input, kept in a file first."""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._files import reason
from hardmax._validation import InputError
from hardmax.text.data.corpora import TEXT_NAMES, BadRow, choose_column
from hardmax.text.scoring.arrow import Schema, is_text
from hardmax.text.scoring.csv_lines import CsvLines
from hardmax.text.scoring.forms import WISH, Form, asked_form, form_of, packing_of, sniffed
from hardmax.text.scoring.json_lines import JsonLines
from hardmax.text.scoring.parquet_file import ParquetTable
from hardmax.text.scoring.rows import Damaged, Rows, TableFile
from hardmax.text.scoring.streams import first_bytes

_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Source:
    """Files of one form with the same columns, one after the other."""

    name: str
    files: list[tuple[str, TableFile]]  # each with what it is called where there are several
    schema: Schema
    text: str
    marks: list[list[Any]]  # by which changed files are known
    form: Form
    go_on: bool  # with the next file, where one is damaged
    lost: tuple[BadRow, ...] = ()  # files that could not even be opened
    others: int = 0  # files of the folder that are no tables
    paths: tuple[tuple[str, Path], ...] = ()  # of files that somebody may change meanwhile

    def has_changed(self) -> bool:
        """Whether a file is no longer the one that was opened."""
        try:
            return bool(self.paths) and [_mark(path, name) for name, path in self.paths] != self.marks
        except OSError:
            return True

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for _, file in self.files)

    def rows(self, start: tuple[int, int] = (0, 0)) -> Iterator[Rows]:
        """All rows from a place on: which file, and which row of it."""
        before = sum(file.size for _, file in self.files[: start[0]])
        for number, (name, file) in list(enumerate(self.files))[start[0] :]:
            row = start[1] if number == start[0] else 0
            try:
                for some in file.rows(self.text, row):
                    yield self._placed(some, name, before, (number, row))
                    row += len(some)
            except Damaged as error:
                if not self.go_on:
                    raise
                yield self._lost(name, before + file.size, number + 1, str(error))
            before += file.size

    def _placed(self, some: Rows, name: str, before: int, start: tuple[int, int]) -> Rows:
        table = some.table
        if not table.schema.equals(self.schema, check_metadata=True):
            table = table.cast(self.schema)  # what Parquet files say about themselves is that of the first
        return replace(some, table=table, file=name, position=before + some.position, start=start)

    def _lost(self, name: str, position: int, next_file: int, why: str) -> Rows:
        lost = (BadRow(name or self.name, f"the rest is lost: {why}"),)
        lines = [] if self.form.kind == "json lines" else None
        none = np.empty(0, dtype=np.int64)
        start = (next_file, 0)
        return Rows(self.schema.empty_table(), none, none, "", lines=lines, position=position, start=start, lost=lost)


def open_source(path: str | Path, text: str | None, *, skip_damaged: bool, spool: Path | None = None) -> Source:
    """The rows of a file or a folder; for `-`, those of standard input, which is copied to the file `spool` first."""
    if path == "-" and spool is not None:
        mark = ["-", _spool(spool)]
        return replace(
            _source("standard input", [("", spool)], _sniff(spool), text, skip_damaged), marks=[mark], paths=()
        )
    path = Path(path)
    if not path.is_dir():
        return _source(f"`{path}`", [("", path)], asked_form(path, "the input"), text, skip_damaged)
    return _open_folder(path, text, skip_damaged)


def _open_folder(folder: Path, text: str | None, skip_damaged: bool) -> Source:
    there = [path for path in sorted(folder.rglob("*")) if path.is_file() and not _is_hidden(path, folder)]
    forms = {path: form for path in there if (form := form_of(path))}
    if not forms:
        raise InputError(f"`{folder}` holds no tables: {WISH}.")
    first = next(iter(forms))
    for path, form in forms.items():
        if form.kind != forms[first].kind:
            kinds = f"{forms[first].kind} (`{first.name}`) and {form.kind} (`{path.name}`)"
            raise InputError(f"`{folder}` holds tables of several forms, {kinds}: expected one. Score them one by one.")
    files = [(str(path.relative_to(folder)), path) for path in forms]
    source = _source(f"`{folder}`", files, forms[first], text, skip_damaged)
    return replace(source, others=len(there) - len(forms))


def _source(name: str, paths: list[tuple[str, Path]], form: Form, text: str | None, skip_damaged: bool) -> Source:
    marks = [_mark(path, shown) for shown, path in paths]
    files: list[tuple[str, TableFile]] = []
    lost: list[BadRow] = []
    for shown, path in paths:
        try:
            files.append((shown, _open_file(path, form if len(paths) == 1 else form_of(path) or form)))
        except Damaged as error:
            if not (skip_damaged and len(paths) > 1):
                way_out = ". Or leave it out with on_bad_rows=skip" if len(paths) > 1 else ""
                raise Damaged(f"{str(error).rstrip('.')}{way_out}.", also=("on_bad_rows=skip",)) from None
            lost.append(BadRow(shown, str(error)))
    if not files:
        raise InputError(f"{name} holds no table that can be read. {lost[0].reason}")
    schema = _common_schema(files, form)
    column = choose_column(text, "text", TEXT_NAMES, schema.names, name.strip("`"))
    if form.kind == "parquet" and not is_text(schema.field(column).type):
        raise InputError(
            f"`text` is {column!r}, but that column of {name} holds {schema.field(column).type}: expected texts.",
            argument="text",
        )
    if not any(file.count is None or file.count for _, file in files):
        raise InputError(f"{name} has no rows: expected a text in each.")
    return Source(name, files, schema, column, marks, form, skip_damaged, tuple(lost), paths=tuple(paths))


def _open_file(path: Path, form: Form) -> TableFile:
    if form.kind == "parquet":
        return ParquetTable(path)
    return CsvLines(path, form) if form.kind == "csv" else JsonLines(path, form)


def _common_schema(files: list[tuple[str, TableFile]], form: Form) -> Schema:
    """The columns of all files: the same in each, but for JSON lines, where rows need not have all of them."""
    first_name, first = files[0]
    if form.kind == "json lines":
        return _joined([file for _, file in files if isinstance(file, JsonLines)])
    for name, file in files[1:]:
        if not file.schema.equals(first.schema):
            there, here = _described(first.schema), _described(file.schema)
            raise InputError(f"`{name}` has the columns {here}, but `{first_name}` has {there}: expected the same.")
    return first.schema


def _joined(files: list[JsonLines]) -> Schema:
    kinds: dict[str, set[str]] = {}
    for file in files:
        for name, found in file.kinds.items():
            kinds.setdefault(name, set()).update(found)
    for file in files:
        file.use(kinds)
    return files[0].schema


def _described(schema: Schema) -> str:
    return ", ".join(f"{one.name} ({one.type})" for one in schema)


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) or part.endswith(".parts") for part in path.relative_to(folder).parts)


def _mark(path: Path, name: str) -> list[Any]:
    found = path.stat()
    return [name, found.st_size, found.st_mtime_ns]


def _spool(target: Path) -> str:
    digest = hashlib.sha256()
    try:
        with target.open("wb") as stream:
            while block := sys.stdin.buffer.read(_BLOCK):
                digest.update(block)
                stream.write(block)
    except OSError as error:
        raise InputError(f"standard input cannot be kept in `{target.parent}`: {reason(error)}.") from None
    if not target.stat().st_size:
        raise InputError("standard input is empty: expected JSON lines or CSV with a header.")
    return digest.hexdigest()


def _sniff(path: Path) -> Form:
    with path.open("rb") as stream:
        packing = packing_of(stream.read(4))
    return sniffed(first_bytes(path, Form("csv", packing)), packing)
