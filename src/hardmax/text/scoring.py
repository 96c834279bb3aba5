"""Tables scored: every row gets what `explain` says of its text, in columns after its own. Lazy
tables stay lazy."""

# pyright: reportAttributeAccessIssue=false
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from hardmax._common.validation import InputError, check_choice, check_real
from hardmax._kernels.parallel import limit_threads
from hardmax.text import tables
from hardmax.text._analysis import Analysis, weigh_parts
from hardmax.text._texts import encode_text, read_texts
from hardmax.text.shipped import MODELS, load_model
from hardmax.text.storage import digest, saved_in
from hardmax.text.text_model import TextModel

_TOKENS, _NUMBERS = pa.list_(pa.string()), pa.list_(pa.float64())
COLUMNS = {
    "label": "string",  # or the type of the classes
    "decided": "bool",
    "probability": "double",
    "margin": "double",
    "leaders": _TOKENS,
    "active": _TOKENS,
    "votes": _NUMBERS,
    "factors": _NUMBERS,
    "abstain": "bool",
    "error": "string",
}


@dataclass(frozen=True)
class ScoreOptions:
    """How rows are scored."""

    text: str | None = None
    """Column of the texts; guessed if None."""
    abstain: float = 0.0
    """Rows with a lower probability are marked."""
    on_bad_rows: str = "null"
    """null (kept, with nothing but an error), skip or refuse."""
    columns: tuple[str, ...] | None = None
    """Columns of a file that are kept; all if None."""
    encoding: str | None = None
    """That of a file of lines; UTF-8 if None."""

    def __post_init__(self) -> None:
        vars(self).update(abstain=check_real(self.abstain, "`abstain`", at_least=0, at_most=1))
        check_choice(self.on_bad_rows, ("null", "skip", "refuse"), "`on_bad_rows`")
        tables.check_encoding(self.encoding)


def score_table(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The table with our columns after its own, of the kind that it came as; see
    `TextModel.score_table`."""

    def score(part: Any) -> Any:
        return score_table(model, part, options)

    frame = tables.as_frame(table, "`table`", pass_through=True)
    if isinstance(frame, nw.DataFrame):
        frame, answers = _answer_frame(model, frame, options)
        ours = nw.from_arrow(answers, backend=frame.implementation)
        # Columns of pandas are put beside each other by their index, and rows have no other here
        # than their place.
        return frame.with_columns(*ours.iter_columns()).to_native()
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars():
        schema = score(table.head(0).collect()).schema
        return table.map_batches(score, schema=schema, streamable=True)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_dask():
        return _score_dask(model, table, options)
    try:
        # DuckDB, and readers of pyarrow; a column has no names that batches could have.
        reader = pa.RecordBatchReader.from_stream(table)
    except (pa.ArrowInvalid, TypeError):
        raise InputError(
            "`table` must be a table that narwhals knows, such as of pandas, polars or pyarrow, "
            f"not {type(table).__name__}.",
        ) from None
    scored = (score(pa.Table.from_batches([batch])) for batch in reader)
    return pa.RecordBatchReader.from_batches(
        score(reader.schema.empty_table()).schema,
        (batch for part in scored for batch in part.to_batches()),
    )


def _answer_frame(model: TextModel, frame: Any, options: ScoreOptions) -> tuple[Any, Any]:
    """The rows that are kept, and the answers to them."""
    names = [str(name) for name in frame.columns]
    column = tables.choose_column(options.text, "text", names, "`table`")
    values = frame[column].to_list()
    texts = [encode_text(value).decode() if isinstance(value, str) else None for value in values]
    column = pa.array(texts, pa.large_string())
    faults = tables.text_faults(values)
    kept, answers = Scorer(model, names, options).answer(column, faults, "row {}".format)
    return (frame if kept is None else frame[kept.tolist()]), answers


def _score_dask(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The graph has the name or folder of the model; workers load it from there."""
    folder = saved_in(model)
    if folder is None:
        raise InputError(
            "A Dask worker loads the model from its folder: save it first, with "
            "`model.save(folder)`."
        )
    name = folder.name if folder.parent == MODELS else str(folder)
    meta = _score_pandas(model, table._meta, options)
    return table.map_partitions(_score_partition, name, digest(model), options, meta=meta)


def _score_partition(part: Any, name: str, mark: str, options: ScoreOptions) -> Any:
    with _loading():
        model = _load(name, mark)
    with limit_threads(1):  # Dask has a thread for each task already
        return _score_pandas(model, part, options)


def _score_pandas(model: TextModel, part: Any, options: ScoreOptions) -> Any:
    """A partition, with columns of Arrow types: these do not change where rows have no answer, or
    there are none."""
    import pandas as pd

    frame, answers = _answer_frame(model, nw.from_native(part, eager_only=True), options)
    kept = frame.to_native()
    ours = answers.to_pandas(types_mapper=pd.ArrowDtype)
    return pd.concat([kept, ours.set_index(kept.index)], axis=1)


_loading = cache(threading.Lock)  # tasks that begin at once load a model once
_loading()  # made here, by one thread
if hasattr(os, "register_at_fork"):
    # A child would wait for ever for a thread of its parent that loads: it has a lock of its own.
    os.register_at_fork(after_in_child=_loading.cache_clear)


@lru_cache(maxsize=4)
def _load(name: str, mark: str) -> TextModel:
    model = load_model(name)
    if digest(model) != mark:
        raise InputError(
            f"The model `{name}` of this worker is not the one that was asked for: copy it again."
        )
    return model


class Scorer:
    """A model that answers with Arrow tables, in columns whose names the scored table does not
    have."""

    def __init__(self, model: TextModel, columns: list[str], options: ScoreOptions) -> None:
        self.model, self.options = model, options
        self.names = {name: f"hardmax_{name}" if name in columns else name for name in COLUMNS}
        if taken := sorted(set(columns).intersection(self.names.values())):
            raise InputError(
                f"The table already has the columns {', '.join(taken)}, which scoring adds: "
                "rename them."
            )
        self._surfaces = pa.array(model.vocabulary.surfaces, pa.string())
        is_mixed = len({type(name) for name in model.classes}) > 1
        self._classes = pa.array(map(str, model.classes) if is_mixed else model.classes)
        types = COLUMNS | {"label": self._classes.type}
        self.schema = pa.schema([(self.names[name], kind) for name, kind in types.items()])

    def answer(
        self, texts: Any, faults: dict[int, str], place: Callable[[int], str]
    ) -> tuple[np.ndarray | None, Any]:
        """The rows that are kept, None for all, and our columns for them.

        `faults` are those of bad rows, and `place` says where a row is. A bad row has nothing but
        its `error`, is left out, or refused.

        The answer to a text depends on that text alone, bit for bit. `margin` is the probability of
        the label less that of the next class. Leaders and active tokens are sorted by the size of
        their votes, as in an explanation; `factors` are what the words that modify each active
        token multiply its vote by."""
        on_bad_rows = self.options.on_bad_rows
        if faults and on_bad_rows == "refuse":
            first = min(faults)
            raise tables.refusal(place(first), faults[first])
        every = np.arange(len(texts))
        good = np.setdiff1d(every, list(faults))
        sound = texts.take(pa.array(good)) if faults else texts
        parts = [self._answer(part) for part in weigh_parts(self.model, read_texts(sound))]
        answers = pa.Table.from_batches(parts, schema=self.schema)
        if not faults:
            return None, answers
        if on_bad_rows == "skip":
            return good, answers
        rows = pa.array(np.searchsorted(good, every), mask=~np.isin(every, good))
        errors = pa.array(map(faults.get, every.tolist()), pa.string())
        return None, answers.take(rows).set_column(9, self.schema.field(9), errors)

    def _answer(self, analysis: Analysis) -> Any:
        count, (_, classes) = len(analysis), analysis.probabilities.shape
        best = analysis.predicted
        is_best = np.arange(classes) == best[:, None]
        probability = analysis.probabilities[is_best]
        next_best = np.where(is_best, -1.0, analysis.probabilities).max(axis=1)
        active = np.flatnonzero(analysis.active)
        texts = np.repeat(np.arange(count), analysis.active_per_text)
        # Votes are for the second of two classes, or for the label.
        column = best[texts] if analysis.votes.shape[1] > 1 else 0
        votes = analysis.votes[active, column]
        # Complex numbers are sorted by text, then by size: twice as fast as two keys.
        order = np.argsort(texts - 1j * np.abs(votes), kind="stable")
        active = active[order]
        leads = analysis.leads[active]
        tokens = self._surfaces.take(pa.array(analysis.ids[active]))
        columns = [
            self._classes.take(pa.array(best)),
            pa.array(analysis.decided),
            pa.array(probability),
            pa.array(probability - next_best),
            _lists(tokens.filter(pa.array(leads)), texts[leads], count),
            _lists(tokens, texts, count),
            _lists(pa.array(votes[order]), texts, count),
            _lists(pa.array(analysis.factors[active]), texts, count),
            pa.array(probability < self.options.abstain),
            pa.nulls(count, pa.string()),
        ]
        return pa.record_batch(columns, schema=self.schema)


def _lists(values: Any, texts: np.ndarray, count: int) -> Any:
    """The values of each text as a list; the texts are sorted."""
    offsets = np.searchsorted(texts, np.arange(count + 1))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
