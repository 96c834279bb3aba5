"""`hardmax train`: from texts with labels to a model in a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._validation import InputError
from hardmax.cli.corpus import ColumnOptions, CorpusFile, OnBadRows, check_corpus, read_texts_with_labels
from hardmax.cli.options import AsJson, grouped
from hardmax.cli.output import narrate, print_json

if TYPE_CHECKING:
    from hardmax.train import Settings


@dataclass(frozen=True)
class TrainingOptions:
    """Settings of the training; what is not given is chosen on held-out texts."""

    longest_phrase: Annotated[int, typer.Option(help="Tokens are words, and phrases of up to so many words.")] = 2
    max_tokens: Annotated[int | None, typer.Option(help="Size of the vocabulary; usually all tokens.")] = None
    strength: Annotated[float | None, typer.Option(help="Inverse regularisation; usually chosen by folds.")] = None
    gate: Annotated[
        float | None,
        typer.Option(help="A token is active above this share of the strongest in its text; usually chosen by folds."),
    ] = None
    alpha: Annotated[
        str | None, typer.Option(help="How far tokens move to their leaders: 0, 1/2, 1; usually chosen by folds.")
    ] = None
    neutral_weight: Annotated[
        int | None, typer.Option(help="How many words the neutral leader weighs; usually chosen by folds.")
    ] = None
    seed: Annotated[int, typer.Option(help="Random seed of the folds.")] = 0

    def read(self) -> "Settings":
        """The settings, checked."""
        from hardmax.train import Settings

        return Settings(**vars(self))


@grouped
def train_command(
    file: CorpusFile,
    output: Annotated[str, typer.Option("--output", "-o", help="The folder that the model is written to.")],
    *,
    columns: ColumnOptions,
    options: TrainingOptions,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
    on_bad_rows: OnBadRows = "skip",
    as_json: AsJson = False,
) -> None:
    """Train a classifier on texts with labels.

    What is not given is chosen on held-out texts; seconds for thousands of texts. Writes a folder that
    `hardmax evaluate` and `hardmax explain` read, with a model card.
    """
    from hardmax.cli.reports import train as train_report

    settings, folder = options.read(), Path(output)
    if folder.exists() and not force and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"`--output` `{output}` exists: name another folder, or replace it with --force.")
    check_corpus(file)
    corpus = read_texts_with_labels(file, columns, on_bad_rows)
    if len(set(corpus.labels)) < 2:
        raise InputError(f"`{file}` has the label {corpus.labels[0]!r} alone: expected at least two classes.")
    narrate(train_report.begin(corpus))
    from hardmax.train import fit  # scipy is not needed to refuse a file

    model = fit(corpus.texts, corpus.labels, settings, progress=narrate)
    model.save(folder)
    narrate(f"wrote {output}")
    if as_json:
        print_json(train_report.document(model, output))
    else:
        train_report.show(model)
