"""`hardmax card`: a page about a model."""

from pathlib import Path
from typing import Annotated

import typer

from hardmax.cli.corpus import ColumnOptions, OnBadRows, Renamed, check_corpus, read_names, read_texts_with_labels
from hardmax.cli.options import check_target, grouped
from hardmax.cli.output import narrate


@grouped
def card_command(
    model: Annotated[str, typer.Argument(help="The folder of a model, or the name of one that ships.")],
    file: Annotated[
        str | None, typer.Argument(help="Texts with labels, as `evaluate` reads them, to measure it on.")
    ] = None,
    *,
    output: Annotated[str, typer.Option("--output", "-o", help="The .html file to write.")] = "card.html",
    columns: ColumnOptions,
    on_bad_rows: OnBadRows = "skip",
    rename: Renamed = None,
) -> None:
    """Write a page about a model: what it knows, and what says most for each class.

    With texts and labels also how good it is on them, which words lead, how honest its probabilities are, and the
    errors it was most sure of, each explained.
    """
    check_target(output, "--output", (".html", ".htm"))
    names = {} if rename is None else read_names(rename)
    if file is not None:
        check_corpus(file)

    from hardmax._files import write_whole
    from hardmax.text.evaluation.card_page import card_page
    from hardmax.text.evaluation.measuring import evaluate_model
    from hardmax.text.shipped import load

    loaded, name = load(model), Path(model).name
    if file is None:
        page = card_page(loaded, name)
    else:
        corpus = read_texts_with_labels(file, columns, on_bad_rows)
        found = evaluate_model(loaded, corpus.texts, [names.get(str(label), label) for label in corpus.labels])
        page = card_page(loaded, name, corpus.texts, found)
    write_whole(output, page.encode())
    narrate(f"wrote {output}")
