"""Training data from files: texts with labels, and an account of the rows that were of no use."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax._validation import InputError, check_path, check_str, shorten
from hardmax.text.data.rows import READERS, Row
from hardmax.text.data.spans import Span, read_spans

TEXT_NAMES = ("text", "review", "sentence", "content", "comment", "message", "body")
LABEL_NAMES = ("label", "sentiment", "class", "category", "target", "polarity", "y")
_SHOWN = 5


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be used: where it stands, and why."""

    place: str  # "line 12", "row 11", "pos/3_1.txt"
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Texts and their labels, and the rows that were left out."""

    texts: list[str]
    labels: list[Any]
    bad: tuple[BadRow, ...] = ()
    spans: list[list[Span]] | None = None  # what people marked in each text, if a column says so

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Corpus({pluralize(len(self), 'text')}, {pluralize(len(self.bad), 'row')} left out)"

    def account(self) -> str:
        """One line about the rows that were left out; empty if there are none."""
        if not self.bad:
            return ""
        shown = "; ".join(f"{row.place}: {row.reason}" for row in self.bad[:_SHOWN])
        more = f"; and {len(self.bad) - _SHOWN:,} more" if len(self.bad) > _SHOWN else ""
        return f"{pluralize(len(self.bad), 'row')} left out ({shown}{more})."

    def refuse_bad(self) -> "Corpus":
        """The same corpus, if every row of the file is in it."""
        if self.bad:
            raise InputError(f"The data must be complete: {self.account()} Mend them, or leave them out.")
        return self

    def numbered(self) -> tuple[tuple[Any, ...], np.ndarray]:
        """(classes, numbers): the different labels in order, and for each text the number of its label."""
        classes = tuple(sorted(set(self.labels), key=lambda label: (type(label).__name__, label)))
        if len(classes) < 2:
            came = f"the label {classes[0]!r} alone" if classes else "no labels"
            raise InputError(f"The data have {came}: expected at least two classes to tell apart.")
        number = {label: c for c, label in enumerate(classes)}
        return classes, np.array([number[label] for label in self.labels])


def read_corpus(
    path: str | Path, *, text: str | None = None, label: str | None = None, spans: str | None = None
) -> Corpus:
    """The texts and labels in a CSV, TSV, JSON lines or Parquet file, or in a folder with a folder for each class.

    `text` and `label` name the columns; where they are not given, usual names are looked for. In a folder such as
    aclImdb the labels are the names of the folders with `.txt` files in them. Rows without text or label, and broken
    lines, are left out and listed in `bad`; a file of which it is not certain where its rows begin is refused.

    `spans` names a column of what people marked in each text: pairs [start, end] of the characters text[start:end],
    as a list of pairs, or as a text that is one in JSON. Rows whose spans cannot be read are left out and listed, too.

    A Parquet file may unpack to 256 MiB, or to 100 times its own size if that is more.
    """
    path = check_path(path)
    for column, name in ((text, "`text`"), (label, "`label`"), (spans, "`spans`")):
        if column is not None:
            check_str(column, name)
    kind = "folder" if path.is_dir() else path.suffix.lower()
    if not path.exists():
        raise InputError(f"`{path}` does not exist: expected a file of texts and labels, or a folder.")
    if kind not in READERS:
        raise InputError(f"`{path}` has the suffix {kind!r}: expected one of {', '.join(READERS)}.")
    columns, rows = READERS[kind](path)
    if kind == "folder":
        text, label = "text", "label"
    chosen = [
        choose_column(text, "text", TEXT_NAMES, columns, path),
        choose_column(label, "label", LABEL_NAMES, columns, path),
    ]
    if spans is not None:
        chosen.append(choose_column(spans, "spans", (), columns, path))
    return _collect(rows(*chosen), chosen, path)


def _collect(rows: Iterable[Row], columns: list[str], path: Path) -> Corpus:
    text, label, *others = columns
    texts, labels, bad, marked = [], [], [], []
    for row in rows:
        reason = _fault(row, text, label)
        if others and not reason:
            found, reason = read_spans(row.cells.get(others[0]), len(row.cells[text]))
            if not reason:
                marked.append(found)
        if reason:
            bad.append(BadRow(row.place, reason))
        else:
            texts.append(row.cells[text])
            labels.append(_plain_label(row.cells[label]))
    corpus = Corpus(texts, labels, tuple(bad), marked if others else None)
    if not texts:
        raise InputError(f"`{path}` holds no text with a label. {corpus.account()}".rstrip())
    return corpus


def _fault(row: Row, text: str, label: str) -> str:
    """Why a row cannot be used; empty if it can."""
    if row.fault:
        return row.fault
    content, name = row.cells.get(text), row.cells.get(label)
    if content is None or content != content:
        return "no text"
    if not isinstance(content, str):
        return f"the text is a {type(content).__name__}"
    if not content.strip():
        return "the text is empty"
    if not _is_unicode(content):
        return "the text is not UTF-8"
    return _label_fault(name)


def _label_fault(name: Any) -> str:
    if name is None or name != name or (isinstance(name, str) and not name.strip()):
        return "no label"
    if not isinstance(name, str | int | float | bool):
        return f"the label is a {type(name).__name__}"
    if isinstance(name, str) and not _is_unicode(name):
        return "the label is not UTF-8"
    # Whoever names a class with a quote in it is rarer than whoever slips.
    return "a quote in the label" if isinstance(name, str) and '"' in name else ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a surrogate that stands for a broken byte
        return False
    return True


def _plain_label(label: Any) -> Any:
    return label.strip() if isinstance(label, str) else label


def choose_column(name: str | None, role: str, usual: tuple[str, ...], columns: list[str], path: str | Path) -> str:
    """The column that was named, or the first by a usual name."""
    there = ", ".join(columns)
    if name is not None:
        if name not in columns:
            raise InputError(
                f"`{role}` is {shorten(name)}, but `{path}` has the columns {there}. Name one of them.", argument=role
            )
        return name
    found = [column for usual_name in usual for column in columns if column.lower() == usual_name]
    if not found:
        asked = f"`{role}`: which column of `{path}` is it? There are {there}. Name one with {role}=."
        raise InputError(asked, argument=role, also=(f"{role}=",))
    return found[0]
