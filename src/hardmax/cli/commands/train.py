"""`hardmax train`: from texts with labels to a model in a folder."""

from typing import Annotated

import typer

from hardmax.cli.corpus import CorpusFile, LabelColumn, OnBadRows, TextColumn, check_corpus, read_texts_with_labels
from hardmax.cli.options import AsJson, read_number
from hardmax.cli.output import narrate, print_json


def train_command(
    file: CorpusFile,
    output: Annotated[str, typer.Option("--output", "-o", help="The folder that the model is written to.")],
    text: TextColumn = None,
    label: LabelColumn = None,
    recipe: Annotated[str | None, typer.Option(help="A recipe by name (imdb-2d, …), or a .json file of one.")] = None,
    dimension: Annotated[int | None, typer.Option(help="Of the space in which words lie; usually 2.")] = None,
    layers: Annotated[int | None, typer.Option(help="How many layers; usually 8.")] = None,
    alpha: Annotated[str | None, typer.Option(help="Step of a layer, positive: 1/2 or 0.5; usually 1.")] = None,
    epochs: Annotated[int | None, typer.Option(help="How often all texts are gone through.")] = None,
    validation: Annotated[
        str | None, typer.Option(help="Share of the texts that is held out, to calibrate and to stop early: 1/10.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of every random choice.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was cut short.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
    on_bad_rows: OnBadRows = "skip",
    as_json: AsJson = False,
) -> None:
    """Train a classifier on texts with labels.

    Writes a folder that `hardmax evaluate` and `hardmax explain` read, with a model card, the log and its curve.
    """
    from hardmax.cli.files.train import Target
    from hardmax.cli.reports import train as train_report
    from hardmax.cli.reports.train_progress import training_table
    from hardmax.cli.train_recipe import read_recipe

    chosen = read_recipe(
        recipe,
        dimension=dimension,
        layers=layers,
        alpha=None if alpha is None else read_number(alpha, "--alpha"),
        epochs=epochs,
        validation=None if validation is None else read_number(validation, "--validation"),
        seed=seed,
    )
    target = Target(output, force=force, resume=resume)
    check_corpus(file)
    with target.claimed():
        corpus = read_texts_with_labels(file, "train", text, label, on_bad_rows)
        begin = train_report.begin(corpus, chosen)

        # Only now, since torch takes seconds to come.
        from hardmax.cli.training import train_on
        from hardmax.train import fit

        narrate(begin)
        target.start()
        try:
            with training_table(chosen) as progress:
                model = train_on(corpus, chosen, fit, target.checkpoint, progress)
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or a signal to end
            narrate(target.way_on())
            raise
        for path in target.write(model):
            narrate(f"wrote {path}")
    if as_json:
        print_json(train_report.document(model, output))
    else:
        train_report.show(model)
