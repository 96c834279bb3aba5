"""`hardmax evaluate`: how good a model is on texts whose labels are known."""

from typing import Annotated

import typer

from hardmax.cli.corpus import ColumnOptions, CorpusFile, OnBadRows, check_corpus, read_texts_with_labels
from hardmax.cli.options import AsJson, check_picture, grouped
from hardmax.cli.output import narrate, print_json


@grouped
def evaluate_command(
    model: Annotated[str, typer.Argument(help="The folder of a model, or the name of one that ships.")],
    file: CorpusFile,
    *,
    columns: ColumnOptions,
    on_bad_rows: OnBadRows = "skip",
    picture: Annotated[
        str | None, typer.Option(help="Draw how honest the probabilities are to a .png, .svg or .pdf file.")
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help="Draw the words and leaders to a .png, .svg or .pdf file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on texts with labels.

    Says how often it is right, how honest its probabilities are, and which words lead.
    """
    for path, option in ((picture, "--picture"), (embedding, "--embedding")):
        if path is not None:
            check_picture(path, option)
    check_corpus(file)

    # Only now, since scipy takes most of a second to come.
    from hardmax.cli.reports import evaluate as evaluate_report
    from hardmax.text.evaluation.measuring import evaluate_model
    from hardmax.text.shipped import load

    loaded = load(model)
    corpus = read_texts_with_labels(file, "test", columns, on_bad_rows)
    found = evaluate_model(loaded, corpus.texts, corpus.labels)
    for path in evaluate_report.draw(loaded, found, picture, embedding):
        narrate(f"wrote {path}")
    if as_json:
        print_json(evaluate_report.document(loaded, found))
    else:
        evaluate_report.show(loaded, found)
