"""`hardmax evaluate`: how good a model is on texts whose labels are known."""

from typing import Annotated

import typer

from hardmax._validation import InputError
from hardmax.cli.corpus import (
    CorpusFile,
    MarkedColumns,
    OnBadRows,
    Renamed,
    check_corpus,
    read_names,
    read_texts_with_labels,
)
from hardmax.cli.options import AsJson, check_picture, grouped
from hardmax.cli.output import narrate, print_json


@grouped
def evaluate_command(
    model: Annotated[str, typer.Argument(help="The folder of a model, or the name of one that ships.")],
    file: CorpusFile,
    *,
    columns: MarkedColumns,
    on_bad_rows: OnBadRows = "skip",
    picture: Annotated[
        str | None, typer.Option(help="Draw how honest the probabilities are to a .png, .svg or .pdf file.")
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help="Draw the words and leaders to a .png, .svg or .pdf file.")
    ] = None,
    rename: Renamed = None,
    sample: Annotated[
        int, typer.Option(help="How many texts are also read in parts: leaders alone, and so on; 0 for none.")
    ] = 1000,
    as_json: AsJson = False,
) -> None:
    """Measure a model on texts with labels.

    Says how often it is right, how honest its probabilities are, which words lead, how many count, and whether the
    label stays the same if only the leaders, or the words that count, are left of a text, or all but these. With
    --spans also how often the leader of the predicted class stands in what people marked.
    """
    for path, option in ((picture, "--picture"), (embedding, "--embedding")):
        if path is not None:
            check_picture(path, option)
    if sample < 0:
        raise InputError(f"`--sample` must be a whole number from 0 up, not {sample}.")
    names = {} if rename is None else read_names(rename)
    check_corpus(file)

    # Only now, since scipy takes most of a second to come.
    from hardmax.cli.reports import evaluate as evaluate_report
    from hardmax.text.evaluation.measuring import evaluate_model
    from hardmax.text.evaluation.standing import measure_inside, measure_standing
    from hardmax.text.shipped import load

    loaded = load(model)
    corpus = read_texts_with_labels(file, columns, on_bad_rows)
    found = evaluate_model(loaded, corpus.texts, [names.get(str(label), label) for label in corpus.labels])
    standing = measure_standing(loaded, corpus.texts, at_most=sample) if sample else None
    inside = None if corpus.spans is None else measure_inside(loaded, corpus.texts, corpus.spans)
    for path in evaluate_report.draw(loaded, found, picture, embedding):
        narrate(f"wrote {path}")
    if as_json:
        print_json(evaluate_report.document(loaded, found, standing, inside))
    else:
        evaluate_report.show(loaded, found, standing, inside)
