"""Tables in files scored, of any size: in parts, so that an interruption costs one of them.

A part is a Parquet file in the folder that is written, or in `NAME.parts` beside the file that the parts become. Its
metadata say what was read so far, and for which job: the same job goes on after its last part.
"""

# pyright: reportAttributeAccessIssue=false
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from hardmax import __version__
from hardmax._files import reason, sync_folder, write_whole
from hardmax._validation import InputError
from hardmax.text.model.contents import digest
from hardmax.text.model.model import Model
from hardmax.text.scoring import ScoreOptions, Scorer
from hardmax.text.tables import JSON_CELLS, TEXT_NAMES, LineTable, choose_column, open_table, refusal, table_kind

PART_ROWS, PART_BYTES = 50_000, 1 << 26
_LISTED = 100  # bad rows that are named
_TOLD, _PACKED = b"hardmax score", {"compression": "zstd", "compression_level": 1}
Progress = Callable[[float, int], None]  # share of the input that is done, rows scored now


@dataclass
class ScoringReport:
    """What became of the rows."""

    rows: int = 0  # read
    bad: int = 0
    listed: list[tuple[str, str]] = field(default_factory=list)  # place and fault of the first bad rows
    labels: dict[str, int] = field(default_factory=dict)
    undecided: int = 0
    abstained: int = 0
    parts: int = 0
    resumed: int = 0  # rows that an earlier run had scored
    text: str = ""  # the column that was scored
    note: str = ""  # on that choice
    names: dict[str, str] = field(default_factory=dict)  # of our columns


def check_output(source: str, target: Path, force: bool) -> None:
    """Refuse before the work what could not be written after it."""
    if not target.parent.is_dir():
        raise InputError(f"`{target}` cannot be written: the folder `{target.parent}` does not exist. Make it first.")
    place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    if source != "-" and read in (place, *place.parents):
        raise InputError(f"`{target}` is the input, or lies in it: name an output elsewhere.")
    if not _is_folder(target):
        table_kind(target, "`out`")
        if target.exists() and not force:
            raise InputError(f"`{target}` exists: force=True replaces it.", also=("force=True",))


def score_file(
    model: Model,
    source: str,
    target: Path,
    options: ScoreOptions,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> ScoringReport:
    """Score every row of a table in a file, a folder of Parquet files, or on standard input (`-`).

    The output, a file or a folder of Parquet files, has the columns of the table, and ours after them. If this is
    interrupted, the same call goes on after the last part that is whole, to the same rows and values.
    """
    check_output(source, target, force)
    folder = target if _is_folder(target) else target.with_name(f"{target.name}.parts")
    with ExitStack() as stack:
        table, marks = _open(source, stack)
        text, note = choose_column(options.text, "text", TEXT_NAMES, table.names, table.shown)
        stored = table.schema(text)
        scorer = Scorer(model, stored.names, options)
        schema = pa.schema([*stored, *scorer.schema], metadata=stored.metadata)
        asked = [__version__, digest(model), marks, text, asdict(options)]
        job = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        stack.enter_context(_failure_named(target))
        stack.callback(_remove_empty, folder)
        report = ScoringReport(**_resume(folder, job, force or folder != target))
        report.text, report.note, report.names, report.resumed = text, note, scorer.names, report.rows
        writing: list[Future[None]] = []
        with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
            for part in _scored_parts(table, scorer, options.on_bad_rows, schema, report, progress):
                path = folder / f"part-{report.parts:05}.parquet"
                report.parts += 1
                told = {**(schema.metadata or {}), _TOLD: json.dumps([job, asdict(report)]).encode()}
                if writing:
                    writing.pop().result()
                writing.append(pool.submit(_write_part, path, part.replace_schema_metadata(told)))
            for last in writing:
                last.result()
        if folder != target:
            _join(folder, schema, target)
    return report


def _scored_parts(
    table: Any, scorer: Scorer, on_bad_rows: str, schema: Any, report: ScoringReport, progress: Progress | None
) -> Iterator[Any]:
    """The rows that are not scored yet, a part at a time, counted in the report; at least one part in all."""
    some = [schema.empty_table()]
    for batch in table.batches(report.text, report.resumed):
        answers, faults = scorer.answer(batch.table[report.text], batch.faults)
        rows = pa.Table.from_arrays([*batch.table.columns, *answers.columns], schema=schema)
        bad = [(batch.places[row], faults[row]) for row in sorted(faults)]
        if bad and on_bad_rows == "refuse":
            raise refusal(*bad[0])
        if bad and on_bad_rows == "skip":
            rows = rows.take(pa.array(np.setdiff1d(np.arange(len(rows)), list(faults))))
        some.append(rows)
        report.rows, report.bad = report.rows + len(batch.table), report.bad + len(bad)
        report.listed += bad[: _LISTED - len(report.listed)]
        label, decided, *_, abstain, _ = answers.columns
        report.undecided += pc.sum(pc.invert(decided)).as_py() or 0
        report.abstained += pc.sum(abstain).as_py() or 0
        for count in label.drop_null().value_counts().to_pylist():
            report.labels[str(count["values"])] = report.labels.get(str(count["values"]), 0) + count["counts"]
        if progress:
            progress(batch.share, report.rows - report.resumed)
        if sum(map(len, some)) >= PART_ROWS or sum(each.nbytes for each in some) >= PART_BYTES:
            yield pa.concat_tables(some)
            some = []
    if any(map(len, some)) or not report.parts:
        yield pa.concat_tables(some)


def _open(source: str, stack: ExitStack) -> tuple[Any, Any]:
    """The table, and what tells whether it has changed when the job goes on."""
    path = Path(source)
    if source != "-":
        table = open_table(path)
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        return table, [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    path = Path(stack.enter_context(TemporaryDirectory(prefix="hardmax-"))) / "input"
    with path.open("w+b") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
        stream.seek(0)
        is_json = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
        mark = hashlib.file_digest(stream, "sha256").hexdigest()
    return LineTable(path, "json" if is_json else "csv", "standard input"), mark


def _is_folder(target: Path) -> bool:
    return target.is_dir() or not target.suffix


def _resume(folder: Path, job: str, force: bool) -> dict[str, Any]:
    """The report of the last part that is there, if all are of this job; others are removed, or refused."""
    folder.mkdir(exist_ok=True)
    for draft in folder.glob(".*.part"):  # left by a process that was killed
        draft.unlink()
    told = {path: _told(path) for path in sorted(folder.iterdir())}
    if others := [path.name for path, each in told.items() if not each]:
        raise InputError(f"`{folder}` has other files in it, such as {others[0]}: name another output, or move them.")
    jobs, reports = [each[0] for each in told.values()], [each[1] for each in told.values()]
    if jobs == [job] * len(jobs) and [each["parts"] for each in reports] == [*range(1, len(jobs) + 1)]:
        return reports[-1] if reports else {}
    if not force:
        problem = f"`{folder}` has rows of another input, model or options: force=True replaces them."
        raise InputError(problem, also=("force=True",))
    for path in told:
        path.unlink()
    return {}


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _told(path: Path) -> list[Any]:
    try:
        return json.loads(pq.read_schema(path).metadata[_TOLD])
    except Exception:  # whatever it is, it is not ours
        return []


def _write_part(path: Path, table: Any) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, **_PACKED)
    write_whole(path, sink.getvalue())


def _join(folder: Path, schema: Any, target: Path) -> None:
    """Make a file of the parts, which appears whole or not at all, and remove them."""
    draft = folder / ".joined.part"
    with _writer(draft, schema, target) as write:
        for path in sorted(folder.glob("part-*.parquet")):
            write(pq.ParquetFile(path).read())
    with draft.open("rb") as stream:
        os.fsync(stream.fileno())
    if target.exists():
        shutil.copymode(target, draft)
    draft.replace(target)
    sync_folder(target.parent)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writer(path: Path, schema: Any, target: Path) -> Iterator[Callable[[Any], Any]]:
    kind = table_kind(target, "`out`")
    if kind == "parquet":
        with pq.ParquetWriter(path, schema, **_PACKED) as writer:
            yield writer.write_table
    elif kind == "csv":
        options = pyarrow.csv.WriteOptions(delimiter="\t" if target.suffix == ".tsv" else ",")
        with pyarrow.csv.CSVWriter(path, _flat(schema.empty_table()).schema, write_options=options) as writer:
            yield lambda table: writer.write_table(_flat(table))
    else:
        with path.open("w", encoding="utf-8") as stream:
            yield lambda table: stream.writelines(_json_lines(table, schema))


@contextmanager
def _failure_named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kept = "Finished parts are kept: the same command continues after them"
        raise InputError(f"`{target}` cannot be written: {reason(error)}. {kept}.") from None


def _flat(table: Any) -> Any:
    """The table as CSV can have it: lists and objects as JSON."""
    for place, column in enumerate(table.columns):
        if pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type):
            cells = [each if each is None or isinstance(each, str) else _json(each) for each in column.to_pylist()]
            table = table.set_column(place, table.column_names[place], pa.array(cells, pa.string()))
    return table


def _json_lines(table: Any, schema: Any) -> Iterator[str]:
    for place, each in enumerate(schema):
        if pa.types.is_floating(each.type):  # JSON has neither nan nor infinity
            finite = pc.if_else(pc.is_finite(table[place]), table[place], pa.scalar(None, each.type))
            table = table.set_column(place, each, finite)
    names = [each.name for each in schema if each.metadata == JSON_CELLS]
    for row in table.to_pylist():
        yield _json(row | {name: json.loads(row[name] or "null") for name in names}) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
