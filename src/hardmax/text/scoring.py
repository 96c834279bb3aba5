"""Tables scored: every row gets what `explain` says of its text, in columns after its own."""

# pyright: reportAttributeAccessIssue=false
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from hardmax._common.validation import InputError, check_choice, check_real
from hardmax.text import tables
from hardmax.text._analysis import Analysis, weigh_parts
from hardmax.text._texts import encode_text, read_texts
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
        tables.codec(self.encoding)


def score_table(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The table with our columns after its own, of the kind that it came as; see
    `TextModel.score_table`."""
    frame = tables.as_frame(table, "`table`", pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return _score_stream(model, table, options)
    names = [str(name) for name in frame.columns]
    values = frame[tables.choose_column(options.text, "text", names, "`table`")].to_list()
    texts = [encode_text(value).decode() if isinstance(value, str) else None for value in values]
    faults = tables.text_faults(values)
    scorer = Scorer(model, names, options)
    kept, answers = scorer.answer(pa.array(texts, pa.large_string()), faults, "row {}".format)
    frame = frame if kept is None else frame[kept.tolist()]
    ours = nw.from_arrow(answers, backend=frame.implementation)
    # Columns of pandas are put beside each other by their index, and rows have no other here than
    # their place.
    return frame.with_columns(*ours.iter_columns()).to_native()


def _score_stream(model: TextModel, table: Any, options: ScoreOptions) -> Any:
    """The batches of an Arrow stream, such as a DuckDB relation, one after another."""
    try:
        reader = pa.RecordBatchReader.from_stream(table)
    except (pa.ArrowInvalid, TypeError):
        raise InputError(
            "`table` must be a table in memory, of pandas, polars or pyarrow, or an Arrow stream, "
            f"not {type(table).__name__}.",
        ) from None

    def score(batches: list[Any]) -> Any:
        return score_table(model, pa.Table.from_batches(batches, reader.schema), options)

    scored = (batch for given in reader for batch in score([given]).to_batches())
    return pa.RecordBatchReader.from_batches(score([]).schema, scored)


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
