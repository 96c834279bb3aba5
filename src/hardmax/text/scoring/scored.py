"""A part with its answers: the columns of people, and ours after them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from hardmax._validation import InputError, check_choice, check_real, check_str, shorten
from hardmax.text.data.corpora import BadRow
from hardmax.text.scoring.answers import ANSWERS, Answerer
from hardmax.text.scoring.arrow import Array, Schema, Table, is_text, one_array, pa, pc
from hardmax.text.scoring.rows import Part

BadRows: TypeAlias = Literal["null", "skip", "refuse"]
BAD_ROWS: tuple[str, ...] = get_args(BadRows)
COLUMNS = (*ANSWERS, "abstain", "error")
PREFIX, _LONGEST_PREFIX = "hardmax_", 60
LONGEST_TEXT = 10_000_000  # bytes


class Useless(InputError):
    """The input has to be changed, so that parts scored so far will not be gone on with."""


@dataclass(frozen=True)
class Asked:
    """What is asked of every row, whatever file it comes from."""

    text: str | None = None  # the column of the texts; usual names are looked for
    abstain: float = 0.0  # rows whose probability is below are marked
    on_bad_rows: BadRows = "null"
    prefix: str = ""  # before the names of our columns

    @staticmethod
    def read(text: Any, abstain: Any, on_bad_rows: Any, prefix: Any) -> "Asked":
        """What people asked for, checked."""
        column = None if text is None else check_str(text, "`text`")
        bad: Any = check_choice(on_bad_rows, BAD_ROWS, "`on_bad_rows`")
        return Asked(column, _probability(abstain), bad, _beginning(prefix))


def _probability(abstain: Any) -> float:
    try:
        number = check_real(abstain, "`abstain`", at_least=0)
    except InputError:
        number = 2.0
    if number > 1:
        raise InputError(f"`abstain` must be a probability from 0 to 1, not {shorten(abstain)}.", argument="abstain")
    return number


def _beginning(prefix: Any) -> str:
    found = check_str(prefix, "`prefix`")
    if len(found) > _LONGEST_PREFIX or not found.isprintable():
        wish = f"at most {_LONGEST_PREFIX} characters that can be printed"
        raise InputError(f"`prefix` must be {wish}, not {shorten(prefix)}.", argument="prefix")
    return found


def our_names(columns: list[str], prefix: str) -> dict[str, str]:
    """What our columns are called beside those that are there: as they are, or with the prefix; one that is taken gets
    `hardmax_` before it.

    >>> our_names(["text", "label"], "")["label"], our_names(["text", "label"], "")["margin"]
    ('hardmax_label', 'margin')
    """
    taken = set(columns)
    names = {name: prefix + name if prefix + name not in taken else PREFIX + prefix + name for name in COLUMNS}
    if doubled := sorted(taken.intersection(names.values())):
        there = ", ".join(map(repr, doubled))
        raise InputError(
            f"the table has columns by the names of ours ({there}): give ours another beginning with prefix=.",
            argument="prefix",
            also=("prefix=",),
        )
    return names


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """The rows to be written, and an account of those that were read."""

    table: Table
    lines: list[str] | None
    rows: int  # read
    kept: np.ndarray  # which of them are written
    bad: list[BadRow] = field(default_factory=list)
    lost: list[BadRow] = field(default_factory=list)  # files that could not be read to their end
    labels: Counter[Any] = field(default_factory=Counter)
    abstained: int = 0


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores parts of one table."""

    answerer: Answerer
    schema: Schema  # of the table
    text: str
    names: dict[str, str]  # what our columns are called
    asked: Asked
    batch_size: int = 4096  # rows that are scored at a time; changes no result

    def out_schema(self) -> Schema:
        """All columns that are written."""
        kinds = [*self.answerer.schema().types, pa.bool_(), pa.string()]
        return pa.schema(
            [*self.schema, *(pa.field(self.names[name], kind) for name, kind in zip(COLUMNS, kinds, strict=True))],
            metadata=self.schema.metadata,
        )

    def score(self, part: Part, progress: Callable[[int], None] | None = None) -> ScoredPart:
        """The part with its answers; bad rows have none, or are left out. `progress` hears how many rows are done."""
        table, lines = part.table, part.lines
        faults = part.faults()
        texts = table[self.text]
        if not is_text(texts.type):  # JSON may have numbers in all rows, each of which is told
            texts = pa.chunked_array([pa.nulls(len(texts), pa.string())])
        places = _places(part)
        found = faults | {row: BadRow(places(row), why) for row, why in text_faults(texts).items() if row not in faults}
        bad = [found[row] for row in sorted(found)]
        if bad and self.asked.on_bad_rows == "refuse":
            raise Useless(
                f"{bad[0].place}: {bad[0].reason}. Mend it, or have such rows left out with on_bad_rows=skip.",
                also=("on_bad_rows=skip",),
            )
        columns = self._columns(texts, found, progress)
        labels = columns[0].value_counts().to_pylist()
        answers = zip(self.names.values(), columns, strict=True)
        for name, column in answers:
            table = table.append_column(name, column)
        kept = np.arange(len(table))
        if found and self.asked.on_bad_rows == "skip":
            kept = np.setdiff1d(kept, list(found))
            table = table.take(pa.array(kept))
            lines = None if lines is None else [lines[row] for row in kept]
        return ScoredPart(
            table,
            lines,
            len(part),
            kept,
            bad,
            part.lost(),
            Counter({one["values"]: one["counts"] for one in labels if one["values"] is not None}),
            pc.sum(columns[-2]).as_py() or 0,
        )

    def _columns(self, texts: Any, faults: dict[int, BadRow], progress: Callable[[int], None] | None) -> list[Array]:
        good = np.setdiff1d(np.arange(len(texts)), list(faults)) if faults else None
        sound = texts if good is None else texts.take(pa.array(good))
        batches = []
        for first in range(0, len(sound), self.batch_size):
            batches.append(self.answerer.answer(sound.slice(first, self.batch_size)))
            if progress:
                progress(min(first + self.batch_size, len(sound)))
        answers = pa.concat_tables([self.answerer.schema().empty_table(), *batches])
        abstain = pc.less(answers["probability"], self.asked.abstain)
        columns = [*(one_array(column) for column in answers.columns), one_array(abstain)]
        if good is None:
            return [*columns, pa.nulls(len(texts), pa.string())]
        places = np.full(len(texts), -1)
        places[good] = np.arange(len(good))
        where = pa.array(places, mask=places < 0)
        errors = pa.array([faults[row].reason if row in faults else None for row in range(len(texts))], pa.string())
        return [*(column.take(where) for column in columns), errors]


def text_faults(texts: Any) -> dict[int, str]:
    """What is wrong with texts, by row: none there, nothing in it, or too much."""
    lengths = pc.fill_null(pc.binary_length(texts).cast(pa.int64()), -1).to_numpy()
    blank = (lengths == 0) | pc.fill_null(pc.utf8_is_space(texts), False).to_numpy()
    faults = dict.fromkeys(np.flatnonzero(blank).tolist(), "the text is empty")
    faults |= dict.fromkeys(np.flatnonzero(lengths < 0).tolist(), "no text")
    return faults | dict.fromkeys(np.flatnonzero(lengths > LONGEST_TEXT).tolist(), "the text is longer than 10 MB")


def _places(part: Part) -> Callable[[int], str]:
    starts = np.cumsum([0, *map(len, part.pieces)])

    def place(row: int) -> str:
        piece = int(np.searchsorted(starts, row, side="right")) - 1
        return part.pieces[piece].place(row - int(starts[piece]))

    return place
