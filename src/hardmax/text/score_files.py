"""Tables in files scored, of any size, part by part.

Until the output is finished, its parts are in the folder `.NAME.parts` beside it, Parquet files
named by a digest of what they were made from: rows, model and options. If the work was interrupted,
parts that are there already are not scored again, unless their pages have other checksums.
"""

# pyright: reportAttributeAccessIssue=false
import csv
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hardmax import __version__
from hardmax._common.files import drafted, open_bytes, reason
from hardmax._common.validation import InputError
from hardmax.text import tables
from hardmax.text.scoring import Scorer
from hardmax.text.text_model import TextModel

_LISTED = 100  # bad rows that are named
Progress = Callable[[float, int], None]  # share of the input that is done, rows scored now


@dataclass
class ScoringReport:
    """What became of the rows."""

    text: str
    """The column that was scored."""
    columns: dict[str, str]
    """The names of our columns."""
    rows: int = 0
    """Rows read."""
    bad: int = 0
    bad_rows: list[list[str]] = field(default_factory=list)
    """Place and fault of the first bad rows."""
    labels: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    scored_before: int = 0
    """Rows that an earlier run had scored."""

    def add(self, part: tables.Batch, scored: Any, is_new: bool) -> None:
        """Count the rows of a part."""
        self.rows += len(scored)
        self.scored_before += 0 if is_new else len(scored)
        self.bad += len(part.faults)
        for row, fault in sorted(part.faults.items())[: _LISTED - len(self.bad_rows)]:
            self.bad_rows.append([part.place(row), fault])
        self.labels.update(map(str, scored[self.columns["label"]].drop_null().to_pylist()))
        self.undecided += scored[self.columns["decided"]].to_pylist().count(False)


def score_file(
    model: TextModel,
    source: str,
    target: Path,
    *,
    text: str | None = None,
    on_bad_rows: str = "null",
    force: bool = False,
    progress: Progress = lambda share, rows: None,
) -> ScoringReport:
    """Score every row of a table in a file, a folder of Parquet files, or on standard input (`-`).

    The output has the columns of the table, and ours after them. If this is interrupted, the same
    call goes on after the parts that are finished, to the same rows and values."""
    check_output(source, target, force)
    folder = target.with_name(f".{target.name}.parts")
    with _opened(source) as table:
        text = tables.choose_column(text, "text", table.names, table.shown)
        scorer, stored = Scorer(model, table.names, on_bad_rows), table.schema(text)
        schema = pa.schema([*stored, *scorer.schema], metadata=stored.metadata)
        report = ScoringReport(text, scorer.names)
        asked = repr([__version__, model._digest, text, str(schema)])

        def scored() -> Iterator[tuple[Any, Path | None]]:
            for number, part in enumerate(table.batches(text)):
                path = folder / f"{number}-{_hash_part(asked, part)}.parquet"
                rows = _read_part(path)
                is_new = rows is None
                if rows is None:
                    answers = scorer.answer(part.table[text], part.faults, part.place)
                    rows = pa.Table.from_arrays([*part.table, *answers], schema=schema)
                report.add(part, rows, is_new)
                progress(part.share, report.rows - report.scored_before)
                yield rows, path if is_new else None

        try:
            with drafted(target) as draft, _writer(draft, schema, target) as write:
                _write_behind(write, scored())
            shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            problem = f"`{target}` cannot be written: {reason(error)}"
            way_out = "Finished parts are kept: the same command continues after them"
            raise InputError(f"{problem}. {way_out}.") from None
    return report


def check_output(source: str, target: Path, force: bool) -> None:
    """Refuse an output that cannot be written, before the work."""
    if not target.parent.is_dir():
        problem = f"the folder `{target.parent}` does not exist. Create it first"
        raise InputError(f"`{target}` cannot be written: {problem}.")
    place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    if source != "-" and read in (place, *place.parents):
        raise InputError(f"`{target}` is the input, or lies in it: name an output elsewhere.")
    tables.table_kind(target, "`out`")
    if target.exists() and not force:
        raise InputError(
            f"`{target}` exists: name another output, or replace it with `force=True`."
        )


@contextmanager
def _opened(source: str) -> Iterator[Any]:
    """The table; standard input is copied, because JSON lines are read twice."""
    if source != "-":
        yield tables.open_table(Path(source))
        return
    with TemporaryDirectory(prefix="hardmax-") as folder:
        path = Path(folder, "input")
        with open_bytes("-") as given, path.open("wb") as stream:
            shutil.copyfileobj(given, stream)
        with path.open("rb") as stream:
            is_json = stream.read(100).lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{")
        suffix = ".jsonl" if is_json else ".csv"
        yield tables.LineTable(path.rename(path.with_suffix(suffix)), "standard input")


def _hash_part(asked: str, part: tables.Batch) -> str:
    """What tells this work on these rows from any other."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, part.table.schema) as stream:
        stream.write_table(part.table)
    content = hashlib.sha256(f"{asked}{part.faults}".encode())
    content.update(sink.getvalue())
    return content.hexdigest()


def _read_part(path: Path) -> Any:
    """The rows of a part, if it is there, and as it was written."""
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    except (OSError, ValueError):  # of the system, and of pyarrow
        return None


def _write_behind(write: Callable[[Any], Any], parts: Iterator[tuple[Any, Path | None]]) -> None:
    """Write each part while the next is scored: to its own file, if it has none yet, and to the
    output."""

    def keep(rows: Any, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            with drafted(path) as draft:
                plain = {"compression": "none", "use_dictionary": False}
                pq.write_table(rows, draft, write_page_checksum=True, **plain)
        write(rows)

    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        writing = pool.submit(int)  # nothing yet
        for rows, path in parts:
            writing.result()
            writing = pool.submit(keep, rows, path)
        writing.result()


@contextmanager
def _writer(path: Path, schema: Any, target: Path) -> Iterator[Callable[[Any], Any]]:
    """A function that adds rows to a file of the kind that the target's name says."""
    kind = tables.table_kind(target, "`out`")
    if kind == "parquet":
        with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
            yield writer.write_table
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        delimiter = "\t" if target.suffix.lower() == ".tsv" else ","
        lines = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        as_json = [column.name for column in schema if column.metadata == tables.JSON_CELLS]

        def write_csv(table: Any) -> None:
            for row in table.to_pylist():
                lines.writerow(map(_cell, row.values()))

        def write_json(table: Any) -> None:
            for row in table.to_pylist():
                parsed = {name: json.loads(row[name] or "null") for name in as_json}
                stream.write(_json(row | parsed) + "\n")

        if kind == "csv":
            lines.writerow(schema.names)
        yield write_csv if kind == "csv" else write_json


def _cell(value: Any) -> Any:
    """A cell of CSV: truth values, lists and objects as JSON has them."""
    return _json(value) if isinstance(value, bool | list | dict) else value


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:  # JSON has no nan and no infinity
        return _json(json.loads(json.dumps(value, default=str), parse_constant=lambda _: None))
