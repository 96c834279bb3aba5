"""Texts with labels: from files and folders, or synthetic."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.files import decode, read_bytes
from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    check_choice,
    check_int,
    check_path,
    check_real,
    shorten,
)
from hardmax.text import tables
from hardmax.text._texts import is_missing, read_words

# Where it is, its text and its label, and what is wrong with it.
_LabelledRow = tuple[str, tuple[Any, Any], str]
_FOLDERS = "Parquet files, or a folder of .txt files for each class, such as pos and neg"


class BadRow(NamedTuple):
    """A row that was left out: where it is, and why."""

    place: str
    fault: str


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Texts with their labels.

    Examples
    --------
    >>> Corpus(["a superb film", "dull"], ["positive", "negative"])
    Corpus(2 texts, 0 bad rows)
    """

    texts: list[str]
    """The texts."""
    labels: list[Any]
    """The label of each text."""
    bad: list[BadRow] = field(default_factory=list)
    """Rows that were left out."""
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of synthetic texts, the words that carry each class."""
    source: dict[str, Any] = field(default_factory=dict)
    """What was read, as model cards say it: the file, its SHA-256 (of a folder that of its files,
    one after the other), the columns."""

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Corpus({pluralize(len(self), 'text')}, {pluralize(len(self.bad), 'bad row')})"

    def describe_bad(self) -> str:
        """One line about the rows that were left out; empty if there are none."""
        if not self.bad:
            return ""
        shown = tables.join_first([f"{row.place}: {row.fault}" for row in self.bad])
        return f"left out {pluralize(len(self.bad), 'bad row')} ({shown})"


def read_corpus(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    on_bad_rows: str = "skip",
) -> Corpus:
    """Read texts with labels from a table, or from a folder that has a folder of .txt files for
    each class.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV, JSON lines or Parquet file, a folder of Parquet files, or a folder such as
        aclImdb, in which the names of the folders are the labels. Files are read in the order of
        their names (part-10 before part-2); a warning names what is in the folder and not read.
    text, label : str, optional
        Columns of the texts and labels; guessed from common names if omitted.
    on_bad_rows : {"skip", "refuse"}, default "skip"
        Whether to leave out rows that are broken or have no text or label, or to raise an error.

    Returns
    -------
    Corpus
        Texts, labels, and the rows that were left out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("review,stars\\nsuperb,5\\n,3\\ndull,1\\n")
    ...     corpus = read_corpus(path, label="stars")
    >>> corpus.labels, corpus.describe_bad()
    (['5', '1'], 'left out 1 bad row (line 3: the text is empty)')
    """
    path = check_path(path)
    refuses = check_choice(on_bad_rows, ("skip", "refuse"), "`on_bad_rows`") == "refuse"
    files, columns, rows = _open(path, text, label)
    corpus = Corpus([], [])
    for place, (own_text, own_label), broken in rows:
        if fault := broken or tables.text_fault(own_text) or _label_fault(own_label):
            if refuses:
                tables.refuse_bad_row(place, fault)
            corpus.bad.append(BadRow(place, fault))
            continue
        corpus.texts.append(own_text)
        corpus.labels.append(own_label.strip() if isinstance(own_label, str) else own_label)
    if not corpus.texts:
        why = corpus.describe_bad() or "it has no rows"
        raise InputError(f"`{path}` has no text with a label: {why}.")
    corpus.source.update({"file": path.resolve().name, "sha256": _hash(files)} | columns)
    return corpus


def _open(
    path: Path, text: str | None, label: str | None
) -> tuple[list[Path], dict[str, str], Iterator[_LabelledRow]]:
    """The files, the columns, and the rows."""
    files = tables.parquet_files(path) if path.is_dir() else [path]
    if not files:
        files = _class_files(path)
        return files, {}, _folder_rows(files)
    table = tables.open_table(path)
    text = tables.choose_column(text, "text", table.names, table.shown)
    label = tables.choose_column(label, "label", table.names, table.shown)
    rows = table.rows([text, label])
    read = ((place, (cells.get(text), cells.get(label)), fault) for place, cells, fault in rows)
    return files, {"text column": text, "label column": label}, read


def _hash(files: Sequence[Path]) -> str:
    """SHA-256 of all bytes, one file after the other."""
    digest = sha256()
    for file in files:
        digest.update(read_bytes(file, "expected texts with labels"))
    return digest.hexdigest()


def _label_fault(label: Any) -> str:
    if is_missing(label) or not str(label).strip():
        return "no label"
    known = isinstance(label, str | int | float)
    return "" if known else f"the label is of type {type(label).__name__}"


def _class_files(path: Path) -> list[Path]:
    """The texts in folders of classes."""
    root = path / "train" if (path / "train").is_dir() else path
    # aclImdb keeps texts without labels in `unsup`.
    files = [file for file in sorted(root.glob("*/*.txt")) if file.parent.name != "unsup"]
    if not files:
        raise InputError(f"`{path}` has no texts: expected {_FOLDERS}.")
    tables.warn_of_unread(path, files, "only the .txt files in folders of classes are read")
    return files


def _folder_rows(files: Iterable[Path]) -> Iterator[_LabelledRow]:
    for file in files:
        text = decode(read_bytes(file, _FOLDERS), f"`{file}`", _FOLDERS)
        yield f"{file.parent.name}/{file.name}", (text, file.parent.name), ""


# ---------------------------------------------------------------- synthetic

_FILLERS = (
    "the a this that film movie plot story scene actor actress director camera music script ending "
    "cast dialogue was is felt looked seemed with and from about during after before where while "
    "they we it people evening cinema every some many first second minute hour screen audience "
    "character version"
)
_SENTIMENT = {
    "negative": "awful dreadful boring clumsy stale lifeless dire shoddy",
    "positive": "superb delightful gripping charming witty radiant moving masterly",
}


def make_synthetic_corpus(
    texts: int = 1000,
    *,
    classes: Sequence[str] = ("negative", "positive"),
    words: int = 4,
    length: int = 20,
    disturbed: float = 0.2,
    seed: int = 0,
) -> Corpus:
    """Make synthetic texts: a few planted words among filler words carry the class.

    Parameters
    ----------
    texts : int, default 1000
        Number of texts; the classes take turns.
    classes : sequence of str, default ("negative", "positive")
        Labels. The words of these two are English, those of others are invented.
    words : int, default 4
        Number of words of each class; two or three of them are in a text.
    length : int, default 20
        Number of filler words in a text.
    disturbed : float, default 0.2
        Share of the texts that also have a word of another class.
    seed : int, default 0
        Random seed.

    Returns
    -------
    Corpus
        Texts, labels, and in `words` those that carry each class.

    Examples
    --------
    >>> corpus = make_synthetic_corpus(2, words=2, length=6, seed=1)
    >>> corpus.labels, sorted(corpus.words)
    (['negative', 'positive'], ['negative', 'positive'])
    """
    check_int(texts, "`texts`", at_least=1, at_most=10**7)
    check_int(words, "`words`", at_least=1, at_most=10**5)
    check_int(length, "`length`", at_least=1, at_most=10**5)
    check_real(disturbed, "`disturbed`", at_least=0, at_most=1)
    names = read_words(classes, "`classes`")
    if len(set(names)) != max(len(names), 2):
        raise InputError(
            f"`classes` must be at least two texts, all different, not {shorten(classes)}."
        )
    rng = np.random.default_rng(check_int(seed, "`seed`", at_least=0))
    planted = {}
    for number, name in enumerate(names):
        invented = [f"word{number}x{n}" for n in range(words)]
        planted[name] = (*_SENTIMENT.get(name, "").split(), *invented)[:words]
    labels = [names[number % len(names)] for number in range(texts)]
    written = [_write_text(label, planted, length, disturbed, rng) for label in labels]
    return Corpus(written, labels, words=planted)


def _write_text(
    label: str, planted: dict[str, tuple[str, ...]], length: int, disturbed: float, rng: Any
) -> str:
    words = list(rng.choice(_FILLERS.split(), size=length))
    carriers = list(rng.choice(planted[label], size=int(rng.integers(2, 4))))
    if rng.random() < disturbed:
        others = [name for name in planted if name != label]
        carriers.append(rng.choice(planted[others[rng.integers(len(others))]]))
    for word in carriers:
        words.insert(int(rng.integers(len(words) + 1)), word)
    half = len(words) // 2
    return " ".join(f"{' '.join(part).capitalize()}." for part in (words[:half], words[half:]))
