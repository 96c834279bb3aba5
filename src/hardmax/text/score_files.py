"""Tables in files scored, of any size, part by part.

Until the output is finished, our columns of its parts are in the folder `.NAME.parts` beside it,
in files named by a digest of what they were made from: texts, model and options. If the work was
interrupted, parts that are there already are not scored again, unless they are damaged: each file
begins with a digest of the rest.
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
_DIGEST = 20  # bytes
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

    def add(self, part: tables.Batch, answers: Any, is_new: bool) -> None:
        """Count the rows of a part."""
        self.rows += len(answers)
        self.scored_before += 0 if is_new else len(answers)
        self.bad += len(part.faults)
        for row, fault in sorted(part.faults.items())[: _LISTED - len(self.bad_rows)]:
            self.bad_rows.append([part.place(row), fault])
        self.labels.update(map(str, answers[self.columns["label"]].drop_null().to_pylist()))
        self.undecided += answers[self.columns["decided"]].to_pylist().count(False)


def score_file(
    model: TextModel,
    source: str,
    target: Path,
    *,
    text: str | None = None,
    votes: bool = False,
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
        scorer, stored = Scorer(model, table.names, votes, on_bad_rows), table.schema(text)
        made_by = {b"hardmax": json.dumps(model._made_by)}
        metadata: Any = (stored.metadata or {}) | made_by
        schema = pa.schema([*stored, *scorer.schema], metadata=metadata)
        report = ScoringReport(text, scorer.names)
        asked = f"{__version__} {model._digest} {scorer.schema}"

        def scored() -> Iterator[tuple[Any, Any, Path | None]]:
            for number, part in enumerate(table.batches(text)):
                texts = part.table[text]
                work = _bytes_of(pa.table({f"{asked} {part.faults}": texts}))
                path = folder / f"{number}-{_digest(work).hex()}"
                answers = _read_part(path)
                is_new = answers is None
                if answers is None:
                    answers = scorer.answer(texts, part.faults, part.place)
                report.add(part, answers, is_new)
                progress(part.share, report.rows - report.scored_before)
                rows = pa.Table.from_arrays([*part.table, *answers], schema=schema)
                yield rows, answers, path if is_new else None

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


def _digest(content: Any) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _bytes_of(table: Any) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _read_part(path: Path) -> Any:
    """The answers of a part, if they are there, and as they were written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    answers = content[_DIGEST:]
    is_whole = _digest(answers) == content[:_DIGEST]
    return pa.ipc.open_stream(answers).read_all() if is_whole else None


def _write_part(path: Path, answers: Any) -> None:
    content = _bytes_of(answers)
    path.parent.mkdir(exist_ok=True)
    with drafted(path) as draft:
        draft.write_bytes(_digest(content) + content)


def _write_behind(
    write: Callable[[Any], Any], parts: Iterator[tuple[Any, Any, Path | None]]
) -> None:
    """Write each part while the next is scored: its answers to a file of their own, if they are in
    none yet, and its rows to the output."""

    def keep(rows: Any, answers: Any, path: Path | None) -> None:
        if path is not None:
            _write_part(path, answers)
        write(rows)

    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        writing = pool.submit(int)  # nothing yet
        for part in parts:
            writing.result()
            writing = pool.submit(keep, *part)
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
