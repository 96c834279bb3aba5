"""Every row of a table scored: in memory, and in files of any size.

A folder of Parquet files becomes one of as many: any number of processes take what nobody has a lock on. A lock ends
with its process, and a part appears under its name when it is whole.

Anything else is one stream, scored by one process in parts, so that an interruption costs one of them. A part is a
Parquet file in the folder that is written, or in `NAME.parts` beside the file that the parts become. Its metadata say
what was read so far, and for which job: the same job goes on after its last part.
"""

# pyright: reportAttributeAccessIssue=false
import csv
import hashlib
import json
import math
import os
import secrets
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import Timeout

from hardmax import __version__
from hardmax._files import locked, reason, sync_folder, write_whole
from hardmax._parallel import limit_threads
from hardmax._validation import InputError, check_choice, check_real
from hardmax.text import tables
from hardmax.text._analysis import Analysis, predicted_classes, weigh_words
from hardmax.text._format import EXTRA_TOKEN
from hardmax.text._texts import encode_text, is_missing, read_texts
from hardmax.text.encoding import encode_parts
from hardmax.text.shipped import MODELS, load
from hardmax.text.storage import digest, saved_in
from hardmax.text.tables import LineTable
from hardmax.text.text_model import TextModel

COLUMNS = ("label", "decided", "probability", "margin", "leaders", "active", "votes", "abstain", "error")
PART_ROWS, PART_BYTES = 50_000, 1 << 25
_LISTED = 100  # bad rows that are named
_METADATA = b"hardmax score"
_PACKED = {"compression": "zstd", "compression_level": 1}
_QUICK = {"compression": "none", "use_dictionary": False}  # parts that are soon read again
Progress = Callable[[float, int], None]  # share of the input that is done, rows scored now


@dataclass(frozen=True)
class ScoreOptions:
    """How rows are scored."""

    text: str | None = None  # column of the texts; guessed if None
    abstain: float = 0.0  # rows with a lower probability are marked
    on_bad_rows: str = "null"  # null (kept, with nothing but an error), skip or refuse
    columns: tuple[str, ...] | None = None  # of a file that are kept; all if None

    def __post_init__(self) -> None:
        check_real(self.abstain, "`abstain`", at_least=0, at_most=1)
        check_choice(self.on_bad_rows, ("null", "skip", "refuse"), "`on_bad_rows`")


def score_table(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The table with our columns after its own, of the kind that it came as; see `TextModel.score_table`."""
    try:
        frame: Any = nw.from_native(table)
    except TypeError:
        frame = None
    if isinstance(frame, nw.DataFrame):
        rows, answers = _answer_frame(model, frame, options)
        frame = frame if rows is None else frame[rows]
        ours = nw.from_arrow(answers, backend=frame.implementation)
        # Columns of pandas are put beside each other by their index, and rows have no other here than their place.
        return frame.with_columns(*(ours[name] for name in ours.columns)).to_native()
    if frame is not None and frame.implementation.is_polars():
        empty = score_table(model, table.head(0).collect(), options)
        score = {"schema": empty.schema, "streamable": True}
        return table.map_batches(lambda part: score_table(model, part, options), **score)
    if frame is not None and frame.implementation.is_dask():
        return _score_dask(model, table, options)
    if hasattr(type(table), "__arrow_c_stream__"):  # DuckDB, and readers of pyarrow
        reader = pa.RecordBatchReader.from_stream(table)
        schema = score_table(model, reader.schema.empty_table(), options).schema
        scored = (score_table(model, pa.Table.from_batches([batch]), options) for batch in reader)
        return pa.RecordBatchReader.from_batches(schema, (each for part in scored for each in part.to_batches()))
    wish = "a table that narwhals knows, such as of pandas, polars or pyarrow"
    raise InputError(f"`table` must be {wish}, not {type(table).__name__}.", argument="table")


def _answer_frame(model: TextModel, frame: Any, options: ScoreOptions) -> tuple[list[int] | None, Any]:
    """The rows that are kept, None for all, and the answers to them."""
    names = [str(name) for name in frame.columns]
    column, _ = tables.choose_column(options.text, "text", names, "`table`")
    answers, faults = Scorer(model, names, options).answer(*_frame_texts(frame[column]))
    if faults and options.on_bad_rows == "refuse":
        raise tables.refusal(f"row {min(faults)}", faults[min(faults)])
    if faults and options.on_bad_rows == "skip":
        kept = np.setdiff1d(np.arange(len(frame)), list(faults))
        return kept.tolist(), answers.take(pa.array(kept))
    return None, answers


def _score_dask(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The graph has the name or folder of the model; workers load it from there."""
    folder = saved_in(model)
    if folder is None:
        raise InputError("A Dask worker loads the model from its folder: save it first, with `model.save(folder)`.")
    name = folder.name if folder.parent == MODELS else str(folder)
    meta = _score_pandas(model, table._meta, options)
    return table.map_partitions(_score_partition, name, digest(model), options, meta=meta)


def _score_partition(part: Any, name: str, mark: str, options: ScoreOptions) -> Any:
    with _loading:
        model = _load(name, mark)
    with limit_threads(1):  # Dask has a thread for each task already
        return _score_pandas(model, part, options)


def _score_pandas(model: TextModel, part: Any, options: ScoreOptions) -> Any:
    """A partition, with columns of Arrow types: these do not change where rows have no answer, or there are none."""
    import pandas as pd

    rows, answers = _answer_frame(model, nw.from_native(part, eager_only=True), options)
    part = part if rows is None else part.iloc[rows]
    return pd.concat([part, answers.to_pandas(types_mapper=pd.ArrowDtype).set_index(part.index)], axis=1)


_loading = threading.Lock()  # tasks that begin at once load a model once


@lru_cache(maxsize=4)
def _load(name: str, mark: str) -> TextModel:
    model = load(name)
    if digest(model) != mark:
        raise InputError(f"The model `{name}` of this worker is not the one that was asked for: copy it again.")
    return model


def _frame_texts(column: Any) -> tuple[Any, dict[int, str]]:
    """The texts of a column, null where a row has none, and what is wrong with rows that have something else."""
    values = column.to_list()
    texts = [encode_text(value).decode() if isinstance(value, str) else None for value in values]
    others = {row: value for row, value in enumerate(values) if texts[row] is None and not is_missing(value)}
    faults = {row: f"the text is of type {type(value).__name__}" for row, value in others.items()}
    return pa.array(texts, pa.large_string()), faults


class Scorer:
    """A model that answers with Arrow tables, in columns whose names the scored table does not have."""

    def __init__(self, model: TextModel, columns: list[str], options: ScoreOptions) -> None:
        self.model, self.abstain = model, options.abstain
        self.names = {name: f"hardmax_{name}" if name in columns else name for name in COLUMNS}
        if taken := sorted(set(columns).intersection(self.names.values())):
            raise InputError(f"The table already has the columns {', '.join(taken)}, which scoring adds: rename them.")
        self._surfaces = pa.array([*model.vocabulary.surfaces, EXTRA_TOKEN], pa.string())
        kinds = {type(name) for name in model.classes}
        self._classes = pa.array(model.classes if len(kinds) == 1 else [str(name) for name in model.classes])
        tokens, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
        types = (self._classes.type, pa.bool_(), pa.float64(), pa.float64(), tokens, tokens, numbers, pa.bool_())
        self.schema = pa.schema(list(zip(self.names.values(), (*types, pa.string()), strict=True)))

    def answer(self, texts: Any, faults: dict[int, str]) -> tuple[Any, dict[int, str]]:
        """Our columns for the texts, and all faults, those given included; a bad row has nothing but its `error`.

        The answer to a text depends on that text alone, bit for bit. `margin` is the probability of the label less that
        of the next class. Leaders are sorted by mass, active tokens by the size of their votes, as in an explanation.
        """
        found = {row: fault for row, text in enumerate(texts.to_pylist()) if (fault := tables.text_fault(text))}
        faults = found | faults
        good = np.setdiff1d(np.arange(len(texts)), list(faults))
        sound = texts.take(pa.array(good)) if faults else texts
        model, extra = self.model, self.model.prepared.extra
        encoded = encode_parts(read_texts(sound), model.vocabulary, model.tokeniser, extra)
        parts = [self._answer(*weigh_words(model, part)) for part in encoded]
        table = pa.Table.from_batches(parts, schema=self.schema)
        if faults:
            rows = np.full(len(texts), -1)
            rows[good] = np.arange(len(good))
            errors = pa.array([faults.get(row) for row in range(len(texts))], pa.string())
            table = table.take(pa.array(rows, mask=rows < 0)).set_column(8, self.schema.field(8), errors)
        return table, faults

    def _answer(self, found: Analysis, ends: np.ndarray) -> Any:
        model, count, says = self.model, len(found), self.model.prepared.says(ends)
        texts = np.repeat(np.arange(count), np.diff(found.offsets))
        best, every = predicted_classes(model, found), np.arange(count)
        probability, others = found.probabilities[every, best], found.probabilities.copy()
        others[every, best] = -1.0
        leads = found.leader_since >= 0
        if model.has_neutral:
            leads &= found.ids < len(model.vocabulary)
        # Votes are for the second of two classes, or for the label.
        row = np.zeros_like(best) if len(model.bias) == 1 else best
        leading, active = np.flatnonzero(leads), np.flatnonzero(found.active)
        masses, adds = found.masses[leading], model.prepared.scores[found.ids[leading], row[texts[leading]]]
        leading = leading[np.lexsort((-np.abs(masses * adds), -masses, texts[leading]))]
        voices = model.prepared.voices(found)
        total = np.maximum(np.bincount(texts, voices, minlength=count), 1)  # whole numbers: exact in floats
        votes = voices[active] / total[texts[active]] * says[active, row[texts[active]]]
        order = np.lexsort((-np.abs(votes), texts[active]))
        active, votes = active[order], votes[order]
        columns = (
            self._classes.take(pa.array(best)),
            pa.array(found.decided),
            pa.array(probability),
            pa.array(probability - others.max(axis=1)),
            _lists(self._surfaces.take(pa.array(found.ids[leading])), texts[leading], count),
            _lists(self._surfaces.take(pa.array(found.ids[active])), texts[active], count),
            _lists(pa.array(votes), texts[active], count),
            pa.array(probability < self.abstain),
            pa.nulls(count, pa.string()),
        )
        return pa.record_batch(list(columns), schema=self.schema)


def _lists(values: Any, texts: np.ndarray, count: int) -> Any:
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(texts, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)


# ---------------------------------------------------------------- files


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
    """Refuse an output that cannot be written, before the work."""
    if not target.parent.is_dir():
        raise InputError(f"`{target}` cannot be written: the folder `{target.parent}` does not exist. Create it first.")
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

    The output, a file or a folder of Parquet files, has the columns of the table, and ours after them. If this is
    interrupted, the same call goes on after the parts that are whole, to the same rows and values. From a folder to a
    folder, any number of processes may do so at once.
    """
    check_output(source, target, force)
    to_file = bool(target.suffix) and not target.is_dir()
    try:
        if Path(source).is_dir() and not to_file:
            return _score_folder(model, Path(source), target, options, force, progress)
        with locked(target.with_name(f".{target.name}.lock"), 0):
            return _score_stream(model, source, target, options, force, to_file, progress)
    except Timeout:
        raise InputError(f"`{target}` is being written by another process: wait for it.") from None
    except OSError as error:
        kept = "Finished parts are kept: the same command continues after them"
        raise InputError(f"`{target}` cannot be written: {reason(error)}. {kept}.") from None


def _score_folder(
    model: TextModel, source: Path, target: Path, options: ScoreOptions, force: bool, progress: Progress | None
) -> ScoringReport:
    """A part for each file, under the same name, written by whoever has its lock."""
    whole = tables.open_table(source)
    text, note = tables.choose_column(options.text, "text", whole.names, whole.shown)
    scorer = Scorer(model, list(options.columns or whole.names), options)
    parts = {target / file.relative_to(source): file for file in tables.parquet_files(source)}
    if any(path not in parts for path in tables.parquet_files(target)):
        raise _other_files(target)
    done: dict[Path, ScoringReport] = {}
    scored = 0

    def finished(path: Path, job: str) -> ScoringReport | None:
        stored = _stored(path, target) if path.exists() else [job, None]
        if stored[0] != job and not force:
            raise _other_job(target)
        return ScoringReport(**stored[1]) if stored[0] == job and stored[1] else None

    def update(share: float, rows: int) -> None:
        if progress:
            progress((len(done) + share) / len(parts), scored + rows)

    # First what nobody is at, then what others were at, should they have died.
    for patience in (0, -1):
        for path, file in parts.items():
            job = _job(model, _marks([file]), options)
            if path not in done and (found := finished(path, job)):
                done[path] = found
            if path in done:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(Timeout), locked(path.with_name(f".{path.name}.lock"), patience):
                if found := finished(path, job):
                    done[path] = found
                    continue
                for draft in path.parent.glob(f".{escape(path.name)}.*.part"):  # left by a process that was killed
                    draft.unlink()
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
    scorer: "Scorer", file: Path, path: Path, text: str, options: ScoreOptions, job: str, progress: Progress
) -> ScoringReport:
    table, report = tables.open_table(file), ScoringReport(text=text)
    schema = _keep(table, scorer, text, options)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with pq.ParquetWriter(draft, schema, **_PACKED) as writer:
            _write_behind(writer.write_table, _scored_parts(table, scorer, options, schema, report, progress))
            writer.add_key_value_metadata({_METADATA: json.dumps([job, asdict(report)])})
        _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return report


def _score_stream(
    model: TextModel,
    source: str,
    target: Path,
    options: ScoreOptions,
    force: bool,
    to_file: bool,
    progress: Progress | None,
) -> ScoringReport:
    folder = target.with_name(f"{target.name}.parts") if to_file else target
    with ExitStack() as stack:
        table, marks = _open(source, stack)
        text, note = tables.choose_column(options.text, "text", table.names, table.shown)
        scorer = Scorer(model, list(options.columns or table.schema(text).names), options)
        schema = _keep(table, scorer, text, options)
        job = _job(model, marks, options)
        report = ScoringReport(**_resume(folder, job, force or to_file))
        report.text, report.note, report.names, report.resumed = text, note, scorer.names, report.rows

        def named_parts() -> Iterator[tuple[Path, Any]]:
            for part in _scored_parts(table, scorer, options, schema, report, progress):
                path = folder / f"part-{report.parts:06}.parquet"
                report.parts += 1
                metadata = {**(schema.metadata or {}), _METADATA: json.dumps([job, asdict(report)]).encode()}
                yield path, part.replace_schema_metadata(metadata)

        how = _QUICK if to_file else _PACKED
        _write_behind(lambda part: _write_part(*part, how), named_parts())
        if to_file:
            _join(folder, schema, target)
    return report


def _job(model: TextModel, marks: Any, options: ScoreOptions) -> str:
    inputs = [__version__, digest(model), marks, asdict(options)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def _marks(files: list[Path]) -> list[list[Any]]:
    """What shows whether files have changed; other machines may have them elsewhere."""
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _keep(table: Any, scorer: "Scorer", text: str, options: ScoreOptions) -> Any:
    """Read no more columns of a table than are wanted, and the texts; the schema of what is written."""
    if options.columns is not None:
        table.keep([*options.columns, text])
    stored = table.schema(tables.choose_column(text, "text", table.names, table.shown)[0])
    kept = [stored.field(name) for name in options.columns or stored.names]
    return pa.schema([*kept, *scorer.schema], metadata=stored.metadata)


def _write_behind(write: Callable[[Any], Any], parts: Iterable[Any]) -> None:
    """Write each part while the next is scored."""
    with ThreadPoolExecutor(1, thread_name_prefix="hardmax writing") as pool:
        writing = pool.submit(int)  # nothing yet
        for part in parts:
            writing.result()
            writing = pool.submit(write, part)
        writing.result()


def _scored_parts(
    table: Any, scorer: Scorer, options: ScoreOptions, schema: Any, report: ScoringReport, progress: Progress | None
) -> Iterator[Any]:
    """The rows that are not scored yet, a part at a time, counted in the report; at least one part in all."""
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
            report.labels[str(count["values"])] = report.labels.get(str(count["values"]), 0) + count["counts"]
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


def _stored(path: Path, folder: Path) -> Any:
    """The job and the report in the metadata of a part."""
    try:
        return json.loads(pq.read_metadata(path).metadata[_METADATA])
    except Exception:  # whatever it is, it is not ours
        raise _other_files(folder) from None


def _other_files(folder: Path) -> InputError:
    return InputError(f"`{folder}` has other files in it: name another output, or move them.")


def _other_job(folder: Path) -> InputError:
    problem = f"`{folder}` has rows of another input, model or options: force=True replaces them."
    return InputError(problem, also=("force=True",))


def _resume(folder: Path, job: str, force: bool) -> dict[str, Any]:
    """The report of the last part that is there, if all are of this job; others are removed, or refused."""
    for draft in folder.glob(".*.part"):  # left by a process that was killed
        draft.unlink()
    stored = {path: _stored(path, folder) for path in sorted(folder.glob("*"))}
    jobs, reports = [each[0] for each in stored.values()], [each[1] for each in stored.values()]
    if jobs == [job] * len(jobs) and [each["parts"] for each in reports] == [*range(1, len(jobs) + 1)]:
        return reports[-1] if reports else {}
    if not force:
        raise _other_job(folder)
    for path in stored:
        path.unlink()
    return {}


def _write_part(path: Path, table: Any, how: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, **how)
    write_whole(path, sink.getvalue())


def _join(folder: Path, schema: Any, target: Path) -> None:
    """Make a file of the parts, which appears whole or not at all, and remove them."""
    draft = folder / ".joined.part"
    with _writer(draft, schema, target) as write:
        for path in sorted(folder.glob("part-*.parquet")):
            write(pq.ParquetFile(path).read())
    _publish(draft, target)
    shutil.rmtree(folder, ignore_errors=True)


def _publish(draft: Path, target: Path) -> None:
    """Give a file that is whole its name."""
    with draft.open("rb") as stream:
        os.fsync(stream.fileno())
    if target.exists():
        shutil.copymode(target, draft)
    draft.replace(target)
    sync_folder(target.parent)


@contextmanager
def _writer(path: Path, schema: Any, target: Path) -> Iterator[Callable[[Any], Any]]:
    kind = tables.table_kind(target, "`out`")
    if kind == "parquet":
        with pq.ParquetWriter(path, schema, **_PACKED) as writer:
            yield writer.write_table
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        if kind == "csv":
            lines = csv.writer(stream, delimiter="\t" if target.suffix == ".tsv" else ",", lineterminator="\n")
            lines.writerow(schema.names)
            yield lambda table: lines.writerows(map(_cells, table.to_pylist()))
        else:
            as_json = [each.name for each in schema if each.metadata == tables.JSON_CELLS]
            yield lambda table: stream.writelines(_json_line(row, as_json) for row in table.to_pylist())


def _cells(row: dict[str, Any]) -> list[str | None]:
    """A row of CSV: numbers, lists and objects as JSON has them."""
    plain = bool | int | float | list | dict
    return [_json(each) if isinstance(each, plain) else each if each is None else str(each) for each in row.values()]


def _json_line(row: dict[str, Any], as_json: list[str]) -> str:
    finite = {name: None if isinstance(each, float) and not math.isfinite(each) else each for name, each in row.items()}
    return _json(finite | {name: json.loads(row[name] or "null") for name in as_json}) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
