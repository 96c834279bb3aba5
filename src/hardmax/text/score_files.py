"""Tables in files scored, of any size.

A folder of Parquet files becomes one of as many: any number of processes take what nobody has a
lock on. A lock ends with its process, and a part appears under its name when it is whole.

Anything else is one stream, scored by one process in parts, so that an interruption costs one of
them. A part is a Parquet file in the folder that is written, or in `NAME.parts` beside the file
that the parts become. Its metadata say what was read so far, and for which job: the same job goes
on after its last part. They have a checksum, too: a part that was damaged is scored again."""

# pyright: reportAttributeAccessIssue=false
import csv
import hashlib
import json
import mmap
import os
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import Timeout

from hardmax import __version__
from hardmax._common.files import DRAFT, drafted, locked, open_bytes, reason
from hardmax._common.validation import InputError
from hardmax.text import tables
from hardmax.text.scoring import ScoreOptions, Scorer
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel

PART_ROWS = 16_384
_LISTED = 100  # bad rows that are named
_METADATA, _CHECKSUM = b"hardmax score", b"hardmax checksum "
_PACKED = {"compression": "zstd", "compression_level": 1}
_QUICK = {"compression": "none", "use_dictionary": False}  # parts that are removed in the end
Progress = Callable[[float, int], None]  # share of the input that is done, rows scored now


@dataclass
class ScoringReport:
    """What became of the rows."""

    rows: int = 0
    """Rows read."""
    bad: int = 0
    bad_rows: list[tuple[str, str]] = field(default_factory=list)
    """Place and fault of the first bad rows."""
    labels: dict[str, int] = field(default_factory=dict)
    undecided: int = 0
    abstained: int = 0
    parts: int = 0
    scored_before: int = 0
    """Rows that an earlier run had scored."""
    text: str = ""
    """The column that was scored."""
    columns: dict[str, str] = field(default_factory=dict)
    """The names of our columns."""

    def add(self, other: "ScoringReport") -> None:
        """Count the rows of another report, too."""
        for name in ("rows", "bad", "undecided", "abstained"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.labels = dict(Counter(self.labels) + Counter(other.labels))
        self.bad_rows += other.bad_rows[: _LISTED - len(self.bad_rows)]


@dataclass(frozen=True)
class _Job:
    """What all parts of a job share."""

    model: TextModel
    options: ScoreOptions
    force: bool
    progress: Progress

    def mark(self, *inputs: Any) -> str:
        """What tells this job on these inputs from any other."""
        # A job that met its first bad row may go on with the encoding that it had.
        options = asdict(self.options) | {"encoding": tables.codec(self.options.encoding)}
        asked = [__version__, digest(self.model), inputs, options]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def check_output(source: str, target: Path, force: bool) -> None:
    """Refuse an output that cannot be written, before the work."""
    if not target.parent.is_dir():
        raise InputError(
            f"`{target}` cannot be written: the folder `{target.parent}` does not exist. "
            "Create it first."
        )
    place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    if source != "-" and read in (place, *place.parents):
        raise InputError(f"`{target}` is the input, or lies in it: name an output elsewhere.")
    if _is_file(target):
        tables.table_kind(target, "`out`")
        if target.exists() and not force:
            raise InputError(f"`{target}` exists: `force=True` replaces it.")


def _is_file(target: Path) -> bool:
    return bool(target.suffix) and not target.is_dir()


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

    The output, a file or a folder of Parquet files, has the columns of the table, and ours after
    them. If this is interrupted, the same call goes on after the parts that are whole, to the same
    rows and values. From a folder to a folder, any number of processes may do so at once."""
    check_output(source, target, force)
    job = _Job(model, options, force, progress)
    folder = target.with_name(f"{target.name}.parts") if _is_file(target) else target
    try:
        if Path(source).is_dir() and folder == target:
            return _score_folder(job, Path(source), target)
        with _claimed(target, 0):
            return _score_stream(job, source, target, folder)
    except Timeout:
        raise InputError(f"`{target}` is being written by another process: wait for it.") from None
    except OSError as error:
        kept = " Finished parts are kept: the same command continues after them."
        shown = kept if tables.parquet_files(folder) else ""
        raise InputError(f"`{target}` cannot be written: {reason(error)}.{shown}") from None


def _score_folder(job: _Job, source: Path, target: Path) -> ScoringReport:
    """A part for each file, under the same name, written by whoever has its lock."""
    whole = tables.open_table(source, job.options.encoding)
    text = tables.choose_column(job.options.text, "text", whole.names, whole.shown)
    whole.keep(job.options.columns or whole.names)
    scorer = Scorer(job.model, whole.names, job.options)
    parts = {target / file.relative_to(source): file for file in tables.parquet_files(source)}
    if any(path not in parts for path in tables.parquet_files(target)):
        raise _other_files(target)
    done: dict[Path, ScoringReport] = {}
    scored, before = 0, {path for path in parts if path.exists()}

    def update(share: float, rows: int) -> None:
        job.progress((len(done) + share) / len(parts), scored + rows)

    # First what nobody is at, then what others were at, should they have died.
    for patience, (path, file) in product((0, -1), parts.items()):
        if path in done:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Timeout), _claimed(path, patience):
            mark = job.mark(*_marks([file]))
            made_by, report = "", ScoringReport(text=text)
            if path.exists():  # what others have written meanwhile is not read
                made_by, report = _stored(path, target, job.force, is_checked=path in before)
            if made_by and made_by != mark and not job.force:
                raise _other_job(target)
            if made_by != mark:
                report = ScoringReport(text=text)
                scoring = _Scoring(tables.open_table(file), scorer, report)
                _write_part(path, scoring.schema, scoring.parts(update), mark, report, **_PACKED)
                scored += report.rows
            done[path] = report
    report = ScoringReport(text=text, columns=scorer.names, parts=len(parts))
    for path, part in done.items():
        name = path.relative_to(target)
        part.bad_rows = [(f"{name} {place}", fault) for place, fault in part.bad_rows]
        report.add(part)
    report.scored_before = report.rows - scored
    return report


def _write_part(
    path: Path, schema: Any, rows: Iterator[Any], mark: str, report: ScoringReport, **how: Any
) -> None:
    """Write a part that says of which job it is, what was read up to its end, and, by a checksum,
    whether it is still as it was written."""
    with drafted(path) as draft:
        with pq.ParquetWriter(draft, schema, **how) as writer:
            _write_behind(writer.write_table, rows)
            described = {_METADATA: json.dumps([mark, asdict(report)]).encode()}
            writer.add_key_value_metadata(described | {b"hardmax": _CHECKSUM + b"0" * 8})
        with draft.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as data:
            place, checksum = _checksum(data)
            data[place] = checksum


def _checksum(data: mmap.mmap) -> tuple[slice, bytes]:
    """Where the checksum of a part stands in its file, and that of all the rest."""
    start = data.rfind(_CHECKSUM) + len(_CHECKSUM)
    end = start + 8
    with memoryview(data) as view, view[:start] as before, view[end:] as after:
        return slice(start, end), b"%08x" % zlib.crc32(after, zlib.crc32(before))


def _score_stream(job: _Job, source: str, target: Path, folder: Path) -> ScoringReport:
    """The rows in parts, which are the output, or become a file."""
    to_file = folder != target
    with ExitStack() as stack:
        table, inputs = _open(source, job.options.encoding, stack)
        text = tables.choose_column(job.options.text, "text", table.names, table.shown)
        names = job.options.columns or table.schema(text).names
        scorer = Scorer(job.model, list(names), job.options)
        mark = job.mark(*inputs)
        report = _resume(folder, mark, job.force or to_file)
        report.text, report.columns, report.scored_before = text, scorer.names, report.rows
        scoring = _Scoring(table, scorer, report)
        how, write = _PACKED, len
        if to_file:
            draft = stack.enter_context(drafted(target))
            how, write = _QUICK, stack.enter_context(_writer(draft, scoring.schema, target))
            for path in _files_in(folder):
                write(pq.ParquetFile(path).read())

        def named_parts() -> Iterator[tuple[Path, Any, ScoringReport]]:
            for part in scoring.parts(job.progress):
                folder.mkdir(exist_ok=True)
                path = folder / f"part-{report.parts:06}.parquet"
                report.parts += 1
                yield path, part.combine_chunks(), deepcopy(report)

        def keep(named: tuple[Path, Any, ScoringReport]) -> None:
            path, part, so_far = named
            _write_part(path, scoring.schema, iter([part]), mark, so_far, **how)
            write(part)

        _write_behind(keep, named_parts())
    if to_file:
        shutil.rmtree(folder, ignore_errors=True)
    return report


@contextmanager
def _claimed(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a file that is to be written."""
    with locked(path.with_name(f".{path.name}.lock"), patience):
        yield


def _marks(files: list[Path]) -> list[Any]:
    """What shows whether files have changed; other machines may have them elsewhere."""
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _write_behind(write: Callable[[Any], Any], parts: Iterator[Any]) -> None:
    """Write each part while the next is scored."""
    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        writing = pool.submit(int)  # nothing yet
        for part in parts:
            writing.result()
            writing = pool.submit(write, part)
        writing.result()


class _Scoring:
    """A table that is scored part by part, and counted in a report. No more columns of it are read
    than are kept, and the texts."""

    def __init__(self, table: Any, scorer: Scorer, report: ScoringReport) -> None:
        self.table, self.scorer, self.report = table, scorer, report
        columns = scorer.options.columns
        self._kept = None
        if columns is not None:
            # Of a folder, others are in the path (lang=en), or in other files.
            self._kept = [name for name in columns if name in table.names]
            table.keep([*self._kept, report.text])
        stored = table.schema(report.text)
        kept = stored if self._kept is None else map(stored.field, self._kept)
        others = {**(stored.metadata or {})}
        for name in (_METADATA, b"hardmax"):  # of a table that was scored before
            others.pop(name, None)
        self.schema = pa.schema([*kept, *scorer.schema], metadata=others)

    def parts(self, progress: Progress) -> Iterator[Any]:
        """The rows that are not scored yet; at least one part in all."""
        report = self.report
        part = [self.schema.empty_table()]
        for batch in self.table.batches(report.text, report.scored_before):
            texts = batch.table[report.text]
            rows, answers = self.scorer.answer(texts, batch.faults, batch.places.__getitem__)
            kept = batch.table if self._kept is None else batch.table.select(self._kept)
            kept = kept if rows is None else kept.take(pa.array(rows))
            columns = [*kept.columns, *answers.columns]
            part.append(pa.Table.from_arrays(columns, schema=self.schema))
            report.add(_count(batch, answers))
            progress(batch.share, report.rows - report.scored_before)
            if sum(map(len, part)) >= PART_ROWS:
                yield pa.concat_tables(part)
                part = []
        if any(map(len, part)) or (part and not report.parts):
            yield pa.concat_tables(part)


def _count(batch: tables.Batch, answers: Any) -> ScoringReport:
    label, decided, *_, abstain, _ = answers.columns
    return ScoringReport(
        rows=len(batch.table),
        bad=len(batch.faults),
        bad_rows=[(batch.places[row], fault) for row, fault in sorted(batch.faults.items())],
        labels=Counter(map(str, label.drop_null().to_pylist())),
        undecided=pc.sum(pc.invert(decided)).as_py() or 0,
        abstained=pc.sum(abstain).as_py() or 0,
    )


def _open(source: str, encoding: str | None, stack: ExitStack) -> tuple[Any, list[Any]]:
    """The table, and what shows whether it has changed when a job is resumed."""
    path = Path(source)
    if source != "-":
        table = tables.open_table(path, encoding)
        files = tables.parquet_files(path) if path.is_dir() else [path]
        return table, [str(path), *_marks(files)]
    path = Path(stack.enter_context(TemporaryDirectory(prefix="hardmax-"))) / "input"
    with open_bytes("-", "expected a table of texts") as given, path.open("w+b") as stream:
        shutil.copyfileobj(given, stream)
        stream.seek(0)
        content = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        start = stream.read(4096).decode(tables.codec(encoding), "ignore")
    kind = "json" if start.lstrip().startswith("{") else "csv"
    return tables.LineTable(path, kind, "standard input", encoding), [content]


def _stored(
    path: Path, folder: Path, force: bool, *, is_checked: bool = True
) -> tuple[str, ScoringReport]:
    """The job and the report in the metadata of a part; no job for a damaged one, which is scored
    again. One that ends too soon may be somebody else's: that takes force."""
    again = "", ScoringReport()
    if is_checked and path.is_file() and path.stat().st_size:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        with data:
            place, checksum = _checksum(data)
            if data.rfind(_CHECKSUM) >= 0 and data[place] != checksum:
                return again
    is_damaged = False
    try:
        mark, report = json.loads(pq.read_metadata(path).metadata[_METADATA])
        return mark, ScoringReport(**report)
    except (pa.ArrowException, OSError):
        with suppress(IsADirectoryError), path.open("rb") as stream:
            is_damaged = stream.read(4) in (b"", b"PAR1")  # a Parquet file that ends too soon
    except Exception:  # whatever it is, it is not ours
        pass
    if not is_damaged:
        raise _other_files(folder)
    if not force:
        problem = f"`{path}` is damaged, no whole Parquet file: `force=True` scores it again."
        raise InputError(problem)
    return again


def _other_files(folder: Path) -> InputError:
    return InputError(f"`{folder}` has other files in it: name another output, or move them.")


def _other_job(folder: Path) -> InputError:
    problem = f"`{folder}` has rows of another input, model or options: `force=True` replaces them."
    return InputError(problem)


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if DRAFT not in path.name)


def _resume(folder: Path, mark: str, force: bool) -> ScoringReport:
    """The report of the last part up to which all are whole and of this job; those after it are
    removed, or refused if they are of another one."""
    stored = [(path, *_stored(path, folder, force)) for path in _files_in(folder)]
    whole = [ScoringReport()]
    for _, made_by, report in stored:
        if made_by != mark or report.parts != len(whole):
            break
        whole.append(report)
    rest = stored[len(whole) - 1 :]
    if not force and any(made_by not in ("", mark) for _, made_by, _ in rest):
        raise _other_job(folder)
    for path, *_ in rest:
        path.unlink()
    return whole[-1]


@contextmanager
def _writer(path: Path, schema: Any, target: Path) -> Iterator[Callable[[Any], Any]]:
    kind = tables.table_kind(target, "`out`")
    if kind == "parquet":
        with pq.ParquetWriter(path, schema, **_PACKED) as writer:
            yield writer.write_table
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        delimiter = "\t" if target.suffix.lower() == ".tsv" else ","
        lines = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        as_json = [column.name for column in schema if column.metadata == tables.JSON_CELLS]

        def write(table: Any) -> None:
            for row in table.to_pylist():
                if kind == "csv":
                    lines.writerow(map(_cell, row.values()))
                else:
                    parsed = {name: json.loads(row[name] or "null") for name in as_json}
                    stream.write(_json(row | parsed) + "\n")

        if kind == "csv":
            lines.writerow(schema.names)
        yield write


def _cell(value: Any) -> Any:
    """A cell of CSV: truth values, lists and objects as JSON has them."""
    return _json(value) if isinstance(value, bool | list | dict) else value


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:  # JSON has no nan, which becomes null, and no infinity, which becomes a text
        names = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}
        return _json(json.loads(json.dumps(value, default=str), parse_constant=names.get))
