"""A corpus by where it comes from: a file, a folder, or `imdb`, which is fetched from the Hub."""

from pathlib import Path

from hardmax._validation import InputError
from hardmax.text.data.corpora import Corpus, read_corpus
from hardmax.text.data.imdb import NAME as IMDB
from hardmax.text.data.imdb import fetch_imdb


def check_source(source: str) -> None:
    """Refuse at once a file that is not there; what is wrong with one that is, reading it will tell."""
    if source != IMDB and not Path(source).exists():
        raise InputError(f"`{source}` does not exist: expected a file of texts and labels, or a folder.")


def read_source(
    source: str, split: str, *, text: str | None = None, label: str | None = None, spans: str | None = None
) -> Corpus:
    """The corpus in a file or folder, as `read_corpus` reads it; of `imdb`, that split of the reviews."""
    return read_corpus(fetch_imdb(split) if source == IMDB else source, text=text, label=label, spans=spans)
