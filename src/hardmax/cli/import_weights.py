"""`hardmax import`: the weights that the paper's authors published, as a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from hardmax._validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json


def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The .pth file of a classifier saved by their code.")],
    output: opt.ModelFolder,
    words: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words of the rows, one per line, PAD first.")
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Convert the weights of the paper's authors to a model of this package.

    The file is a pickle, which could run code: none of it is run, and anything such a file does not need is refused.
    The authors did not publish which row is which word. Without --words the model knows no text, only reviews given as
    rows (hardmax.paper.authors.model); with it, texts are read without the authors' cleaning, cutting and padding.
    """
    if (Path(output) / "model.safetensors").exists() and not force:
        raise InputError(f"`--output` {output!r} contains a model: name another folder, or replace it with --force.")

    from hardmax.paper.authors.model import model_of
    from hardmax.paper.authors.weights import read_weights
    from hardmax.paper.authors.words import read_words

    weights = read_weights(file)
    notify(f"read {weights!r}; nothing in the pickle was run")
    model = model_of(weights, None if words is None else read_words(words, weights.rows))
    model.save(output)
    notify(f"wrote {output}")
    facts = {
        "folder": output,
        "rows": model.metrics["rows"],
        "rows_that_texts_can_have": model.metrics["rows that texts can have"],
        "dimension": model.dimension,
        "layers": model.layers,
        "alpha": model.metrics["alpha in decimals"],
        "decoder": model.decoder[0].tolist(),
        "bias": float(model.bias[0]),
        "reads": model.metrics["what it reads"],
        "sha256": model.metrics["sha256 of their file"],
    }
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)
