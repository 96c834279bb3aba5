"""Labelled texts from a file or a folder, and what to do with rows that cannot be used."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._validation import InputError
from hardmax.cli.output import narrate

if TYPE_CHECKING:
    from hardmax.text.corpora import Corpus

CorpusFile = Annotated[
    str,
    typer.Argument(help="CSV, TSV, JSON lines or Parquet file, a folder of Parquet files, or one of class folders."),
]
OnBadRows = Annotated[str, typer.Option(help="Rows without text or label, and broken ones: skip or refuse.")]

Renamed = Annotated[
    str | None, typer.Option("--map", help="What labels of the file are called by the model: 1=positive,0=negative.")
]


@dataclass(frozen=True)
class ColumnOptions:
    """Where in a table texts and labels stand."""

    text: Annotated[str | None, typer.Option("--text", help="The column of the texts; usual names are looked for.")] = (
        None
    )
    label: Annotated[
        str | None, typer.Option("--label", help="The column of the labels; usual names are looked for.")
    ] = None


@dataclass(frozen=True)
class MarkedColumns(ColumnOptions):
    """Where in a table texts, labels and what people marked in the texts stand."""

    spans: Annotated[
        str | None,
        typer.Option(
            help="The column of what people marked in a text, as pairs of character positions: [[3, 9], [20, 31]]."
        ),
    ] = None


def check_corpus(file: str) -> None:
    """Refuse a file that does not exist before a model is loaded."""
    if not Path(file).exists():
        raise InputError(f"`{file}` does not exist: expected a table of texts with labels, or a folder.")


def read_texts_with_labels(file: str, columns: ColumnOptions, on_bad_rows: str) -> "Corpus":
    """The corpus in the file; which columns were taken, and which rows left out, is printed on stderr."""
    from hardmax.text.corpora import read_corpus

    corpus = read_corpus(file, **asdict(columns), on_bad_rows=on_bad_rows)
    for line in filter(None, (*corpus.notes, corpus.describe_bad())):
        narrate(line)
    return corpus


def read_names(text: str) -> dict[str, str]:
    """What labels are called instead.

    >>> read_names("1=positive, 0=negative")
    {'1': 'positive', '0': 'negative'}
    """
    pairs = [[name.strip() for name in part.split("=", 1)] for part in text.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
        raise InputError(f"`--map` must be pairs such as 1=positive,0=negative, each label once, not {text!r:.60}.")
    return {pair[0]: pair[1] for pair in pairs}
