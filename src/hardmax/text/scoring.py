"""Tables scored: every row gets the answer of a model, in columns after its own."""

# pyright: reportAttributeAccessIssue=false
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, check_bool, check_choice
from hardmax.text import tables
from hardmax.text._analysis import Analysis, weigh_parts
from hardmax.text._kernels_tokens import LAST_BIT
from hardmax.text._texts import encode_text, read_texts

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

_TOKENS, _NUMBERS = pa.list_(pa.string()), pa.list_(pa.float64())
_ANSWERS = {"label": "string", "decided": "bool", "probability": "double"}
_VOTES = {"leaders": _TOKENS, "active": _TOKENS, "votes": _NUMBERS, "attends_to": _TOKENS}


def columns_of(votes: bool) -> dict[str, Any]:
    """Our columns, with or without the votes, and their types."""
    return _ANSWERS | (_VOTES if votes else {}) | {"error": "string"}


def score_table(
    model: "TextModel", table: Any, text: str | None, votes: bool, on_bad_rows: str
) -> Any:
    """The table with our columns after its own, of the kind that it came as; see
    `TextModel.score_table`."""
    import narwhals as nw

    frame = tables.as_frame(table, "`table`")
    names = [str(name) for name in frame.columns]
    values = frame[tables.choose_column(text, "text", names, "`table`")].to_list()
    texts = [encode_text(value).decode() if isinstance(value, str) else None for value in values]
    faults = tables.text_faults(values)
    scorer = Scorer(model, names, votes, on_bad_rows)
    answers = scorer.answer(pa.array(texts, pa.string()), faults, "row {}".format)
    ours = nw.from_arrow(answers, backend=frame.implementation)
    # Columns of pandas are put beside each other by their index, and rows have no other here than
    # their place.
    return frame.with_columns(*ours.iter_columns()).to_native()


class Scorer:
    """A model that answers with Arrow tables, in columns whose names the scored table does not
    have."""

    def __init__(
        self, model: "TextModel", columns: list[str], votes: bool, on_bad_rows: str
    ) -> None:
        self.model, self.votes = model, check_bool(votes, "`votes`")
        self.refuses = check_choice(on_bad_rows, ("null", "refuse"), "`on_bad_rows`") == "refuse"
        ours = columns_of(votes)
        self.names = {name: f"hardmax_{name}" if name in columns else name for name in ours}
        if taken := sorted(set(columns).intersection(self.names.values())):
            raise InputError(
                f"The table already has the columns {', '.join(taken)}, which scoring adds: "
                "rename them."
            )
        is_mixed = len({type(name) for name in model.classes}) > 1
        self._classes = pa.array(map(str, model.classes) if is_mixed else model.classes)
        types = ours | {"label": self._classes.type}
        self.schema = pa.schema([(self.names[name], kind) for name, kind in types.items()])

    def answer(self, texts: Any, faults: dict[int, str], place: tables.Place) -> Any:
        """Our columns for some texts. A bad row has nothing but its `error`, or is refused.

        `faults` are those of bad rows, and `place` says where a row is. The answer to a text
        depends on that text alone, bit for bit. Leaders and active tokens are sorted by the size of
        their votes, as in an explanation; `attends_to` names the modifiers of each active
        token."""
        if faults and self.refuses:
            first = min(faults)
            tables.refuse_bad_row(place(first), faults[first])
        read = read_texts(texts.cast(pa.large_string()).fill_null("") if faults else texts)
        parts = [self._answer(part) for part in weigh_parts(self.model, read)]
        answers = pa.Table.from_batches(parts, schema=self.schema)
        if not faults:
            return answers
        rows = np.arange(len(texts))
        answers = answers.take(pa.array(rows, mask=np.isin(rows, list(faults))))
        errors = pa.array(map(faults.get, rows.tolist()), pa.string())
        return answers.set_column(len(self.schema) - 1, self.schema.field(-1), errors)

    def _answer(self, analysis: Analysis) -> Any:
        rows, best = np.arange(len(analysis)), analysis.predicted
        columns = [
            self._classes.take(pa.array(best)),
            pa.array(analysis.decided),
            pa.array(analysis.probabilities[rows, best]),
            *(self._votes_of(analysis, best) if self.votes else []),
            pa.nulls(len(rows), pa.string()),
        ]
        return pa.record_batch(columns, schema=self.schema)

    def _votes_of(self, analysis: Analysis, best: np.ndarray) -> list[Any]:
        """The columns with the votes of texts for which a class is the best."""
        count = len(best)
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
        return [
            _lists(tokens.filter(pa.array(leads)), texts[leads], count),
            _lists(tokens, texts, count),
            _lists(pa.array(votes[order]), texts, count),
            _lists(self._name_modifiers(analysis.attended[active]), texts, count),
        ]

    @cached_property
    def _surfaces(self) -> Any:
        return pa.array(self.model.vocabulary.surfaces, pa.string())

    def _name_modifiers(self, attended: np.ndarray) -> Any:
        """The modifiers of each token, from their bits."""
        names = [modifier.word for modifier in self.model.modifiers]
        names[LAST_BIT:] = ["…"] * (len(names) > LAST_BIT)
        sets = pa.array(attended).dictionary_encode()
        named = []
        for bits in sets.dictionary.to_pylist():
            chosen = [name for number, name in enumerate(names) if bits >> number & 1]
            named.append(", ".join(chosen))
        return pa.array(named, pa.string()).take(sets.indices)


def _lists(values: Any, texts: np.ndarray, count: int) -> Any:
    """The values of each text as a list; the texts are sorted."""
    offsets = np.searchsorted(texts, np.arange(count + 1))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
