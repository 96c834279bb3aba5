"""What the model says of every row of a table, as columns beside those that are there."""

# pyright: reportAttributeAccessIssue=false
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hardmax._format import EXTRA_TOKEN
from hardmax._validation import InputError, check_choice, check_real, check_str
from hardmax.text.model.analysis import Analysis
from hardmax.text.model.model import Model
from hardmax.text.tables import TEXT_NAMES, choose_column, refusal
from hardmax.text.tokens.texts import encode_text, is_missing

COLUMNS = ("label", "decided", "probability", "margin", "leaders", "counting", "votes", "abstain", "error")


@dataclass(frozen=True)
class ScoreOptions:
    """What is asked of every row."""

    text: str | None = None  # column of the texts; usual names are looked for
    abstain: float = 0.0  # rows whose probability is below are marked
    on_bad_rows: str = "null"  # null (nothing but an error), skip or refuse

    def __post_init__(self) -> None:
        if self.text is not None:
            check_str(self.text, "`text`")
        if check_real(self.abstain, "`abstain`", at_least=0) > 1:
            raise InputError(f"`abstain` must be a probability from 0 to 1, not {self.abstain}.", argument="abstain")
        check_choice(self.on_bad_rows, ("null", "skip", "refuse"), "`on_bad_rows`")


def score_table(model: Model, table: Any, options: ScoreOptions) -> Any:
    """The table with our columns after its own, of the kind that it came as; see `TextModel.score_table`."""
    try:
        frame: Any = nw.from_native(table, eager_only=True)
    except TypeError:
        wish = "a table of pandas, polars or pyarrow, or of another library that narwhals knows, in memory"
        came = f"{type(table).__module__.split('.')[0]}.{type(table).__name__}"
        raise InputError(f"`table` must be {wish}, not {came}.", argument="table") from None
    names = [str(name) for name in frame.columns]
    column, _ = choose_column(options.text, "text", TEXT_NAMES, names, "`table`")
    answers, faults = Scorer(model, names, options).answer(*_frame_texts(frame[column]))
    if faults and options.on_bad_rows == "refuse":
        raise refusal(f"row {min(faults)}", faults[min(faults)])
    if faults and options.on_bad_rows == "skip":
        kept = np.setdiff1d(np.arange(len(frame)), list(faults))
        frame, answers = frame[kept.tolist()], answers.take(pa.array(kept))
    ours = nw.from_arrow(answers, backend=frame.implementation)
    # Columns of pandas are put beside each other by their index, and rows have no other here than their place.
    return frame.with_columns(*(ours[name] for name in ours.columns)).to_native()


def _frame_texts(column: Any) -> tuple[Any, dict[int, str]]:
    """The texts of a column, null where a row has none, and what is wrong with rows that have something else."""
    # Objects of pandas are Python's own, each by itself, and not all of them need be texts.
    if column.dtype == nw.String and str(getattr(column.to_native(), "dtype", "")) != "object":
        return pc.cast(column.to_arrow(), pa.large_string()), {}
    values = column.to_list()
    texts = [encode_text(value).decode() if isinstance(value, str) else None for value in values]
    others = {row: value for row, value in enumerate(values) if texts[row] is None and not is_missing(value)}
    faults = {row: f"the text is of type {type(value).__name__}" for row, value in others.items()}
    return pa.array(texts, pa.large_string()), faults


class Scorer:
    """A model that answers with Arrow tables, in columns whose names the scored table does not have."""

    def __init__(self, model: Model, columns: list[str], options: ScoreOptions) -> None:
        self.model, self.abstain = model, options.abstain
        self.names = {name: f"hardmax_{name}" if name in columns else name for name in COLUMNS}
        if taken := sorted(set(columns).intersection(self.names.values())):
            raise InputError(f"the table has the columns {', '.join(taken)}, which are ours: rename them.")
        self._surfaces = pa.array([*model.vocabulary.surfaces, EXTRA_TOKEN], pa.string())
        kinds = {type(name) for name in model.classes}
        self._classes = pa.array(model.classes if len(kinds) == 1 else [str(name) for name in model.classes])
        tokens, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
        types = (self._classes.type, pa.bool_(), pa.float64(), pa.float64(), tokens, tokens, numbers, pa.bool_())
        self.schema = pa.schema(list(zip(self.names.values(), (*types, pa.string()), strict=True)))

    def answer(self, texts: Any, faults: dict[int, str]) -> tuple[Any, dict[int, str]]:
        """Our columns for the texts, and all faults, those given included; a bad row has nothing but its `error`.

        The answer to a text depends on that text alone, to the bit. `margin` is the probability of the label less that
        of the next class. Leaders are sorted by mass, active tokens by the size of their votes, as in an explanation.
        """
        faults = _text_faults(texts) | faults
        good = np.setdiff1d(np.arange(len(texts)), list(faults))
        sound = texts.take(pa.array(good)) if faults else texts
        parts = [self._answer(found, says) for found, says in self.model.weigh_texts(sound)]
        table = pa.Table.from_batches(parts, schema=self.schema)
        if faults:
            rows = np.full(len(texts), -1)
            rows[good] = np.arange(len(good))
            errors = pa.array([faults.get(row) for row in range(len(texts))], pa.string())
            table = table.take(pa.array(rows, mask=rows < 0)).set_column(8, self.schema.field(8), errors)
        return table, faults

    def _answer(self, found: Analysis, says: np.ndarray) -> Any:
        model, count = self.model, len(found)
        texts = np.repeat(np.arange(count), np.diff(found.offsets))
        best, every = model.predicted(found), np.arange(count)
        probability, others = found.probabilities[every, best], found.probabilities.copy()
        others[every, best] = -1.0
        leads = found.leader_since >= 0
        if model.has_neutral:
            leads &= found.ids < len(model.vocabulary)
        # Votes are for the second of two classes, or for the label.
        row = np.zeros_like(best) if len(model.bias) == 1 else best
        leading, active = np.flatnonzero(leads), np.flatnonzero(found.counting)
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


def _text_faults(texts: Any) -> dict[int, str]:
    blank = pc.fill_null(pc.or_(pc.equal(pc.binary_length(texts), 0), pc.utf8_is_space(texts)), False)
    empty, missing = np.flatnonzero(blank.to_numpy(False)), np.flatnonzero(texts.is_null().to_numpy(False))
    return dict.fromkeys(empty.tolist(), "the text is empty") | dict.fromkeys(missing.tolist(), "no text")


def _lists(values: Any, texts: np.ndarray, count: int) -> Any:
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(texts, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
