"""Texts with labels from a file, a folder, or the Hub, and what to do with rows that are of no use."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax.cli.output import narrate
from hardmax.errors import InputError
from hardmax.text.data.imdb import NAME as IMDB

if TYPE_CHECKING:
    from hardmax.text.data.corpora import Corpus

CorpusFile = Annotated[
    str,
    typer.Argument(help="CSV, TSV, JSON lines or Parquet file, a folder with a folder for each class, or imdb."),
]
TextColumn = Annotated[str | None, typer.Option("--text", help="The column of the texts; usual names are looked for.")]
LabelColumn = Annotated[
    str | None, typer.Option("--label", help="The column of the labels; usual names are looked for.")
]
OnBadRows = Annotated[str, typer.Option(help="Rows without text or label, and broken ones: skip or refuse.")]


def check_corpus(file: str) -> None:
    """Refuses at once a file that is not there; what is wrong with one that is, reading it will tell."""
    if file != IMDB and not Path(file).exists():
        raise InputError(f"`{file}` does not exist: expected a file of texts and labels, or a folder.")


def read_texts_with_labels(file: str, split: str, text: str | None, label: str | None, on_bad_rows: str) -> "Corpus":
    """The corpus in the file; `imdb` is that split of the IMDb reviews. Says on stderr which rows were left out."""
    from hardmax.text.data.corpora import read_corpus
    from hardmax.text.data.imdb import fetch_imdb

    if on_bad_rows not in ("skip", "refuse"):
        raise InputError(f"`--on-bad-rows` must be skip or refuse, not {on_bad_rows!r}.")
    corpus = read_corpus(fetch_imdb(split) if file == IMDB else file, text=text, label=label)
    if on_bad_rows == "refuse":
        corpus.refuse_bad()
    if corpus.bad:
        narrate(corpus.account())
    return corpus
