"""Tables in memory scored, whatever library they are of: what comes back is of the same kind."""

from typing import Any

import numpy as np

from hardmax._validation import InputError, MissingExtra
from hardmax.text._texts import encode_text, is_missing
from hardmax.text.data.corpora import TEXT_NAMES, choose_column
from hardmax.text.scoring.answers import Answerer
from hardmax.text.scoring.arrow import Array, pa, pc
from hardmax.text.scoring.rows import Part, Rows
from hardmax.text.scoring.scored import Asked, Scorer, our_names
from hardmax.text.text_model import TextModel

try:
    import narwhals
except ImportError:
    raise MissingExtra("`score_table`", "tables") from None

nw: Any = narwhals
_WISH = "a table of pandas, polars or pyarrow, or of another library that narwhals knows"


def score_table(model: TextModel, table: Any, asked: Asked) -> Any:
    """The table with our columns after its own, of the kind that it came as; bad rows have none, or are left out."""
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        lazy = " Collect it first." if hasattr(table, "collect") else ""
        came = f"{type(table).__module__.split('.')[0]}'s {type(table).__name__}"
        raise InputError(f"`table` must be {_WISH}, not {came}.{lazy}", argument="table") from None
    column = choose_column(asked.text, "text", TEXT_NAMES, [str(name) for name in frame.columns], "table")
    texts, faults = _texts(frame[column])
    names = our_names([str(name) for name in frame.columns], asked.prefix)
    numbers = np.arange(len(frame))
    rows = Rows(pa.table({column: texts}), np.zeros(len(frame)), numbers, "row", faults=faults)
    scorer = Scorer(Answerer.of(model), rows.table.schema, column, names, asked)
    scored = scorer.score(Part([rows]))
    if asked.on_bad_rows == "skip" and scored.bad:
        frame = frame[scored.kept.tolist()]
    return _beside(frame, scored.table.select(list(names.values())))


def _beside(frame: Any, ours: Any) -> Any:
    made = nw.from_arrow(ours, backend=frame.implementation)
    # Columns of pandas are put beside each other by their index, and rows have no other here than their place.
    return frame.with_columns(*(made[name] for name in made.columns)).to_native()


def _texts(column: Any) -> tuple[Array, dict[int, str]]:
    """The texts of a column, nothing where a row has none, and what is wrong with rows that have something else."""
    if column.dtype == nw.String and not _is_pandas_objects(column):
        return pc.cast(column.to_arrow(), pa.large_string()), {}
    texts, faults = [], {}
    for row, value in enumerate(column.to_list()):
        if isinstance(value, str):
            texts.append(encode_text(value).decode())
            continue
        texts.append(None)
        faults[row] = "no text" if is_missing(value) else f"the text is a {type(value).__name__}"
    return pa.array(texts, pa.large_string()), faults


def _is_pandas_objects(column: Any) -> bool:
    """Whether the texts are Python's own, each on its own, among which anything may stand."""
    return str(getattr(column.to_native(), "dtype", "")) == "object"
