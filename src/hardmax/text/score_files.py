"""Tables in files scored, of any size.

A folder of Parquet files becomes one of as many: any number of processes take what nobody has a
lock on. A lock ends with its process, and a part appears under its name when it is whole.

Anything else is one stream, scored by one process in parts, so that an interruption costs one of
them. A part is a Parquet file in the folder that is written, or in `NAME.parts` beside the file
that the parts become. Its metadata say what was read so far, and for which job: the same job goes
on after its last part."""

# pyright: reportAttributeAccessIssue=false
import csv
import hashlib
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from glob import escape
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import Timeout

from hardmax import __version__
from hardmax._common.columns import write_parquet
from hardmax._common.files import drafted, locked, reason
from hardmax._common.validation import InputError
from hardmax.text import tables
from hardmax.text.scoring import ScoreOptions, Scorer
from hardmax.text.storage import digest
from hardmax.text.tables import LineTable
from hardmax.text.text_model import TextModel

PART_ROWS, PART_BYTES = 50_000, 1 << 25
_LISTED = 100  # bad rows that are named
_METADATA = b"hardmax score"
_PACKED = {"compression": "zstd", "compression_level": 1}
_QUICK = {"compression": "none", "use_dictionary": False}  # parts that are soon read again
Progress = Callable[[float, int], None]  # share of the input that is done, rows scored now


@dataclass
class ScoringReport:
    """What became of the rows."""

    rows: int = 0  # read
    bad: int = 0
    listed: list[tuple[str, str]] = field(
        default_factory=list
    )  # place and fault of the first bad rows
    labels: dict[str, int] = field(default_factory=dict)
    undecided: int = 0
    abstained: int = 0
    parts: int = 0
    resumed: int = 0  # rows that an earlier run had scored
    text: str = ""  # the column that was scored
    note: str = ""  # on that choice
    names: dict[str, str] = field(default_factory=dict)  # of our columns


def check_output(source: str, target: Path, force: bool) -> None:
    """Refuse an output that cannot be written, before the work."""
    if not target.parent.is_dir():
        raise InputError(
            f"`{target}` cannot be written: the folder `{target.parent}` does not exist. Create it first."
        )
    place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    if source != "-" and read in (place, *place.parents):
        raise InputError(f"`{target}` is the input, or lies in it: name an output elsewhere.")
    if target.suffix and not target.is_dir():
        tables.table_kind(target, "`out`")
        if target.exists() and not force:
            raise InputError(f"`{target}` exists: force=True replaces it.", also=("force=True",))


def score_file(
    model: TextModel,
    source: str,
    target: Path,
    options: ScoreOptions,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> ScoringReport:
    """Score every row of a table in a file, a folder of Parquet files, or on standard input (`-`).

    The output, a file or a folder of Parquet files, has the columns of the table, and ours after
    them. If this is interrupted, the same call goes on after the parts that are whole, to the same
    rows and values. From a folder to a folder, any number of processes may do so at once."""
    check_output(source, target, force)
    to_file = bool(target.suffix) and not target.is_dir()
    folder = target.with_name(f"{target.name}.parts") if to_file else target
    try:
        if Path(source).is_dir() and not to_file:
            return _score_folder(model, Path(source), target, options, force, progress)
        with _claimed(target, 0):
            return _score_stream(model, source, target, folder, options, force, progress)
    except Timeout:
        raise InputError(f"`{target}` is being written by another process: wait for it.") from None
    except OSError as error:
        kept = " Finished parts are kept: the same command continues after them."
        shown = kept if tables.parquet_files(folder) else ""
        raise InputError(f"`{target}` cannot be written: {reason(error)}.{shown}") from None


def _score_folder(
    model: TextModel,
    source: Path,
    target: Path,
    options: ScoreOptions,
    force: bool,
    progress: Progress | None,
) -> ScoringReport:
    """A part for each file, under the same name, written by whoever has its lock."""
    whole = tables.open_table(source)
    text, note = tables.choose_column(options.text, "text", whole.names, whole.shown)
    kept = tables.check_columns(options.columns or whole.names, whole.names, whole.shown)
    scorer = Scorer(model, kept, options)
    parts = {target / file.relative_to(source): file for file in tables.parquet_files(source)}
    if any(path not in parts for path in tables.parquet_files(target)):
        raise _other_files(target)
    done: dict[Path, ScoringReport] = {}
    scored = 0

    def update(share: float, rows: int) -> None:
        if progress:
            progress((len(done) + share) / len(parts), scored + rows)

    # First what nobody is at, then what others were at, should they have died.
    for patience, (path, file) in product((0, -1), parts.items()):
        if path in done:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Timeout), _claimed(path, patience):
            job = _job(model, _marks([file]), options)
            made_by, report = _stored(path, target, force) if path.exists() else ("", {})
            if made_by == job:
                done[path] = ScoringReport(**report)
            elif made_by and not force:
                raise _other_job(target)
            else:
                done[path] = _score_part(scorer, file, path, text, options, job, update)
                scored += done[path].rows
    report = ScoringReport(text=text, note=note, names=scorer.names, parts=len(parts))
    for path, part in done.items():
        for name in ("rows", "bad", "undecided", "abstained"):
            setattr(report, name, getattr(report, name) + getattr(part, name))
        report.labels = dict(Counter(report.labels) + Counter(part.labels))
        listed = [(f"{path.relative_to(target)} {place}", fault) for place, fault in part.listed]
        report.listed += listed[: _LISTED - len(report.listed)]
    report.resumed = report.rows - scored
    return report


def _score_part(
    scorer: Scorer,
    file: Path,
    path: Path,
    text: str,
    options: ScoreOptions,
    job: str,
    progress: Progress,
) -> ScoringReport:
    table, report = tables.open_table(file), ScoringReport(text=text)
    if options.columns is not None:  # the others are in the path (lang=en), or in other files
        kept = tuple(name for name in options.columns if name in table.names)
        options = replace(options, columns=kept)
    schema = _keep(table, scorer, text, options)
    with (
        drafted(path, f"{path.name}.") as draft,
        pq.ParquetWriter(draft, schema, **_PACKED) as writer,
    ):
        _write_behind(
            writer.write_table, _scored_parts(table, scorer, options, schema, report, progress)
        )
        writer.add_key_value_metadata({_METADATA: json.dumps([job, asdict(report)])})
    return report


def _score_stream(
    model: TextModel,
    source: str,
    target: Path,
    folder: Path,
    options: ScoreOptions,
    force: bool,
    progress: Progress | None,
) -> ScoringReport:
    """The rows in parts, which are the output, or become a file."""
    to_file = folder != target
    with ExitStack() as stack:
        table, marks = _open(source, stack)
        text, note = tables.choose_column(options.text, "text", table.names, table.shown)
        scorer = Scorer(model, list(options.columns or table.schema(text).names), options)
        schema = _keep(table, scorer, text, options)
        job = _job(model, marks, options)
        report = ScoringReport(**_resume(folder, job, force or to_file))
        report.text, report.note, report.names, report.resumed = (
            text,
            note,
            scorer.names,
            report.rows,
        )

        def named_parts() -> Iterator[tuple[Path, Any]]:
            for part in _scored_parts(table, scorer, options, schema, report, progress):
                folder.mkdir(exist_ok=True)
                path = folder / f"part-{report.parts:06}.parquet"
                report.parts += 1
                metadata = {
                    **(schema.metadata or {}),
                    _METADATA: json.dumps([job, asdict(report)]).encode(),
                }
                yield path, part.combine_chunks().replace_schema_metadata(metadata)

        how = _QUICK if to_file else _PACKED
        _write_behind(lambda part: write_parquet(*part, **how), named_parts())
        if to_file:
            _join(folder, schema, target)
    return report


@contextmanager
def _claimed(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a file that is to be written, and remove what processes that were killed
    left of it."""
    with locked(path.with_name(f".{path.name}.lock"), patience):
        _remove_drafts(path.parent, f"{path.name}.")
        yield


def _remove_drafts(folder: Path, name: str = "") -> None:
    """Remove what `drafted` began, and nothing whose name merely begins in the same way."""
    for draft in folder.glob(f".{escape(name)}{'[0-9a-f]' * 16}.part"):
        draft.unlink()


def _job(model: TextModel, marks: Any, options: ScoreOptions) -> str:
    inputs = [__version__, digest(model), marks, asdict(options)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def _marks(files: list[Path]) -> list[list[Any]]:
    """What shows whether files have changed; other machines may have them elsewhere."""
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _keep(table: Any, scorer: Scorer, text: str, options: ScoreOptions) -> Any:
    """Read no more columns of a table than are wanted, and the texts; the schema of what is
    written."""
    if options.columns is not None:
        table.keep([*options.columns, text])
    stored = table.schema(tables.choose_column(text, "text", table.names, table.shown)[0])
    kept = stored if options.columns is None else [stored.field(name) for name in options.columns]
    return pa.schema([*kept, *scorer.schema], metadata=stored.metadata)


def _write_behind(write: Callable[[Any], Any], parts: Iterator[Any]) -> None:
    """Write each part while the next is scored."""
    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        writing = pool.submit(int)  # nothing yet
        for part in parts:
            writing.result()
            writing = pool.submit(write, part)
        writing.result()


def _scored_parts(
    table: Any,
    scorer: Scorer,
    options: ScoreOptions,
    schema: Any,
    report: ScoringReport,
    progress: Progress | None,
) -> Iterator[Any]:
    """The rows that are not scored yet, a part at a time, counted in the report; at least one part
    in all."""
    some = [schema.empty_table()]
    for given, places, broken, share in table.batches(report.text, report.resumed):
        answers, faults = scorer.answer(given[report.text], broken)
        kept = given if options.columns is None else given.select(options.columns)
        rows = pa.Table.from_arrays([*kept.columns, *answers.columns], schema=schema)
        bad = [(places[row], faults[row]) for row in sorted(faults)]
        if bad and options.on_bad_rows == "refuse":
            raise tables.refusal(*bad[0])
        if bad and options.on_bad_rows == "skip":
            rows = rows.take(pa.array(np.setdiff1d(np.arange(len(rows)), list(faults))))
        some.append(rows)
        report.rows, report.bad = report.rows + len(given), report.bad + len(bad)
        report.listed += bad[: _LISTED - len(report.listed)]
        label, decided, *_, abstain, _ = answers.columns
        report.undecided += pc.sum(pc.invert(decided)).as_py() or 0
        report.abstained += pc.sum(abstain).as_py() or 0
        for count in label.drop_null().value_counts().to_pylist():
            report.labels[str(count["values"])] = (
                report.labels.get(str(count["values"]), 0) + count["counts"]
            )
        if progress:
            progress(share, report.rows - report.resumed)
        if sum(map(len, some)) >= PART_ROWS or sum(each.nbytes for each in some) >= PART_BYTES:
            yield pa.concat_tables(some)
            some = []
    if any(map(len, some)) or (some and not report.parts):
        yield pa.concat_tables(some)


def _open(source: str, stack: ExitStack) -> tuple[Any, Any]:
    """The table, and what shows whether it has changed when a job is resumed."""
    path = Path(source)
    if source != "-":
        table = tables.open_table(path)
        files = tables.parquet_files(path) if path.is_dir() else [path]
        return table, [str(path), *_marks(files)]
    path = Path(stack.enter_context(TemporaryDirectory(prefix="hardmax-"))) / "input"
    with path.open("w+b") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
        stream.seek(0)
        mark = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        is_json = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return LineTable(path, "json" if is_json else "csv", "standard input"), mark


def _stored(path: Path, folder: Path, force: bool) -> tuple[str, dict[str, Any]]:
    """The job and the report in the metadata of a part; nothing for a damaged one, with force."""
    is_damaged = False
    try:
        job, report = json.loads(pq.read_metadata(path).metadata[_METADATA])
        return job, report
    except (pa.ArrowException, OSError):
        with suppress(IsADirectoryError), path.open("rb") as stream:
            is_damaged = stream.read(4) in (b"", b"PAR1")  # a Parquet file that ends too soon
    except Exception:  # whatever it is, it is not ours
        pass
    if not is_damaged:
        raise _other_files(folder)
    if not force:
        problem = f"`{path}` is damaged, no whole Parquet file: force=True scores it again."
        raise InputError(problem, also=("force=True",))
    return "", {}


def _other_files(folder: Path) -> InputError:
    return InputError(f"`{folder}` has other files in it: name another output, or move them.")


def _other_job(folder: Path) -> InputError:
    problem = f"`{folder}` has rows of another input, model or options: force=True replaces them."
    return InputError(problem, also=("force=True",))


def _resume(folder: Path, job: str, force: bool) -> dict[str, Any]:
    """The report of the last part that is there, if all are of this job; others are removed, or
    refused."""
    _remove_drafts(folder)  # left by a process that was killed
    stored = {path: _stored(path, folder, force) for path in sorted(folder.glob("*"))}
    jobs, reports = [each[0] for each in stored.values()], [each[1] for each in stored.values()]
    if jobs == [job] * len(jobs) and [each["parts"] for each in reports] == [
        *range(1, len(jobs) + 1)
    ]:
        return reports[-1] if reports else {}
    if not force:
        raise _other_job(folder)
    for path in stored:
        path.unlink()
    return {}


def _join(folder: Path, schema: Any, target: Path) -> None:
    """Make a file of the parts, which appears whole or not at all, and remove them."""
    with drafted(target, f"{target.name}.") as draft, _writer(draft, schema, target) as write:
        for path in sorted(folder.glob("part-*.parquet")):
            write(pq.ParquetFile(path).read())
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writer(path: Path, schema: Any, target: Path) -> Iterator[Callable[[Any], Any]]:
    kind = tables.table_kind(target, "`out`")
    if kind == "parquet":
        with pq.ParquetWriter(path, schema, **_PACKED) as writer:
            yield writer.write_table
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        if kind == "csv":
            delimiter = "\t" if target.suffix.lower() == ".tsv" else ","
            lines = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            lines.writerow(schema.names)
            yield lambda table: lines.writerows(map(_cells, table.to_pylist()))
        else:
            as_json = [each.name for each in schema if each.metadata == tables.JSON_CELLS]
            yield lambda table: stream.writelines(
                _json_line(row, as_json) for row in table.to_pylist()
            )


def _cells(row: dict[str, Any]) -> list[str | None]:
    """A row of CSV: whole numbers, truth values, lists and objects as JSON has them."""
    plain = bool | int | list | dict
    return [
        _json(each) if isinstance(each, plain) else each if each is None else str(each)
        for each in row.values()
    ]


def _json_line(row: dict[str, Any], as_json: list[str]) -> str:
    return _json(row | {name: json.loads(row[name] or "null") for name in as_json}) + "\n"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:  # JSON has no nan, which becomes null, and no infinity, which becomes a text
        names = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}
        return _json(json.loads(json.dumps(value, default=str), parse_constant=names.get))
