"""Tables scored: every row gets what `explain` says of its text, in columns after its own. Lazy
tables stay lazy."""

# pyright: reportAttributeAccessIssue=false
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from hardmax._common.validation import InputError, check_choice, check_real
from hardmax._kernels.parallel import limit_threads
from hardmax.text import tables
from hardmax.text._analysis import Analysis, predicted_classes, weigh_parts
from hardmax.text._texts import encode_text, is_missing, read_texts
from hardmax.text.shipped import MODELS, load_model
from hardmax.text.storage import digest, saved_in
from hardmax.text.text_model import TextModel

COLUMNS = (
    "label",
    "decided",
    "probability",
    "margin",
    "leaders",
    "active",
    "votes",
    "factors",
    "abstain",
    "error",
)


@dataclass(frozen=True)
class ScoreOptions:
    """How rows are scored."""

    text: str | None = None  # column of the texts; guessed if None
    abstain: float = 0.0  # rows with a lower probability are marked
    on_bad_rows: str = "null"  # null (kept, with nothing but an error), skip or refuse
    columns: tuple[str, ...] | None = None  # of a file that are kept; all if None

    def __post_init__(self) -> None:
        abstain = check_real(self.abstain, "`abstain`", at_least=0, at_most=1)
        object.__setattr__(self, "abstain", abstain)
        check_choice(self.on_bad_rows, ("null", "skip", "refuse"), "`on_bad_rows`")


def score_table(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The table with our columns after its own, of the kind that it came as; see
    `TextModel.score_table`."""
    try:
        frame: Any = nw.from_native(table)
    except TypeError:
        frame = None
    if isinstance(frame, nw.DataFrame):
        rows, answers = _answer_frame(model, frame, options)
        frame = frame if rows is None else frame[rows]
        ours = nw.from_arrow(answers, backend=frame.implementation)
        # Columns of pandas are put beside each other by their index, and rows have no other here
        # than their place.
        return frame.with_columns(*(ours[name] for name in ours.columns)).to_native()
    if frame is not None and frame.implementation.is_polars():
        empty = score_table(model, table.head(0).collect(), options)
        score = {"schema": empty.schema, "streamable": True}
        return table.map_batches(lambda part: score_table(model, part, options), **score)
    if frame is not None and frame.implementation.is_dask():
        return _score_dask(model, table, options)
    reader = None
    # DuckDB, and readers of pyarrow; a column has no names that batches could have.
    with suppress(pa.ArrowInvalid, TypeError):
        reader = pa.RecordBatchReader.from_stream(table)
    if reader is not None:
        schema = score_table(model, reader.schema.empty_table(), options).schema
        scored = (score_table(model, pa.Table.from_batches([batch]), options) for batch in reader)
        return pa.RecordBatchReader.from_batches(
            schema, (each for part in scored for each in part.to_batches())
        )
    wish = "a table that narwhals knows, such as of pandas, polars or pyarrow"
    raise InputError(f"`table` must be {wish}, not {type(table).__name__}.", argument="table")


def _answer_frame(
    model: TextModel, frame: Any, options: ScoreOptions
) -> tuple[list[int] | None, Any]:
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
        raise InputError(
            "A Dask worker loads the model from its folder: save it first, with `model.save(folder)`."
        )
    name = folder.name if folder.parent == MODELS else str(folder)
    meta = _score_pandas(model, table._meta, options)
    return table.map_partitions(_score_partition, name, digest(model), options, meta=meta)


def _score_partition(part: Any, name: str, mark: str, options: ScoreOptions) -> Any:
    with _loading:
        model = _load(name, mark)
    with limit_threads(1):  # Dask has a thread for each task already
        return _score_pandas(model, part, options)


def _score_pandas(model: TextModel, part: Any, options: ScoreOptions) -> Any:
    """A partition, with columns of Arrow types: these do not change where rows have no answer, or
    there are none."""
    import pandas as pd

    rows, answers = _answer_frame(model, nw.from_native(part, eager_only=True), options)
    part = part if rows is None else part.iloc[rows]
    return pd.concat(
        [part, answers.to_pandas(types_mapper=pd.ArrowDtype).set_index(part.index)], axis=1
    )


_loading = threading.Lock()  # tasks that begin at once load a model once


@lru_cache(maxsize=4)
def _load(name: str, mark: str) -> TextModel:
    model = load_model(name)
    if digest(model) != mark:
        raise InputError(
            f"The model `{name}` of this worker is not the one that was asked for: copy it again."
        )
    return model


def _frame_texts(column: Any) -> tuple[Any, dict[int, str]]:
    """The texts of a column, null where a row has none, and what is wrong with rows that have
    something else."""
    values = column.to_list()
    texts = [encode_text(value).decode() if isinstance(value, str) else None for value in values]
    others = {
        row: value
        for row, value in enumerate(values)
        if texts[row] is None and not is_missing(value)
    }
    faults = {row: f"the text is of type {type(value).__name__}" for row, value in others.items()}
    return pa.array(texts, pa.large_string()), faults


class Scorer:
    """A model that answers with Arrow tables, in columns whose names the scored table does not
    have."""

    def __init__(self, model: TextModel, columns: list[str], options: ScoreOptions) -> None:
        self.model, self.abstain = model, options.abstain
        self.names = {name: f"hardmax_{name}" if name in columns else name for name in COLUMNS}
        if taken := sorted(set(columns).intersection(self.names.values())):
            raise InputError(
                f"The table already has the columns {', '.join(taken)}, which scoring adds: rename them."
            )
        self._surfaces = pa.array(model.vocabulary.surfaces, pa.string())
        kinds = {type(name) for name in model.classes}
        self._classes = pa.array(
            model.classes if len(kinds) == 1 else [str(name) for name in model.classes]
        )
        tokens, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
        types = (
            self._classes.type,
            pa.bool_(),
            pa.float64(),
            pa.float64(),
            tokens,
            tokens,
            numbers,
            numbers,
            pa.bool_(),
        )
        self.schema = pa.schema(list(zip(self.names.values(), (*types, pa.string()), strict=True)))

    def answer(self, texts: Any, faults: dict[int, str]) -> tuple[Any, dict[int, str]]:
        """Our columns for the texts, and all faults, those given included; a bad row has nothing
        but its `error`.

        The answer to a text depends on that text alone, bit for bit. `margin` is the probability of
        the label less that of the next class. Leaders and active tokens are sorted by the size of
        their votes, as in an explanation; `factors` are what the words that modify each active
        token multiply its vote by."""
        found = {
            row: fault
            for row, text in enumerate(texts.to_pylist())
            if (fault := tables.text_fault(text))
        }
        faults = found | faults
        good = np.setdiff1d(np.arange(len(texts)), list(faults))
        sound = texts.take(pa.array(good)) if faults else texts
        parts = [self._answer(part) for part in weigh_parts(self.model, read_texts(sound))]
        table = pa.Table.from_batches(parts, schema=self.schema)
        if faults:
            rows = np.full(len(texts), -1)
            rows[good] = np.arange(len(good))
            errors = pa.array([faults.get(row) for row in range(len(texts))], pa.string())
            table = table.take(pa.array(rows, mask=rows < 0)).set_column(
                9, self.schema.field(9), errors
            )
        return table, faults

    def _answer(self, found: Analysis) -> Any:
        model, count = self.model, len(found)
        texts = np.repeat(np.arange(count), np.diff(found.offsets))
        best, every = predicted_classes(model, found), np.arange(count)
        probability, others = found.probabilities[every, best], found.probabilities.copy()
        others[every, best] = -1.0
        # Votes are for the second of two classes, or for the label.
        row = np.zeros_like(best) if len(model.bias) == 1 else best
        active = np.flatnonzero(found.active)
        votes = found.votes[active, row[texts[active]]]
        order = np.lexsort((-np.abs(votes), texts[active]))
        active, votes = active[order], votes[order]
        leading = active[found.leads[active]]
        columns = (
            self._classes.take(pa.array(best)),
            pa.array(found.decided),
            pa.array(probability),
            pa.array(probability - others.max(axis=1)),
            _lists(self._surfaces.take(pa.array(found.ids[leading])), texts[leading], count),
            _lists(self._surfaces.take(pa.array(found.ids[active])), texts[active], count),
            _lists(pa.array(votes), texts[active], count),
            _lists(pa.array(found.factors[active]), texts[active], count),
            pa.array(probability < self.abstain),
            pa.nulls(count, pa.string()),
        )
        return pa.record_batch(list(columns), schema=self.schema)


def _lists(values: Any, texts: np.ndarray, count: int) -> Any:
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(texts, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
