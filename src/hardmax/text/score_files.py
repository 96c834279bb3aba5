"""Tables in files scored, of any size, part by part.

A part is a Parquet file with a note beside it: a digest of what it was made from (rows, model and
options), a checksum of the part, and what became of its rows. A part is skipped if its note says
that it is what is asked for, and whole. The parts of a file are in the folder `.NAME.parts` beside
it until it is finished; of a folder, each file is a part, too.
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
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hardmax import __version__
from hardmax._common.files import drafted, open_bytes, reason, write_whole
from hardmax._common.validation import InputError
from hardmax.text import tables
from hardmax.text.scoring import ScoreOptions, Scorer
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel

_LISTED = 100  # bad rows that are named
_PACKED = {"compression": "zstd", "compression_level": 1}
Progress = Callable[[float, int], None]  # share of the input that is done, rows scored now


@dataclass
class ScoringReport:
    """What became of the rows."""

    rows: int = 0
    """Rows read."""
    bad: int = 0
    bad_rows: list[list[str]] = field(default_factory=list)
    """Place and fault of the first bad rows."""
    labels: dict[str, int] = field(default_factory=dict)
    undecided: int = 0
    abstained: int = 0
    scored_before: int = 0
    """Rows that an earlier run had scored."""
    text: str = ""
    """The column that was scored."""
    columns: dict[str, str] = field(default_factory=dict)
    """The names of our columns."""

    def add(self, other: "ScoringReport") -> None:
        """Count the rows of another report, too."""
        for name in ("rows", "bad", "undecided", "abstained", "scored_before"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.labels = dict(Counter(self.labels) + Counter(other.labels))
        self.bad_rows += other.bad_rows[: _LISTED - len(self.bad_rows)]


def score_file(
    model: TextModel,
    source: str,
    target: Path,
    options: ScoreOptions,
    *,
    force: bool = False,
    progress: Progress = lambda share, rows: None,
) -> ScoringReport:
    """Score every row of a table in a file, a folder of Parquet files, or on standard input (`-`).

    The output has the columns of the table, and ours after them: a file, or from a folder to a
    folder a Parquet file for each. If this is interrupted, the same call goes on after the parts
    that are finished, to the same rows and values."""
    check_output(source, target, force)
    with _opened(source, options.encoding) as table:
        job = _Job(model, options, table)
        try:
            if _is_folder(source, target):
                return _score_folder(job, Path(source), target, force, progress)
            return _score_table(job, table, target, "", progress)
        except OSError as error:
            problem = f"`{target}` cannot be written: {reason(error)}"
            way_out = "Finished parts are kept: the same command continues after them"
            raise InputError(f"{problem}. {way_out}.") from None


def check_output(source: str, target: Path, force: bool) -> None:
    """Refuse an output that cannot be written, before the work."""
    if not target.parent.is_dir():
        problem = f"the folder `{target.parent}` does not exist. Create it first"
        raise InputError(f"`{target}` cannot be written: {problem}.")
    place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    if source != "-" and read in (place, *place.parents):
        raise InputError(f"`{target}` is the input, or lies in it: name an output elsewhere.")
    if not _is_folder(source, target):
        tables.table_kind(target, "`out`")
        if target.exists() and not force:
            raise _exists(target)


def _is_folder(source: str, target: Path) -> bool:
    return Path(source).is_dir() and not target.suffix


def _exists(path: Path) -> InputError:
    return InputError(f"`{path}` exists: name another output, or replace it with `force=True`.")


class _Job:
    """A table that is scored with some model and options."""

    def __init__(self, model: TextModel, options: ScoreOptions, table: Any) -> None:
        self.options, self.columns = options, list(options.columns or table.names)
        self.text = tables.choose_column(options.text, "text", table.names, table.shown)
        for name in self.columns:
            tables.choose_column(name, "columns", table.names, table.shown)
        self.scorer = Scorer(model, self.columns, options)
        self._asked = [__version__, digest(model), asdict(options)]

    def digest(self, *content: Any) -> str:
        """What tells this job on some content from any other."""
        return hashlib.sha256(json.dumps([*self._asked, *content]).encode()).hexdigest()

    def parts(self, table: Any) -> tuple[Any, Iterator[tables.Batch]]:
        """The schema of what is written of a table, and the parts that are read."""
        kept = [name for name in self.columns if name in table.names]  # others are in the path
        stored = table.schema(self.text, kept)
        schema = pa.schema([*stored, *self.scorer.schema], metadata=stored.metadata)
        return schema, table.batches(self.text, kept)

    def score(self, part: tables.Batch, schema: Any) -> tuple[Any, ScoringReport]:
        """The rows of a part with our columns, and what became of them."""
        texts = part.table[self.text]
        rows, answers = self.scorer.answer(texts, part.faults, part.place)
        kept = part.table.select(schema.names[: -len(answers.columns)])
        kept = kept if rows is None else kept.take(pa.array(rows))
        label, decided, *_, abstain, _ = answers.columns
        report = ScoringReport(
            rows=len(texts),
            bad=len(part.faults),
            bad_rows=_bad_rows(part),
            labels=dict(Counter(map(str, label.drop_null().to_pylist()))),
            undecided=pc.sum(pc.invert(decided)).as_py() or 0,
            abstained=pc.sum(abstain).as_py() or 0,
        )
        return pa.Table.from_arrays([*kept.columns, *answers.columns], schema=schema), report


_Scored = tuple[Path, str, Any, ScoringReport]  # a part, its rows None if it was finished before


def _bad_rows(part: tables.Batch) -> list[list[str]]:
    return [[part.place(row), fault] for row, fault in sorted(part.faults.items())]


def _score_folder(
    job: _Job, source: Path, target: Path, force: bool, progress: Progress
) -> ScoringReport:
    """A file for each file, under the same name."""
    total = ScoringReport(text=job.text, columns=job.scorer.names)
    files = tables.parquet_files(source)
    for number, file in enumerate(files):
        name, done = file.relative_to(source), total.rows - total.scored_before
        with file.open("rb") as stream:
            made_from = job.digest(hashlib.file_digest(stream, "sha256").hexdigest())
        report = _finished(target / name, made_from)
        if report is None:
            if not force and _made_from(target / name) not in ("", made_from):
                raise _exists(target / name)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            update = partial(_pass_on, progress, number / len(files), len(files), done)
            report = _score_table(job, tables.open_table(file), target / name, made_from, update)
        report.bad_rows = [[f"{name} {place}", fault] for place, fault in report.bad_rows]
        total.add(report)
    return total


def _pass_on(
    progress: Progress, before: float, files: int, done: int, share: float, rows: int
) -> None:
    progress(before + share / files, done + rows)


def _score_table(
    job: _Job, table: Any, target: Path, made_from: str, progress: Progress
) -> ScoringReport:
    """A table to a file, part by part, with a note if it is a part of a folder."""
    total = ScoringReport(text=job.text, columns=job.scorer.names)
    folder = target.with_name(f".{target.name}.parts")
    schema, parts = job.parts(table)

    def scored() -> Iterator[_Scored]:
        for number, part in enumerate(parts):
            path, rows = folder / f"{number:06}.parquet", None
            part_of = job.digest(_hash_table(part.table), _bad_rows(part))
            report = _finished(path, part_of)
            if report is None:
                rows, report = job.score(part, schema)
            total.add(report)
            progress(part.share, total.rows - total.scored_before)
            yield path, part_of, rows, report

    with drafted(target) as draft:
        with _writer(draft, schema, target) as write:
            _write_behind(partial(_keep, write), scored())
        if made_from:
            _write_note(target, made_from, draft, total)
    shutil.rmtree(folder, ignore_errors=True)
    return total


def _keep(write: Callable[[Any], Any], part: _Scored) -> None:
    """Add a part to the output, and keep it until that is whole."""
    path, part_of, rows, report = part
    if rows is None:
        rows = pq.ParquetFile(path).read()
    else:
        _write_part(path, part_of, report, rows)
    write(rows)


def _hash_table(table: Any) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def _write_behind(write: Callable[[_Scored], None], parts: Iterator[_Scored]) -> None:
    """Write each part while the next is scored."""
    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        writing = pool.submit(int)  # nothing yet
        for part in parts:
            writing.result()
            writing = pool.submit(write, part)
        writing.result()


@contextmanager
def _opened(source: str, encoding: str | None) -> Iterator[Any]:
    """The table; standard input is copied, because JSON lines are read twice."""
    if source != "-":
        yield tables.open_table(Path(source), encoding)
        return
    with TemporaryDirectory(prefix="hardmax-") as folder:
        path = Path(folder, "input")
        with open_bytes("-", "expected a table of texts") as given, path.open("wb") as stream:
            shutil.copyfileobj(given, stream)
        with path.open("rb") as stream, tables.decoded(stream, encoding) as lines:
            start = lines.readline()
        suffix = ".jsonl" if start.lstrip().startswith("{") else ".csv"
        yield tables.LineTable(path.rename(path.with_suffix(suffix)), "standard input", encoding)


# ---------------------------------------------------------------- parts and their notes


def _note(path: Path) -> Path:
    return path.with_name(f".{path.name}.json")


def _read_note(path: Path) -> dict[str, Any]:
    """What a part was made from, its checksum, and what became of its rows."""
    try:
        note = json.loads(_note(path).read_bytes())
        ScoringReport(**note["report"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return note


def _made_from(path: Path) -> str | None:
    """The digest of what a part was made from; empty if there is no part."""
    return _read_note(path).get("made_from") if path.exists() else ""


def _finished(path: Path, made_from: str) -> ScoringReport | None:
    """What became of the rows of a part, if it is what is asked for, and as it was written."""
    note = _read_note(path)
    if note.get("made_from") != made_from or note.get("checksum") != _checksum(path):
        return None
    report = ScoringReport(**note["report"])
    report.scored_before = report.rows
    return report


def _checksum(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_part(path: Path, made_from: str, report: ScoringReport, rows: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    with drafted(path) as draft:
        pq.write_table(rows, draft, compression="none", use_dictionary=False)
        _write_note(path, made_from, draft, report)


def _write_note(path: Path, made_from: str, draft: Path, report: ScoringReport) -> None:
    note = {"made_from": made_from, "checksum": _checksum(draft), "report": asdict(report)}
    write_whole(_note(path), json.dumps(note).encode())


@contextmanager
def _writer(path: Path, schema: Any, target: Path) -> Iterator[Callable[[Any], Any]]:
    """A function that adds rows to a file of the kind that the target's name says."""
    kind = tables.table_kind(target, "`out`")
    if kind == "parquet":
        with pq.ParquetWriter(path, schema, **_PACKED) as writer:
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
